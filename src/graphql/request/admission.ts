import { getHeapStatistics } from 'node:v8';
import type { Caller } from '../../service/caller.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { Flow, inSlice, mayBeginAtOnce } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { UNPROVEN } from './callers.ts';
import { type RefusedRequest, refusalOf } from './refusals.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { type Handle, onceOver } from './stages.ts';

/** The reason of a refusal. `full`: too many were waiting already. `late`: it would have waited for too long. */
type AdmissionRefusal = 'full' | 'late';

/** Operations of one flow. */
interface Lane {
  /** For beginning alone. It gives way to the operations under way if they are many. */
  readonly flow: Flow;
  readonly most: number;
  underWay: number;
  readonly queue: WaitingOperation[];
  /** Those of the current uninterrupted queue. */
  sweeps: number;
  /** Queued operations that have a place, and wait for a slice. */
  beginning: number;
}

interface WaitingOperation {
  /** Its job's: it begins behind all earlier work that can go on. */
  readonly ordinal: number;
  /** Sweeps since its arrival. */
  sweeps: number;
  readonly settle: (refusal: AdmissionRefusal | null) => void;
}

type Entering = Pick<GatewayRequest, 'signal' | 'place'>;

/** A flow may have at least this many under way, if the setting allows as many at all. */
const LEAST_SHARE = 16;

/**
 * Longest waits in sweeps: 5, 0.8 and 0.4 s. Bursts are waited out; a lasting queue would make everybody wait, so there
 * the wait is short. A few sequential clients also make a queue, but one that doesn't grow: refusing them would help
 * nobody.
 */
const MOST_SWEEPS = { few: 100, burst: 16, lasting: 8 };
const FEW = 32;

/** A stall of the process delays a sweep, but makes no more of them: nobody is late for that. */
const SWEEP_MS = 50;

/** Above this share of the heap, only a flow's least share is under way. */
const HEAP_FULL = 0.85;
/** For the process's memory, which it doesn't give back once it has had it. */
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
 * Decides when operations begin. One key may have half of the operations under way that the setting allows, all
 * unproven keys together a quarter, and no more begin at once than leave the event loop free. The rest queue by flow
 * and begin in turn; an operation is refused, before anything is done, if too many queue or it has waited too long.
 */
export class Admission {
  readonly load = {
    underWay: 0,
    waiting: 0,
    begun: 0,
    delayed: 0,
    refused: { full: 0, late: 0 },
  };
  readonly #maxOperations: number;
  readonly #takenMemory: () => number;
  readonly #machine: typeof MACHINE;
  readonly #overloaded: ReturnType<typeof createOverloaded>;
  /** Those in which operations wait; the next to begin is one of the first. */
  readonly #lanes = new Set<Lane>();
  readonly #laneOfFlow = new WeakMap<Flow, Lane>();
  #heapLookedAtMs = Number.NEGATIVE_INFINITY;
  #isHeapFull = false;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(maxOperations: number, takenMemory = () => 0, machine = MACHINE) {
    this.#maxOperations = maxOperations;
    this.#takenMemory = takenMemory;
    this.#machine = machine;
    this.#overloaded = createOverloaded(maxOperations);
  }

  admissionStage(next: Handle): Handle {
    return async (incoming) => {
      const { request, caller, delivery } = incoming;
      const entering = this.enter(caller, request);
      const refusal = entering instanceof Promise ? await entering : entering;
      if (refusal !== null) return this.#overloaded(request);
      try {
        return await next(incoming);
      } finally {
        onceOver(delivery, () => this.leave(caller));
      }
    };
  }

  /** Refuses an operation unread if the caller's flow is full; otherwise null. */
  refusalUnread(caller: Caller, request: RefusedRequest): GatewayResponse | null {
    if (!this.isFull(caller)) return null;
    this.load.refused.full += 1;
    return this.#overloaded(request);
  }

  /** Null once the operation may begin: it is under way until it leaves. */
  enter(caller: Caller, request: Entering): PromiseOrValue<AdmissionRefusal | null> {
    const lane = this.#laneOf(caller);
    this.#lookAtHeap();
    if (lane.queue.length === 0 && this.#hasPlace(lane) && mayBeginAtOnce()) {
      this.#take(lane);
      return null;
    }
    if (!this.isFull(caller)) return this.#wait(lane, caller.ordinal ?? 0, request);
    this.load.refused.full += 1;
    return 'full';
  }

  /** False if no flow can be full yet. */
  get mayAnyBeFull(): boolean {
    return this.load.waiting >= Math.min(LEAST_SHARE, this.#maxOperations);
  }

  isFull(caller: Caller): boolean {
    const { queue, most } = this.#laneOf(caller);
    return this.load.waiting >= this.#maxOperations || queue.length >= most;
  }

  leave(caller: Caller): void {
    this.#release(this.#laneOf(caller));
  }

  #laneOf({ flow }: Caller): Lane {
    const existing = this.#laneOfFlow.get(flow);
    if (existing !== undefined) return existing;
    const share = Math.max(LEAST_SHARE, Math.floor(this.#maxOperations / (flow === UNPROVEN ? 4 : 2)));
    const most = Math.min(this.#maxOperations, share);
    const lane: Lane = { flow: new Flow(flow), most, underWay: 0, queue: [], sweeps: 0, beginning: 0 };
    this.#laneOfFlow.set(flow, lane);
    return lane;
  }

  #forgetIdle(lane: Lane): void {
    if (lane.queue.length === 0) this.#lanes.delete(lane);
  }

  #lookAtHeap(): void {
    const nowMs = this.#machine.now();
    if (nowMs - this.#heapLookedAtMs < HEAP_LOOK_MS) return;
    this.#heapLookedAtMs = nowMs;
    this.#isHeapFull = this.#machine.heapShare() > HEAP_FULL || this.#takenMemory() > MEMORY_FULL;
  }

  #hasPlace(lane: Lane): boolean {
    const most = this.#isHeapFull ? Math.min(LEAST_SHARE, this.#maxOperations) : this.#maxOperations;
    return lane.underWay < lane.most && this.load.underWay < most;
  }

  #take(lane: Lane): void {
    this.load.begun += 1;
    lane.underWay += 1;
    this.load.underWay += 1;
  }

  #release(lane: Lane): void {
    lane.underWay -= 1;
    this.load.underWay -= 1;
    this.#advance();
  }

  #wait(lane: Lane, ordinal: number, { signal, place }: Entering): Promise<AdmissionRefusal | null> {
    this.#lanes.add(lane);
    if (lane.queue.length === 0) lane.sweeps = 0;
    this.load.waiting += 1;
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return new Promise((resolve) => {
      const settle = (refusal: AdmissionRefusal | null) => {
        signal.removeEventListener('abort', giveUp);
        this.load.waiting -= 1;
        resolve(refusal);
      };
      const waiter: WaitingOperation = { ordinal, sweeps: 0, settle };
      const giveUp = () => {
        lane.queue.splice(lane.queue.indexOf(waiter), 1);
        settle('late');
        this.#forgetIdle(lane);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      lane.queue.push(waiter);
      // With a place it begins in the next turn, which is no delay worth counting.
      if (this.#hasPlace(lane)) {
        this.#place(lane);
        return;
      }
      this.load.delayed += 1;
      // It may wait for operations of its own batch, so these can't wait for it.
      place?.come();
    });
  }

  /** One flow after the other: those that have had a place go to the end. */
  #advance(): void {
    for (const lane of [...this.#lanes]) {
      if (lane.beginning >= lane.queue.length || !this.#hasPlace(lane)) continue;
      this.#place(lane);
      this.#lanes.delete(lane);
      this.#lanes.add(lane);
    }
  }

  #place(lane: Lane): void {
    const { ordinal = 0 } = lane.queue[lane.beginning] ?? {};
    lane.beginning += 1;
    this.#take(lane);
    inSlice({ flow: lane.flow, ordinal }, () => this.#begin(lane));
  }

  /** The one that has waited longest, if any is left: one may have been refused, or have left, since it got its place. */
  #begin(lane: Lane): void {
    lane.beginning -= 1;
    const waiter = lane.queue.shift();
    waiter?.settle(null);
    this.#forgetIdle(lane);
    if (waiter === undefined) this.#release(lane);
  }

  #sweep(): void {
    for (const lane of [...this.#lanes]) {
      lane.sweeps += 1;
      for (const waiter of lane.queue) waiter.sweeps += 1;
      while (isFirstLate(lane)) {
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

function isFirstLate({ queue: { 0: first, length }, sweeps }: Lane): boolean {
  if (first === undefined) return false;
  const { few, burst, lasting } = MOST_SWEEPS;
  return first.sweeps >= (length <= FEW ? few : sweeps > burst ? lasting : burst);
}

/** Maximum `Retry-After` in seconds: varied, so that refused clients don't all come back at once. */
const MOST_RETRY_SECONDS = 3;

function createOverloaded(maxOperations: number) {
  const message = `The gateway is overloaded: it runs up to ${maxOperations} operations at once (MAX_CONCURRENT_OPERATIONS), and too many are waiting. Nothing was run; ask again a little later.`;
  let count = 0;
  return (request: RefusedRequest): GatewayResponse => {
    count += 1;
    const retryAfterSeconds = 1 + (count % MOST_RETRY_SECONDS);
    return refusalOf(new Failure('OVERLOADED', message, { retryAfterSeconds }), request);
  };
}
