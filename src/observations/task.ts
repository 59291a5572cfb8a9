import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import type { Pair, Rectangle, RowsOf } from '../planner/cover.ts';
import type { Mode } from '../planner/demand.ts';
import type { Dimension } from '../planner/learned.ts';
import type { YearRange } from '../planner/year-range.ts';
import type { Sending } from '../upstream/call.ts';
import type { Rows } from './data-calls.ts';
import type { Outcome } from './outcome.ts';

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
