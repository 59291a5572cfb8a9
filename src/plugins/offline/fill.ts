import { createInterface } from 'node:readline/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { openAskedService } from '../../cli/asked-service.ts';
import { CommandError } from '../../cli/formats.ts';
import { keyOption, ownKeyOf } from '../../cli/given-key.ts';
import { settingsOf } from '../../cli/strange-settings.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { type CommandHost, type ComposedGateway, definePlugin } from '../../gateway/plugin.ts';
import { PUBLISHED_PLANS } from '../../keys/ledger.ts';
import { looksIssued } from '../../plugin/index.ts';
import { systemClock } from '../../shared/async/clock.ts';
import { createFetching } from './fetching.ts';
import { lasting, type Surroundings } from './given.ts';
import { createPace, type PlanLimits } from './pace.ts';
import { createProgress } from './progress.ts';
import { questionsIn, type Selection, trustedIn } from './wanted.ts';

const EXAMPLES = `
Examples:
  CACHE_URL=sqlite:figures.db country-graph fill --all
  CACHE_URL=sqlite:figures.db country-graph fill queries/ --yes --leave 200
  CACHE_URL=sqlite:figures.db country-graph fill --indicators population_total --years 2000- --yes
  CACHE_URL=sqlite:figures.db country-graph fill --all --every day --yes --json
Exit codes: 0 all is there, 1 something could not be fetched or stored, 2 wrong settings, 3 the month has no more calls to give,
4 nobody said yes, or not to so many calls.`;

/** Seconds. */
const INTERVALS = { hour: 3_600, day: 86_400, week: 604_800 } as const;

/** Share of an interval after which figures count as old: a job never starts at exactly the same second. */
const INTERVAL_SHARE = 0.9;

/** Milliseconds of unlimited time: about the longest that a timer can be set to. */
const LONG_MS = 2_000_000_000;

/** Of a fill that has ended early, if not 1. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  MONTHLY_QUOTA_EXCEEDED: 3,
  OPERATION_TOO_EXPENSIVE: 4,
};

export interface FillOptions extends Selection {
  readonly trusted?: true;
  readonly variables?: string;
  readonly yes?: true;
  /** Calls that are agreed to in place of the price. */
  readonly most?: number;
  /** Calls of the month to leave. */
  readonly leave?: number;
  readonly every?: keyof typeof INTERVALS;
  readonly json?: true;
  readonly plan?: string;
  readonly key?: string;
  readonly keyFile?: string;
}

export function addFill(command: Command, host: CommandHost): void {
  command
    .argument(
      '[operations...]',
      'operations to run: files, folders of .graphql, manifests of trusted documents, texts',
    )
    .option('--trusted', 'the operations of TRUSTED_DOCUMENTS')
    .option('--variables <json>', 'variables of the operations', '{}')
    .option('--indicators <keys>', 'figures of these indicators, comma-separated; all if left out')
    .option('--countries <codes>', 'figures of these countries, comma-separated; all if left out')
    .option('--years <range>', 'of these years alone: 2000-2020, 2000- or -2020')
    .option('--latest', 'latest figures alone, no series')
    .option('--all', 'all figures and lists; with --latest, no series')
    .option('--records', 'profiles, signals and offices of all countries, and all listings')
    .option('--yes', 'fetch without asking, for up to the price')
    .option('--most <calls>', 'agree to so many calls, in place of the price', count)
    .option('--leave <calls>', 'calls of the month to leave', count)
    .addOption(
      new Option(
        '--every <interval>',
        'renew what is older than this, and whose sources have changed since',
      ).choices(Object.keys(INTERVALS)),
    )
    .addOption(
      new Option('--plan <plan>', 'the plan of the key, until the service names it').choices(
        Object.keys(PUBLISHED_PLANS),
      ),
    )
    .option('--json', 'print the price and the bill as JSON')
    .addOption(keyOption())
    .option('--key-file <file>', 'a file that the key stands in')
    .addHelpText('after', EXAMPLES)
    .action(async (operations: readonly string[], options: FillOptions) => {
      process.stdout.on('error', () => {});
      process.exitCode = await fill(operations, options, {
        ...host,
        clock: systemClock,
        isTerminal: process.stderr.isTTY === true,
        print: (text) => void process.stdout.write(text),
        note: (text) => void process.stderr.write(text),
        confirm: process.stdin.isTTY === true ? confirm : null,
      });
    });
}

function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

async function confirm(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}

/**
 * Fetches what isn't cached, at the pace of the plan. A fill that was ended at any instant can therefore be resumed.
 * @returns the exit code
 * @throws ConfigError or CommandError
 */
export async function fill(
  sources: readonly string[],
  options: FillOptions,
  around: Surroundings,
): Promise<number> {
  const config = configOf(around, options);
  const questions = [
    ...(await questionsIn(sources, options.variables ?? '{}')),
    ...(options.trusted ? await trustedOf(config) : []),
  ];
  const note = (words: string) => around.note(`${words}\n`);
  const service = await openAskedService(
    config,
    await ownKeyOf(options, around.env),
    around.openSandbox,
    note,
  );
  try {
    const { key, url: upstreamUrl } = service;
    if (key === undefined)
      throw new CommandError(
        'There is no key: set COUNTRY_GRAPH_KEY or COUNTRY_DATA_KEY, or name a file by --key-file.',
      );
    if (looksIssued(key))
      throw new CommandError(
        'An issued key has no store of its own: give the key of the service, as --key or COUNTRY_DATA_KEY. Nothing was sent.',
      );
    const plan = planOf(options.plan ?? 'free');
    const progress = createProgress(around, { json: options.json === true, plan });
    const pace = createPace({
      clock: around.clock,
      plan,
      leave: options.leave ?? 0,
      path: config.cacheUrl.startsWith('sqlite:') ? config.cacheUrl.slice('sqlite:'.length) : null,
      onCall: progress.called,
      onSpent: () => agreeAgain(),
    });
    let agreeAgain = async () => 0;
    const { promise: composed, resolve } = Promise.withResolvers<ComposedGateway>();
    const opened = definePlugin({ name: 'a fill', settings: {}, open: () => ({ start: resolve }) });
    const gateway = await createGateway({
      config: { ...config, trustedDocuments: undefined },
      plugins: [...around.plugins, opened, pace.plugin],
      upstreamUrl,
      clock: around.clock,
      observer: {
        operation() {},
        attempt() {},
        rows: progress.rows,
        warn: note,
        problem: (error, where) => note(`${where}: ${error}`),
      },
    });
    try {
      const fetching = createFetching({
        gateway: await composed,
        pace,
        authorization: `Bearer ${key}`,
        everyMs: options.every === undefined ? null : INTERVALS[options.every] * INTERVAL_SHARE * 1000,
      });
      const price = await fetching.priceOf(questions, options);
      progress.priced(price);
      const confirm = options.json ? null : around.confirm;
      if (price.calls > 0 && !options.yes) {
        if (confirm === null) {
          progress.over(null, 'Nothing was sent: say --yes.');
          return 4;
        }
        if (!(await confirm('Fetch them? [y/N] '))) return 4;
      }
      const agreed = options.most ?? price.calls;
      pace.agreeTo(agreed);
      agreeAgain = async () => {
        if (confirm === null) return 0;
        const { calls } = await fetching.priceOf(questions, options);
        const isAgreed = await confirm(
          `The ${agreed} calls are spent, and up to ${calls} more are needed. Fetch them? [y/N] `,
        );
        return isAgreed ? calls : 0;
      };
      const outcome = await fetching.fetch(questions, options);
      progress.over(outcome);
      if (pace.stopped !== null) return EXIT_CODES[pace.stopped.code] ?? 1;
      return Object.keys(outcome.errors).length === 0 ? 0 : 1;
    } finally {
      await gateway.stop();
    }
  } finally {
    await service.close();
  }
}

function configOf({ env, plugins, note }: Surroundings, { every }: FillOptions): Config {
  const config = settingsOf(env, plugins, (words) => note(`${words}\n`));
  if (!/^(sqlite|rediss?):/.test(config.cacheUrl) || config.cacheUrl === 'sqlite::memory:')
    throw new ConfigError(
      'CACHE_URL: a fill needs a store that lasts, sqlite:PATH or redis://…; memory: would be gone with the command.',
    );
  return {
    ...lasting(config),
    // A read that timed out would be fetched again, and a lost count would be missing.
    cacheTimeoutMs: 60_000,
    // Whatever is cached counts at any age, unless it is to be renewed.
    cacheTtlSeconds: every === undefined ? Number.POSITIVE_INFINITY : INTERVALS[every] * INTERVAL_SHARE,
    batchWindowMs: 0,
    answersMaxBytes: 0,
    operationTimeoutMs: LONG_MS,
    rateLimitWaitMs: LONG_MS,
    maxUpstreamCalls: 1_000_000,
  };
}

function trustedOf({ trustedDocuments }: Config) {
  if (trustedDocuments === undefined)
    throw new ConfigError('TRUSTED_DOCUMENTS: --trusted needs it to name the file.');
  return trustedIn(trustedDocuments);
}

function planOf(name: string): PlanLimits {
  const limits = PUBLISHED_PLANS[name];
  if (limits === undefined) throw new CommandError(`There is no plan ${name}.`);
  return { name, ...limits };
}
