import { getHeapStatistics } from 'node:v8';
import { openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import { Flow, inSlice, mayBeginAtOnce, type PromiseOrValue } from '../../shared/async/turns.ts';
import { errorBody } from '../../shared/errors.ts';
import { refusalTypeFor } from './accept.ts';
import { UNPROVEN } from './callers.ts';
import { onceOver } from './delivery.ts';
import type { GatewayResponse } from './responses.ts';
import type { Handle } from './stages.ts';

/** The reason of a refusal. `full`: too many were waiting already. `late`: it would have waited for too long. */
type AdmissionRefusal = 'full' | 'late';

/** Operations of one flow. */
interface Lane {
  readonly whose: 'proven' | 'unproven';
  /** The flow of beginning. It counts apart from the operations under way, and gives way to them if they are many. */
  readonly flow: Flow;
  readonly most: number;
  underWay: number;
  readonly queue: WaitingOperation[];
  /** The time from which operations have waited without a break. */
  busySinceMs: number;
  /** Operations begun in this stretch of time, and in the one before. */
  begun: { sinceMs: number; now: number; before: number };
  /** Operations in the queue that have a place and wait for a slice. */
  beginning: number;
}

interface WaitingOperation {
  /** That of its job: it begins behind all that came before it and can go on. */
  readonly ordinal: number;
  /** The time at which it came, moved on by each stall of the whole process. */
  sinceMs: number;
  readonly settle: (refusal: AdmissionRefusal | null) => void;
}

/** The least that a flow may have under way, as far as the setting allows that many at all. */
const LEAST_SHARE = 16;

/**
 * Milliseconds that an operation may wait. Bursts are waited out. If the queue has not been empty for long, everybody
 * would wait, and the operations that begin are to be answered soon. A few clients that ask one thing after the other
 * make a queue too, but it grows no further: to refuse them would spare nobody anything.
 */
const MOST_WAIT_MS = { few: 5_000, burst: 800, lasting: 400 };
const BURST_MS = 800;
const FEW = 32;

/** Milliseconds between two searches for operations that have waited for too long. */
const SWEEP_MS = 50;

/** Milliseconds without a look after which the process counts as stalled: nobody who waits is late then. */
const STALL_MS = 3 * SWEEP_MS;

/** Share of the heap beyond which no more operations are under way at once than a flow's least share. */
const HEAP_FULL = 0.85;
/** The same share of the process's memory, of which little that is left is no sign: it keeps what it once had. */
const MEMORY_FULL = 0.98;
const HEAP_LOOK_MS = 250;

const MACHINE = {
  now: () => performance.now(),
  heapShare() {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return used_heap_size / heap_size_limit;
  },
};

/**
 * Decides when operations begin. As many are under way as the setting allows: of one key half of it, of all keys
 * without proof together a quarter. No more begin at once than leave the event loop free for others. The rest wait by
 * flow and begin in turn. An operation that finds too many waiting, or waits for too long, is refused before anything
 * is done.
 */
export class Admission {
  readonly load = {
    underWay: 0,
    waiting: 0,
    begun: { proven: 0, unproven: 0 },
    delayed: 0,
    refused: { full: 0, late: 0 },
  };
  readonly #maxOperations: number;
  readonly #takenMemory: () => number;
  /** The clock, in milliseconds from any start, and the share of the heap that is taken. */
  readonly #machine: typeof MACHINE;
  readonly #overloaded: ReturnType<typeof createOverloaded>;
  /** Lanes that have operations under way or waiting. */
  readonly #lanes = new Set<Lane>();
  readonly #laneOfFlow = new WeakMap<Flow, Lane>();
  /** Operations of all flows that have a place and wait for a slice. */
  #beginning = 0;
  #heapLookedAtMs = Number.NEGATIVE_INFINITY;
  #isHeapFull = false;
  #sweeping: NodeJS.Timeout | undefined;
  /** The last look at the operations that wait, by `performance.now()`: a stall is one of this process. */
  #lookedAtMs = 0;

  constructor(maxOperations: number, takenMemory = () => 0, machine = MACHINE) {
    this.#maxOperations = maxOperations;
    this.#takenMemory = takenMemory;
    this.#machine = machine;
    this.#overloaded = createOverloaded(maxOperations);
  }

  /** Opens the stage that lets operations on once they may begin. */
  admissionStage(next: Handle): Handle {
    return async (incoming) => {
      const { request, caller, delivery } = incoming;
      const entering = this.enter(caller, request);
      const refusal = entering instanceof Promise ? await entering : entering;
      if (refusal !== null) return this.#overloaded(request.headers.accept, request.requestId);
      try {
        return await next(incoming);
      } finally {
        if (delivery === null) this.leave(caller);
        else onceOver(delivery, () => this.leave(caller));
      }
    };
  }

  /** Returns the refusal of an operation unseen, if another one of the caller's flow would be refused; otherwise null. */
  refusalUnread(caller: Caller, accepts: string | undefined, requestId?: string): GatewayResponse | null {
    if (!this.isFull(caller)) return null;
    this.load.refused.full += 1;
    return this.#overloaded(accepts, requestId);
  }

  /** Returns null once the operation may begin: from then on it is under way until it leaves. */
  enter(caller: Caller, request: { readonly signal: AbortSignal }): PromiseOrValue<AdmissionRefusal | null> {
    const nowMs = this.#machine.now();
    const lane = this.#laneOf(caller);
    this.#lookAtHeap(nowMs);
    if (lane.queue.length === 0 && this.#hasPlace(lane) && mayBeginAtOnce()) {
      this.#take(lane);
      return null;
    }
    if (!this.isFull(caller)) return this.#wait(lane, caller.ordinal ?? 0, request.signal, nowMs);
    this.load.refused.full += 1;
    return 'full';
  }

  /** True if a flow may be full. */
  get isAnyFull(): boolean {
    return this.load.waiting >= Math.min(LEAST_SHARE, this.#maxOperations);
  }

  /** True if so many of a caller's flow are waiting that another one would be refused. */
  isFull(caller: Caller): boolean {
    if (this.load.waiting >= this.#maxOperations) return true;
    const lane = this.#laneOf(caller);
    return lane.queue.length >= mostWaiting(lane, this.#machine.now());
  }

  leave(caller: Caller): void {
    this.#release(this.#laneOf(caller));
  }

  #laneOf({ flow }: Caller): Lane {
    const existing = this.#laneOfFlow.get(flow);
    if (existing !== undefined) return existing;
    const lane = this.#open(flow);
    this.#laneOfFlow.set(flow, lane);
    return lane;
  }

  #open(flow: Flow): Lane {
    const isUnproven = flow === UNPROVEN;
    const share = Math.max(LEAST_SHARE, Math.floor(this.#maxOperations / (isUnproven ? 4 : 2)));
    return {
      whose: isUnproven ? 'unproven' : 'proven',
      flow: new Flow(flow),
      most: Math.min(this.#maxOperations, share),
      underWay: 0,
      queue: [],
      busySinceMs: 0,
      begun: { sinceMs: 0, now: 0, before: 0 },
      beginning: 0,
    };
  }

  #forgetIdle(lane: Lane): void {
    if (lane.underWay === 0 && lane.queue.length === 0) this.#lanes.delete(lane);
  }

  #lookAtHeap(nowMs: number): void {
    if (nowMs - this.#heapLookedAtMs < HEAP_LOOK_MS) return;
    this.#heapLookedAtMs = nowMs;
    this.#isHeapFull = this.#machine.heapShare() > HEAP_FULL || this.#takenMemory() > MEMORY_FULL;
  }

  #hasPlace(lane: Lane): boolean {
    const most = this.#isHeapFull ? Math.min(LEAST_SHARE, this.#maxOperations) : this.#maxOperations;
    return lane.underWay < lane.most && this.load.underWay < most;
  }

  #take(lane: Lane): void {
    this.#lanes.add(lane);
    this.load.begun[lane.whose] += 1;
    lane.underWay += 1;
    this.load.underWay += 1;
  }

  #release(lane: Lane): void {
    lane.underWay -= 1;
    this.load.underWay -= 1;
    this.#advance();
    this.#forgetIdle(lane);
  }

  #wait(lane: Lane, ordinal: number, signal: AbortSignal, nowMs: number): Promise<AdmissionRefusal | null> {
    this.#lanes.add(lane);
    if (lane.queue.length === 0) lane.busySinceMs = nowMs;
    if (this.load.waiting === 0) this.#lookedAtMs = performance.now();
    this.load.waiting += 1;
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return new Promise((resolve) => {
      const settle = (refusal: AdmissionRefusal | null) => {
        signal.removeEventListener('abort', giveUp);
        this.load.waiting -= 1;
        resolve(refusal);
      };
      const waiter: WaitingOperation = { ordinal, sinceMs: nowMs, settle };
      const giveUp = () => {
        lane.queue.splice(lane.queue.indexOf(waiter), 1);
        settle('late');
        this.#forgetIdle(lane);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      lane.queue.push(waiter);
      if (this.#hasPlace(lane)) this.#place(lane);
      // One that has a place already begins with the next turn, which is no wait that anybody could do anything about.
      else this.load.delayed += 1;
    });
  }

  /** Gives places to operations that wait and have none, one flow after the other. */
  #advance(): void {
    if (this.load.waiting <= this.#beginning) return;
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      for (const lane of [...this.#lanes]) {
        if (lane.beginning >= lane.queue.length || !this.#hasPlace(lane)) continue;
        isMoving = true;
        this.#place(lane);
      }
    }
  }

  /** Has an operation of a flow begin in a slice, at a place that is taken for it now. */
  #place(lane: Lane): void {
    const { ordinal = 0 } = lane.queue[lane.beginning] ?? {};
    lane.beginning += 1;
    this.#beginning += 1;
    this.#take(lane);
    inSlice({ flow: lane.flow, ordinal }, () => this.#begin(lane));
  }

  /** Lets the next operation of a flow begin at the place that was taken for it. */
  #begin(lane: Lane): void {
    this.#forgiveStall();
    const nowMs = this.#machine.now();
    lane.beginning -= 1;
    this.#beginning -= 1;
    const isTooLate = isFirstLate(lane, nowMs);
    const waiter = lane.queue.shift();
    if (isTooLate) this.load.refused.late += 1;
    else countBegun(lane, nowMs);
    waiter?.settle(isTooLate ? 'late' : null);
    if (waiter === undefined || isTooLate) this.#release(lane);
  }

  /** Takes the time of a stall off the waiting time of all operations in the queues. */
  #forgiveStall(): void {
    const atMs = performance.now();
    const stalledMs = atMs - this.#lookedAtMs - STALL_MS;
    this.#lookedAtMs = atMs;
    if (stalledMs <= 0) return;
    for (const lane of this.#lanes) {
      lane.busySinceMs += stalledMs;
      for (const waiter of lane.queue) waiter.sinceMs += stalledMs;
    }
  }

  /** Refuses operations that have waited for too long. */
  #sweep(): void {
    this.#forgiveStall();
    const nowMs = this.#machine.now();
    for (const lane of [...this.#lanes]) {
      while (isFirstLate(lane, nowMs)) {
        this.load.refused.late += 1;
        lane.queue.shift()?.settle('late');
      }
      this.#forgetIdle(lane);
    }
    if (this.load.waiting > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

function countBegun({ begun }: Lane, nowMs: number): void {
  if (nowMs - begun.sinceMs > MOST_WAIT_MS.lasting) {
    begun.before = nowMs - begun.sinceMs > 2 * MOST_WAIT_MS.lasting ? 0 : begun.now;
    begun.sinceMs = nowMs;
    begun.now = 0;
  }
  begun.now += 1;
}

/** Counts the operations that may wait: in a queue that lasts, half of those that begin in the longest wait. */
function mostWaiting({ most, busySinceMs, begun, queue }: Lane, nowMs: number): number {
  if (queue.length === 0 || nowMs - busySinceMs <= BURST_MS) return most;
  return Math.min(most, Math.max(FEW, Math.floor(Math.max(begun.before, begun.now) / 2)));
}

function isFirstLate({ busySinceMs, queue }: Lane, nowMs: number): boolean {
  const [first] = queue;
  if (first === undefined) return false;
  const { few, burst, lasting } = MOST_WAIT_MS;
  const most = nowMs - busySinceMs > BURST_MS ? lasting : burst;
  return nowMs - first.sinceMs > (queue.length > FEW ? most : few);
}

/** Seconds, at most, after which refused clients may come back: they differ, so that the clients don't all come at once. */
const MOST_RETRY_SECONDS = 3;

/** Makes the answers to operations that are refused unseen. */
function createOverloaded(maxOperations: number) {
  const message = `The gateway is overloaded: it runs up to ${maxOperations} operations at once (MAX_CONCURRENT_OPERATIONS), and too many are waiting. Nothing was run; ask again a little later.`;
  const rest = { extensions: { upstream: openBill() } };
  let count = 0;
  return (accepts = '', requestId = 'none'): GatewayResponse => {
    count += 1;
    const retryAfterSeconds = 1 + (count % MOST_RETRY_SECONDS);
    const headers = new Map([
      ['content-type', refusalTypeFor(accepts)],
      ['cache-control', 'no-store'],
      ['vary', 'Authorization'],
      ['retry-after', String(retryAfterSeconds)],
    ]);
    const body = errorBody('OVERLOADED', message, { retryAfterSeconds, requestId }, rest);
    return { status: 503, headers, body };
  };
}
