import {
  type Job,
  type PromiseOrValue,
  type Steps,
  taken,
  timeSliced,
  yieldToEventLoop,
} from '../../shared/async/turns.ts';
import {
  covers,
  type Demand,
  keyOf,
  type Mode,
  nameOfYears,
  type Pair,
  pairKey,
  pairsOf,
  type Rectangle,
  type RowsOf,
  spanOf,
  widened,
  type YearRange,
} from './demand.ts';
import { type Facts, type Learned, mayNameYears } from './learned.ts';
import { type CoverLimits, tiled } from './tiling.ts';

/*
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

/**
 * Rectangles that hold each of the pairs, as few as we can find, each within the limits. A pair that exceeds them
 * alone gets a rectangle of its own. Codes and keys are compared as they are; the order of the pairs makes no
 * difference.
 */
export function cover(pairs: readonly Pair[], limits: CoverLimits, rowsOf: RowsOf): readonly Rectangle[] {
  return taken(covering(pairs, limits, rowsOf));
}

const STEP_PAIRS = 512;

/** Covers as {@link cover} does; null if it takes more calls than these. One call that can't do is told at once. */
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

interface ModePlan {
  /** Pairs to ask for with `latest=true`. */
  readonly latest: readonly Pair[];
  /** Pairs to ask for whole; the latest figure of any of them, and any range of years, is taken from its series. */
  readonly series: readonly Pair[];
  /** Pairs to ask for within some years alone. */
  readonly ranges: readonly RangePlan[];
}

/** Pairs that calls for one range of years bring. */
interface RangePlan {
  readonly years: YearRange;
  readonly pairs: readonly Pair[];
}

interface ModeLimits extends CoverLimits {
  /** Rows beyond those of separate calls that a merged plan may bring. */
  readonly overfetchRows: number;
}

/** Ranges beyond which calls are judged by their rows alone. */
const MANY = 250;

/** Share of the rows of whole series below which that many ranges are taken to save calls. */
const WORTHWHILE_SHARE = 0.9;

/** Expected rows of a series that a call for a range of years brings; null if the service takes no years. */
type RowsWithin = ((years: YearRange) => RowsOf) | null;

/** Calls for so many rows, at the least. */
function callsFor(rows: number, { maxRows }: ModeLimits): number {
  return Math.ceil(rows / maxRows);
}

/** Rows of pairs, each of which fits a call. */
function rowsOf(pairs: readonly Pair[], rows: RowsOf, { maxRows }: ModeLimits): number {
  return sum(pairs.map(({ countryCode, metricKey }) => Math.min(maxRows, rows(countryCode, metricKey))));
}

/** Plans many ranges by their rows alone, since to cover them takes long; null if whole series bring about as few. */
function chooseByRows(
  ranges: readonly RangeOfPair[],
  alternative: ModePlan,
  limits: ModeLimits,
  { seriesRows, rowsWithin }: { seriesRows: RowsOf; rowsWithin: NonNullable<RowsWithin> },
): ModePlan | null {
  const wholeRows = rowsOf(
    ranges.map(({ pair }) => pair),
    seriesRows,
    limits,
  );
  let best: ModePlan | null = null;
  let bestCalls = callsFor(wholeRows * WORTHWHILE_SHARE, limits);
  for (const grouped of groupings(ranges)) {
    const calls = sum(
      grouped.map(({ years, pairs }) => callsFor(rowsOf(pairs, rowsWithin(years), limits), limits)),
    );
    if (calls < bestCalls) [best, bestCalls] = [{ ...alternative, ranges: grouped }, calls];
  }
  return best;
}

/** Demands by pairs. A pair whose whole series is demanded stands there alone: it answers its other demands. */
interface WantedPairs {
  readonly latest: ReadonlyMap<string, Pair>;
  readonly series: ReadonlyMap<string, Pair>;
  readonly ranges: ReadonlyMap<string, RangeOfPair>;
}

interface RangeOfPair {
  readonly pair: Pair;
  readonly years: YearRange;
}

function wantedOf(demands: readonly Demand[]): WantedPairs {
  const series = new Map<string, Pair>();
  for (const demand of demands) {
    if (demand.mode === 'series' && demand.years === null) series.set(keyOf(demand), demand);
  }
  const ranges = new Map<string, RangeOfPair>();
  for (const demand of demands) {
    const { years } = demand;
    const key = keyOf(demand);
    if (years === null || series.has(key)) continue;
    const range = ranges.get(key);
    const span = range === undefined ? years : spanOf([range.years, years]);
    if (span !== null) {
      ranges.set(key, { pair: demand, years: span });
    } else {
      // Ranges that together are every year: the whole series.
      ranges.delete(key);
      series.set(key, demand);
    }
  }
  const latest = new Map<string, Pair>();
  for (const demand of demands) {
    const key = keyOf(demand);
    if (demand.mode === 'latest' && !series.has(key)) latest.set(key, demand);
  }
  return { latest, series, ranges };
}

/** Ways to ask for ranges: all by the span of them, so that they share calls, and each by itself. */
function groupings(ranges: readonly RangeOfPair[]): RangePlan[][] {
  const byName = Map.groupBy(ranges, ({ years }) => nameOfYears(years));
  const planOf = (years: YearRange, some: readonly RangeOfPair[]) => ({
    years,
    pairs: some.map(({ pair }) => pair),
  });
  const apart = [...byName.values()].map((some) => planOf((some[0] as RangeOfPair).years, some));
  const span = spanOf(ranges.map(({ years }) => years));
  return byName.size === 1 || span === null ? [apart] : [[planOf(span, ranges)], apart];
}

/** Latest figures and whole series: apart, or as series all of them. */
function* choosingWhole(
  wanted: { readonly latest: ReadonlyMap<string, Pair>; readonly series: ReadonlyMap<string, Pair> },
  limits: ModeLimits,
  seriesRows: RowsOf,
): Steps<ModePlan> {
  const series = [...wanted.series.values()];
  const latest = [...wanted.latest].flatMap(([key, pair]) => (wanted.series.has(key) ? [] : [pair]));
  const apart: ModePlan = { latest, series, ranges: [] };
  if (latest.length === 0 || series.length === 0) return apart;

  const together: ModePlan = { latest: [], series: [...series, ...latest], ranges: [] };
  const latestCover = yield* covering(apart.latest, limits, oneRow);
  const seriesCover = yield* covering(apart.series, limits, seriesRows);
  const togetherCover = yield* covering(together.series, limits, seriesRows);
  const rowsApart =
    sum(latestCover.map((r) => expectedRows(r, oneRow))) +
    sum(seriesCover.map((r) => expectedRows(r, seriesRows)));
  const rowsTogether = sum(togetherCover.map((r) => expectedRows(r, seriesRows)));
  const isCheaper = togetherCover.length < latestCover.length + seriesCover.length;
  return isCheaper && rowsTogether - rowsApart <= limits.overfetchRows ? together : apart;
}

function* countingCalls(
  plan: ModePlan,
  limits: CoverLimits,
  seriesRows: RowsOf,
  rowsWithin: NonNullable<RowsWithin>,
): Steps<number> {
  let calls = 0;
  for (const { pairs, rowsOf } of partsOf(plan, () => seriesRows, rowsWithin)) {
    calls += (yield* covering(pairs, limits, rowsOf)).length;
  }
  return calls;
}

/** Pairs of a plan that are asked for together. */
export interface PlanPart {
  readonly mode: Mode;
  /** The years of series to ask for, as long as the service takes any; null for all of them. */
  readonly years: YearRange | null;
  readonly pairs: readonly Pair[];
  /** Rows that each pair is expected to have. */
  readonly rowsOf: RowsOf;
}

/** The calls that a plan asks for: one part for each mode and range of years, none of them empty. */
function partsOf(
  { latest, series, ranges }: ModePlan,
  seriesRows: (pairs: readonly Pair[]) => RowsOf,
  rowsWithin: (years: YearRange, pairs: readonly Pair[]) => RowsOf,
): PlanPart[] {
  const parts: PlanPart[] = [];
  if (latest.length > 0) parts.push({ mode: 'latest', years: null, pairs: latest, rowsOf: oneRow });
  if (series.length > 0) {
    parts.push({ mode: 'series', years: null, pairs: series, rowsOf: seriesRows(series) });
  }
  for (const { years, pairs } of ranges) {
    parts.push({ mode: 'series', years, pairs, rowsOf: rowsWithin(years, pairs) });
  }
  return parts;
}

/** The latest figure of a pair is one row. */
export const oneRow: RowsOf = () => 1;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

interface CallBounds {
  readonly learned: Learned;
  readonly codesPerCall: number;
}

export interface Planning extends CallBounds {
  readonly overfetchRows: number;
}

/** Characters of codes and keys in one address; servers and proxies take 8,000 and more. */
const MAX_ADDRESS = 6_000;

export function limitsOf({ learned, codesPerCall }: CallBounds): CoverLimits {
  return { maxRows: learned.facts().maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
}

/**
 * Plans which demands to ask for as latest, as series, and within some years, in steps: for thousands of demands, each
 * step takes milliseconds. Latest figures and series cannot share a call, but a series holds its latest figure. Asks for
 * everything as series if that takes fewer calls and brings no more unwanted rows than the budget allows.
 *
 * Asks for a range of years as such if that takes fewer calls than whole series: whole ones are better to hold.
 */
export function* planningModes(demands: readonly Demand[], planning: Planning): Steps<ModePlan> {
  if (demands.every(({ mode }) => mode === 'latest')) return { latest: demands, series: [], ranges: [] };
  const { learned } = planning;
  const { seriesRows } = learned;
  const limits = { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
  const rowsWithin: RowsWithin = mayNameYears(learned.facts())
    ? (years) => learned.rowsWithin(widened(years))
    : null;
  const wanted = wantedOf(demands);
  const all = new Map([
    ...wanted.series,
    ...[...wanted.ranges].map(([key, { pair }]) => [key, pair] as const),
  ]);
  const whole = yield* choosingWhole({ latest: wanted.latest, series: all }, limits, seriesRows);
  if (rowsWithin === null || wanted.ranges.size === 0) return whole;

  const alternative = yield* choosingWhole(wanted, limits, seriesRows);
  const ranges = [...wanted.ranges.values()];
  if (ranges.length > MANY) {
    const choice = chooseByRows(ranges, alternative, limits, { seriesRows, rowsWithin });
    return choice ?? whole;
  }
  const counting = (plan: ModePlan) => countingCalls(plan, limits, seriesRows, rowsWithin);
  // Ranges that fit one call beat whole series that don't: the calls that those take are no matter then, and dear to tell.
  const isWholeLong = callsFor(rowsOf(whole.series, seriesRows, limits), limits) > 1;
  if (!isWholeLong && (yield* counting(whole)) === 1) return whole;
  const plans: [ModePlan, number][] = [];
  for (const grouped of groupings(ranges)) {
    const plan = { ...alternative, ranges: grouped };
    const calls = yield* counting(plan);
    if (calls === 1) return plan;
    plans.push([plan, calls]);
  }
  let [best, bestCalls] = [whole, yield* counting(whole)];
  for (const [plan, calls] of plans) if (calls < bestCalls) [best, bestCalls] = [plan, calls];
  return best;
}

/** Demands that take milliseconds to plan. */
const LONG_PLAN = 1_000;

/** Plans demands, many of them in turns that are shared with nothing else. Latest figures alone need no planning. */
export function planOf(
  job: Job,
  demands: readonly Demand[],
  planning: Planning,
): PromiseOrValue<readonly PlanPart[]> {
  if (demands.every(({ mode }) => mode === 'latest'))
    return [{ mode: 'latest', years: null, pairs: demands, rowsOf: oneRow }];
  const plan = () => timeSliced(job, planningParts(demands, planning));
  return demands.length > LONG_PLAN ? betweenTurns(job, plan) : plan();
}

async function betweenTurns<Value>(job: Job, work: () => PromiseOrValue<Value>): Promise<Value> {
  await yieldToEventLoop(job);
  const value = await work();
  await yieldToEventLoop(job);
  return value;
}

/** Plans demands in turns, and tells which of them are better asked for within their years alone. */
export async function rangesOf(
  job: Job,
  demands: readonly Demand[],
  planning: Planning,
): Promise<(demand: Demand) => boolean> {
  if (demands.every(({ years }) => years === null)) return () => false;
  const { ranges } = await timeSliced(job, planningModes(demands, planning));
  const byPair = new Map(ranges.flatMap(({ pairs, years }) => pairs.map((pair) => [keyOf(pair), years])));
  return (demand) => {
    const years = byPair.get(keyOf(demand));
    return years !== undefined && demand.years !== null && covers(years, demand.years);
  };
}

function* planningParts(demands: readonly Demand[], planning: Planning): Steps<readonly PlanPart[]> {
  const { learned } = planning;
  return partsOf(
    yield* planningModes(demands, planning),
    (pairs) => hopefulRows(pairs, learned),
    (years, pairs) => hopefulRowsWithin(years, pairs, learned),
  );
}

/** A rectangle, and the pairs that it answers. */
interface Share {
  readonly rectangle: Rectangle;
  readonly pairs: readonly Pair[];
}

/** Covers pairs in turns, and gives each to the first rectangle that holds it. */
export function sharesOf(
  job: Job,
  pairs: readonly Pair[],
  planning: Planning,
  rowsOf: RowsOf,
): PromiseOrValue<readonly Share[]> {
  return timeSliced(job, sharing(pairs, covering(pairs, limitsOf(planning), rowsOf)));
}

function* sharing(pairs: readonly Pair[], covering: Steps<readonly Rectangle[]>): Steps<readonly Share[]> {
  const rectangles = yield* covering;
  if (rectangles.length === 1) return rectangles.map((rectangle) => ({ rectangle, pairs }));
  const left = new Map<string, Pair>();
  for (const [index, pair] of pairs.entries()) {
    left.set(keyOf(pair), pair);
    if (index % STEP_PAIRS === STEP_PAIRS - 1) yield;
  }
  const shares: Share[] = [];
  for (const rectangle of rectangles) {
    const pairs: Pair[] = [];
    for (const { countryCode, metricKey } of pairsOf(rectangle)) {
      const key = pairKey(countryCode, metricKey);
      const pair = left.get(key);
      if (pair === undefined) continue;
      pairs.push(pair);
      left.delete(key);
    }
    shares.push({ rectangle, pairs });
    yield;
  }
  return shares;
}

/** Calls and rows that demands are planned to take. An answer that is cut short, or refused, takes more. */
interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const limits = limitsOf(planning);
  const parts = taken(planningParts(demands, planning));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of parts) add(total, cover(pairs, limits, rowsOf), rowsOf);
  return total;
}

/** True if demands are planned to take no more than this, which their rows or one call often tell at once. */
export function fitsWithin(most: Estimate, demands: readonly Demand[], planning: Planning): boolean {
  const limits = limitsOf(planning);
  const parts = taken(planningParts(demands, planning));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of parts) {
    const ownRows = sum(pairs.map(({ countryCode, metricKey }) => rowsOf(countryCode, metricKey)));
    if (total.rows + ownRows > most.rows) return false;
    const rectangles = coverWithin(most.calls - total.calls, pairs, limits, rowsOf);
    if (rectangles === null) return false;
    add(total, rectangles, rowsOf);
  }
  return total.rows <= most.rows;
}

function add(
  total: { -readonly [Part in keyof Estimate]: number },
  rectangles: readonly Rectangle[],
  rowsOf: RowsOf,
): void {
  total.calls += rectangles.length;
  for (const rectangle of rectangles) total.rows += expectedRows(rectangle, rowsOf);
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all of them: the service's total then
 * tells how many calls the rest takes, and the rows that came are kept. That is as many calls as if the lengths had
 * been known, while a guess is paid for either way. A guess is needed only if the service gives no totals.
 */
function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  return hopeful(wanted, learned.facts(), learned.seriesRows, learned.hasSeriesRows);
}

/** The years and rows to plan by if whole series are asked for in place of some years. */
export function inWhole(
  pairs: readonly Pair[],
  { learned }: Planning,
): { readonly years: null; readonly rowsOf: RowsOf } {
  return { years: null, rowsOf: hopefulRows(pairs, learned) };
}

function hopefulRowsWithin(years: YearRange, wanted: readonly Pair[], learned: Learned): RowsOf {
  const asked = widened(years);
  return hopeful(wanted, learned.facts(), learned.rowsWithin(asked), (c, m) =>
    learned.hasRowsWithin(c, m, asked),
  );
}

function hopeful(
  wanted: readonly Pair[],
  { totals }: Readonly<Facts>,
  expected: RowsOf,
  knows: (countryCode: string, metricKey: string) => boolean,
): RowsOf {
  if (totals === 'untold') return expected;
  const keys = new Set(wanted.map(keyOf));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !knows(code, metric) ? 1 : expected(code, metric);
}
