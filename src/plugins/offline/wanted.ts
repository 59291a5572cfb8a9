import { globSync, statSync } from 'node:fs';
import { z } from 'zod';
import { COVERED_COUNTRIES, excerpt, itemsOf } from '../../plugin/index.ts';
import type { Filling, Host } from './given.ts';

type Figures = Parameters<Filling['price']>[0];
type Failing = Pick<Host, 'error'>;

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

/** @throws Error of the command */
export function figuresOf(selection: Selection, names: Names, host: Failing): Figures {
  const { countries, indicators, years, latest, all } = selection;
  if (!all && countries === undefined && indicators === undefined) {
    if (years !== undefined || latest)
      throw host.error('--years and --latest go with --indicators, --countries or --all.');
    return NO_FIGURES;
  }
  const codes =
    countries === undefined
      ? names.countries
      : namesIn(countries, CODES, host).map((code) => code.toUpperCase());
  const keys = indicators === undefined ? names.indicators : namesIn(indicators, KEYS, host);
  const isLatest = latest === true;
  return { countryCodes: codes, metricKeys: keys, isLatest, years: isLatest ? null : yearsIn(years, host) };
}

const NO_FIGURES: Figures = { countryCodes: [], metricKeys: [], isLatest: true, years: null };

const CODES = {
  option: '--countries',
  form: /^[a-z]{2}$/i,
  meaning: 'codes of two letters, such as KE,NG',
};
const KEYS = {
  option: '--indicators',
  form: /^\S{1,200}$/,
  meaning: 'keys without blanks, such as population_total',
};

/**
 * The names of an option. What can be none is a mistake to mend, and no name to ask the service for.
 * @throws Error of the command if one can be none, or there are none
 */
function namesIn(
  text: string,
  { option, form, meaning }: typeof CODES,
  { error }: Failing,
): readonly string[] {
  const names = itemsOf(text);
  const wrong = names.find((name) => !form.test(name));
  if (wrong === undefined && names.length > 0) return names;
  throw error(`${option} must be ${meaning}; this is ${JSON.stringify(excerpt(wrong ?? ''))}.`);
}

function yearsIn(text: string | undefined, { error }: Failing): Figures['years'] {
  if (text === undefined) return null;
  const [, from = '', to = ''] = /^(\d{4})?-(\d{4})?$/.exec(text) ?? [];
  if (from === '' && to === '') throw error('--years must be such as 2000-2020, 2000- or -2020.');
  if (from !== '' && to !== '' && from > to)
    throw error(`--years ${from}-${to} has none: the first is after the last.`);
  return { from: from === '' ? null : Number(from), to: to === '' ? null : Number(to) };
}

/**
 * Reads operations from texts, files, folders of `.graphql` files, and manifests of trusted documents (`.json`). The
 * variables of `name.graphql` may stand beside it, in `name.variables.json`.
 */
export async function questionsIn(
  sources: readonly string[],
  variables: string,
  host: OfFiles,
): Promise<readonly Question[]> {
  const all = await Promise.all(sources.map((source) => questionsOf(source, variables, host)));
  return all.flat();
}

type OfFiles = Pick<Host, 'documentsIn' | 'error' | 'files' | 'operationIn'>;

async function questionsOf(source: string, variables: string, host: OfFiles): Promise<readonly Question[]> {
  const stats = source.includes('{') ? undefined : statSync(source, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    const files = globSync(`${source}/**/*.graphql`).sort();
    if (files.length === 0) return trustedIn(source, host);
    return Promise.all(files.map((file) => questionOf(file, variables, host)));
  }
  if (stats?.isFile() && source.endsWith('.json')) return trustedIn(source, host);
  return [await questionOf(source, variables, host)];
}

async function questionOf(source: string, variables: string, host: OfFiles): Promise<Question> {
  const beside = source.replace(/\.graphql$/, '.variables.json');
  const isBeside = beside !== source && statSync(beside, { throwIfNoEntry: false })?.isFile();
  const { files } = host;
  const question = {
    query: await host.operationIn(source),
    variables: isBeside
      ? files.checkedJson(z.unknown(), await files.readText(beside), beside)
      : variablesIn(variables, host),
  };
  return source.includes('{') ? question : { file: source, ...question };
}

function variablesIn(option: string, { error }: Failing): unknown {
  try {
    return JSON.parse(option);
  } catch {
    throw error('--variables must be JSON.');
  }
}

const trustedIn = async (path: string, host: Pick<Host, 'documentsIn'>): Promise<readonly Question[]> =>
  (await host.documentsIn(path)).map(({ text }) => ({ query: text }));
