import { globSync, statSync } from 'node:fs';
import { CommandError, operationFrom, variablesIn } from '../../cli/formats.ts';
import { openTrusted } from '../../graphql/request/trusted.ts';
import { type Demand, demandsFor, yearRange } from '../../observations/planner/demand.ts';
import { COVERED_COUNTRIES, excerpt, itemsOf } from '../../plugin/index.ts';
import { jsonIn, readText } from '../../shared/text-files.ts';

export interface Question {
  /** Left out if it has no file of its own. */
  readonly file?: string;
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string;
}

/** Figures to fetch: of all countries, or all indicators, if these are left out. */
export interface Selection {
  readonly countries?: string;
  readonly indicators?: string;
  readonly years?: string;
  readonly latest?: true;
  readonly all?: true;
  readonly records?: true;
}

/** As the service lists them, or as documented until it has. */
export interface Names {
  readonly countries: readonly string[];
  readonly indicators: readonly string[];
}

/** Characters. */
const TITLE_LENGTH = 60;

const DOCUMENTED_INDICATORS = 207;

export const DOCUMENTED_NAMES: Names = {
  countries: [...COVERED_COUNTRIES],
  indicators: Array.from({ length: DOCUMENTED_INDICATORS }, (_, i) => `indicator_${i}`),
};

/** The lists that name everything to fetch. */
export const LISTS = '{ countries { code } indicators { key } sources { key } }';

export const recordsOf = ({ countries }: Names): readonly Question[] => [
  { query: '{ platformVersion { version } tickers { symbol } }' },
  ...countries.map((code) => ({
    query: `{ country(code: ${JSON.stringify(code)}) { profile { record } signals { record } offices { record } } }`,
  })),
];

export const titleOf = ({ file, query }: Question): string =>
  file ?? excerpt(query.replace(/\s+/g, ' ').trim(), TITLE_LENGTH);

export const needsLists = ({ all, countries, indicators }: Selection): boolean =>
  all === true || (countries === undefined) !== (indicators === undefined);

export function demandsOf(selection: Selection, names: Names): readonly Demand[] {
  const { countries, indicators, years, latest, all } = selection;
  if (!all && countries === undefined && indicators === undefined) {
    if (years !== undefined || latest)
      throw new CommandError('--years and --latest go with --indicators, --countries or --all.');
    return [];
  }
  const codes =
    countries === undefined
      ? names.countries
      : namesIn(countries, '--countries', /^[a-z]{2}$/i, 'codes of two letters, such as KE,NG').map((code) =>
          code.toUpperCase(),
        );
  const keys =
    indicators === undefined
      ? names.indicators
      : namesIn(indicators, '--indicators', /^\S{1,200}$/, 'keys without blanks, such as population_total');
  const latestDemands = demandsFor('latest', codes, keys);
  if (latest) return latestDemands;
  return [...latestDemands, ...demandsFor('series', codes, keys, undefined, yearsIn(years))];
}

/**
 * The names of an option. What can be none is a mistake to mend, and no name to ask the service for.
 * @throws CommandError if one can be none, or there are none
 */
function namesIn(text: string, option: string, form: RegExp, meaning: string): readonly string[] {
  const names = itemsOf(text);
  const wrong = names.find((name) => !form.test(name));
  if (wrong === undefined && names.length > 0) return names;
  throw new CommandError(`${option} must be ${meaning}; this is ${JSON.stringify(excerpt(wrong ?? ''))}.`);
}

function yearsIn(text: string | undefined) {
  if (text === undefined) return null;
  const [, from = '', to = ''] = /^(\d{4})?-(\d{4})?$/.exec(text) ?? [];
  if (from === '' && to === '') throw new CommandError('--years must be such as 2000-2020, 2000- or -2020.');
  if (from !== '' && to !== '' && from > to)
    throw new CommandError(`--years ${from}-${to} has none: the first is after the last.`);
  return yearRange(from === '' ? null : Number(from), to === '' ? null : Number(to));
}

/**
 * Reads operations from texts, files, folders of `.graphql` files, and manifests of trusted documents (`.json`). The
 * variables of `name.graphql` may stand beside it, in `name.variables.json`.
 */
export async function questionsIn(
  sources: readonly string[],
  variables: string,
): Promise<readonly Question[]> {
  const all = await Promise.all(sources.map((source) => questionsOf(source, variables)));
  return all.flat();
}

async function questionsOf(source: string, variables: string): Promise<readonly Question[]> {
  const stats = source.includes('{') ? undefined : statSync(source, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    const files = globSync(`${source}/**/*.graphql`).sort();
    if (files.length === 0) return trustedIn(source);
    return Promise.all(files.map((file) => questionOf(file, variables)));
  }
  if (stats?.isFile() && source.endsWith('.json')) return trustedIn(source);
  return [await questionOf(source, variables)];
}

async function questionOf(source: string, variables: string): Promise<Question> {
  const beside = source.replace(/\.graphql$/, '.variables.json');
  const isBeside = beside !== source && statSync(beside, { throwIfNoEntry: false })?.isFile();
  const question = {
    query: await operationFrom(source),
    variables: isBeside ? jsonIn(await readText(beside), beside) : variablesIn(variables),
  };
  return source.includes('{') ? question : { file: source, ...question };
}

export async function trustedIn(path: string): Promise<readonly Question[]> {
  const { trusted, stop } = await openTrusted(path);
  stop();
  return (trusted ?? []).map(({ text }) => ({ query: text }));
}
