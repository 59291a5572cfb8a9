import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { type Job, type Steps, taken, timeSliced, yieldToEventLoop } from '../../shared/async/turns.ts';
import { covering, coverWithin, expectedRows, STEP_PAIRS } from './cover.ts';
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
import { type Learned, mayNameYears } from './learned.ts';

/*
 * Latest figures and series can't share a call, but a series includes its latest figure, and its ranges of years. So
 * demands are grouped into what to ask for as latest, as whole series and within years, and each group is covered by
 * calls (`cover.ts`).
 */

/** Pairs that a call may ask for together. */
interface Group {
  readonly mode: Mode;
  /** Null for all years. */
  readonly years: YearRange | null;
  readonly pairs: readonly Pair[];
}

/** Groups whose calls answer all demands: a series stands for its latest figure, and for its ranges. */
type DemandPlan = readonly Group[];

function asLatest(pairs: readonly Pair[]): Group {
  return { mode: 'latest', years: null, pairs };
}

function asSeries(pairs: readonly Pair[], years: YearRange | null = null): Group {
  return { mode: 'series', years, pairs };
}

/** A group with the rows to plan its calls by. */
export interface PlanPart extends Group {
  readonly rowsOf: RowsOf;
}

/** The latest figure of a pair is one row. */
export const oneRow: RowsOf = () => 1;

/** Rows that a group's calls bring, as far as answers have shown. */
export function expectedOf({ mode, years }: Omit<Group, 'pairs'>, learned: Learned): RowsOf {
  return mode === 'latest' ? oneRow : learned.rowsWithin(years && widened(years));
}

function* counting(parts: readonly PlanPart[], limits: CoverLimits): Steps<Estimate> {
  let [calls, rows] = [0, 0];
  for (const { pairs, rowsOf } of parts)
    for (const rectangle of yield* covering(pairs, limits, rowsOf)) {
      calls += 1;
      rows += expectedRows(rectangle, rowsOf);
    }
  return { calls, rows };
}

/** Beyond this number of pairs, calls are estimated from rows alone, since covering them takes long. */
const MANY = 250;

function* countingCalls(part: PlanPart, limits: CoverLimits): Steps<number> {
  const { pairs, rowsOf } = part;
  return pairs.length > MANY ? leastCalls(part, limits) : (yield* covering(pairs, limits, rowsOf)).length;
}

/** By rows alone, of a pair as many as a call brings. */
function leastCalls({ pairs, rowsOf }: PlanPart, { maxRows }: CoverLimits): number {
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
function groupings(ranges: readonly RangeOfPair[], others: DemandPlan): readonly DemandPlan[] {
  const byName = Map.groupBy(ranges, ({ years }) => nameOfYears(years));
  const groupOf = (years: YearRange, some: readonly RangeOfPair[]) =>
    asSeries(
      some.map(({ pair }) => pair),
      years,
    );
  const apart = [...byName.values()].map((some) => groupOf((some[0] as RangeOfPair).years, some));
  const span = spanOf(ranges.map(({ years }) => years));
  const together = byName.size === 1 || span === null ? [] : [[groupOf(span, ranges)]];
  return [...together, apart].map((groups) => [...others, ...groups]);
}

/** Apart, or everything as series. */
function* choosingWhole(
  wanted: Pick<WantedPairs, 'latest' | 'series'>,
  planning: Planning,
): Steps<DemandPlan> {
  const series = [...wanted.series.values()];
  const latest = [...wanted.latest].flatMap(([key, pair]) => (wanted.series.has(key) ? [] : [pair]));
  const apart = [asLatest(latest), asSeries(series)].filter(({ pairs }) => pairs.length > 0);
  if (apart.length < 2) return apart;
  const together = [asSeries([...series, ...latest])];
  const partOf = (group: Group): PlanPart => ({ ...group, rowsOf: expectedOf(group, planning.learned) });
  const costApart = yield* counting(apart.map(partOf), limitsOf(planning));
  const costTogether = yield* counting(together.map(partOf), limitsOf(planning));
  const isCheaper = costTogether.calls < costApart.calls;
  return isCheaper && costTogether.rows - costApart.rows <= planning.overfetchRows ? together : apart;
}

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
 * Plans in steps, since thousands of demands take milliseconds each time. All become series if that takes fewer calls,
 * within the budget of unwanted rows. Ranges are asked for as such only if they take fewer calls than whole series,
 * which cache better.
 */
export function* planningModes(demands: readonly Demand[], planning: Planning): Steps<DemandPlan> {
  if (demands.every(({ mode }) => mode === 'latest')) return [asLatest(demands)];
  const { learned } = planning;
  const wanted = wantedOf(demands);
  const all = new Map(wanted.series);
  for (const [key, { pair }] of wanted.ranges) all.set(key, pair);
  const whole = yield* choosingWhole({ latest: wanted.latest, series: all }, planning);
  if (wanted.ranges.size === 0 || !mayNameYears(learned.facts())) return whole;

  const others = yield* choosingWhole(wanted, planning);
  const limits = limitsOf(planning);
  let [best, fewest] = [whole, Number.POSITIVE_INFINITY];
  for (const plan of [...groupings([...wanted.ranges.values()], others), whole]) {
    const parts = plan.map((group) => ({ ...group, rowsOf: expectedOf(group, learned) }));
    // Whole series may take as many. Long ones are expensive to count.
    const most = plan === whole ? fewest : fewest - 1;
    if (sum(parts.map((part) => leastCalls(part, limits))) > most) continue;
    let calls = 0;
    for (const part of parts) calls += yield* countingCalls(part, limits);
    if (calls <= most) [best, fewest] = [plan, calls];
  }
  return best;
}

const LONG_PLAN = 1_000;

/** Many demands are planned in turns of their own. Latest figures alone need no planning. */
export function planOf(
  job: Job,
  demands: readonly Demand[],
  planning: Planning,
): PromiseOrValue<readonly PlanPart[]> {
  if (demands.every(({ mode }) => mode === 'latest')) return [{ ...asLatest(demands), rowsOf: oneRow }];
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
  const plan = await timeSliced(job, planningModes(demands, planning));
  const byPair = new Map(
    plan.flatMap(({ pairs, years }) =>
      years === null ? [] : pairs.map((pair) => [keyOfPair(pair), years] as const),
    ),
  );
  return (demand) => {
    const years = byPair.get(keyOfPair(demand));
    return years !== undefined && demand.years !== null && covers(years, demand.years);
  };
}

function* planningParts(demands: readonly Demand[], planning: Planning): Steps<readonly PlanPart[]> {
  const plan = yield* planningModes(demands, planning);
  return plan.map((group) => ({ ...group, rowsOf: hopefulRows(group, planning.learned) }));
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
  return taken(counting(taken(planningParts(demands, planning)), limitsOf(planning)));
}

/** Often decided early, by rows or by a single call. */
export function fitsWithin(most: Estimate, demands: readonly Demand[], planning: Planning): boolean {
  const limits = limitsOf(planning);
  let [calls, rows] = [0, 0];
  for (const { pairs, rowsOf } of taken(planningParts(demands, planning))) {
    const ownRows = sum(pairs.map(({ countryCode, metricKey }) => rowsOf(countryCode, metricKey)));
    if (rows + ownRows > most.rows) return false;
    const rectangles = coverWithin(most.calls - calls, pairs, limits, rowsOf);
    if (rectangles === null) return false;
    calls += rectangles.length;
    rows += sum(rectangles.map((rectangle) => expectedRows(rectangle, rowsOf)));
  }
  return rows <= most.rows;
}

/**
 * Rows to plan series by. The first call asks for all series of unknown length: the total then tells how many calls
 * the rest takes, and the rows that came are kept, so it takes as many calls as with known lengths. Only without
 * totals is a guess needed.
 */
function hopefulRows(group: Group, learned: Learned): RowsOf {
  const { mode, years, pairs } = group;
  const rowsOf = expectedOf(group, learned);
  if (mode === 'latest' || learned.facts().totals === 'untold') return rowsOf;
  const keys = new Set(pairs.map(keyOfPair));
  const asked = years && widened(years);
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !learned.hasRowsWithin(code, metric, asked) ? 1 : rowsOf(code, metric);
}

/** For whole series in place of some years. */
export function inWhole(
  pairs: readonly Pair[],
  { learned }: Planning,
): { readonly years: null; readonly rowsOf: RowsOf } {
  return { years: null, rowsOf: hopefulRows(asSeries(pairs), learned) };
}
