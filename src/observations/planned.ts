import { timeSliced, yieldToEventLoop } from '../async/yielding.ts';
import type { Failure } from '../errors.ts';
import { type CoverLimits, covering, type Pair, type Rectangle, type RowsOf } from '../planner/cover.ts';
import { type Mode, pairKey } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import type { Send, Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import { createBisect } from './bisected.ts';
import { createCompletion } from './completed.ts';
import { createDataCalls, type Groups, pairsOf, type Rows, sentOf } from './data-calls.ts';
import type { ObservationEntries } from './entries.ts';
import type { RefusedNames } from './refused-names.ts';
import { type FetchPairs, type SettlePair, settlingFailures, sum, type Task, within } from './tasks.ts';

export interface FetchParts {
  readonly send: Send;
  readonly learned: Learned;
  readonly refusedNames: Pick<RefusedNames, 'remember'>;
  readonly codesPerCall: number;
  readonly now: () => number;
  /** Holds what an answer said, of pairs that nobody wanted too. */
  readonly keep: ObservationEntries['keep'];
  /** Has the service's own list of countries or of measures noted in `learned`, where that can be had. */
  readonly noteNames?: (dimension: 'countries' | 'metrics', sending: Sending) => Promise<void>;
}

/** Characters of codes and keys in one address; servers and proxies take 8,000 and more. */
const MAX_ADDRESS = 6_000;

/** Pairs that take milliseconds to plan, and that take as long to settle. */
export const MANY = 1_000;
const MANY_PAIRS = 300;

export function limitsOf({
  learned,
  codesPerCall,
}: Pick<FetchParts, 'learned' | 'codesPerCall'>): CoverLimits {
  return { maxRows: learned.maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
}

/**
 * Covers pairs with as few calls as the limits allow, and hands each answer's rows to their pairs: those that were cut
 * short by way of `completed.ts`, those that were refused by way of `bisected.ts`.
 */
export function createFetch(parts: FetchParts, sending: Sending): FetchPairs {
  const { learned, keep } = parts;
  const { caller } = sending;
  const { keyDigest } = caller;
  const calls = createDataCalls(parts, sending);
  const complete = createCompletion({ calls, fetchPairs, learned, keep, keyDigest: keyDigest });
  const bisect = createBisect({ ...parts, calls, fetchPairs, fetchTask, receive }, sending);

  async function fetchPairs(
    mode: Mode,
    pairs: readonly Pair[],
    rowsOf: RowsOf,
    settle: SettlePair,
    round: number,
  ): Promise<number | null> {
    if (pairs.length === 0) return 0;
    const rectangles = await timeSliced(caller, covering(pairs, limitsOf(parts), rowsOf));
    if (pairs.length > MANY) await yieldToEventLoop(caller);
    const tasks = shareOut(pairs, rectangles).map(
      (share): Task => ({ ...share, mode, rowsOf, settle, round }),
    );
    // The first call teaches what the service takes: the others wait for it, so that not all run into the same wall.
    const isTaught = learned.limitParam === 'accepted' || learned.limitParam === 'refused';
    const first = !isTaught && tasks.length > 1 ? tasks.splice(0, 1) : [];
    const counts: (number | null)[] = [];
    for (const task of first) counts.push(await fetchTask(task));
    counts.push(...(await Promise.all(tasks.map(fetchTask))));
    return sum(counts);
  }

  function fetchTask(task: Task): Promise<number | null> {
    return settlingFailures(task, async () => {
      const reply = await calls.askWithLimit(task.mode, task.rectangle, task.rowsOf);
      if (task.wanted.length > MANY_PAIRS) await yieldToEventLoop(caller);
      return reply.isRefused ? bisect(task, reply) : receive(task, reply);
    });
  }

  /** Hands an answer's rows to their pairs, after completing it where the service cut it short. */
  function receive(task: Task, reply: Rows): Promise<number | null> {
    return settlingFailures(task, async () => {
      const { mode, rectangle, wanted } = task;
      for (const code of rectangle.countryCodes) learned.answered.countries.add(code.toUpperCase());
      for (const key of rectangle.metricKeys) learned.answered.metrics.add(key);
      if (await calls.isCutShort(mode, rectangle, reply)) {
        return wanted.length === 0 ? null : complete(task, reply);
      }
      return hand(task, reply);
    });
  }

  function hand({ mode, rectangle, wanted, settle }: Task, { list, groups, receivedAt }: Rows): number {
    const { figures, blanks } = groups;
    const [stray] = list.unknown;
    if (stray !== undefined) {
      sending.onLeftOut?.({ route: observations.route, count: list.unknown.length, detail: stray.detail });
    }
    const faulty = faultsIn(list.faults, groups);
    const isBlank = (key: string) => mode === 'latest' && blanks.has(key) && !figures.has(key);
    const kept = [];
    for (const pair of pairsOf(rectangle)) {
      const key = pairKey(pair.countryCode, pair.metricKey);
      const rows = figures.get(key) ?? [];
      if (mode === 'series') learned.learnSeries(pair.countryCode, pair.metricKey, sentOf(groups, key));
      if (!faulty.has(key) && !isBlank(key)) kept.push({ pair, rows });
    }
    // An answer with rows that can't be told whose they are is not held, so that whoever asks again is told again.
    if (stray === undefined) keep(keyDigest, mode, kept, receivedAt);
    const unwanted = new Set([...figures.keys(), ...blanks.keys()]);
    for (const pair of wanted) {
      const key = pairKey(pair.countryCode, pair.metricKey);
      settle(pair, faulty.get(key) ?? (isBlank(key) ? 'no figure' : (figures.get(key) ?? [])));
      unwanted.delete(key);
    }
    let count = list.received;
    for (const key of unwanted) count -= sentOf(groups, key);
    return count;
  }

  return fetchPairs;
}

/** @throws Failure where it can't be told whose a row is that breaks the specification */
function faultsIn(faults: Rows['list']['faults'], { askedKeyOf }: Groups): Map<string, Failure> {
  const byPair = new Map<string, Failure>();
  for (const { countryCode, metricKey, failure } of faults) {
    if (countryCode === null || metricKey === null) throw failure;
    byPair.set(pairKey(countryCode, askedKeyOf(metricKey)), failure);
  }
  return byPair;
}

/** Gives each pair to the first rectangle that holds it. */
function shareOut(
  pairs: readonly Pair[],
  rectangles: readonly Rectangle[],
): { rectangle: Rectangle; wanted: readonly Pair[] }[] {
  let rest = pairs;
  return rectangles.map((rectangle) => {
    const isHeld = within(rectangle);
    const wanted = rest.filter(isHeld);
    rest = rest.filter((pair) => !isHeld(pair));
    return { rectangle, wanted };
  });
}
