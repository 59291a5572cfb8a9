import type { Ledger } from '../keys/ledger.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Caller } from '../service/caller.ts';
import { observations } from '../service/endpoints.ts';
import { type Payer, sharedPayer } from '../service/payer.ts';
import type { Sending } from '../service/sending.ts';
import { errorNameOf, type Trace } from '../service/trace.ts';
import type { Clock } from '../shared/async/clock.ts';
import { asError, Failure } from '../shared/errors.ts';
import { type FetchBatch, type FetchListener, type Outcome, type Outcomes, settleAll } from './fetch.ts';
import type { Demand } from './planner/demand.ts';

interface Request {
  readonly sending: Sending;
  /** Demands with different keys. */
  readonly demands: readonly Demand[];
  readonly outcomes: Outcomes;
  /** Batches that bring some of the demands. */
  readonly batches: Set<Batch>;
  readonly onDone: () => void;
}

interface Batch {
  readonly ends: AbortController;
  /** The request whose operation is billed if nobody else pays. */
  readonly first: Request;
  readonly requests: Set<Request>;
  /** Payers of the requests that still wait for a demand, first come first: calls are billed to them alone. */
  readonly payers: Map<Request, Payer>;
  readonly trace: Trace | undefined;
}

interface Queued {
  readonly demand: Demand;
  /** Replaced, not changed: demands that came together share the list. */
  requests: readonly Request[];
  /** The batch that it is under way with; null while it waits to be sent. */
  batch: Batch | null;
}

/** A call under way whose rectangle may hold figures that nobody has demanded yet. */
interface UnderWay {
  readonly batch: Batch;
  readonly takeAlong: (demand: Demand) => boolean;
}

/** The demands under one key that have no outcome: each waits to be sent, or is under way. */
class Queue {
  /** Demands by their keys. Made anew once it is empty: see `TransientMap`, which would box each demand. */
  #all = new Map<string, Queued>();
  #waiting = 0;
  #calls: readonly UnderWay[] = [];

  get isUnderWay(): boolean {
    return this.#all.size > this.#waiting;
  }

  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** @returns true if some of its demands are not under way yet */
  add(request: Request): boolean {
    let isNew = false;
    const alone = [request];
    const withIt = onceForEach((requests) => [...requests, request]);
    for (const demand of request.demands) {
      const queued = this.#all.get(demand.key);
      if (queued === undefined) {
        const batch = this.#bringing(demand);
        this.#all.set(demand.key, { demand, requests: alone, batch });
        if (batch !== null) {
          join(batch, request);
          continue;
        }
        this.#waiting += 1;
      } else {
        queued.requests = withIt(queued.requests);
        if (queued.batch !== null) {
          join(queued.batch, request);
          continue;
        }
      }
      isNew = true;
    }
    return isNew;
  }

  #bringing(demand: Demand): Batch | null {
    for (const { batch, takeAlong } of this.#calls) if (takeAlong(demand)) return batch;
    return null;
  }

  /** Returns the request's demands without an outcome. Aborts batches that nobody waits for any more. */
  withdraw(request: Request): readonly Demand[] {
    const missing = isAnswered(request)
      ? []
      : request.demands.filter(({ key }) => !request.outcomes.has(key));
    const withoutIt = onceForEach((requests) => requests.filter((other) => other !== request));
    for (const { key } of missing) {
      const queued = this.#all.get(key);
      if (queued === undefined) continue;
      queued.requests = withoutIt(queued.requests);
      if (queued.requests.length === 0 && queued.batch === null) this.#dropWaiting(key);
    }
    for (const batch of request.batches) {
      batch.requests.delete(request);
      batch.payers.delete(request);
      if (batch.requests.size === 0) this.#giveUp(batch);
    }
    return missing;
  }

  endWaiting(outcome: Outcome, isMeant: (request: Request) => boolean = () => true): void {
    const answered = new Set<Request>();
    for (const [key, queued] of this.#all) {
      const { requests, batch } = queued;
      if (batch !== null) continue;
      const meant = requests.filter(isMeant);
      queued.requests = requests.filter((request) => !meant.includes(request));
      if (queued.requests.length === 0) this.#dropWaiting(key);
      for (const request of meant) {
        request.outcomes.set(key, outcome);
        answered.add(request);
      }
    }
    endAnswered(answered);
  }

  send(next: FetchBatch, onBatch: PoolParts['onBatch']): void {
    const demands: Demand[] = [];
    let ownBatch: Batch | undefined;
    let joined: Queued['requests'] | undefined;
    for (const queued of this.#all.values()) {
      const first = queued.requests[0];
      if (queued.batch !== null || first === undefined) continue;
      ownBatch ??= openBatch(first);
      if (queued.requests !== joined) for (const request of queued.requests) join(ownBatch, request);
      joined = queued.requests;
      queued.batch = ownBatch;
      demands.push(queued.demand);
    }
    this.#waiting = 0;
    if (ownBatch === undefined) return;
    ownBatch.trace?.set({
      'country_graph.batch.operations': ownBatch.requests.size,
      'country_graph.batch.demands': demands.length,
    });
    onBatch?.({ operations: ownBatch.requests.size, demands: demands.length });
    const listener: FetchListener = {
      onOutcomes: (settled, outcomes) => this.#answer(ownBatch, settled, outcomes),
      onCall: (takeAlong) => this.#begin({ batch: ownBatch, takeAlong }),
    };
    // Rejects if nobody waits any longer, or the gateway is broken: then each demand fails with the error.
    next(demands, sendingOf(ownBatch), listener).then(
      () => {
        ownBatch.trace?.end();
        this.#end(ownBatch);
      },
      (error: unknown) => {
        ownBatch.trace?.end(errorNameOf(error));
        this.#end(ownBatch);
        const left = Array.from(this.#all.values()).filter(({ batch }) => batch === ownBatch);
        settleAll(
          listener,
          left.map(({ demand }) => demand),
          asError(error, 'The batch was given up.'),
        );
      },
    );
  }

  #answer(batch: Batch, demands: readonly Demand[], outcomes: readonly Outcome[]): void {
    let answered = 0;
    for (let i = 0; i < demands.length; i += 1) {
      const { key } = demands[i] as Demand;
      const queued = this.#all.get(key);
      if (queued?.batch !== batch) continue;
      answered += 1;
      for (const request of queued.requests) request.outcomes.set(key, outcomes[i] as Outcome);
    }
    // Deleting them one by one would take as long as inserting them did.
    if (answered === this.#all.size) this.#all = new Map();
    else for (const { key } of demands) if (this.#all.get(key)?.batch === batch) this.#drop(key);
    endAnswered(batch.requests);
  }

  /** Waiting demands that the call brings anyway come with it. */
  #begin(call: UnderWay): void {
    const { batch, takeAlong } = call;
    // The batch was given up while it was planned.
    if (batch.requests.size === 0) return;
    this.#calls = [...this.#calls, call];
    for (const queued of this.#all.values()) {
      if (queued.batch !== null || !takeAlong(queued.demand)) continue;
      queued.batch = batch;
      this.#waiting -= 1;
      for (const request of queued.requests) join(batch, request);
    }
  }

  #end(batch: Batch): void {
    this.#calls = this.#calls.filter((call) => call.batch !== batch);
  }

  #dropWaiting(key: string): void {
    this.#waiting -= 1;
    this.#drop(key);
  }

  #drop(key: string): void {
    this.#all.delete(key);
    if (this.#all.size === 0) this.#all = new Map();
  }

  #giveUp(batch: Batch): void {
    this.#end(batch);
    let hasMore = false;
    for (const [key, queued] of this.#all) {
      if (queued.batch !== batch) continue;
      this.#drop(key);
      hasMore = true;
    }
    if (hasMore) batch.ends.abort();
  }
}

/** Applies a change once per shared list of requests, so that demands keep sharing it. */
function onceForEach(
  change: (requests: Queued['requests']) => Queued['requests'],
): (requests: Queued['requests']) => Queued['requests'] {
  let from: Queued['requests'] = [];
  let to = from;
  return (requests) => {
    if (requests !== from) {
      from = requests;
      to = change(requests);
    }
    return to;
  };
}

function openBatch(first: Request): Batch {
  const trace = first.sending.trace?.begin('batch');
  return { ends: new AbortController(), first, requests: new Set(), payers: new Map(), trace };
}

function join(batch: Batch, request: Request): void {
  if (batch.requests.has(request)) return;
  request.batches.add(batch);
  batch.requests.add(request);
  batch.payers.set(request, request.sending.payer);
  if (batch.trace !== undefined && request.sending.trace !== undefined)
    batch.trace.link(request.sending.trace);
}

function isAnswered({ demands, outcomes }: Request): boolean {
  return outcomes.size === demands.length;
}

function endAnswered(requests: Iterable<Request>): void {
  for (const request of requests) {
    if (!isAnswered(request)) continue;
    for (const { payers } of request.batches) payers.delete(request);
    request.onDone();
  }
}

function sendingOf(batch: Batch): Sending {
  const { first, ends, requests } = batch;
  return {
    caller: first.sending.caller,
    bill: first.sending.bill,
    signal: ends.signal,
    trace: batch.trace,
    waitDeadlineMs: Math.max(...[...requests].map(({ sending }) => sending.waitDeadlineMs)),
    payer: sharedPayer(batch.payers),
    // No getter: V8 makes the accessors of a literal in the old space, and until the next full collection they would hold
    // the batch, with all that its operations have made.
    lists() {
      const [payer = first] = batch.payers.keys();
      return payer.sending.lists?.();
    },
    onLeftOut(rows) {
      for (const { sending } of requests) sending.onLeftOut?.(rows);
    },
  };
}

export interface PoolParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Milliseconds that operations wait for each other. */
  readonly windowMs: number;
  /** Milliseconds that a batch waits for operations that can still add to it. */
  readonly holdMs: number;
  /** Called with each batch that is sent, and the number of operations waiting for it. */
  readonly onBatch?: ((size: { readonly operations: number; readonly demands: number }) => void) | undefined;
  /** Called with the milliseconds that a batch waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
}

interface WindowMeans extends PoolParts {
  readonly tenant: Tenant;
  readonly isUnderWay: () => boolean;
  /** Sends what has gathered; returns the instant to send the rest, in milliseconds since the epoch; null for none. */
  readonly leave: () => number | null;
}

/**
 * How far further arrivals may stretch the window: far if calls are scarce or their number is unknown. Bounded, so
 * that a steady stream of operations doesn't keep it open.
 */
const MAX_STRETCH = { scarce: 25, plenty: 2 };

/** Factor by which the window is wider while the minute's budget is spent, or unknown. */
const WIDENING = { spent: 5, unknown: 4 };

/** Turns of the event loop without an arrival after which nobody is on the way. */
const QUIET_TURNS = 4;

interface Gathering {
  readonly name: 'gathering';
  readonly openedAtMs: number;
  arrivals: number;
  cancel: () => void;
}

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'about to leave' }
  | Gathering
  | { readonly name: 'awaiting operations'; readonly cancel: () => void }
  | { readonly name: 'awaiting the minute' };

/**
 * Decides when to send the demands of all operations under one key:
 *
 * | state               | event                                          | next                               |
 * |---------------------|------------------------------------------------|------------------------------------|
 * | idle                | something is asked for                         | gathering, or about to leave       |
 * | about to leave      | the turn is over, and no operation is expected | sends: idle or awaiting the minute |
 * | about to leave      | the turn is over, and one is expected          | gathering                          |
 * | gathering           | something is asked for, or an operation joins  | gathering, a little longer         |
 * | gathering           | the window is over                             | awaiting operations                |
 * | awaiting operations | the last one has asked, or `holdMs` are over   | sends: idle or awaiting the minute |
 * | awaiting the minute | something is asked for                         | gathering                          |
 * | any                 | the minute that was waited for begins          | sends: idle or awaiting the minute |
 *
 * If nothing is under way and the minute has plenty left, a batch leaves in the same turn of the event loop. Operations
 * that come later gather behind it.
 */
function createBatchWindow(parts: WindowMeans) {
  const { clock, holdMs, leave, ledger, tenant } = parts;
  let state: State = { name: 'idle' };
  const awaited = new Set<object>();
  /** The minute that the batch waits for; null if it waits for none. */
  let minute: object | null = null;

  function gather(): void {
    if (state.name === 'awaiting operations' || state.name === 'about to leave') return;
    if (state.name === 'gathering') keepOpen(state);
    else if (state.name === 'idle' && !parts.isUnderWay() && ledger.hasPlenty(tenant)) {
      state = { name: 'about to leave' };
      setImmediate(endTurn);
    } else openWindow();
  }

  function endTurn(): void {
    if (awaited.size === 0) close();
    else openWindow();
  }

  function openWindow(): void {
    const nowMs = clock.now();
    const gathering: Gathering = { name: 'gathering', openedAtMs: nowMs, arrivals: 0, cancel() {} };
    state = gathering;
    keepOpen(gathering, nowMs);
  }

  function keepOpen(gathering: Gathering, nowMs = clock.now()): void {
    gathering.arrivals += 1;
    gathering.cancel();
    const { arrivals } = gathering;
    // An arrival before the timer fires opens the window anew.
    const isQuiet = () => state === gathering && gathering.arrivals === arrivals;
    const leftMs = millisecondsLeft(gathering.openedAtMs, nowMs, parts);
    gathering.cancel = clock.after(leftMs, () => afterQuietTurns(isQuiet, endWindow));
  }

  function endWindow(): void {
    // The timer of the window has fired.
    state = { name: 'idle' };
    if (awaited.size === 0) close();
    else state = { name: 'awaiting operations', cancel: clock.after(holdMs, close) };
  }

  function close(): void {
    if ('cancel' in state) state.cancel();
    state = { name: 'idle' };
    // An operation that has not come in time is not waited for again.
    awaited.clear();
    minute = null;
    const opensAtMs = leave();
    if (opensAtMs !== null) awaitMinute(opensAtMs);
  }

  function awaitMinute(opensAtMs: number): void {
    const token = {};
    minute = token;
    state = { name: 'awaiting the minute' };
    void clock.sleep(opensAtMs - clock.now()).then(() => {
      if (minute === token) close();
    });
  }

  return {
    /** Call when something is asked for that is not under way. */
    demanded: gather,
    joined(): void {
      if (state.name === 'gathering') keepOpen(state);
    },
    /**
     * Has a batch wait for the operation, which may yet ask for something. Once its window is over, it waits only for
     * those of a group that it waits for.
     */
    expect(operation: object, group: object = operation): void {
      if (state.name !== 'awaiting operations' || awaited.has(group)) awaited.add(operation);
    },
    arrived(operation: object): void {
      const isLast = awaited.delete(operation) && awaited.size === 0;
      if (isLast && state.name === 'awaiting operations') close();
    },
  };
}

/**
 * Waits until some turns of the event loop have passed without an arrival. An overdue timer fires before the sockets
 * are read, so operations already at the door would otherwise be left behind.
 */
function afterQuietTurns(isQuiet: () => boolean, then: () => void, turnsLeft = QUIET_TURNS): void {
  if (!isQuiet()) return;
  if (turnsLeft === 0) then();
  else setImmediate(() => afterQuietTurns(isQuiet, then, turnsLeft - 1));
}

function millisecondsLeft(
  openedAtMs: number,
  nowMs: number,
  { windowMs, ledger, tenant }: WindowMeans,
): number {
  const left = ledger.shareLeft(tenant);
  const longestMs = openedAtMs + windowMs * stretch(left) - nowMs;
  return Math.max(0, Math.min(windowMs * widening(left), longestMs));
}

function stretch(shareLeft: number | null): number {
  const { scarce, plenty } = MAX_STRETCH;
  return shareLeft === null ? scarce : plenty + (1 - shareLeft) * (scarce - plenty);
}

function widening(shareLeft: number | null): number {
  return shareLeft === null ? WIDENING.unknown : 1 + (1 - shareLeft) * (WIDENING.spent - 1);
}

const OVER = 'The operation is over.';

interface Batching {
  readonly queue: Queue;
  readonly window: ReturnType<typeof createBatchWindow>;
}

/**
 * Plans the demands of all operations under one key together, fetches them once and hands them back by name. A demand
 * that is under way, or that a call under way brings anyway, is waited for rather than asked for again.
 * @param next fetches the demands of several operations, on behalf of all of them
 */
export function createObservationPool(next: FetchBatch, parts: PoolParts) {
  /** Most operations are answered from the cache, and open none. */
  const batchings = new WeakMap<Tenant, Batching>();
  return {
    join({ tenant }: Caller) {
      const opened = () => batchings.get(tenant);
      const batch = () => {
        let batching = opened();
        if (batching === undefined) {
          batching = openBatching(tenant, next, parts);
          batchings.set(tenant, batching);
        }
        return batching;
      };
      const self = {};
      const requests = new Set<Request>();
      let isHere = true;
      const end = tenant.keep();
      tenant.operations += 1;
      opened()?.window.joined();

      return {
        /**
         * If the operation's time is over, the demands without an outcome get that failure.
         * @throws the signal's reason if the operation is given up otherwise, and Error if it is over
         */
        async fetch(demands: readonly Demand[], sending: Sending): Promise<Outcomes> {
          // A prefetched demand that nobody wanted may come this late.
          if (!isHere) throw new Error(OVER);
          if (demands.length > 0) sending.deadline?.start();
          const { queue, window } = batch();
          const { signal } = sending;
          const { promise: done, resolve: onDone, reject } = Promise.withResolvers<void>();
          const outcomes: Outcomes = new Map();
          if (signal.aborted) {
            window.arrived(self);
            return withLate(outcomes, demands, signal.reason);
          }
          const onAbort = () => reject(signal.reason);
          signal.addEventListener('abort', onAbort, { once: true });
          const request: Request = { sending, demands, outcomes, batches: new Set(), onDone };
          requests.add(request);
          if (queue.add(request)) window.demanded();
          else sending.payer.onLeave?.(observations.route);
          window.arrived(self);
          try {
            if (demands.length > 0) {
              sending.waits?.service.timing(done);
              await done;
            }
          } catch (reason) {
            return withLate(outcomes, queue.withdraw(request), reason);
          } finally {
            signal.removeEventListener('abort', onAbort);
            queue.withdraw(request);
            requests.delete(request);
          }
          for (const { first } of request.batches)
            if (first.sending.bill !== sending.bill) sending.bill.shared += 1;
          return outcomes;
        },
        /**
         * Has batches that open from now on wait for the operation, which may yet bring demands.
         * @param group if a batch waits for this already, it waits for the operation too
         */
        expect(group?: object): void {
          batch().window.expect(self, group);
        },
        /** The same for operations of a group that have yet to begin. */
        expectGroup(group: object): void {
          batch().window.expect(group, group);
        },
        /** Ends that wait: they bring no demands, or say themselves that they may. */
        forgo(who: object = self): void {
          opened()?.window.arrived(who);
        },
        leave(): void {
          if (!isHere) return;
          isHere = false;
          end();
          tenant.operations -= 1;
          if (requests.size > 0)
            opened()?.queue.endWaiting(new Error(OVER), (request) => requests.has(request));
          opened()?.window.arrived(self);
        },
      };
    },
  };
}

function openBatching(tenant: Tenant, next: FetchBatch, parts: PoolParts): Batching {
  const { ledger, clock, onBatch, onMinuteWait } = parts;
  const queue = new Queue();
  /** Instant since which something waits for a minute window; null if nothing does. */
  let shutSinceMs: number | null = null;
  const window = createBatchWindow({
    ...parts,
    tenant,
    isUnderWay: () => queue.isUnderWay,
    leave() {
      try {
        const opensAtMs = ledger.opensAtMs(tenant);
        if (opensAtMs <= clock.now()) {
          if (shutSinceMs !== null && queue.isWaiting) onMinuteWait?.(clock.now() - shutSinceMs);
          shutSinceMs = null;
          queue.send(next, onBatch);
          return null;
        }
        const refusal = ledger.refusal(tenant).with({ route: observations.route });
        queue.endWaiting(refusal, ({ sending }) => sending.waitDeadlineMs < opensAtMs);
        shutSinceMs = queue.isWaiting ? (shutSinceMs ?? clock.now()) : null;
        return queue.isWaiting ? opensAtMs : null;
      } catch (error) {
        // Timers call this: an error fails the gathered demands, and nothing else.
        queue.endWaiting(asError(error, 'The batch could not be sent.'));
        return null;
      }
    },
  });
  return { queue, window };
}

/**
 * Gives the missing demands of an operation whose time is over that failure.
 * @throws any other reason for giving it up: then nobody reads the answer
 */
function withLate(outcomes: Outcomes, missing: readonly Demand[], reason: unknown): Outcomes {
  if (!(reason instanceof Failure)) throw reason;
  for (const { key } of missing) outcomes.set(key, reason);
  return outcomes;
}
