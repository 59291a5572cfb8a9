import type { Steps } from '../async/steps.ts';
import { timeSliced } from '../async/yielding.ts';
import type { Failure } from '../errors.ts';
import { covering, type Pair, type Rectangle } from '../planner/cover.ts';
import { keyOf, type Mode, pairKey } from '../planner/demand.ts';
import { mayNameYears } from '../planner/learned.ts';
import type { Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import { type Groups, learnLength, pairsOf, type Rows, sentOf } from './data-calls.ts';
import type { ObservationEntries, PairFigures } from './entries.ts';
import { type CallBounds, inWhole, limitsOf } from './estimate.ts';
import { type FetchedRows, type FetchTask, NONE_WHOLE, type PairsToFetch, sum, type Task } from './task.ts';

/** Fetches pairs of one mode and settles each. */
export type FetchPairs = (wanted: PairsToFetch, sending: Sending) => Promise<FetchedRows>;

export interface CoveredParts extends CallBounds {
  /** Keeps the figures of an answer, also of pairs that nobody wanted. */
  readonly keep: ObservationEntries['keep'];
  /** Called with the rows of each answer, and the number of them that nobody had asked for. */
  readonly onRows?: ((received: number, unwanted: number) => void) | undefined;
}

/** Pairs that are looked at in one step. */
const STEP_PAIRS = 512;

/**
 * Covers pairs with as few calls as the limits allow, and hands each answer's rows to their pairs. The stages below may
 * find that a rectangle has to be asked for in pieces after all: its task then covers them by this stage again.
 */
export function covered(next: FetchTask, parts: CoveredParts): FetchPairs {
  const { learned } = parts;
  return async function fetchPairs(wanted, sending) {
    const { caller } = sending;
    const { pairs, rowsOf } = wanted;
    if (pairs.length === 0) return NONE_WHOLE;
    const sharingOut = timeSliced(caller, sharing(pairs, covering(pairs, limitsOf(parts), rowsOf)));
    const shares = sharingOut instanceof Promise ? await sharingOut : sharingOut;
    const replan: Task['replan'] = (some, changes = {}) =>
      fetchPairs({ ...wanted, ...changes, pairs: some }, sending);
    const tasks = shares.map((share): Task => ({ ...wanted, ...share, replan }));
    const fetch = (task: Task) =>
      next(task, sending, (part, answer) => handOut(part, answer, sending, parts));
    const [only] = tasks;
    if (only !== undefined && tasks.length === 1) return fetch(only);
    // The first call teaches which parameters the service takes. The others wait for it, so that not all run into the
    // same wall.
    const first = !isTaught(wanted, parts) ? tasks.splice(0, 1) : [];
    const fetched: FetchedRows[] = [];
    for (const task of first) fetched.push(await fetch(task));
    if (first.length > 0 && wanted.years !== null && !mayNameYears(learned)) {
      const rest = tasks.flatMap((task) => task.pairs);
      fetched.push(await fetchPairs({ ...wanted, ...inWhole(rest, parts), pairs: rest }, sending));
    } else {
      fetched.push(...(await Promise.all(tasks.map(fetch))));
    }
    return sum(fetched);
  };
}

function isTaught({ years }: PairsToFetch, { learned }: CoveredParts): boolean {
  const isLimitKnown = learned.limitParam === 'accepted' || learned.limitParam === 'refused';
  return isLimitKnown && (years === null || learned.yearsParam !== 'unknown');
}

/**
 * Settles the pairs of a whole answer.
 * @throws Failure if the pair of a faulty row can't be told
 */
function handOut(
  { mode, rectangle, pairs, settle }: Task,
  { list, groups, stray, years, receivedAt }: Rows,
  sending: Sending,
  { learned, keep, onRows }: CoveredParts,
): FetchedRows {
  const { figures } = groups;
  const [unknown] = list.unknown;
  if (unknown !== undefined) {
    sending.onLeftOut?.({ route: observations.route, count: list.unknown.length, detail: unknown.detail });
  }
  const faulty = faultsIn(list.faults, groups);
  const isProven = (key: string) => stray === null || sentOf(groups, key) > 0;
  const asked = isAll(pairs, rectangle) ? pairs : pairsOf(rectangle);
  const all = stray === null ? asked : asked.filter((pair) => isProven(keyOf(pair)));
  if (mode === 'series') {
    for (const pair of all) {
      const key = keyOf(pair);
      learnLength(pair, { years, rows: figures.get(key) ?? [], sent: sentOf(groups, key) }, learned);
    }
  }
  // An answer with rows of unknown pairs is not held, so that the next one to ask is told again.
  if (unknown === undefined) {
    keep(sending.caller.keyDigest, { mode, years }, figuresToKeep(all, mode, groups, faulty), receivedAt);
  }
  // Rows that belong to no pair count with the wanted ones.
  const ofNoPair = list.received - list.rows.length - list.blanks.length;
  let rows = ofNoPair;
  for (const pair of pairs) {
    const key = keyOf(pair);
    const failure = faulty.get(key) ?? (isProven(key) ? undefined : stray);
    settle(pair, failure ?? (isBlank(key, mode, groups) ? 'no figure' : (figures.get(key) ?? [])));
    rows += sentOf(groups, key);
  }
  onRows?.(list.received, list.received - rows + ofNoPair);
  return { rows, isWhole: true };
}

function* figuresToKeep(
  pairs: readonly Pair[],
  mode: Mode,
  groups: Groups,
  faulty: ReadonlyMap<string, Failure>,
): Generator<PairFigures> {
  for (const pair of pairs) {
    const key = keyOf(pair);
    if (faulty.has(key) || isBlank(key, mode, groups)) continue;
    yield { pair, rows: groups.figures.get(key) ?? [] };
  }
}

/** True if the latest row holds no value: the latest figure stands further back. */
function isBlank(key: string, mode: Mode, { figures, blanks }: Groups): boolean {
  return mode === 'latest' && blanks.has(key) && !figures.has(key);
}

/** True if pairs of a rectangle, none twice, are all that it has. */
function isAll(pairs: readonly Pair[], { countryCodes, metricKeys }: Rectangle): boolean {
  return pairs.length === countryCodes.length * metricKeys.length;
}

/** @throws Failure if the pair of a row that breaks the specification can't be told */
function faultsIn(faults: Rows['list']['faults'], { askedKeyOf }: Groups): Map<string, Failure> {
  const byPair = new Map<string, Failure>();
  for (const { countryCode, metricKey, failure } of faults) {
    if (countryCode === null || metricKey === null) throw failure;
    byPair.set(pairKey(countryCode, askedKeyOf(metricKey)), failure);
  }
  return byPair;
}

/** Gives each pair to the first rectangle that holds it; in steps, since thousands of pairs take long. */
function* sharing(
  pairs: readonly Pair[],
  covering: Steps<readonly Rectangle[]>,
): Steps<readonly Pick<Task, 'rectangle' | 'pairs'>[]> {
  const rectangles = yield* covering;
  if (rectangles.length === 1) return rectangles.map((rectangle) => ({ rectangle, pairs }));
  const left = new Map<string, Pair>();
  for (const [index, pair] of pairs.entries()) {
    left.set(keyOf(pair), pair);
    if (index % STEP_PAIRS === STEP_PAIRS - 1) yield;
  }
  const shares: Pick<Task, 'rectangle' | 'pairs'>[] = [];
  for (const rectangle of rectangles) {
    const own: Pair[] = [];
    for (const { countryCode, metricKey } of pairsOf(rectangle)) {
      const key = pairKey(countryCode, metricKey);
      const pair = left.get(key);
      if (pair === undefined) continue;
      own.push(pair);
      left.delete(key);
    }
    shares.push({ rectangle, pairs: own });
    yield;
  }
  return shares;
}
