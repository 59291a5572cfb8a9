import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandHost, messageOf, TAGS, timeIn } from '../../plugin/index.ts';
import { KeyDesk, KeyError, USAGE_COLUMNS, usageCells } from './key-desk.ts';
import { keyStoreIn } from './key-store.ts';

const EXAMPLES = `
Examples:
  country-graph keys create page --origin https://app.example --tag figures --per-month 10000
  country-graph keys create shop --group web --group-per-day 500 --expires 90d
  country-graph keys rotate page --overlap 3600
  country-graph keys list
The keys are those of CACHE_URL, which must be sqlite:PATH or redis://…`;

const USAGE_EXAMPLES = `
Examples:
  country-graph usage page --days 7
  country-graph usage --csv > usage.csv
Usage is kept where CACHE_URL says, with the keys.`;

const KEY_COLUMNS = ['name', 'state', 'createdAt', 'expiresAt', 'group'] as const;

const FORECAST_COLUMNS = ['name', 'of', 'calls', 'callsADay', 'atMonthEnd', 'limit', 'spentOn'] as const;

const DAY_MS = 24 * 60 * 60 * 1000;

interface CreateOptions {
  readonly expires?: string;
  readonly origin: readonly string[];
  readonly documents: 'any' | 'trusted';
  readonly tag: readonly string[];
  readonly group?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly perMonth?: number;
  readonly groupPerMinute?: number;
  readonly groupPerDay?: number;
  readonly groupPerMonth?: number;
  readonly visitorPerMinute?: number;
}

export function addKeys(keys: Command, host: CommandHost): void {
  const atDesk = (work: (desk: KeyDesk) => Promise<unknown>) => workAtDesk(host, work);
  keys.addHelpText('after', EXAMPLES);
  keys
    .command('create')
    .description('issue a key, and print it: it is shown this once')
    .argument('<name>', 'what to call it')
    .option('--expires <when>', 'a date, or a number of days such as 90d')
    .option('--origin <origin>', 'a site whose pages may use it; can be given again', listed, [])
    .addOption(
      new Option('--documents <which>', 'operations that may run').choices(['any', 'trusted']).default('any'),
    )
    .addOption(
      new Option(
        '--tag <tag>',
        `a part of the graph that it may read (${TAGS.join(', ')}); can be given again`,
      )
        .argParser(listed)
        .default([]),
    )
    .option('--per-minute <calls>', 'calls to the service in a minute', count)
    .option('--per-day <calls>', 'the same in a day', count)
    .option('--per-month <calls>', 'the same in a month', count)
    .option('--group <name>', 'a group whose members share a budget')
    .option('--group-per-minute <calls>', 'calls of the group in a minute', count)
    .option('--group-per-day <calls>', 'the same in a day', count)
    .option('--group-per-month <calls>', 'the same in a month', count)
    .option('--visitor-per-minute <operations>', 'operations of one address in a minute', count)
    .action((name: string, options: CreateOptions) => atDesk((desk) => desk.create(termsIn(name, options))));
  keys
    .command('list')
    .description('list the keys and their state')
    .action(() =>
      atDesk(async (desk) => {
        const rows = (await desk.list()).map((key) =>
          KEY_COLUMNS.map((column) => (column === 'group' ? key.group?.name : key[column]) ?? null),
        );
        if (rows.length === 0) return 'There are no keys.';
        return host.formatted([{ path: 'keys', columns: KEY_COLUMNS, rows }], 'table').trimEnd();
      }),
    );
  keys
    .command('show')
    .description('show the terms of a key, and its calls')
    .argument('<name>')
    .action((name: string) => atDesk((desk) => desk.show(name)));
  keys
    .command('revoke')
    .description('end a key, on all gateways of the store within a second')
    .argument('<name>')
    .action((name: string) => atDesk((desk) => desk.revoke(name)));
  keys
    .command('rotate')
    .description('issue another key of the same name and terms; the former one works for a while')
    .argument('<name>')
    .option('--overlap <seconds>', 'how long the former key still works; a day if left out', count)
    .action((name: string, { overlap }: { overlap?: number }) =>
      atDesk((desk) => desk.rotate(name, overlap)),
    );
}

export function addUsage(usage: Command, host: CommandHost): void {
  usage
    .argument('[name]', 'a key; all keys if left out')
    .option('--days <days>', 'days up to today (UTC), 30 if left out', count)
    .option('--csv', 'print the rows as CSV')
    .option('--forecast', 'print the calls that this month will have taken, alone')
    .addHelpText('after', USAGE_EXAMPLES)
    .action(
      (
        name: string | undefined,
        { days, csv, forecast }: { days?: number; csv?: boolean; forecast?: boolean },
      ) =>
        workAtDesk(host, async (desk) => {
          const { usage, forecasts } = await desk.usage({ ...(days === undefined ? {} : { days }), name });
          const rows = { path: 'usage', columns: USAGE_COLUMNS, rows: usage.map(usageCells) };
          const forecastTable = {
            path: 'forecast of the month',
            columns: FORECAST_COLUMNS,
            rows: forecasts.map((one) => FORECAST_COLUMNS.map((column) => one[column])),
          };
          const tables = forecast === true ? [forecastTable] : csv === true ? [rows] : [rows, forecastTable];
          return host.formatted(tables, csv === true ? 'csv' : 'table').trimEnd();
        }),
    );
}

async function workAtDesk(host: CommandHost, work: (desk: KeyDesk) => Promise<unknown>): Promise<void> {
  const { cacheUrl, openStore } = host.settings();
  if (cacheUrl === 'memory:' || cacheUrl === 'none')
    throw host.error(
      'CACHE_URL: issued keys are kept in sqlite:PATH or redis://… Those of memory: are within the gateway: ask it at ADMIN_PORT.',
    );
  const store = keyStoreIn(await openStore());
  try {
    const outcome = await work(new KeyDesk(store, Date.now));
    console.log(typeof outcome === 'string' ? outcome : JSON.stringify(outcome, null, 2));
  } catch (error) {
    if (error instanceof KeyError) throw host.error(error.message);
    throw host.error(`The store of keys failed: ${messageOf(error)}`);
  } finally {
    await store.close();
  }
}

function termsIn(
  name: string,
  { expires, origin, tag, group, groupPerMinute, groupPerDay, groupPerMonth, ...terms }: CreateOptions,
) {
  const budget = { perMinute: groupPerMinute, perDay: groupPerDay, perMonth: groupPerMonth };
  return {
    ...terms,
    name,
    expiresAt: expires === undefined ? null : instantOf(expires),
    origins: origin,
    tags: tag,
    group: group === undefined ? null : { name: group, ...budget },
  };
}

function instantOf(when: string): string {
  const days = /^(\d{1,5})d$/.exec(when)?.[1];
  const atMs = days === undefined ? timeIn(when)?.firstMs : Date.now() + Number(days) * DAY_MS;
  if (atMs === undefined) throw new KeyError(400, '--expires must be a date, or days such as 90d.');
  return new Date(atMs).toISOString();
}

function listed(item: string, before: readonly string[]): readonly string[] {
  return [...before, item];
}

function count(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
