/*
 * Work that takes milliseconds shares the event loop here: it is cut into slices, and between slices timers and sockets
 * have their turns. Slices wait by flow, and the flow that has had the least time goes next (start-time fair queueing),
 * so that one flow's many slices delay another flow by one slice and not by all of them. Within a flow, short jobs take
 * turns with long ones, and long ones run one after the other: half-finished ones would only fill the memory.
 */

/** The work that slices are part of, such as an operation. */
export interface Job {
  /** Name of its flow: all work of a flow counts together. */
  readonly flow: string;
  /** Its place among jobs: a number that rises from job to job, so that the lowest began first. */
  readonly since?: number;
  /** Slices that it has asked for so far. */
  slices?: number;
  /** A flow beside this one: the more of its slices are waiting, the less often this one has its turn. */
  readonly behind?: string;
}

/** Milliseconds that work keeps others waiting, unless a single step of it takes longer. */
export const TURN_MS = 2;

/** Milliseconds for which operations begin at once in one iteration of the event loop; later ones wait for the next. */
const BEGINNING_MS = 10;

/** Slices that may run in one iteration of the event loop, as long as they are short. */
const MAX_SLICES = 16;

/** Slices after which a job is a long one. */
const SHORT_SLICES = 3;

/** Slices of a flow, each as many of which make the flow behind it wait once more as long. */
const CROWD = 12;

interface Slice {
  readonly since: number;
  readonly run: () => void;
}

interface Flow {
  readonly name: string;
  /** Slices of short jobs, as they came. */
  readonly short: Slice[];
  /** Slices of long jobs, those of the oldest first. */
  readonly long: Slice[];
  readonly behind: string | undefined;
  isLongNext: boolean;
  /** Milliseconds that it has had; a flow that had nothing to do doesn't save up. */
  usedMs: number;
}

const flows = new Map<string, Flow>();
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

/** Runs a function in a slice of its own. */
export function inSlice(job: Job, run: () => void): void {
  let flow = flows.get(job.flow);
  if (flow === undefined) {
    flow = { name: job.flow, short: [], long: [], behind: job.behind, isLongNext: false, usedMs: currentMs };
    flows.set(job.flow, flow);
  }
  if (isIdle(flow)) flow.usedMs = Math.max(flow.usedMs, currentMs);
  const { since = 0, slices = 0 } = job;
  job.slices = slices + 1;
  if (slices < SHORT_SLICES) flow.short.push({ since, run });
  else flow.long.splice(flow.long.findLastIndex((other) => other.since <= since) + 1, 0, { since, run });
  waiting += 1;
  arm();
}

function isIdle({ short, long }: Flow): boolean {
  return short.length === 0 && long.length === 0;
}

/** Goes on in a slice of its own: for work that takes milliseconds. */
export function yieldToEventLoop(job: Job): Promise<void> {
  return new Promise((resolve) => inSlice(job, resolve));
}

/** Does work that takes milliseconds in turns that it shares with nothing else. */
export async function onItsOwn<Result>(job: Job, work: () => PromiseOrValue<Result>): Promise<Result> {
  await yieldToEventLoop(job);
  const result = await work();
  await yieldToEventLoop(job);
  return result;
}

/** Takes the steps of some work, at once if that doesn't take long; else others have their turns in between. */
export function timeSliced<Result>(job: Job, steps: Steps<Result>): Result | Promise<Result> {
  const pausesAtMs = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < pausesAtMs) continue;
    return yieldToEventLoop(job).then(() => timeSliced(job, steps));
  }
}

/**
 * Returns true if an operation may begin at once: no slice is waiting, and this iteration of the event loop has not
 * gone on for long.
 */
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

/**
 * Has the next iteration of the event loop run slices. Each is an immediate of its own, so that the promises which it
 * settles are followed before the next one begins, and count as its time.
 */
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
  sliceOf(flow)?.run();
}

function endSlices(): void {
  charge(performance.now());
  slicesSinceMs = null;
  isArmed = false;
  arm();
}

function charge(nowMs: number): void {
  if (running === null) return;
  const ahead = running.behind === undefined ? undefined : flows.get(running.behind);
  const crowd = ahead === undefined ? 0 : ahead.short.length + ahead.long.length;
  running.usedMs += (nowMs - runningSinceMs) * (1 + crowd / CROWD);
  running = null;
}

/**
 * Returns the waiting flow that has had the least time. Flows that have nothing to do are forgotten once that is fair.
 */
function next(): Flow | null {
  let least: Flow | null = null;
  for (const flow of flows.values()) {
    if (!isIdle(flow)) {
      if (least === null || flow.usedMs < least.usedMs) least = flow;
    } else if (flow.usedMs <= currentMs) flows.delete(flow.name);
  }
  return least;
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

/** A value that is there, or will be: a held value is answered without a promise, and without the cost of one. */
export type PromiseOrValue<Value> = Value | Promise<Value>;

/** Goes on with a value, at once if it is there. */
export function mapValue<Value, Result>(
  value: PromiseOrValue<Value>,
  goOn: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** Returns the outcome of some work; a promise that is rejected if the work throws at once. */
export function promiseTry<Value>(work: () => PromiseOrValue<Value>): PromiseOrValue<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The end of a wait. */
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
  return new Promise((resolve, reject) => {
    let isOver = false;
    /** Ends the wait. @returns true if it was still going on */
    function end(as: WaitEnd): boolean {
      if (isOver) return false;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      onEnd?.(as);
      return true;
    }
    function onAbort(): void {
      if (end('aborted')) reject(signal.reason);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        if (end('fulfilled')) resolve(value);
      },
      (error: unknown) => {
        if (end('rejected')) reject(error);
      },
    );
  });
}
