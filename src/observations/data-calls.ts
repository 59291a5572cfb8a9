import { type Call, makeCall, type Send } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import {
  type ObservationList,
  type ObservationRecord,
  observationSteps,
} from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import { tracing } from '../service/trace.ts';
import { timeSliced } from '../shared/async/turns.ts';
import { excerpt, Failure } from '../shared/errors.ts';
import { numberOf } from '../shared/exact-json.ts';
import { markOfSomeYears, noRows } from './absences.ts';
import type { Outcome } from './fetch.ts';
import { expectedRows } from './planner/cover.ts';
import {
  cellsOf,
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
import { type Dimension, type Facts, isAtLimit, type Learned } from './planner/learned.ts';
import { putInOrder } from './planner/newest.ts';
import type { NamedList } from './whole-lists.ts';

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
  const codes = new Set(rectangle.countryCodes);
  const keys = new Set(rectangle.metricKeys.map((key) => key.toLowerCase()));
  const isStray = ({ countryCode, metricKey }: NamedRow) =>
    (countryCode !== null && !codes.has(countryCode)) ||
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
  /** Null after a 404. */
  readonly failure: Failure | null;
  readonly detail: string;
  /** Why a 404 proves nothing by itself; null if its message names anything that was requested. */
  readonly doubt: Failure | null;
  /** True if no call was made: the rest of a larger refused call was answered, so this part is the refused one. */
  readonly isInferred?: boolean;
  readonly receivedAt: number;
}

export type Reply = Rows | Refusal;

/** The rows of an answer by the call's pairs, with `pairKey` as the key. */
export interface Groups {
  readonly figures: ReadonlyMap<string, ObservationRecord[]>;
  /** Number of rows without a figure; pairs without such rows are left out. */
  readonly blanks: ReadonlyMap<string, number>;
  /** Maps a row's metric to the call's spelling, which may differ in case. */
  readonly askedKeyOf: (metricKey: string) => string;
}

/** What has come of one fetch, for all of its tasks. */
export interface Arrived {
  /** Number of calls that were answered so far: each shows that the route works. */
  answers: number;
  /** By the call's target, so that nothing is asked for twice; null as long as no plan has several parts. */
  replies: Map<string, Promise<Reply>> | null;
  readonly refusals: {
    /** Number of further refusals that may be bisected; undefined before the first. */
    left?: number;
    /** The service's own lists of names, once loaded; null for one that can't be had. */
    readonly lists: Partial<Record<Dimension, Promise<NamedList | null>>>;
    /** True if the last one was of a call with years, and its message didn't mention them. */
    mayBeForYears: boolean;
  };
}

export function nothingArrived(): Arrived {
  return { answers: 0, replies: null, refusals: { lists: {}, mayBeForYears: false } };
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

interface Asked extends Required<Pick<DataQuery, 'mode' | 'rectangle' | 'years' | 'arrived'>> {
  readonly rowsOf: RowsOf;
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
      const { body, stray: doubt = null } = answer;
      if (doubt !== null && body === undefined) throw doubt;
      const { detail } = body as { readonly detail: string };
      return { isRefused: true, failure: null, detail, doubt, receivedAt };
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
    const { detail = '' } = error.fields;
    return { isRefused: true, failure: error, detail, doubt: null, receivedAt: now() };
  }
}

export type DataCalls = ReturnType<typeof createDataCalls>;

export function createDataCalls(parts: DataCallParts) {
  const { learned } = parts;

  /** At most once for a fetch, whatever the service is known to take. */
  async function askExactly(query: DataQuery, sending: Sending): Promise<Reply> {
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
      // A 404 that names nothing may be a moment's, as may a failure: the same call again tells.
      isFinal = !reply.isRefused || reply.doubt === null;
      if (!reply.isRefused) arrived.answers += 1;
      return reply;
    } finally {
      if (!isFinal) replies?.delete(call.target);
    }
  }

  /** If the limit is refused, repeats the call with a lower one or none. */
  async function askWithLimit(asked: Asked, sending: Sending, limit: number): Promise<Reply> {
    const askUpTo = (rows?: number) => askExactly({ ...asked, limit: rows }, sending);
    // Years may be the reason for a refusal, unless its message is about the limit alone.
    const isForLimit = asked.years === null ? mayBeForLimit : isForLimitAlone;
    const reply = await askUpTo(limit);
    if (!reply.isRefused || !isForLimit(reply)) return reply;
    const highest = highestLimitIn(reply.detail, limit);
    if (highest !== null) {
      const lower = await askUpTo(highest);
      if (!lower.isRefused || !isForLimit(lower)) {
        learned.learn({ limit: highest, maxRows: highest });
        return lower;
      }
    }
    const plain = await askUpTo();
    if (!plain.isRefused) learned.learn({ limitParam: 'refused' });
    return plain;
  }

  function limitFor({ mode, years, rectangle, rowsOf }: Asked, mayTry: boolean): number | undefined {
    const { limitParam, limit, defaultRows } = learned.facts();
    if (limitParam === 'accepted') return limit;
    if (!mayTry || limitParam === 'refused') return undefined;
    const isKnown = ({ countryCode, metricKey }: Pair) =>
      learned.hasRowsWithin(countryCode, metricKey, years && widened(years));
    const rows = mode === 'latest' ? cellsOf(rectangle) : expectedRows(rectangle, rowsOf);
    const mayBeLong = rows >= defaultRows || (mode === 'series' && !pairsOf(rectangle).every(isKnown));
    return mayBeLong ? limit : undefined;
  }

  /**
   * Sends `limit` if more rows than a default page are expected and the service may support it.
   * @param mayTry true if the call may be used to find out whether the service supports `limit`
   */
  function ask(asked: Asked, sending: Sending, mayTry = true): Promise<Reply> {
    const limit = limitFor(asked, mayTry);
    return limit === undefined ? askExactly(asked, sending) : askWithLimit(asked, sending, limit);
  }

  /** Once the service has accepted a limit, only its message can make one the reason for a refusal. */
  function mayBeForLimit({ failure, detail }: Refusal): boolean {
    return failure !== null && (isAboutRowLimit(detail) || learned.facts().limitParam !== 'accepted');
  }

  return { ask, askExactly };
}

/**
 * True if the total is higher than the rows received, or if as many rows came as a limit allows and nothing proves
 * that there are no more.
 */
export function isCutShort(
  { mode, rectangle }: Pick<DataQuery, 'mode' | 'rectangle'>,
  { list, groups, limit, facts: { totals } }: Rows,
): boolean {
  const { received, meta } = list;
  if (meta.total !== null && meta.total > received) return true;
  if (meta.total !== null && totals === 'true') return false;
  const isEveryPairPresent = () =>
    mode === 'latest' && pairsOf(rectangle).every((pair) => sentOf(groups, keyOfPair(pair)) > 0);
  return isAtLimit(received, meta.limit, limit) && !isEveryPairPresent();
}

/** After a 404 that names nothing: fetches a figure that has arrived before, which shows whether the route works. */
export async function isRouteAnswering(
  { calls, learned: { figuredPair } }: { readonly calls: DataCalls; readonly learned: Learned },
  sending: Sending,
): Promise<boolean> {
  if (figuredPair === null) return false;
  const { countryCode, metricKey } = figuredPair;
  const rectangle = { countryCodes: [countryCode], metricKeys: [metricKey] };
  try {
    const reply = await calls.askExactly({ mode: 'latest', rectangle }, sending);
    return !reply.isRefused || reply.doubt === null;
  } catch (error) {
    sending.signal.throwIfAborted();
    if (error instanceof Failure) return false;
    throw error;
  }
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
    runs.map(({ 0: first }) => {
      const metricKey = askedKeyOf(first.metricKey);
      return metricKey === first.metricKey ? first : { countryCode: first.countryCode, metricKey };
    }),
  );
  const figures = new Map<string, ObservationRecord[]>();
  runs.forEach((run, i) => {
    const name = names[i] as string;
    const before = figures.get(name);
    if (before === undefined) figures.set(name, run);
    else for (const row of run) before.push(row);
  });
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

export function sentOf({ figures, blanks }: Groups, key: string): number {
  return (figures.get(key)?.length ?? 0) + (blanks.get(key) ?? 0);
}

/** `'no figure'` if the latest row has no value: the latest figure is further back in the series. */
export type PairOutcome = Outcome | 'no figure';

/** What has come for a pair. */
export interface CameOfPair {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
  /** Number of rows, including those without a figure. */
  readonly sent: number;
  readonly outcome: PairOutcome;
  /** True unless nothing came, and that may be the answer's fault. */
  readonly isProven: boolean;
}

/** @throws Failure if the pair of a malformed row can't be known */
export function cameFor(
  pairs: readonly Pair[],
  mode: Mode,
  { list, groups, stray, years }: Rows,
): readonly CameOfPair[] {
  const malformed = errorsIn(list.errors, groups);
  const { figures, blanks } = groups;
  return pairs.map((pair): CameOfPair => {
    // Demands have their key, and there may be thousands.
    const key = pair.pairKey ?? keyOfPair(pair);
    const sent = sentOf(groups, key);
    const isProven = stray === null || sent > 0;
    const isBlank = blanks.has(key) && !figures.has(key);
    const rows = figures.get(key) ?? (years === null && isBlank ? noRows('BLANK') : []);
    if (years !== null) markOfSomeYears(rows);
    const failure = malformed.get(key) ?? (isProven ? null : stray);
    const outcome = failure ?? (mode === 'latest' && isBlank ? 'no figure' : rows);
    return { pair, rows, sent, outcome, isProven };
  });
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

function isAboutRowLimit(detail: string): boolean {
  return /limit|less than or equal to|no more than \d|at most \d+\.?$|maximum/i.test(detail);
}

function isForLimitAlone({ failure, detail }: Refusal): boolean {
  return failure !== null && isAboutRowLimit(detail) && !/year/i.test(detail);
}

/** The highest limit below the refused one that the service's message names; null if it names none. */
function highestLimitIn(detail: string, refused: number): number | null {
  if (!isAboutRowLimit(detail)) return null;
  const figures = [...detail.matchAll(/\b\d+\b/g)]
    .flatMap(([digits]) => numberOf(digits) ?? [])
    .filter((n) => n > 1 && n < refused);
  return figures.length === 0 ? null : Math.max(...figures);
}
