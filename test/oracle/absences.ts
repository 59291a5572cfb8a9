import type { Dice } from './dice.ts';
import type { GivenError } from './excuses.ts';
import type { Truth } from './reference.ts';
import type { World } from './world.ts';

/** Fields that are a figure, or a list of figures. */
const OF_FIGURES: ReadonlySet<string> = new Set([
  'Country.observation',
  'Country.observations',
  'Indicator.observation',
  'Indicator.observations',
  'Query.observations',
]);

/** Draws a question for figures that there are hardly any of: of pairs without, and of years before and after all. */
export function absentQuestion({ countries, indicators, rows }: World, dice: Dice): string {
  const pairs = Map.groupBy(rows, ({ country, metric }) => `${country} ${metric}`);
  const all = countries.flatMap(({ code }) => indicators.map(({ key }) => [code, key] as const));
  const rowsOf = ([code, key]: readonly [string, string]) => pairs.get(`${code} ${key}`) ?? [];
  const isEmpty = (pair: readonly [string, string]) => rowsOf(pair).every(({ value }) => value === null);
  const drawn = [...dice.some(all.filter(isEmpty), 3), ...dice.some(all, 2)];
  const fields = drawn.map(([code, key], i) => {
    const years = rowsOf([code, key]).map(({ year }) => year);
    const list = (name: string, further: string) =>
      `${name}: observations(metricKeys: ["${key}"]${further}) { year value }`;
    return `c${i}: country(code: "${code}") { code
      figure: observation(metricKey: "${key}") { value }
      ${list('series', '')} ${list('national', ', latest: true, scope: NATIONAL')}
      ${list('before', `, toYear: ${Math.min(2025, ...years) - 1}`)}
      ${list('after', `, fromYear: ${Math.max(1990, ...years) + 1}`)} }`;
  });
  const { key } = dice.pick(indicators);
  const { code } = dice.pick(countries);
  return `{ ${fields.join(' ')}
    nobody: observations(countryCodes: ["ZZ"], metricKeys: ["${key}"]) { value }
    nothing: observations(countryCodes: ["${code}"], metricKeys: ["no_such_metric"]) { value } }`;
}

type Path = readonly (string | number)[];

interface Told {
  readonly path: Path;
  readonly reason: string;
}

interface Reply {
  readonly data: unknown;
  readonly errors: readonly GivenError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/**
 * Tells what is wrong with the absences of an answer that was asked for them: reasons that aren't true, places where
 * something is, and figures that are missing without a word.
 */
export function wrongAbsences({ fields, lookups }: Truth, { data, errors, extensions }: Reply): string[] {
  const told = (extensions?.absences ?? []) as readonly Told[];
  const wrong = told.flatMap(({ path, reason }) => {
    const here = `${reason} at ${path.join('.')}`;
    const value = valueAt(data, path);
    if (value !== null && !(Array.isArray(value) && value.length === 0))
      return [`${here}: there is something`];
    const names = namesOf(path);
    if (reason === 'REFUSED' || reason === 'NOT_HELD')
      return errors.some((error) => isAt(error, path)) ? [] : [`${here}: no error`];
    if (fields.get(names) === 'Query.indicator') return reason === 'UNKNOWN_INDICATOR' ? [] : [here];
    const isTrue = lookups.some((lookup) => lookup.path === names && lookup.reasons?.has(reason));
    return isTrue ? [] : [`${here} is not true`];
  });
  const places = new Set(told.map(({ path }) => path.join('.')));
  for (const path of emptyIn(data, fields))
    if (!places.has(path.join('.')) && !errors.some((error) => isAbove(error, path)) && isAsked(path))
      wrong.push(`nothing at ${path.join('.')}`);
  return wrong;

  /** True if any figure was asked for there. */
  function isAsked(path: Path): boolean {
    const here = lookups.filter((lookup) => lookup.path === namesOf(path) && lookup.reasons !== undefined);
    return here.length > 0 && here.every(({ codes = [], keys = [] }) => codes.length > 0 && keys.length > 0);
  }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[step] : undefined,
    value,
  );
}

/** Paths of figures that are null, and of lists of them that are empty. */
function* emptyIn(value: unknown, fields: Truth['fields'], path: Path = []): Iterable<Path> {
  const isFigure = typeof path.at(-1) === 'string' && OF_FIGURES.has(fields.get(namesOf(path)) ?? '');
  if (isFigure && (value === null || (Array.isArray(value) && value.length === 0))) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value))
    yield* emptyIn(item, fields, [...path, Array.isArray(value) ? Number(name) : name]);
}

function namesOf(path: Path): string {
  return path.filter((part) => typeof part === 'string').join('.');
}

const isAt = ({ path = [] }: GivenError, other: Path) => path.join('.') === other.join('.');

/** True if an error stands at a place, or above it. */
const isAbove = ({ path = [] }: GivenError, other: Path) =>
  path.length <= other.length && path.every((part, i) => part === other[i]);
