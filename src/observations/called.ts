import type { Lookups } from '../cache/lru.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import type { Ask, ListCache } from '../service/cached-lists.ts';
import type { Send } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import { Failure } from '../shared/errors.ts';
import {
  type Arrived,
  type CameOfPair,
  cameFor,
  createDataCalls,
  type DataCalls,
  isCutShort,
  type PairOutcome,
  type Refusal,
  type Rows,
} from './data-calls.ts';
import type { ObservationEntries, PairFigures } from './entries.ts';
import {
  cellsOf,
  type Demand,
  isWithin,
  keyOfPair,
  type Pair,
  pairsOf,
  type Rectangle,
  widened,
  type YearRange,
} from './planner/demand.ts';
import { DEFAULT_MAX_ROWS, type Facts, type Learned, mayNameYears } from './planner/learned.ts';
import { inWhole, type Planning, type PlanPart } from './planner/modes.ts';
import type { createRefusedNames } from './refused-names.ts';

export interface PairsToFetch extends PlanPart {
  /** Called with each task, whose call may answer further demands; left out if there can be none. */
  readonly onTask?: ((task: Task) => void) | undefined;
  /** @param years of the rows that were fetched: whole series may come in place of the years that were planned */
  readonly settle: (
    pairs: readonly Pair[],
    outcomes: readonly PairOutcome[],
    years: YearRange | null,
  ) => void;
  /** How many times the rest of a cut answer has been planned again. */
  readonly round: number;
  readonly arrived: Arrived;
}

/** Pairs that one call is to fetch. */
export interface Task extends PairsToFetch {
  readonly rectangle: Rectangle;
  /** Replaced, not mutated. Pairs within the rectangle may join as long as the task is open. */
  pairs: readonly Pair[];
  isOpen: boolean;
  /** Covers some of the pairs anew, and fetches them through all stages. */
  readonly replan: (
    pairs: readonly Pair[],
    changes?: Partial<Pick<PairsToFetch, 'years' | 'rowsOf' | 'round'>>,
  ) => Promise<FetchedRows>;
}

export interface FetchedRows {
  /** Number of rows, including those without a figure. */
  readonly rows: number;
  /** True if nothing is missing from the count, so that it can be compared with a total. */
  readonly isWhole: boolean;
}

export const NONE_WHOLE: FetchedRows = { rows: 0, isWhole: true };
export const NOT_WHOLE: FetchedRows = { rows: 0, isWhole: false };

export type FetchPairs = (wanted: PairsToFetch, sending: Sending) => Promise<FetchedRows>;

/** Settles all pairs of the task. A `Failure` is an outcome, and never thrown. */
type FetchTask = (task: Task, sending: Sending) => Promise<FetchedRows>;

export interface Repair {
  /**
   * Fetches the rest of a cut answer.
   * @throws Failure UPSTREAM_INCOMPLETE if it can't be completed
   */
  cut(task: Task, answer: Rows, sending: Sending, means: RepairMeans): Promise<FetchedRows>;
  /** Finds the names for which a call was refused, and fetches the others. */
  refused(task: Task, refusal: Refusal, sending: Sending, means: RepairMeans): Promise<FetchedRows>;
}

export interface FiguresCache {
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly refusedNames: ReturnType<typeof createRefusedNames>;
  /** Also saves figures of pairs that nobody wanted. */
  readonly save: ObservationEntries['save'];
  readonly freshness: ListCache['freshness'];
  readonly now: () => number;
}

export interface DataService {
  readonly send: Send;
  /** Asks for lists, and notes the names in them in `learned`. */
  readonly ask: Ask;
  readonly outage: { failure(route: string): Failure | null };
}

export interface FiguresEvents {
  readonly lookups?: Lookups | undefined;
  readonly onCached?: (demand: Demand) => void;
  /** Called if expired entries may turn out to hold. */
  readonly onExpired?: () => void;
  /** Called with the rows of each answer, and how many of them nobody had asked for. */
  readonly onRows?: ((received: number, unwanted: number) => void) | undefined;
}

export interface CallParts {
  readonly planning: Planning;
  readonly service: DataService;
  readonly cache: FiguresCache;
  readonly events: FiguresEvents;
}

export interface RepairMeans extends Planning, Pick<FiguresCache, 'entries' | 'refusedNames' | 'save'> {
  readonly ask: DataService['ask'];
  readonly calls: DataCalls;
  /** Settles a task with an answer, or fetches the rest if the answer was cut. */
  readonly receive: (task: Task, answer: Rows, sending: Sending) => Promise<FetchedRows>;
}

/** Fetches a task by one call. A cut answer or a refusal is passed to the repair. */
export function calledStage(parts: CallParts, { cut, refused }: Repair): FetchTask {
  const { planning, service, cache } = parts;
  const { learned } = planning;
  const calls = createDataCalls({ learned, send: service.send, now: cache.now });
  const receive: RepairMeans['receive'] = (task, answer, sending) =>
    settlingFailures(task, async () => {
      if (!isCutShort(task, answer)) return handOut(task, answer, sending, parts);
      return task.pairs.length === 0 ? NOT_WHOLE : cut(task, answer, sending, means);
    });
  const means: RepairMeans = { ...planning, ...cache, ask: service.ask, calls, receive };
  return async (task, sending) => {
    try {
      const { years } = task;
      const isInWhole = years !== null && !mayNameYears(learned.facts());
      const reply = isInWhole ? null : await calls.ask(task, sending);
      // No further pairs may join: the answer settles those that have joined by now.
      task.isOpen = false;
      if (reply === null) return await askInWhole(task, planning);
      if (reply.isRefused) return await refused(task, reply, sending, means);
      const isUsable = years === null || learnYears(reply, years, learned);
      return await (isUsable ? receive(task, reply, sending) : askInWhole(task, planning));
    } catch (error) {
      task.isOpen = false;
      return settleFailure(task, error);
    }
  };
}

export async function settlingFailures(
  task: PairsToFetch,
  fetch: () => Promise<FetchedRows>,
): Promise<FetchedRows> {
  try {
    return await fetch();
  } catch (error) {
    return settleFailure(task, error);
  }
}

function settleFailure(task: PairsToFetch, error: unknown): FetchedRows {
  if (!(error instanceof Failure)) throw error;
  settleAs(task, task.pairs, error);
  return NOT_WHOLE;
}

export function settleAs(
  { settle, years }: PairsToFetch,
  pairs: readonly Pair[],
  outcome: PairOutcome,
): void {
  if (pairs.length === 0) return;
  settle(
    pairs,
    pairs.map(() => outcome),
    years,
  );
}

/** Replans, since whole series take other calls than some of their years. */
function askInWhole(task: Task, planning: Planning): Promise<FetchedRows> {
  return task.replan(task.pairs, inWhole(task.pairs, planning));
}

/**
 * True if an answer to a call that named years can be used. If the service ignored the years, these are whole series,
 * which the call wasn't planned for: they can be used only if the answer would show that it was cut.
 */
function learnYears(answer: Rows, years: YearRange, learned: Learned): boolean {
  const { list } = answer;
  const isHeeded = list.rows.every(({ year }) => isWithin(widened(years), year));
  const isStated = wouldShowCut(answer, learned.facts());
  if (!isHeeded || !isStated) learned.learn({ yearsParam: 'refused' });
  else if (list.rows.length > 0) learned.learn({ yearsParam: 'accepted' });
  return isStated;
}

function wouldShowCut({ list, limit }: Rows, { totals }: Readonly<Facts>): boolean {
  const { received, meta } = list;
  if (meta.limit !== null || limit !== undefined || received < DEFAULT_MAX_ROWS) return true;
  return meta.total !== null && (totals === 'true' || meta.total > received);
}

/**
 * Settles and caches the pairs of a complete answer.
 * @throws Failure if the pair of a malformed row can't be known
 */
function handOut(
  { mode, rectangle, pairs, settle }: Task,
  answer: Rows,
  sending: Sending,
  { planning: { learned }, cache, events }: CallParts,
): FetchedRows {
  const { list, years, receivedAt } = answer;
  const { tenant } = sending.caller;
  const [unknown] = list.unknown;
  if (unknown !== undefined) {
    sending.onLeftOut?.({ route: observations.route, count: list.unknown.length, detail: unknown.detail });
  }
  const all = pairs.length === cellsOf(rectangle) ? pairs : [...pairs, ...furtherPairs(rectangle, pairs)];
  const came = cameFor(all, mode, answer);
  if (mode === 'series')
    for (const { pair, rows, sent, isProven } of came)
      if (isProven) learnLength(pair, years, rows, sent, learned);
  // An answer with rows of unknown pairs isn't cached, so that the next operation is warned as well.
  if (unknown === undefined) cache.save(tenant, { mode, years }, figuresIn(came), receivedAt);
  const ofPairs = came.slice(0, pairs.length);
  settle(
    pairs,
    ofPairs.map(({ outcome }) => outcome),
    years,
  );
  const wanted = ofPairs.reduce((rows, { sent }) => rows + sent, 0);
  events.onRows?.(list.received, list.received - wanted);
  // Rows that can't be assigned to a pair count as wanted ones.
  return { rows: wanted + list.received - list.rows.length - list.blanks.length, isWhole: true };
}

/**
 * Not a closure of its caller: V8 gives each generator closure a hidden class in the old generation, which keeps all
 * that the closure captures alive until a full collection.
 */
function* figuresIn(came: readonly CameOfPair[]): Iterable<PairFigures> {
  for (const { pair, outcome } of came)
    if (outcome !== 'no figure' && !(outcome instanceof Error)) yield { pair, rows: outcome };
}

function furtherPairs(rectangle: Rectangle, pairs: readonly Pair[]): readonly Pair[] {
  const names = new Set(pairs.map(keyOfPair));
  return pairsOf(rectangle).filter((pair) => !names.has(keyOfPair(pair)));
}

/** @param sent number of rows, including those without a figure */
export function learnLength(
  { countryCode, metricKey }: Pair,
  years: YearRange | null,
  rows: readonly ObservationRecord[],
  sent: number,
  learned: Learned,
): void {
  if (years !== null) {
    learned.learnWithin(countryCode, metricKey, widened(years), sent);
    return;
  }
  let span: { readonly from: number; readonly to: number } | null = null;
  for (const { year } of rows) {
    if (span === null) span = { from: year, to: year };
    else if (year < span.from || year > span.to) {
      span = { from: Math.min(span.from, year), to: Math.max(span.to, year) };
    }
  }
  learned.learnSeries(countryCode, metricKey, sent, span);
}

export function sum(parts: readonly FetchedRows[]): FetchedRows {
  return {
    rows: parts.reduce((total, { rows }) => total + rows, 0),
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}
