/**
 * Finds the fewest calls for the demanded figures.
 *
 * The service's data route takes a list of countries and a list of metrics, and brings every figure of that rectangle.
 * So a call may bring figures that nobody asked for, as long as that saves another call. Each way to cover the demanded
 * pairs with rectangles comes down to a tiling: give each pair to one of the rectangles that hold it, and shrink each
 * rectangle to the pairs it was given. It is therefore enough to part the pairs (`tiling.ts`) such that the smallest
 * rectangle around each part fits a call (`tiling.ts`).
 *
 * Up to a dozen pairs the number of calls is the least there is. Beyond, it is never more than by naming all metrics
 * for some countries at a time, or all countries for some metrics, and mostly near to the number that the rows alone
 * require.
 */
import { type Steps, taken } from '../async/turns.ts';
import { type CoverLimits, tiled } from './tiling.ts';

export type { CoverLimits };

export interface Pair {
  readonly countryCode: string;
  readonly metricKey: string;
  /** The pair's key as `keyOf` returns it, if it is at hand. */
  readonly pairKey?: string;
}

/** One call of the data route. */
export interface Rectangle {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
}

/**
 * Expected rows of a pair, also of one that nobody demands but that a rectangle would bring along. A finite whole
 * number, not negative. Asked once for each country and metric that the demands name.
 */
export type RowsOf = (countryCode: string, metricKey: string) => number;

/**
 * Rectangles that hold each of the pairs, as few as we can find, each within the limits. A pair that exceeds them
 * alone gets a rectangle of its own. Codes and keys are compared as they are; the order of the pairs makes no
 * difference.
 */
export function cover(pairs: readonly Pair[], limits: CoverLimits, rowsOf: RowsOf): readonly Rectangle[] {
  return taken(covering(pairs, limits, rowsOf));
}

/** Pairs that are marked in one step. */
const STEP_PAIRS = 512;

/**
 * Covers as {@link cover} does; null if it takes more calls than these. If one call is the most and can't do, that is
 * told without parting anything.
 */
export function coverWithin(
  mostCalls: number,
  pairs: readonly Pair[],
  limits: CoverLimits,
  rowsOf: RowsOf,
): readonly Rectangle[] | null {
  const { countryCodes, metricKeys } = smallestAround(pairs);
  // A pair that exceeds the limits alone still gets its call.
  const isOne = countryCodes.length * metricKeys.length <= 1;
  if (mostCalls <= 1 && !isOne && !fitsCall({ countryCodes, metricKeys }, limits, rowsOf)) return null;
  const rectangles = cover(pairs, limits, rowsOf);
  return rectangles.length <= mostCalls ? rectangles : null;
}

/** Covers as {@link cover} does, in steps, since thousands of pairs take long. */
export function* covering(
  pairs: readonly Pair[],
  limits: CoverLimits,
  rowsOf: RowsOf,
): Steps<readonly Rectangle[]> {
  const whole = smallestAround(pairs);
  const { countryCodes, metricKeys } = whole;
  // With more names than rows, the names alone take long to add up: in steps, then.
  if (countryCodes.length * metricKeys.length <= limits.maxRows && fitsCall(whole, limits, rowsOf)) {
    return pairs.length === 0 ? [] : [whole];
  }
  yield;
  const lineOf = indexesOf(countryCodes);
  const columnOf = indexesOf(metricKeys);
  const cells: number[] = [];
  for (const { countryCode, metricKey } of pairs) {
    cells.push(lineOf(countryCode) * metricKeys.length + columnOf(metricKey));
    if (cells.length % STEP_PAIRS === 0) yield;
  }
  const parts = yield* tiled(countryCodes, metricKeys, limits, rowsOf, cells);
  return parts.map(({ lines, columns }) => ({
    countryCodes: chosen(countryCodes, lines),
    metricKeys: chosen(metricKeys, columns),
  }));
}

function smallestAround(pairs: readonly Pair[]): Rectangle {
  const codes = new Set<string>();
  const keys = new Set<string>();
  for (const { countryCode, metricKey } of pairs) {
    codes.add(countryCode);
    keys.add(metricKey);
  }
  return { countryCodes: [...codes].sort(), metricKeys: [...keys].sort() };
}

/** True if one call may bring the rectangle: as `enclose` tells of all cells, without a grid. */
function fitsCall(
  rectangle: Rectangle,
  { maxRows, maxCodes, maxAddress }: CoverLimits,
  rowsOf: RowsOf,
): boolean {
  const { countryCodes, metricKeys } = rectangle;
  if (countryCodes.length > maxCodes || metricKeys.length > maxCodes) return false;
  return (
    addressLength(countryCodes) + addressLength(metricKeys) <= maxAddress &&
    expectedRows(rectangle, rowsOf, maxRows) <= maxRows
  );
}

/** Characters of a list of names in an address. */
function addressLength(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + name.length, Math.max(0, names.length - 1));
}

function indexesOf(names: readonly string[]): (name: string) => number {
  const indexes = new Map(names.map((name, index) => [name, index]));
  return (name) => {
    const index = indexes.get(name);
    if (index === undefined) throw new RangeError(`${name} is in none of the pairs.`);
    return index;
  };
}

function chosen(names: readonly string[], indexes: readonly number[]): readonly string[] {
  return indexes.flatMap((index) => names[index] ?? []);
}

/** Rows that a call for the rectangle is expected to bring; beyond `most` they aren't added up any further. */
export function expectedRows(
  { countryCodes, metricKeys }: Rectangle,
  rowsOf: RowsOf,
  most = Infinity,
): number {
  let rows = 0;
  for (const countryCode of countryCodes) {
    for (const metricKey of metricKeys) rows += rowsOf(countryCode, metricKey);
    if (rows > most) break;
  }
  return rows;
}
