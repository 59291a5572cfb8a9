import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { type Job, type Steps, taken, timeSliced, yieldToEventLoop } from '../../shared/async/turns.ts';
import { cover, covering, coverWithin, expectedRows } from './cover.ts';
import {
  covers,
  type Demand,
  keyOfPair,
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
import type { CoverLimits } from './grid.ts';
import { type Facts, type Learned, mayNameYears } from './learned.ts';

/*
 * Latest figures and series can't share a call, but a series includes its latest figure, and its ranges of years. So
 * demands are grouped into what to ask for as latest, as whole series and within years, and each group is covered by
 * calls (`cover.ts`).
 */

interface ModePlan {
  /** Pairs to ask for with `latest=true`. */
  readonly latest: readonly Pair[];
  /** Asked for whole: their latest figures and ranges are taken from the series. */
  readonly series: readonly Pair[];
  readonly ranges: readonly RangePlan[];
}

interface RangePlan {
  readonly years: YearRange;
  readonly pairs: readonly Pair[];
}

interface ModeLimits extends CoverLimits {
  /** Rows that a merged plan may bring beyond those of separate calls. */
  readonly overfetchRows: number;
}

/** Beyond this number of pairs, calls are estimated from rows alone, since covering them takes long. */
const MANY = 250;

function* countingCalls({ pairs, rowsOf }: PlanPart, limits: CoverLimits): Steps<number> {
  if (pairs.length > MANY) return leastCalls({ pairs, rowsOf }, limits);
  return (yield* covering(pairs, limits, rowsOf)).length;
}

/** By rows alone, of a pair as many as a call brings. */
function leastCalls({ pairs, rowsOf }: Pick<PlanPart, 'pairs' | 'rowsOf'>, { maxRows }: CoverLimits): number {
  const rows = pairs.map(({ countryCode, metricKey }) => Math.min(maxRows, rowsOf(countryCode, metricKey)));
  return Math.ceil(sum(rows) / maxRows);
}

/** A pair whose whole series is demanded is only in `series`, which answers its other demands. */
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
    if (demand.mode === 'series' && demand.years === null) series.set(keyOfPair(demand), demand);
  }
  const ranges = new Map<string, RangeOfPair>();
  for (const demand of demands) {
    const { years } = demand;
    const key = keyOfPair(demand);
    if (years === null || series.has(key)) continue;
    const range = ranges.get(key);
    const span = range === undefined ? years : spanOf([range.years, years]);
    if (span !== null) {
      ranges.set(key, { pair: demand, years: span });
    } else {
      // Together the ranges are every year.
      ranges.delete(key);
      series.set(key, demand);
    }
  }
  const latest = new Map<string, Pair>();
  for (const demand of demands) {
    const key = keyOfPair(demand);
    if (demand.mode === 'latest' && !series.has(key)) latest.set(key, demand);
  }
  return { latest, series, ranges };
}

/** All ranges by their common span, so that they share calls, or each by itself. */
function groupings(ranges: readonly RangeOfPair[], others: ModePlan): readonly ModePlan[] {
  const byName = Map.groupBy(ranges, ({ years }) => nameOfYears(years));
  const planOf = (years: YearRange, some: readonly RangeOfPair[]) => ({
    years,
    pairs: some.map(({ pair }) => pair),
  });
  const apart = [...byName.values()].map((some) => planOf((some[0] as RangeOfPair).years, some));
  const span = spanOf(ranges.map(({ years }) => years));
  const together = byName.size === 1 || span === null ? [] : [[planOf(span, ranges)]];
  return [...together, apart].map((grouped) => ({ ...others, ranges: grouped }));
}

/** Apart, or everything as series. */
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

export interface PlanPart {
  readonly mode: Mode;
  /** Null for all years. */
  readonly years: YearRange | null;
  readonly pairs: readonly Pair[];
  readonly rowsOf: RowsOf;
}

/** One part for each mode and range of years, none of them empty. */
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

export interface Planning {
  readonly learned: Learned;
  readonly codesPerCall: number;
  readonly overfetchRows: number;
}

/** Length of names in one address; servers and proxies take 8,000 characters and more. */
const MAX_ADDRESS = 6_000;

export function limitsOf({ learned, codesPerCall }: Planning): CoverLimits {
  return { maxRows: learned.facts().maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
}

/**
 * Plans which demands to ask for as latest, as series, or within some years, in steps: for thousands of demands each
 * takes milliseconds. Latest figures and series can't share a call, but a series includes its latest figure: all
 * become series if that takes fewer calls, within the budget of unwanted rows. Ranges are asked for as such only if
 * they take fewer calls than whole series, which cache better.
 */
export function* planningModes(demands: readonly Demand[], planning: Planning): Steps<ModePlan> {
  if (demands.every(({ mode }) => mode === 'latest')) return { latest: demands, series: [], ranges: [] };
  const { learned } = planning;
  const { seriesRows } = learned;
  const limits = { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
  const wanted = wantedOf(demands);
  const all = new Map(wanted.series);
  for (const [key, { pair }] of wanted.ranges) all.set(key, pair);
  const whole = yield* choosingWhole({ latest: wanted.latest, series: all }, limits, seriesRows);
  if (wanted.ranges.size === 0 || !mayNameYears(learned.facts())) return whole;

  const alternative = yield* choosingWhole(wanted, limits, seriesRows);
  const rowsWithin = (years: YearRange) => learned.rowsWithin(widened(years));
  let [best, fewest] = [whole, Number.POSITIVE_INFINITY];
  for (const plan of [...groupings([...wanted.ranges.values()], alternative), whole]) {
    const parts = partsOf(plan, () => seriesRows, rowsWithin);
    // Whole series may take as many. Long ones are expensive to count.
    const most = plan === whole ? fewest : fewest - 1;
    if (sum(parts.map((part) => leastCalls(part, limits))) > most) continue;
    let calls = 0;
    for (const part of parts) calls += yield* countingCalls(part, limits);
    if (calls <= most) [best, fewest] = [plan, calls];
  }
  return best;
}

/** Pairs that are shared out in one step. */
const STEP_PAIRS = 512;

const LONG_PLAN = 1_000;

/** Many demands are planned in turns of their own. Latest figures alone need no planning. */
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

/** Tells which demands are better asked for by their years alone. */
export async function rangesOf(
  job: Job,
  demands: readonly Demand[],
  planning: Planning,
): Promise<(demand: Demand) => boolean> {
  if (demands.every(({ years }) => years === null)) return () => false;
  const { ranges } = await timeSliced(job, planningModes(demands, planning));
  const byPair = new Map(ranges.flatMap(({ pairs, years }) => pairs.map((pair) => [keyOfPair(pair), years])));
  return (demand) => {
    const years = byPair.get(keyOfPair(demand));
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

interface Share {
  readonly rectangle: Rectangle;
  readonly pairs: readonly Pair[];
}

/** Gives each pair to the first rectangle that holds it. */
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
    left.set(keyOfPair(pair), pair);
    if (index % STEP_PAIRS === STEP_PAIRS - 1) yield;
  }
  const shares: Share[] = [];
  for (const rectangle of rectangles) {
    const pairs: Pair[] = [];
    for (const cell of pairsOf(rectangle)) {
      const key = keyOfPair(cell);
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

/** Of a plan; answers that are cut or refused take more. */
interface Estimate {
  readonly calls: number;
  readonly rows: number;
}

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const limits = limitsOf(planning);
  const parts = taken(planningParts(demands, planning));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of parts) add(total, cover(pairs, limits, rowsOf), rowsOf);
  return total;
}

/** Often decided early, by rows or by a single call. */
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
 * Rows to plan series by. The first call asks for all series of unknown length: the total then tells how many calls
 * the rest takes, and the rows that came are kept, so it takes as many calls as with known lengths. Only without
 * totals is a guess needed.
 */
function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  return hopeful(wanted, learned.facts(), learned.seriesRows, learned.hasSeriesRows);
}

/** For whole series in place of some years. */
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
  const keys = new Set(wanted.map(keyOfPair));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !knows(code, metric) ? 1 : expected(code, metric);
}
