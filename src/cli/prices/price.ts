import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { CommandHost } from '../../gateway/plugin.ts';
import { observations } from '../../service/endpoints.ts';
import { checkedJson, readText, replaceFile } from '../../shared/text-files.ts';
import { CommandError, formatted } from '../formats.ts';
import { settingsOf } from '../strange-settings.ts';
import { type Differences, differencesOf, type Prices, readPrices, writtenPrices } from './price-file.ts';
import { Pricing } from './pricing.ts';
import { operationsIn, type ProjectOperation } from './project-operations.ts';

const EXAMPLES = `
Nothing is sent to the service. An operation costs its cold price under a key for which nothing is cached, and its warm
one once the lists of countries, indicators and sources are. Required variables get made-up values, and lists one item:
give better ones with --variables, such as {"Chart": {"codes": ["KE", "NG"]}}.
Examples:
  country-graph price
  country-graph price 'app/**/*.tsx' --visit Start,Chart --variables prices.variables.json
  country-graph price --check
Exit codes: 0 all is as in the file, 1 a price has risen, the file is out of date or an operation has no price, 2 wrong settings.`;

const PATTERN = 'src/**/*.{graphql,gql,ts,tsx,mts,js,jsx,mjs,vue,svelte}';

const MAX_VISITS = 50;

const variablesByName = z.record(z.string(), z.record(z.string(), z.unknown()));

export interface PriceOptions {
  readonly check?: true;
  readonly out: string;
  readonly variables?: string;
  /** Lists of names. */
  readonly visit: readonly (readonly string[])[];
}

export function addPrice(command: Command, host: CommandHost): void {
  command
    .argument('[files...]', 'patterns of files with operations', [PATTERN])
    .option('--check', 'write nothing; fail if a price has risen, or the file is out of date')
    .option('--out <file>', 'the file of prices', 'graphql-prices.json')
    .option('--variables <file>', 'JSON: variables by the names of operations')
    .option(
      '--visit <names>',
      'operations in the order in which a visitor sends them, comma-separated; for several visits, several times; left out, those of the file',
      addVisit,
      [],
    )
    .addHelpText('after', EXAMPLES)
    .action(async (patterns: readonly string[], options: PriceOptions) => {
      const { report, isAsExpected } = await price(patterns, options, host);
      console.log(report);
      process.exitCode = isAsExpected ? 0 : 1;
    });
}

function addVisit(names: string, before: PriceOptions['visit']): PriceOptions['visit'] {
  if (before.length === MAX_VISITS) throw new InvalidArgumentError(`There may be ${MAX_VISITS} visits.`);
  return [...before, names.split(',').map((name) => name.trim())];
}

/**
 * Prices the operations of a project, and writes the prices or compares them with those written.
 * @throws CommandError, ConfigError or FileError
 */
export async function price(patterns: readonly string[], options: PriceOptions, host: CommandHost) {
  const { check, out } = options;
  const found = await operationsIn(patterns);
  const operations = found.filter(({ definition }) => definition.operation !== 'subscription');
  if (operations.length === 0) throw new CommandError(`There is no operation in ${patterns.join(' ')}.`);
  const before = existsSync(out) ? readPrices(await readText(out), out) : null;
  if (check && before === null)
    throw new CommandError(`There is no ${out}. country-graph price, without --check, writes it.`);
  const visits =
    options.visit.length > 0 ? options.visit : (before?.visits.map((visit) => visit.operations) ?? []);
  const visited = visits.map((names) => names.map((name) => named(name, operations)));
  const note = (words: string) => void process.stderr.write(`${words}\n`);
  const config = settingsOf(host.env, host.plugins, note);
  const variables = await variablesIn(options.variables, operations);
  const sandbox = await host.openSandbox();
  try {
    const pricing = new Pricing({ config, plugins: host.plugins, note }, sandbox, variables);
    const prices: Prices = { operations: await pricing.pricesOf(operations), visits: [] };
    for (const visit of visited) prices.visits.push(await pricing.visitOf(visit));
    const differences = before && differencesOf(before, prices);
    const lines = [tableOf(prices)];
    if (found.length > operations.length)
      lines.push(`Subscriptions, which have no price: ${found.length - operations.length}.`);
    for (const risen of differences?.risen ?? [])
      lines.push(await reasonOf(risen, named(risen.name, operations), pricing));
    if (!check) await replaceFile(out, writtenPrices(prices));
    else if (differences !== null) lines.push(verdictOn(differences, out));
    return { report: lines.join('\n'), isAsExpected: !check || differences?.isNone === true };
  } finally {
    await sandbox.close();
  }
}

async function variablesIn(file: string | undefined, operations: readonly ProjectOperation[]) {
  if (file === undefined) return {};
  const variables = checkedJson(variablesByName, await readText(file), file);
  for (const name of Object.keys(variables)) named(name, operations);
  return variables;
}

function named(name: string, operations: readonly ProjectOperation[]): ProjectOperation {
  const operation = operations.find((other) => other.name === name);
  if (operation !== undefined) return operation;
  const names = operations.map((other) => other.name).join(', ');
  throw new CommandError(`There is no operation ${JSON.stringify(name)}. There are ${names}.`);
}

/** Says which field has made a price rise, and what to write instead. */
async function reasonOf(
  { name, cold, warm }: Differences['risen'][number],
  operation: ProjectOperation,
  pricing: Pricing,
): Promise<string> {
  const change = ([before, now]: readonly [number, number]) =>
    before === now ? `${now}` : `${before} → ${now}`;
  const cause = cold[0] < cold[1] ? await pricing.fieldBeyond(cold[0], operation) : null;
  const words =
    cause === null ? '' : ` Most go to ${cause.route} for ${cause.field}: ${insteadOf(cause.route)}`;
  return `${name} (${operation.file}): calls ${change(cold)} cold, ${change(warm)} warm.${words}`;
}

function insteadOf(route: string): string {
  if (route === observations.route)
    return 'select fewer countries, indicators or years, or `latest: true`, so that one response has all figures.';
  const apart = 'an operation of its own, sent once somebody wants to see it.';
  if (!route.includes('{')) return `select it in ${apart}`;
  return `a call for each country. Select it for the countries that are shown (\`country\`, \`countries(codes:)\`), or in ${apart}`;
}

function verdictOn({ isNone, risen, others }: Differences, file: string): string {
  if (isNone) return `All prices are those of ${file}.`;
  const count = risen.length === 0 ? [] : [`Prices that have risen: ${risen.length}.`];
  return [
    ...others.map((words) => `${words}.`),
    ...count,
    `If that is meant: country-graph price, and commit ${file}.`,
  ].join('\n');
}

function tableOf({ operations, visits }: Prices): string {
  const rows = Object.entries(operations).map(([name, { cold, warm, file }]) => [name, cold, warm, file]);
  const ofVisits = visits.map((visit) => [visit.operations.join(', '), visit.calls, visit.each.join(' + ')]);
  return [
    formatted([{ path: 'operations', columns: ['operation', 'cold', 'warm', 'file'], rows }], 'table'),
    ...(visits.length === 0
      ? []
      : [formatted([{ path: 'visits', columns: ['visit', 'calls', 'each'], rows: ofVisits }], 'table')]),
  ].join('\n');
}
