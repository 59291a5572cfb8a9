/*
 * Work that takes milliseconds shares the event loop here: it is cut into slices, and between slices timers and sockets
 * have their turns. Slices wait by flow, and the flow that has had the least time goes next (start-time fair queueing),
 * so that one flow's many slices delay another flow by a few slices and not by all of them. Among flows that have had about
 * as much, the oldest job goes on: all of them half-finished would only fill the memory. Within a flow, short jobs take
 * turns with long ones, and long ones run one after the other: half-finished ones would only fill the memory.
 */

/** The work that slices are part of, such as an operation. */
export interface Job {
  readonly flow: Flow;
  /** A number that rises from job to job: the lowest began first. */
  readonly ordinal?: number;
  /** Slices that it has asked for so far. */
  slices?: number;
}

/** Milliseconds that work keeps others waiting, unless a single step of it takes longer. */
export const TURN_MS = 2;

/** Milliseconds for which operations begin at once in one iteration of the event loop; later ones wait for the next. */
const BEGINNING_MS = 10;

/** Slices that may run in one iteration of the event loop, as long as they are short. */
const MAX_SLICES = 16;

/** Milliseconds by which a flow may have had more than another and still counts as level with it. */
const LEVEL_MS = 5;

/**
 * Milliseconds that a slice is charged with at the most. What takes longer is seldom the flow's own doing but a collection of
 * garbage that fell into its slice, and with many flows each millisecond of it is a round of all of them to wait.
 */
const MAX_CHARGE_MS = 2 * TURN_MS;

/** Slices after which a job is a long one. */
const SHORT_SLICES = 3;

/** Slices waiting in a flow that double what the flow behind it is charged; twice as many treble it. */
const CROWD = 12;

interface Slice {
  readonly ordinal: number;
  readonly run: () => void;
}

/** A flow of work, such as all that is done under one key: it counts together. */
export class Flow {
  /** Slices of short jobs, as they came. */
  readonly short: Slice[] = [];
  /** Slices of long jobs, those of the oldest first. */
  readonly long: Slice[] = [];
  /** The flow that this one gives way to: each slice that waits there makes the time of this one count for more (`charge`). */
  readonly yieldsTo: Flow | null;
  isLongNext = false;
  /** Milliseconds that it has had; a flow that had nothing to do doesn't save up. */
  usedMs = 0;

  constructor(yieldsTo: Flow | null = null) {
    this.yieldsTo = yieldsTo;
  }

  /** The ordinal of the older job of the two whose slices may be next: the first short one, and the first long one. */
  get ordinal(): number {
    const { short, long } = this;
    return Math.min(
      short[0]?.ordinal ?? Number.POSITIVE_INFINITY,
      long[0]?.ordinal ?? Number.POSITIVE_INFINITY,
    );
  }

  get waiting(): number {
    return this.short.length + this.long.length;
  }
}

const flows = new Set<Flow>();
let waiting = 0;
/** Milliseconds that the flow had which ran last. */
let currentMs = 0;
let isArmed = false;
let running: Flow | null = null;
let runningSinceMs = 0;
/** Instant at which the first slice of this iteration of the event loop began. */
let slicesSinceMs: number | null = null;
/** Instant at which the first operation of this iteration of the event loop was begun. */
let beginningsSinceMs: number | null = null;

export function inSlice(job: Job, run: () => void): void {
  const { flow, ordinal = 0, slices = 0 } = job;
  if (flow.waiting === 0) {
    flow.usedMs = Math.max(flow.usedMs, currentMs);
    flows.add(flow);
  }
  job.slices = slices + 1;
  if (slices < SHORT_SLICES) flow.short.push({ ordinal, run });
  else
    flow.long.splice(flow.long.findLastIndex((other) => other.ordinal <= ordinal) + 1, 0, { ordinal, run });
  waiting += 1;
  arm();
}

/** Goes on in a slice of its own: for work that takes milliseconds. */
export function yieldToEventLoop(job: Job): Promise<void> {
  return new Promise((resolve) => inSlice(job, resolve));
}

/** Takes the steps of some work, at once if that doesn't take long; otherwise others have their turns in between. */
export function timeSliced<Result>(job: Job, steps: Steps<Result>): Result | Promise<Result> {
  const pausesAtMs = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < pausesAtMs) continue;
    return yieldToEventLoop(job).then(() => timeSliced(job, steps));
  }
}

/** Items between looks at the clock. */
const BLOCK_ITEMS = 8;

/** Does something with each of many items. If that takes long, others have their turns in between and after it. */
export function eachInTurns<Item>(
  job: Job,
  items: readonly Item[],
  work: (item: Item) => void,
  from = 0,
): PromiseOrValue<void> {
  const pausesAtMs = performance.now() + TURN_MS;
  for (let i = from; i < items.length; i += 1) {
    if (i > from && i % BLOCK_ITEMS === 0 && performance.now() >= pausesAtMs)
      return yieldToEventLoop(job).then(() => eachInTurns(job, items, work, i));
    work(items[i] as Item);
  }
  if (from > 0) return yieldToEventLoop(job);
}

/** Rows that are put in order, or together, between looks at the clock. */
const SORTED_ROWS = 1024;

/** Puts rows in order, many of them in turns; rows that are alike stay as they are. */
export function sortedInTurns<Row>(
  job: Job,
  rows: readonly Row[],
  compare: (a: Row, b: Row) => number,
): PromiseOrValue<readonly Row[]> {
  return rows.length <= SORTED_ROWS ? rows.toSorted(compare) : timeSliced(job, sorting(rows, compare));
}

/** Sorts halves, and merges them: of rows that are alike, those of the first half come first. */
function* sorting<Row>(rows: readonly Row[], compare: (a: Row, b: Row) => number): Steps<readonly Row[]> {
  if (rows.length <= SORTED_ROWS) return rows.toSorted(compare);
  const middle = Math.floor(rows.length / 2);
  const first = yield* sorting(rows.slice(0, middle), compare);
  yield;
  const second = yield* sorting(rows.slice(middle), compare);
  yield;
  const merged: Row[] = [];
  let next = 0;
  for (const row of first) {
    for (; next < second.length && compare(second[next] as Row, row) < 0; next += 1) {
      merged.push(second[next] as Row);
      if (merged.length % SORTED_ROWS === 0) yield;
    }
    merged.push(row);
    if (merged.length % SORTED_ROWS === 0) yield;
  }
  return merged.concat(second.slice(next));
}

/** True if an operation may begin at once: no slice waits, and this iteration of the event loop is still short. */
export function mayBeginAtOnce(): boolean {
  if (waiting > 0) return false;
  if (beginningsSinceMs !== null) return performance.now() - beginningsSinceMs < BEGINNING_MS;
  beginningsSinceMs = performance.now();
  setImmediate(endBeginnings);
  return true;
}

function endBeginnings(): void {
  beginningsSinceMs = null;
}

/** Has the next iteration run slices, an immediate each, so that the microtasks of one run before the next and are charged to it. */
function arm(): void {
  if (isArmed || waiting === 0) return;
  isArmed = true;
  for (let slices = Math.min(waiting, MAX_SLICES); slices > 0; slices -= 1) setImmediate(runSlice);
  setImmediate(endSlices);
}

function runSlice(): void {
  const nowMs = performance.now();
  charge(nowMs);
  slicesSinceMs ??= nowMs;
  if (nowMs - slicesSinceMs >= TURN_MS) return;
  const flow = next();
  if (flow === null) return;
  running = flow;
  runningSinceMs = nowMs;
  currentMs = flow.usedMs;
  waiting -= 1;
  const slice = sliceOf(flow);
  if (flow.waiting === 0) flows.delete(flow);
  slice?.run();
}

function endSlices(): void {
  charge(performance.now());
  slicesSinceMs = null;
  isArmed = false;
  arm();
}

function charge(nowMs: number): void {
  if (running === null) return;
  running.usedMs +=
    Math.min(nowMs - runningSinceMs, MAX_CHARGE_MS) * (1 + (running.yieldsTo?.waiting ?? 0) / CROWD);
  running = null;
}

/** Returns the flow of the oldest job, among those that are level with the one that has had the least time. */
function next(): Flow | null {
  let leastMs = Number.POSITIVE_INFINITY;
  for (const { usedMs } of flows) leastMs = Math.min(leastMs, usedMs);
  let oldest: Flow | null = null;
  for (const flow of flows)
    if (flow.usedMs <= leastMs + LEVEL_MS && (oldest === null || flow.ordinal < oldest.ordinal))
      oldest = flow;
  return oldest;
}

function sliceOf(flow: Flow): Slice | undefined {
  const { short, long, isLongNext } = flow;
  flow.isLongNext = !isLongNext;
  return (isLongNext ? long.shift() : undefined) ?? short.shift() ?? long.shift();
}

/** Work that others may have their turns in between: `timeSliced` takes its steps. */
export type Steps<Result> = Generator<void, Result>;

/** Takes all steps of some work at once. */
export function taken<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** A value that is there, or will be: a cached value is answered without a promise, and without the cost of one. */
export type PromiseOrValue<Value> = Value | Promise<Value>;

/** Goes on with a value, at once if it is there. */
export function mapValue<Value, Result>(
  value: PromiseOrValue<Value>,
  goOn: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** Waits for all of some work: mostly for a single promise, which needs no other around it. */
export function whenAll(work: readonly unknown[]): Promise<unknown> {
  const [first] = work;
  return work.length === 1 && first instanceof Promise ? first : Promise.all(work);
}

/** Has the first that needs a module load it; it is there at once from then on. No batch leaves while it is loading. */
export function loadedOnce<Module>(load: () => Promise<Module>) {
  let module: PromiseOrValue<Module> | undefined;
  return <Result>(
    { batchGate }: { readonly batchGate: { closeDuring<T>(promise: Promise<T>): Promise<T> } },
    goOn: (module: Module) => PromiseOrValue<Result>,
  ): PromiseOrValue<Result> => {
    module ??= load().then((loaded) => {
      module = loaded;
      return loaded;
    });
    return module instanceof Promise ? batchGate.closeDuring(module).then(goOn) : goOn(module);
  };
}

/** Returns the outcome of some work; a promise that is rejected if the work throws at once. */
export function promiseTry<Value>(work: () => PromiseOrValue<Value>): PromiseOrValue<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

type WaitEnd = 'fulfilled' | 'rejected' | 'aborted';

/**
 * Settles as the promise does, or rejects with the signal's reason if that comes first.
 * @param onEnd called once, as the wait comes to its end
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onEnd?: (end: WaitEnd) => void,
): Promise<T> {
  if (signal.aborted) {
    onEnd?.('aborted');
    return Promise.reject(signal.reason);
  }
  const { promise: wait, resolve, reject } = Promise.withResolvers<T>();
  let isOver = false;
  const ending =
    <Value>(end: WaitEnd, settle: (value: Value) => void) =>
    (value: Value) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      onEnd?.(end);
      settle(value);
    };
  const onAbort = () => ending('aborted', reject)(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  promise.then(ending('fulfilled', resolve), ending('rejected', reject));
  return wait;
}

/** Handles rejections in a list that has to wait for others: handled only later, they count as unhandled. */
export function handleRejections(value: unknown): void {
  if (!Array.isArray(value)) return;
  for (const item of value) {
    if (typeof item?.then === 'function') item.then(handleRejections, ignore);
    else handleRejections(item);
  }
}

const ignore = () => {};
