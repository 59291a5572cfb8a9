import { latestRows } from './choices.ts';
import type { Habits } from './habits.ts';
import { isBad } from './odd-numbers.ts';
import type { Lookup, Remark } from './reference.ts';
import { type Request, spelled } from './service.ts';
import type { RowFact, World } from './world.ts';

export interface GivenError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface Circumstances {
  readonly world: World;
  readonly habits: Habits;
  readonly lookups: readonly Lookup[];
  readonly remarks: readonly Remark[];
  /** True if the operation takes figures of some ages alone. */
  readonly isInsisting: boolean;
  /** Requests that the service received since the operation began. */
  readonly requests: readonly Request[];
  readonly errors: readonly GivenError[];
  /** `MAX_UPSTREAM_CALLS` of the gateway. */
  readonly mostCalls: number;
  /** Numbers of what a fill could not fetch, by codes of errors; null if the service is there. */
  readonly unfilled: Readonly<Record<string, number>> | null;
}

/** True if the habits of the service leave the gateway no other answer than this error. */
export function isLegitimate(error: GivenError, circumstances: Circumstances): boolean {
  const here = lookupsAt(error, circumstances.lookups);
  switch (error.extensions.code) {
    case 'UPSTREAM_INCOMPLETE':
      // Accepts the error for figures that fail anyway, and for those that nobody asked for: neither needs
      // completing.
      return (
        isBoundToBeIncomplete(error, here, circumstances) ||
        isOfFlaw(error, here, circumstances) ||
        here.some((lookup) => isOfBadRow(lookup, circumstances))
      );
    case 'BAD_USER_INPUT':
      return here.some((lookup) => isRefused(lookup, circumstances));
    case 'OPERATION_TOO_EXPENSIVE':
      return isDear(circumstances);
    case 'UPSTREAM_INVALID_RESPONSE':
      return isOfFlaw(error, here, circumstances) || here.some((lookup) => isOfBadRow(lookup, circumstances));
    case 'NOT_HELD':
      return (
        isNeverFilled(error, circumstances) || here.some((lookup) => isBeyondFill(lookup, circumstances))
      );
    default:
      return false;
  }
}

/** True if no fill asks for something: health, and the catalogue by filters that its rows say nothing of. */
function isNeverFilled({ extensions: { route } }: GivenError, { habits, unfilled }: Circumstances): boolean {
  const isUntold = !habits.catalogueCategory || !habits.catalogueHasData;
  return unfilled !== null && (route === '/health' || (route === '/v1/indicators' && isUntold));
}

/** True if what a fill has fetched may not do: names that no list has, what the service wouldn't give, and older figures. */
function isBeyondFill(lookup: Lookup, circumstances: Circumstances): boolean {
  const { unfilled, isInsisting, world } = circumstances;
  if (unfilled === null) return false;
  // The service alone knows that it takes an indicator by another spelling than that of its catalogue.
  const isListed = (name: string) => world.indicators.some(({ key }) => key === name);
  if (lookup.keys?.every(isListed) === false) return true;
  return isInsisting || Object.keys(unfilled).length > 0 || hasUnknown(lookup, circumstances);
}

/** True if the operation names something that the service doesn't know. */
export function isWarranted(
  warning: GivenError & { readonly code?: unknown; readonly name?: unknown },
  circumstances: Circumstances,
): boolean {
  const { world, habits } = circumstances;
  // The last one counts those that aren't told.
  if ('count' in warning && warning.path?.length === 0) return true;
  switch (warning.code ?? warning.extensions?.code) {
    case 'UNKNOWN_INDICATOR':
      return (
        !isKnownKey(String(warning.name), world, habits) || isNeverFound(String(warning.name), circumstances)
      );
    case 'UNKNOWN_COUNTRY':
      return !isKnownCode(String(warning.name), world);
    case 'ROWS_LEFT_OUT':
      // The specification says that an indicator has its sources: that they are missing may be told.
      return (
        (habits.catalogueSources === 'none' && /sources/.test(JSON.stringify(warning))) ||
        (habits.catalogueFilters === 'ignored' && /category|has_data/.test(JSON.stringify(warning)))
      );
    case 'NOT_COMPARABLE':
    case 'REVISED_SINCE':
    case 'UNREADABLE_PERIOD':
    case 'UNREADABLE_TIME':
      return remarksOf(warning, circumstances).length > 0;
    case 'SEVERAL_FIGURES':
      return remarksOf(warning, circumstances).some(({ sources = [] }) => {
        const told = (warning as { sources?: unknown }).sources;
        return Array.isArray(told) && told.length > 0 && told.every((source) => sources.includes(source));
      });
    default:
      return false;
  }
}

/**
 * Remarks that had to be made and weren't, in an answer without errors. The first to tell of something names
 * its own path.
 */
export function untold(
  warnings: readonly GivenError[],
  { remarks, lookups, world, habits }: Pick<Circumstances, 'remarks' | 'lookups' | 'world' | 'habits'>,
): string[] {
  const told = new Set(warnings.map(subjectOf));
  const missing = remarks
    .filter((remark) => !remark.isOptional && !told.has(subjectOf(remark)))
    .map(({ code, path }) => `${code} at ${path}`);
  const named = new Set(warnings.map((warning) => (warning as { name?: unknown }).name));
  for (const { keys = [], codes: countries = [], path } of lookups) {
    if (!countries.some((code) => isKnownCode(code, world))) continue;
    for (const key of keys) {
      if (!isKnownKey(key, world, habits) && !named.has(key))
        missing.push(`UNKNOWN_INDICATOR ${key} at ${path}`);
    }
  }
  return [...new Set(missing)];
}

function codeOf(warning: GivenError): unknown {
  return (warning as { code?: unknown }).code ?? warning.extensions?.code;
}

/** Subject of a warning, as far as others are left out for it. */
function subjectOf(told: Remark | GivenError): string {
  const code = 'code' in told ? told.code : codeOf(told);
  const path = typeof told.path === 'string' ? told.path.split('.') : (told.path ?? []);
  if (code === 'SEVERAL_FIGURES') return `${code} ${(told as Remark).sources}`;
  return code === 'NOT_COMPARABLE'
    ? `${code} ${path.filter((part) => typeof part === 'string').at(-1)}`
    : String(code);
}

/** Remarks that the truth has of the field that a warning is about. */
function remarksOf(warning: GivenError, { remarks }: Circumstances): Remark[] {
  const names = (warning.path ?? []).filter((part) => typeof part === 'string').join('.');
  return remarks.filter(({ code, path }) => code === codeOf(warning) && path === names);
}

/** True if no figure came for a key, of any country that it was asked for; errors aside. */
function isNeverFound(key: string, { lookups, errors }: Circumstances): boolean {
  const asked = lookups.filter(({ keys, found }) => found !== undefined && keys?.includes(key));
  const failed = errors.flatMap((error) => lookupsAt(error, asked));
  return asked.length > 0 && !asked.some((lookup) => lookup.found?.has(key) && !failed.includes(lookup));
}

/** True if a flawed answer may have been about something that is looked up here. */
function isOfFlaw(
  error: GivenError,
  here: readonly Lookup[],
  { requests, habits, world }: Circumstances,
): boolean {
  const flawed = requests.filter(({ flaw, route }) => flaw !== null && route === error.extensions.route);
  return flawed.some(({ target, route }) =>
    here.some((lookup) => {
      if (lookup.route !== route && !isListBehind(route, lookup)) return false;
      if (route !== '/v1/data') return true;
      // Counts a look-up with unknown names: if one of several is refused, a call for the others decides
      // about it too.
      if (hasUnknown(lookup, { world, habits })) return true;
      const [codes, keys] = namesIn(target, habits, world);
      const names = (lookup.keys ?? []).map((key) => spelled(habits, world, key));
      return overlap(codes, lookup.codes ?? []) && overlap(keys, names);
    }),
  );
}

function hasUnknown(
  { codes = [], keys = [] }: Lookup,
  { world, habits }: Pick<Circumstances, 'world' | 'habits'>,
) {
  return (
    !codes.every((code) => isKnownCode(code, world)) || !keys.every((key) => isKnownKey(key, world, habits))
  );
}

/** Lists that tell which countries and indicators there are stand behind look-ups of figures. */
function isListBehind(route: string, { route: own }: Lookup): boolean {
  return own === '/v1/data' && (route === '/v1/countries' || route === '/v1/indicators');
}

/** The countries and metrics that a call names, as the service spells them; none named are all. */
function namesIn(
  target: string,
  habits: Habits,
  world: World,
): [codes: readonly string[] | null, keys: readonly string[] | null] {
  const query = new URL(target, 'http://service').searchParams;
  const listed = (many: string, one: string) => (query.get(many) ?? query.get(one))?.split(',') ?? null;
  const codes = listed('country_codes', 'country_code')?.map((code) => code.toUpperCase()) ?? null;
  return [codes, listed('metric_keys', 'metric_key')?.map((key) => spelled(habits, world, key)) ?? null];
}

function overlap(named: readonly string[] | null, wanted: readonly string[]): boolean {
  return named === null || wanted.some((name) => named.includes(name));
}

/** True if a row of something that is looked up breaks the specification. */
function isOfBadRow({ route, codes = [], keys = [] }: Lookup, { world, habits }: Circumstances): boolean {
  if (route !== '/v1/data' || habits.oddNumbers === 'none') return false;
  const names = keys.map((key) => spelled(habits, world, key));
  return world.rows.some((row) => isBad(row) && codes.includes(row.country) && names.includes(row.metric));
}

/** Look-ups at the field of the error, or below it: an error takes all below along. */
function lookupsAt(error: GivenError, lookups: readonly Lookup[]): Lookup[] {
  const names = (error.path ?? []).filter((part) => typeof part === 'string').join('.');
  return lookups.filter(
    ({ path }) =>
      path === names || path.startsWith(`${names}.`) || names.startsWith(`${path}.`) || names === '',
  );
}

function isBoundToBeIncomplete(error: GivenError, here: Lookup[], circumstances: Circumstances): boolean {
  const { world, habits } = circumstances;
  const route = error.extensions.route;
  if (route === '/v1/data') return here.some((lookup) => isUncompletable(lookup, circumstances));
  if (route === '/v1/markets/tickers') {
    const most = habits.tickerLimit === 'taken' ? 500 : (habits.tickerDefault ?? Number.POSITIVE_INFINITY);
    const isTold = habits.tickerTotal && habits.wrap !== 'bare';
    return isTold ? world.tickers.length > most : isSuspect(world.tickers.length, most);
  }
  return isOfCutList(error, habits);
}

/** True if the service cuts the list that the error is of, and tells so. */
export function isOfCutList({ extensions: { code, route } }: GivenError, { cutList, wrap }: Habits): boolean {
  return code === 'UPSTREAM_INCOMPLETE' && route === cutList && wrap !== 'bare';
}

/** True if a list without a total may have been cut: it is as long as the limit, or as the usual one. */
function isSuspect(length: number, most: number): boolean {
  return length >= most || length === USUAL_ROWS;
}

const USUAL_ROWS = 100;

/** As observed: the gateway asks for no more rows. */
const HIGHEST_LIMIT = 1000;

/** True if a single series of the look-up is too long for one call, and can't be had by years either. */
function isUncompletable(lookup: Lookup, { world, habits }: Circumstances): boolean {
  const isTold = habits.total && habits.totalOf === 'all' && habits.wrap !== 'bare';
  // A service that refuses 1,000 rows without a word on what it takes, and counts none, shows no limit to ask for.
  const isFound = habits.maxRows >= HIGHEST_LIMIT || habits.namesParameters || isTold;
  const takes = habits.limit === 'taken' && isFound;
  const most = takes ? habits.maxRows : (habits.defaultRows ?? Number.POSITIVE_INFINITY);
  const areYearsHeeded = habits.years === 'taken' && habits.yearsNamed === 'included';
  if (lookup.route !== '/v1/data' || most === Number.POSITIVE_INFINITY || areYearsHeeded) return false;
  const keys = new Set(lookup.keys?.map((key) => spelled(habits, world, key)));
  const codes = new Set(lookup.codes);
  const series = new Map<string, RowFact[]>();
  for (const row of world.rows) {
    if (!codes.has(row.country) || !keys.has(row.metric)) continue;
    const pair = `${row.country} ${row.metric}`;
    series.set(pair, [...(series.get(pair) ?? []), row]);
  }
  return [...series.values()].some((rows) => {
    if (isTold ? rows.length <= most : !isSuspect(rows.length, most)) return false;
    const [newest] = latestRows([...rows], habits);
    if (lookup.mode === 'latest') return newest?.value === null;
    return lookup.mode !== 'figure' || newest?.value === null || newest?.place !== null;
  });
}

function isKnownKey(key: string, world: World, habits: Habits): boolean {
  const name = spelled(habits, world, key);
  return world.indicators.some((indicator) => indicator.key === name);
}

function isKnownCode(code: string, world: World): boolean {
  return world.countries.some((country) => country.code === code);
}

/** True if the look-up names something that the service refuses as malformed, rather than as not there. */
function isRefused({ codes = [], keys = [] }: Lookup, { world, habits }: Circumstances): boolean {
  return (
    (habits.unknownMetric.startsWith('422') && keys.some((key) => !isKnownKey(key, world, habits))) ||
    (habits.unknownCountry.startsWith('422') && codes.some((code) => !isKnownCode(code, world)))
  );
}

/** Sizes that the specification tells, and the gateway has to reckon with until it has seen the lists. */
const ALL_COUNTRIES = 54;
const ALL_INDICATORS = 207;

/**
 * A generous estimate: each call for a country, each list once, and figures by as many calls as their rows
 * make at the service's limit; by one a pair, if nothing tells the length of a series in advance.
 */
function isDear({ world, habits, lookups, mostCalls }: Circumstances): boolean {
  let calls = 20;
  let rows = 0;
  const catalogues = lookups.filter(({ route, keys }) => route === '/v1/indicators' && keys === undefined);
  const isOfEach = ({ route, keys = [] }: Lookup) =>
    route === '/v1/data' && keys.length >= world.indicators.length;
  // Figures to compare with are fetched beside those of each indicator, before it is known which of these there are.
  const ofEach = lookups.filter(isOfEach).map(({ path }) => `${path}.`);
  for (const { route, path, codes = [], keys = [], mode } of lookups) {
    if (route.includes('{')) calls += 1;
    if (route !== '/v1/data') continue;
    const countries = codes.length >= world.countries.length ? ALL_COUNTRIES : codes.length;
    const isOfAll =
      keys.length >= world.indicators.length ||
      catalogues.some((one) => path.startsWith(one.path)) ||
      ofEach.some((above) => path.startsWith(above));
    const indicators = isOfAll ? ALL_INDICATORS : keys.length;
    rows += countries * indicators * (mode === 'latest' || mode === 'figure' ? 2 : 100);
  }
  const most = habits.limit === 'taken' ? habits.maxRows : Math.min(100, habits.defaultRows ?? 100);
  // A filter that lets nothing through leaves no look-up below it, but is priced before that is known.
  for (const { path } of catalogues) {
    if (!lookups.some((one) => one.path.startsWith(`${path}.`))) rows += ALL_COUNTRIES * ALL_INDICATORS * 100;
  }
  for (const { path, route } of lookups) {
    if (route !== '/v1/markets/tickers' || lookups.some((one) => one.path.startsWith(`${path}.`))) continue;
    // A list without listings leaves no look-up below it either.
    calls += ALL_COUNTRIES;
  }
  // Of countries that are not named, the documented number is reckoned with until the list is known, and of which of them
  // tickers are, no list tells.
  const lists = lookups.filter(
    ({ route, codes }) =>
      (route === '/v1/countries' && codes === undefined) || route === '/v1/markets/tickers',
  );
  const records = lookups.filter(({ route }) => route.includes('{')).map(({ path }) => path);
  const ofAll = [...new Set(records)].filter((path) => lists.some((one) => path.startsWith(`${one.path}.`)));
  calls += ofAll.length * ALL_COUNTRIES;
  return calls + rows / most > mostCalls;
}
