/*
 * Work that takes milliseconds shares the event loop here: it is cut into slices, and between slices timers and sockets
 * have their turns. Slices wait by flow, and the flow that has had the least time goes next (start-time fair queueing),
 * so that one flow's many slices delay another flow by one slice and not by all of them.
 */

/** How long work keeps others waiting, in milliseconds, unless a single step of it takes longer. */
export const TURN_MS = 5;

/** How long operations are begun at once in one iteration of the event loop; beyond, they wait for the next one. */
const BEGINNING_MS = 10;

/** Slices that may run in one iteration of the event loop, as long as they are short. */
const MAX_SLICES = 16;

/** Whose work is whose: all of a flow's work counts together. */
interface Flow {
  readonly waiting: (() => void)[];
  /** The time that it has had, in milliseconds; a flow that had nothing to do doesn't save up. */
  usedMs: number;
}

const flows = new Map<string, Flow>();
let waiting = 0;
/** The time that the flow had which ran last. */
let currentMs = 0;
let isArmed = false;
let running: Flow | null = null;
let runningSinceMs = 0;
/** When the first slice of this iteration of the event loop began. */
let slicesSinceMs: number | null = null;
/** When the first operation of this iteration of the event loop was begun. */
let beginningsSinceMs: number | null = null;

/** Runs something in a slice of its own. */
export function inSlice(flow: string, run: () => void): void {
  let entry = flows.get(flow);
  if (entry === undefined) {
    entry = { waiting: [], usedMs: currentMs };
    flows.set(flow, entry);
  }
  if (entry.waiting.length === 0) entry.usedMs = Math.max(entry.usedMs, currentMs);
  entry.waiting.push(run);
  waiting += 1;
  arm();
}

/** Goes on in a slice of its own: for what takes milliseconds. */
export function ownTurn(flow: string): Promise<void> {
  return new Promise((resolve) => inSlice(flow, resolve));
}

/** Takes the steps of some work, at once where that doesn't take long; else others have their turns in between. */
export function inTurns<Result>(flow: string, steps: Generator<void, Result>): Result | Promise<Result> {
  const pausesAtMs = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < pausesAtMs) continue;
    return ownTurn(flow).then(() => inTurns(flow, steps));
  }
}

/** Whether an operation may begin at once: no slice is waiting, and this iteration of the event loop has not gone on for long. */
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
  flow.waiting.shift()?.();
}

function endSlices(): void {
  charge(performance.now());
  slicesSinceMs = null;
  isArmed = false;
  arm();
}

function charge(nowMs: number): void {
  if (running !== null) running.usedMs += nowMs - runningSinceMs;
  running = null;
}

/** The flow that has had the least time of those that wait. Those that have nothing to do are forgotten once that is fair. */
function next(): Flow | null {
  let least: Flow | null = null;
  for (const [name, flow] of flows) {
    if (flow.waiting.length > 0) {
      if (least === null || flow.usedMs < least.usedMs) least = flow;
    } else if (flow.usedMs <= currentMs) flows.delete(name);
  }
  return least;
}
