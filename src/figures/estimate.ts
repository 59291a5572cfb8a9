import { type PromiseOrValue, type Steps, taken } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import {
  type CoverLimits,
  cover,
  coverWithin,
  expectedRows,
  type Pair,
  type Rectangle,
  type RowsOf,
} from '../plan/cover.ts';
import { type Demand, keyOf, type Mode, pairKey, widened, type YearRange } from '../plan/demand.ts';
import { type Dimension, type Learned, mayNameYears } from '../plan/learned.ts';
import {
  choosingModes,
  type ModeLimits,
  type ModePlan,
  type PlanPart,
  partsOf,
  type RowsWithin,
} from '../plan/modes.ts';
import type { Sending } from '../service/call.ts';
import type { Rows } from './data-calls.ts';
import type { Outcome } from './fetch.ts';

/** Pairs of one mode that are to be fetched. */
export interface PairsToFetch {
  readonly mode: Mode;
  /** The years of series to ask for, as long as the service takes any; null for all of them. */
  readonly years: YearRange | null;
  readonly pairs: readonly Pair[];
  /** Rows that each pair is expected to have. */
  readonly rowsOf: RowsOf;
  readonly settle: SettlePair;
  /** Number of times that a cut answer was asked for in pieces before. */
  readonly round: number;
  readonly search: NameSearch;
}

/** A rectangle to fetch, and the pairs that it answers. */
export interface Task extends PairsToFetch {
  readonly rectangle: Rectangle;
  /** Has some of the pairs covered anew, and fetched through all stages. */
  readonly replan: (
    pairs: readonly Pair[],
    changes?: Partial<Pick<Task, 'years' | 'rowsOf' | 'round'>>,
  ) => Promise<FetchedRows>;
}

/** The state of the search for refused names in one fetch: all of its tasks share it. */
export interface NameSearch {
  /** Further refusals that may be looked into; undefined before the first. */
  refusalsLeft: number | undefined;
  /** True if the service's own list of such names has been asked for. */
  readonly isListAsked: Record<Dimension, boolean>;
  /** Set once a call that named years was refused without words that tell the reason. */
  isRefusedWithYears: boolean;
  /** Set once any of the calls was answered with rows, so that the route is there. */
  isAnswered: boolean;
}

export function openNameSearch(): NameSearch {
  return {
    refusalsLeft: undefined,
    isListAsked: { countries: false, metrics: false },
    isRefusedWithYears: false,
    isAnswered: false,
  };
}

/**
 * Settles the pairs of one mode: with rows, with a failure, or with `'no figure'` if the latest row holds no value, so
 * that the latest figure stands further back in the series.
 */
export type SettlePair = (pair: Pair, outcome: Outcome | 'no figure') => void;

/** The number of rows that came for pairs. */
export interface FetchedRows {
  /** Number of rows, with those that have no figure. */
  readonly rows: number;
  /** True if `rows` counts everything; else it is no count to prove anything by. */
  readonly isWhole: boolean;
}

export const NONE_WHOLE: FetchedRows = { rows: 0, isWhole: true };
export const NOT_WHOLE: FetchedRows = { rows: 0, isWhole: false };

/** Called with each answer, and the part of a task that it answers. */
export type Receive = (part: Task, answer: Rows) => PromiseOrValue<FetchedRows>;

/**
 * One stage of the way of a rectangle, or all of them below `covered`. Answers are handed up as they come, since one
 * task may take several. Each failure is settled, so that no `Failure` is thrown.
 */
export type FetchTask = (task: Task, sending: Sending, receive: Receive) => PromiseOrValue<FetchedRows>;

/** Fetches pairs, and settles every one of them with a failure that is thrown on the way. */
export function settlingFailures(
  { pairs, settle }: PairsToFetch,
  fetch: () => PromiseOrValue<FetchedRows>,
): PromiseOrValue<FetchedRows> {
  function failed(error: unknown): FetchedRows {
    if (!(error instanceof Failure)) throw error;
    for (const pair of pairs) settle(pair, error);
    return NOT_WHOLE;
  }
  try {
    const fetching = fetch();
    return fetching instanceof Promise ? fetching.catch(failed) : fetching;
  } catch (error) {
    return failed(error);
  }
}

export function sum(parts: readonly FetchedRows[]): FetchedRows {
  return {
    rows: parts.reduce((total, { rows }) => total + rows, 0),
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}

export function within({ countryCodes, metricKeys }: Rectangle): (pair: Pair) => boolean {
  const codes = new Set(countryCodes);
  const keys = new Set(metricKeys);
  return (pair) => codes.has(pair.countryCode) && keys.has(pair.metricKey);
}

/** Plans which demands to ask for as latest, as series, and within some years. */
export function planningModes(
  demands: readonly Demand[],
  limits: ModeLimits,
  learned: Learned,
): Steps<ModePlan> {
  const rowsWithin: RowsWithin = mayNameYears(learned) ? (years) => learned.rowsWithin(widened(years)) : null;
  return choosingModes(demands, limits, learned.seriesRows, rowsWithin);
}

/** The bounds of calls. */
export interface CallBounds {
  readonly learned: Learned;
  readonly codesPerCall: number;
}

/** The bounds of plans. */
export interface Planning extends CallBounds {
  readonly overfetchRows: number;
}

/** Characters of codes and keys in one address; servers and proxies take 8,000 and more. */
const MAX_ADDRESS = 6_000;

export function limitsOf({ learned, codesPerCall }: CallBounds): CoverLimits {
  return { maxRows: learned.maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
}

/** Calls and rows that demands are planned to take. An answer that is cut short, or refused, takes more. */
interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const { learned } = planning;
  const limits = modeLimits(planning);
  const plan = taken(planningModes(demands, limits, learned));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of hopefulParts(plan, learned))
    add(total, cover(pairs, limits, rowsOf), rowsOf);
  return total;
}

/**
 * True if demands are planned to take no more than this. Often their own rows, or one call that can't hold them,
 * already tell; then they are not parted into calls.
 */
export function fitsWithin(most: Estimate, demands: readonly Demand[], planning: Planning): boolean {
  const { learned } = planning;
  const limits = modeLimits(planning);
  const plan = taken(planningModes(demands, limits, learned));
  const total = { calls: 0, rows: 0 };
  for (const { pairs, rowsOf } of hopefulParts(plan, learned)) {
    const ownRows = pairs.reduce(
      (sum, { countryCode, metricKey }) => sum + rowsOf(countryCode, metricKey),
      0,
    );
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

/** The parts of a plan, each with the rows to cover it by. */
export function hopefulParts(plan: ModePlan, learned: Learned): PlanPart[] {
  return partsOf(
    plan,
    (pairs) => hopefulRows(pairs, learned),
    (years, pairs) => hopefulRowsWithin(years, pairs, learned),
  );
}

export function modeLimits(planning: Planning): ModeLimits {
  return { ...limitsOf(planning), overfetchRows: planning.overfetchRows };
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all of them: the service's total then
 * tells how many calls the rest takes, and the rows that came are kept. That is as many calls as if the lengths had
 * been known, while a guess is paid for either way. A guess is needed only if the service gives no totals.
 */
export function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  return hopeful(wanted, learned, learned.seriesRows, learned.knowsSeries);
}

/** The years and rows to plan by if whole series are asked for in place of some years. */
export function inWhole(
  pairs: readonly Pair[],
  { learned }: Pick<CallBounds, 'learned'>,
): Pick<PairsToFetch, 'years' | 'rowsOf'> {
  return { years: null, rowsOf: hopefulRows(pairs, learned) };
}

function hopefulRowsWithin(years: YearRange, wanted: readonly Pair[], learned: Learned): RowsOf {
  const asked = widened(years);
  return hopeful(wanted, learned, learned.rowsWithin(asked), (c, m) => learned.knowsWithin(c, m, asked));
}

function hopeful(
  wanted: readonly Pair[],
  { totals }: Learned,
  expected: RowsOf,
  knows: (countryCode: string, metricKey: string) => boolean,
): RowsOf {
  if (totals === 'untold') return expected;
  const keys = new Set(wanted.map(keyOf));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !knows(code, metric) ? 1 : expected(code, metric);
}
