/*
 * Work that takes milliseconds is cut into slices, and between slices timers and sockets have their turns. Slices wait
 * by flow, and the flow that has had the least time goes next (start-time fair queueing), so that one flow's many
 * slices delay another flow by only a few slices. Among flows that have had about as much, the oldest job goes on.
 * Within a flow, short jobs take turns with long ones, and long ones run one after the other. So there are few
 * half-finished jobs, which would only fill the memory.
 */

import type { PromiseOrValue } from './promises.ts';

export interface Job {
  readonly flow: Flow;
  /** Rises from job to job. */
  readonly ordinal?: number;
  /** Slices so far. */
  slices?: number;
}

/** Length of a slice, unless a single step takes longer. */
export const TURN_MS = 2;

/** In one iteration of the event loop, operations begin at once for so long; later ones wait for the next. */
const BEGINNING_MS = 10;

/** Short slices in one iteration of the event loop. */
const MAX_SLICES = 16;

/** Flows count as level if they differ by no more. */
const LEVEL_MS = 5;

/**
 * The most that a slice is charged. What takes longer is mostly a garbage collection that fell into the slice, and with
 * many flows, each millisecond charged for it means to wait for a round of all of them.
 */
const MAX_CHARGE_MS = 2 * TURN_MS;

/** Slices after which a job is a long one. */
const SHORT_SLICES = 3;

/** So many slices may wait in a flow before the flow that yields to it is charged more: double for twice as many. */
const CROWD = 16;

interface Slice {
  readonly ordinal: number;
  readonly run: () => void;
}

/** Work that counts together, such as all that is done under one key. */
export class Flow {
  /** Slices of short jobs, first in, first out. */
  readonly short: Slice[] = [];
  /** Slices of long jobs, the oldest job first. */
  readonly long: Slice[] = [];
  /** Each slice that waits there makes the time of this flow count for more (`charge`). */
  readonly yieldsTo: Flow | null;
  isLongNext = false;
  /** Milliseconds that it has had; idle flows don't save up. */
  usedMs = 0;

  constructor(yieldsTo: Flow | null = null) {
    this.yieldsTo = yieldsTo;
  }

  /** That of the older of the two jobs whose slices may be next. */
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
/** `usedMs` of the flow that ran last. */
let currentMs = 0;
let isArmed = false;
let running: Flow | null = null;
let runningSinceMs = 0;
/** Start of the first slice of this iteration of the event loop. */
let slicesSinceMs: number | null = null;
/** Start of the first operation of this iteration of the event loop. */
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

/** For work that takes milliseconds. */
export function yieldToEventLoop(job: Job): Promise<void> {
  return new Promise((resolve) => inSlice(job, resolve));
}

/** Takes steps at once as long as they are quick; then others have their turns in between. */
export function timeSliced<Result>(job: Job, steps: Steps<Result>): Result | Promise<Result> {
  const pausesAtMs = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < pausesAtMs) continue;
    return yieldToEventLoop(job).then(() => timeSliced(job, steps));
  }
}

const BLOCK_ITEMS = 8;

/** If it takes long, others have their turns in between and after it. */
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

/** Rows that are sorted or merged in one step. */
const SORTED_ROWS = 1024;

/** A stable sort, in turns if there are many rows. */
export function sortedInTurns<Row>(
  job: Job,
  rows: readonly Row[],
  compare: (a: Row, b: Row) => number,
): PromiseOrValue<readonly Row[]> {
  return rows.length <= SORTED_ROWS ? rows.toSorted(compare) : timeSliced(job, sorting(rows, compare));
}

/** Merge sort. */
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

/** True if no slice waits, and this iteration of the event loop is still short. */
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

/** An immediate for each slice, so that its microtasks run before the next one, and are charged to it. */
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
  const crowds = Math.max(1, (running.yieldsTo?.waiting ?? 0) / CROWD);
  running.usedMs += Math.min(nowMs - runningSinceMs, MAX_CHARGE_MS) * crowds;
  running = null;
}

/** The flow of the oldest job, among those that are level with the one that has had the least time. */
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

/** Work in steps, for `timeSliced`. */
export type Steps<Result> = Generator<void, Result>;

/** Takes all steps at once. */
export function taken<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
