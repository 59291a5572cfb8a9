import { type Call, makeCall, type Send } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import {
  type ObservationList,
  type ObservationRecord,
  observationSteps,
} from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import { tracing } from '../service/trace.ts';
import { type PromiseOrValue, timeSliced } from '../shared/async/turns.ts';
import { excerpt, Failure } from '../shared/errors.ts';
import { numberOf } from '../shared/exact-json.ts';
import { markOfSomeYears, noRows } from './absences.ts';
import type { DataService, FiguresCache, FiguresEvents } from './cached.ts';
import type { PairFigures } from './entries.ts';
import type { Outcome } from './fetch.ts';
import { expectedRows } from './planner/cover.ts';
import {
  isWithin,
  keyOfPair,
  type Mode,
  type Pair,
  pairKey,
  pairKeys,
  pairsOf,
  type Rectangle,
  type RowsOf,
  widened,
  type YearRange,
} from './planner/demand.ts';
import { DEFAULT_MAX_ROWS, type Facts, type Learned, mayNameYears } from './planner/learned.ts';
import { inWhole, type Planning, type PlanPart } from './planner/modes.ts';
import { putInOrder } from './planner/newest.ts';

/**
 * The failure if an answer has rows that weren't requested; null if it has none. Such rows show that a filter was
 * ignored or that the answer belongs to another call, so rows that it lacks may exist all the same. Metrics that differ
 * only in case count as one.
 */
function strayIn(
  list: ObservationList,
  figures: Iterable<readonly ObservationRecord[]>,
  rectangle: Rectangle,
): Failure | null {
  const codes = new Set(rectangle.countryCodes.map((code) => code.toUpperCase()));
  const keys = new Set(rectangle.metricKeys.map((key) => key.toLowerCase()));
  const isStray = ({ countryCode, metricKey }: NamedRow) =>
    (countryCode !== null && !codes.has(countryCode) && !codes.has(countryCode.toUpperCase())) ||
    (metricKey !== null && !keys.has(metricKey) && !keys.has(metricKey.toLowerCase()));
  for (const rows of figures) {
    const row = rows[0];
    if (row !== undefined && isStray(row)) return strayRows(row);
  }
  const other = list.blanks.find(isStray) ?? list.errors.find(isStray);
  return other === undefined ? null : strayRows(other);
}

interface NamedRow {
  readonly countryCode: string | null;
  readonly metricKey: string | null;
}

function strayRows({ countryCode, metricKey }: NamedRow): Failure {
  return new Failure(
    'UPSTREAM_INVALID_RESPONSE',
    'The service answered with other rows than those asked for, so it is not known if it has these.',
    {
      route: observations.route,
      detail: excerpt(`rows that nobody asked for, such as ${countryCode ?? '?'} ${metricKey ?? '?'}`),
    },
  );
}

/** A usable answer of the data route. */
export interface Rows {
  readonly isRefused: false;
  readonly list: ObservationList;
  readonly groups: Groups;
  /** Set if the answer has rows that weren't requested: then a pair without rows may have some all the same. */
  readonly stray: Failure | null;
  /** As sent. */
  readonly limit: number | undefined;
  /** As learned with this answer. */
  readonly facts: Readonly<Facts>;
  /** The years of all rows, if the call named any; null if it asked for whole series. */
  readonly years: YearRange | null;
  readonly receivedAt: number;
}

/** A 404, or an error status that says that the arguments are wrong. */
export interface Refusal {
  readonly isRefused: true;
  /** Empty after a 404, a failure after any other status. */
  readonly outcome: Outcome;
  readonly detail: string;
  /** Why a 404 proves nothing by itself; left out if its message names anything that was requested. */
  readonly stray?: Failure;
  /** True if no call was made: the rest of a larger refused call was answered, so this part is the refused one. */
  readonly isInferred?: boolean;
  readonly receivedAt: number;
}

type Reply = Rows | Refusal;

/** The rows of an answer by the call's pairs, with `pairKey` as the key. */
interface Groups {
  readonly figures: ReadonlyMap<string, ObservationRecord[]>;
  /** Number of rows without a figure; pairs without such rows are left out. */
  readonly blanks: ReadonlyMap<string, number>;
  /** Maps a row's metric to the call's spelling, which may differ in case. */
  readonly askedKeyOf: (metricKey: string) => string;
}

interface DataQuery {
  readonly mode: Mode;
  readonly rectangle: Rectangle;
  readonly limit?: number | undefined;
  /** Years whose rows are wanted; null or omitted for all of them. */
  readonly years?: YearRange | null;
  /** Years that the call names; omitted for the wanted ones and one more on each side (`widened`). */
  readonly named?: YearRange;
  /** Of the fetch that the call belongs to; omitted for one that is about the service alone. */
  readonly arrived?: Arrived;
}

interface Asked {
  readonly mode: Mode;
  readonly rectangle: Rectangle;
  readonly years: YearRange | null;
  readonly rowsOf: RowsOf;
  readonly arrived: Arrived;
}

interface DataCallParts {
  readonly send: Send;
  readonly learned: Learned;
  readonly now: () => number;
}

async function sentReply(
  { send, learned, now }: DataCallParts,
  query: DataQuery,
  call: Call,
  sending: Sending,
): Promise<Reply> {
  const { rectangle, limit, years = null } = query;
  try {
    const answer = await send(call, sending);
    const { receivedAt } = answer;
    if (answer.status === 404) {
      const { body, stray } = answer;
      if (stray !== undefined && body === undefined) throw stray;
      const { detail } = body as { readonly detail: string };
      return { isRefused: true, outcome: [], detail, ...(stray && { stray }), receivedAt };
    }
    const decoding = tracing(sending.trace, 'decode', () =>
      timeSliced(sending.caller, observationSteps(answer.body, call.route, receivedAt)),
    );
    const list = decoding instanceof Promise ? await decoding : decoding;
    const facts = learned.noteAnswer(rectangle, limit, list);
    const groups = groupRows(list, rectangle);
    const stray = strayIn(list, groups.figures.values(), rectangle);
    return { isRefused: false, list, groups, stray, limit, facts, years, receivedAt };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'BAD_USER_INPUT') throw error;
    return { isRefused: true, outcome: error, detail: error.fields.detail ?? '', receivedAt: now() };
  }
}

export function createDataCalls(parts: DataCallParts) {
  const { learned } = parts;

  async function ask(query: DataQuery, sending: Sending): Promise<Reply> {
    const { mode, rectangle, limit, years = null, arrived } = query;
    const { from, to } = query.named ?? (years === null ? {} : widened(years));
    const named = { startYear: from ?? undefined, endYear: to ?? undefined };
    const params = { ...rectangle, latest: mode === 'latest', limit, ...named };
    const call = makeCall(observations, params);
    if (arrived === undefined) return sentReply(parts, query, call, sending);
    const { replies } = arrived;
    const earlier = replies?.get(call.target);
    if (earlier !== undefined) return earlier;
    const asking = sentReply(parts, query, call, sending);
    replies?.set(call.target, asking);
    let isFinal = false;
    try {
      const reply = await asking;
      // A 404 that names nothing may be a moment's: the same call again tells.
      isFinal = !reply.isRefused || reply.stray === undefined;
      if (!reply.isRefused) arrived.answers += 1;
      return reply;
    } finally {
      if (!isFinal) replies?.delete(call.target);
    }
  }

  /** If the limit is refused, repeats the call with a lower one or none. */
  async function askWithLimit(asked: Asked, sending: Sending, limit: number): Promise<Reply> {
    const { mode, rectangle, years, arrived } = asked;
    const askLimited = (most?: number) => ask({ mode, rectangle, limit: most, years, arrived }, sending);
    // Years may be the reason for a refusal, unless its message is about the limit alone.
    const isForLimit = years === null ? mayBeForLimit : isForLimitAlone;
    const reply = await askLimited(limit);
    if (!reply.isRefused || !isForLimit(reply)) return reply;
    const highest = highestLimitIn(reply.detail, limit);
    if (highest !== null) {
      const lower = await askLimited(highest);
      if (!lower.isRefused || !isForLimit(lower)) {
        learned.learn({ maxRows: highest });
        return lower;
      }
    }
    const plain = await askLimited();
    if (!plain.isRefused) {
      learned.learn({ limitParam: 'refused' });
      learned.learn({ refusedLimit: limit });
    }
    return plain;
  }

  function limitFor({ mode, years, rectangle, rowsOf }: Asked, mayTry: boolean): number | undefined {
    const { limitParam, maxRows, defaultRows } = learned.facts();
    if (limitParam === 'accepted') return maxRows;
    if (!mayTry || limitParam === 'refused') return undefined;
    const isKnown = (code: string, key: string) =>
      years === null ? learned.hasSeriesRows(code, key) : learned.hasRowsWithin(code, key, widened(years));
    const rows = mode === 'latest' ? cellsOf(rectangle) : expectedRows(rectangle, rowsOf);
    const mayBeLong = rows >= defaultRows || (mode === 'series' && !everyPair(rectangle, isKnown));
    return mayBeLong ? maxRows : undefined;
  }

  /**
   * Sends `limit` if more rows than a default page are expected and the service may support it.
   * @param mayTry true if the call may be used to find out whether the service supports `limit`
   */
  function askFor(asked: Asked, sending: Sending, mayTry = true): Promise<Reply> {
    const limit = limitFor(asked, mayTry);
    return limit === undefined ? ask(asked, sending) : askWithLimit(asked, sending, limit);
  }

  /** Once the service has accepted a limit, only its message can make one the reason for a refusal. */
  function mayBeForLimit({ outcome, detail }: Refusal): boolean {
    if (!(outcome instanceof Error)) return false;
    return isAboutRowLimit(detail) || learned.facts().limitParam !== 'accepted';
  }

  /**
   * True if the total is higher than the rows received, or if as many rows came as a limit allows and nothing proves
   * that there are no more. If it depends on whether the service heeds `limit`, a call finds out.
   */
  function isCutShort(
    { mode, rectangle }: DataQuery,
    { list, groups, limit, facts }: Rows,
    sending: Sending,
  ): PromiseOrValue<boolean> {
    const { received, meta } = list;
    const isEveryPairPresent = () =>
      mode === 'latest' && pairsOf(rectangle).every((pair) => sentOf(groups, keyOfPair(pair)) > 0);
    const looksCut = ({ totals, limitEffect }: Facts) => {
      if (meta.total !== null && meta.total > received) return true;
      if (meta.total !== null && totals === 'true') return false;
      return isAtLimit(received, meta.limit, limit, limitEffect) && !isEveryPairPresent();
    };
    if (!looksCut(facts)) return false;
    const isStated = (meta.total !== null && meta.total > received) || meta.limit !== null;
    if (isStated || limit === undefined || received >= limit || facts.limitEffect !== 'unknown') return true;
    // A default page although `limit` is higher: there are no more rows only if the service heeds limits.
    return ask({ mode, rectangle, limit: 1 }, sending).then((one) => {
      learned.learn({ limitEffect: !one.isRefused && one.list.received <= 1 ? 'heeded' : 'ignored' });
      return looksCut(learned.facts());
    });
  }

  return { ask, askFor, isCutShort };
}

/** True if as many rows came as the limit that the service states, or that it probably applied. */
function isAtLimit(
  received: number,
  limit: number | null,
  asked: number | undefined,
  effect: Facts['limitEffect'],
): boolean {
  if (limit !== null) return received >= limit;
  if (asked !== undefined && effect === 'heeded') return received >= asked;
  const isAsLong = effect === 'unknown' && received === asked;
  return received > 0 && (isAsLong || received === DEFAULT_MAX_ROWS);
}

function everyPair(
  { countryCodes, metricKeys }: Rectangle,
  test: (code: string, key: string) => boolean,
): boolean {
  return countryCodes.every((code) => metricKeys.every((key) => test(code, key)));
}

function groupRows({ rows, blanks }: ObservationList, { metricKeys }: Rectangle): Groups {
  const askedKeyOf = createKeyMatch(metricKeys, rows, blanks);
  // Rows of a pair are mostly consecutive, so that a run of them needs its name but once.
  const runs: [ObservationRecord, ...ObservationRecord[]][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    const isOfRun = row.countryCode === run?.[0].countryCode && row.metricKey === run[0].metricKey;
    if (isOfRun) run?.push(row);
    else runs.push([row]);
  }
  const names = pairKeys(
    runs.map(([{ countryCode, metricKey }]) => ({ countryCode, metricKey: askedKeyOf(metricKey) })),
  );
  const figures = new Map<string, ObservationRecord[]>();
  for (const [i, run] of runs.entries()) {
    const name = names[i] as string;
    const before = figures.get(name);
    if (before === undefined) figures.set(name, run);
    else for (const row of run) before.push(row);
  }
  for (const grouped of figures.values()) if (grouped.length > 1) putInOrder(grouped);
  const counts = new Map<string, number>();
  for (const { countryCode, metricKey } of blanks) {
    const name = pairKey(countryCode, askedKeyOf(metricKey));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { figures, blanks: counts, askedKeyOf };
}

/**
 * Maps a row's metric to the call's: the same spelling, or one that differs in case and has no rows of its own. No call
 * names two metrics that differ only in case (`byCase` in `planned.ts`).
 */
function createKeyMatch(
  asked: readonly string[],
  ...rows: readonly (readonly { readonly metricKey: string }[])[]
): Groups['askedKeyOf'] {
  const exact = new Set(asked);
  let byLowerCase: Map<string, string> | undefined;
  function matchIgnoringCase(metricKey: string): string {
    if (byLowerCase === undefined) {
      const received = new Set(rows.flatMap((some) => some.map((row) => row.metricKey)));
      byLowerCase = new Map(asked.filter((key) => !received.has(key)).map((key) => [key.toLowerCase(), key]));
    }
    return byLowerCase.get(metricKey.toLowerCase()) ?? metricKey;
  }
  return (metricKey) => (exact.has(metricKey) ? metricKey : matchIgnoringCase(metricKey));
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

export function sentOf({ figures, blanks }: Groups, key: string): number {
  return (figures.get(key)?.length ?? 0) + (blanks.get(key) ?? 0);
}

function isAboutRowLimit(detail: string): boolean {
  return /limit|less than or equal to|no more than \d|at most \d+\.?$|maximum/i.test(detail);
}

function isForLimitAlone({ outcome, detail }: Refusal): boolean {
  return outcome instanceof Error && isAboutRowLimit(detail) && !/year/i.test(detail);
}

/** The highest limit below the refused one that the service's message names; null if it names none. */
function highestLimitIn(detail: string, refused: number): number | null {
  if (!isAboutRowLimit(detail)) return null;
  const figures = [...detail.matchAll(/\b\d+\b/g)]
    .flatMap(([digits]) => numberOf(digits) ?? [])
    .filter((n) => n > 1 && n < refused);
  return figures.length === 0 ? null : Math.max(...figures);
}

/** `'no figure'` if the latest row has no value: the latest figure is further back in the series. */
export type PairOutcome = Outcome | 'no figure';

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
  /** During a bisection, parts that got a 404 which names nothing; otherwise left out. */
  readonly unproven?: Unproven[];
  /** Covers some of the pairs anew, and fetches them through all stages. */
  readonly replan: (
    pairs: readonly Pair[],
    changes?: Partial<Pick<PairsToFetch, 'years' | 'rowsOf' | 'round'>>,
  ) => Promise<FetchedRows>;
}

/** Pairs that the service doesn't have, unless it was a moment's 404. */
export interface Unproven {
  readonly part: Task;
  readonly refusal: Refusal;
  readonly stray: Failure;
  /** Names to cache as refused once it is proven. */
  readonly names: readonly string[];
  /** True if the service's own list lacks them, too. */
  readonly isUnlisted: boolean;
}

/** What has come of one fetch, for all of its tasks. */
export interface Arrived {
  /** Number of calls that were answered so far: each shows that the route works. */
  answers: number;
  /** By the call's target, so that nothing is asked for twice; null as long as no plan has several parts. */
  replies: Map<string, Promise<Reply>> | null;
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

export interface CallParts {
  readonly planning: Planning;
  readonly service: DataService;
  readonly cache: FiguresCache;
  readonly events: FiguresEvents;
}

export interface RepairMeans extends Planning, Pick<FiguresCache, 'entries' | 'refusedNames' | 'save'> {
  readonly ask: DataService['ask'];
  readonly calls: ReturnType<typeof createDataCalls>;
  readonly fetch: FetchTask;
  /** Settles a task with an answer, or fetches the rest if the answer was cut. */
  readonly receive: (task: Task, answer: Rows, sending: Sending) => Promise<FetchedRows>;
}

/** Fetches a task by one call. A cut answer or a refusal is passed to the repair. */
export function calledStage(parts: CallParts, { cut, refused }: Repair): FetchTask {
  const { planning, service, cache } = parts;
  const { learned } = planning;
  const calls = createDataCalls({ learned, send: service.send, now: cache.now });
  const means: RepairMeans = {
    ...planning,
    ...cache,
    ask: service.ask,
    calls,
    async fetch(task, sending) {
      try {
        const { years } = task;
        const isInWhole = years !== null && !mayNameYears(learned.facts());
        const reply = isInWhole ? null : await calls.askFor(task, sending);
        // No further pairs may join: the answer settles those that have joined by now.
        task.isOpen = false;
        if (reply === null) return await askInWhole(task, planning);
        if (reply.isRefused) return await refused(task, reply, sending, means);
        const isUsable = years === null || learnYears(reply, years, learned);
        return await (isUsable ? means.receive(task, reply, sending) : askInWhole(task, planning));
      } catch (error) {
        task.isOpen = false;
        return settleFailure(task, error);
      }
    },
    async receive(task, answer, sending) {
      try {
        const isCut = calls.isCutShort(task, answer, sending);
        if (isCut === false || !(await isCut)) return handOut(task, answer, sending, parts);
        return task.pairs.length === 0 ? NOT_WHOLE : await cut(task, answer, sending, means);
      } catch (error) {
        return settleFailure(task, error);
      }
    },
  };
  return means.fetch;
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
  if (!isHeeded || !isStated) learned.learn({ yearsParam: 'ignored' });
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
  { list, groups, stray, years, receivedAt }: Rows,
  sending: Sending,
  { planning: { learned }, cache, events }: CallParts,
): FetchedRows {
  const { figures } = groups;
  const [unknown] = list.unknown;
  if (unknown !== undefined) {
    sending.onLeftOut?.({ route: observations.route, count: list.unknown.length, detail: unknown.detail });
  }
  const malformed = errorsIn(list.errors, groups);
  const isProven = (key: string) => stray === null || sentOf(groups, key) > 0;
  const outcomeOf = (pair: Pair): PairOutcome => {
    const key = nameOfPair(pair);
    const failure = malformed.get(key) ?? (isProven(key) ? undefined : stray);
    return failure ?? (isBlank(key, mode, groups) ? 'no figure' : rowsIn(groups, key, years));
  };
  const all = pairs.length === cellsOf(rectangle) ? pairs : [...pairs, ...furtherPairs(rectangle, pairs)];
  const outcomes = all.map(outcomeOf);
  if (mode === 'series') {
    for (const pair of all) {
      const key = nameOfPair(pair);
      if (isProven(key)) learnLength(pair, years, figures.get(key) ?? [], sentOf(groups, key), learned);
    }
  }
  // An answer with rows of unknown pairs isn't cached, so that the next operation is warned as well.
  if (unknown === undefined)
    cache.save(sending.caller.tenant, { mode, years }, rowsOfPairs(all, outcomes), receivedAt);
  settle(pairs, all === pairs ? outcomes : outcomes.slice(0, pairs.length), years);
  const wanted = pairs.reduce((rows, pair) => rows + sentOf(groups, nameOfPair(pair)), 0);
  events.onRows?.(list.received, list.received - wanted);
  // Rows that can't be assigned to a pair count as wanted ones.
  return { rows: wanted + list.received - list.rows.length - list.blanks.length, isWhole: true };
}

/**
 * Not a closure of its caller: V8 gives each generator closure a hidden class in the old generation, which keeps all
 * that the closure captures alive until a full collection.
 */
function* rowsOfPairs(pairs: readonly Pair[], outcomes: readonly PairOutcome[]): Iterable<PairFigures> {
  for (let i = 0; i < pairs.length; i += 1) {
    const rows = outcomes[i] as PairOutcome;
    if (rows !== 'no figure' && !(rows instanceof Error)) yield { pair: pairs[i] as Pair, rows };
  }
}

function furtherPairs(rectangle: Rectangle, pairs: readonly Pair[]): readonly Pair[] {
  const names = new Set(pairs.map(nameOfPair));
  return pairsOf(rectangle).filter((pair) => !names.has(keyOfPair(pair)));
}

function rowsIn({ figures, blanks }: Groups, key: string, years: YearRange | null) {
  const rows = figures.get(key) ?? (years === null && blanks.has(key) ? noRows('BLANK') : []);
  if (years !== null) markOfSomeYears(rows);
  return rows;
}

/** Same as `keyOfPair`, but without a call for demands, which have their key: there may be thousands of pairs. */
function nameOfPair(pair: Pair): string {
  return pair.pairKey ?? keyOfPair(pair);
}

function isBlank(key: string, mode: Mode, { figures, blanks }: Groups): boolean {
  return mode === 'latest' && blanks.has(key) && !figures.has(key);
}

export function cellsOf({ countryCodes, metricKeys }: Rectangle): number {
  return countryCodes.length * metricKeys.length;
}

/** @throws Failure if the pair of a malformed row can't be known */
function errorsIn(errors: Rows['list']['errors'], { askedKeyOf }: Groups): Map<string, Failure> {
  const byPair = new Map<string, Failure>();
  for (const { countryCode, metricKey, failure } of errors) {
    if (countryCode === null || metricKey === null) throw failure;
    byPair.set(pairKey(countryCode, askedKeyOf(metricKey)), failure);
  }
  return byPair;
}

export function sum(parts: readonly FetchedRows[]): FetchedRows {
  return {
    rows: parts.reduce((total, { rows }) => total + rows, 0),
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}
