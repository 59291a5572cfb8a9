import { Cancellation } from '../async/cancellation.ts';
import type { Trace } from '../async/trace.ts';
import type { Demand } from '../planner/demand.ts';
import type { Payer, Sending } from '../upstream/call.ts';
import { sharedPayer } from '../upstream/payer.ts';
import { faultIn } from '../upstream/traced.ts';
import type { Fetch, Settle } from './fetch.ts';
import type { Outcome } from './outcome.ts';

/** The demands that one operation makes at once. */
export interface Request {
  readonly sending: Sending;
  readonly settle: Settle;
  /** Demands with different keys. */
  readonly demands: readonly Demand[];
  /** Number of demands that have no outcome yet. */
  missing: number;
  /** Demands that another request makes by another name, by their keys; null if there are none. */
  renamed: Map<string, Demand> | null;
  /** Batches that bring some of the demands. */
  readonly batches: Set<Batch>;
  /** Called once nothing is missing. */
  readonly onDone: () => void;
}

/** Demands that were sent together, and the requests that wait for some of them. */
export interface Batch {
  readonly ends: Cancellation;
  /** The request whose operation is billed if nobody else pays. */
  readonly first: Request;
  readonly requests: Set<Request>;
  /** Its span, which all operations that share it are linked with. */
  readonly trace: Trace | undefined;
}

/** The demands under one key that have no outcome: each waits to be sent, or is under way. */
export interface Queue {
  isEmpty(): boolean;
  isUnderWay(): boolean;
  /** True if a demand waits to be sent. */
  isWaiting(): boolean;
  /** @returns true if some of its demands are not under way yet */
  add(request: Request): boolean;
  /**
   * Withdraws a request that is answered or given up. A batch that nobody waits for any more is given up too.
   * @returns its demands that have no outcome
   */
  withdraw(request: Request): readonly Demand[];
  /** Settles the demands of these requests that wait to be sent. */
  settleWaiting(outcome: Outcome, isMeant?: (request: Request) => boolean): void;
  /** Sends all waiting demands, as one batch. */
  send(next: Fetch): void;
}

/** A demand, and the requests that wait for it. */
interface Queued {
  readonly demand: Demand;
  /** Replaced, not changed: demands that came together share the list. */
  requests: readonly Request[];
  /** The batch that it is under way with; null while it waits to be sent. */
  batch: Batch | null;
}

/** A batch that leaves. */
export interface BatchSize {
  /** Operations that wait for some of its demands. */
  readonly operations: number;
  readonly demands: number;
}

/** @param onBatch called with each batch that is sent */
export function createQueue(onBatch?: (size: BatchSize) => void): Queue {
  /** Demands by their keys. Made anew once it is empty: see `TransientMap`, which would box each demand. */
  let all = new Map<string, Queued>();
  /** Number of demands that wait to be sent. */
  let waiting = 0;

  function dropWaiting(key: string): void {
    if (!all.has(key)) return;
    waiting -= 1;
    drop(key);
  }

  function drop(key: string): void {
    all.delete(key);
    if (all.size === 0) all = new Map();
  }

  /**
   * Drops the demands that a batch still has to bring: a later request for one must not wait for a batch that was given
   * up.
   */
  function giveUp(batch: Batch): void {
    let hasMore = false;
    for (const [key, queued] of all) {
      if (queued.batch !== batch) continue;
      drop(key);
      hasMore = true;
    }
    if (hasMore) batch.ends.abort();
  }

  return {
    isEmpty: () => all.size === 0,
    isUnderWay: () => all.size > waiting,
    isWaiting: () => waiting > 0,
    add(request) {
      let isNew = false;
      const alone = [request];
      const withIt = onceForEach((requests) => [...requests, request]);
      for (const demand of request.demands) {
        const queued = all.get(demand.key);
        if (queued === undefined) {
          all.set(demand.key, { demand, requests: alone, batch: null });
          waiting += 1;
        } else {
          queued.requests = withIt(queued.requests);
          if (queued.demand.name !== demand.name) rename(request, demand);
          if (queued.batch !== null) {
            join(queued.batch, request);
            continue;
          }
        }
        isNew = true;
      }
      return isNew;
    },
    withdraw(request) {
      const missing: Demand[] = [];
      const withoutIt = onceForEach((requests) => requests.filter((other) => other !== request));
      for (const demand of request.missing > 0 ? request.demands : []) {
        const queued = all.get(demand.key);
        if (queued === undefined) continue;
        const others = withoutIt(queued.requests);
        if (others.length === queued.requests.length) continue;
        missing.push(demand);
        queued.requests = others;
        if (others.length === 0 && queued.batch === null) dropWaiting(demand.key);
      }
      request.missing = 0;
      for (const batch of request.batches) {
        batch.requests.delete(request);
        if (batch.requests.size === 0) giveUp(batch);
      }
      return missing;
    },
    settleWaiting(outcome, isMeant = () => true) {
      for (const [key, queued] of all) {
        const { demand, requests, batch } = queued;
        if (batch !== null) continue;
        const meant = requests.filter(isMeant);
        queued.requests = requests.filter((request) => !meant.includes(request));
        if (queued.requests.length === 0) dropWaiting(key);
        for (const request of meant) answer(request, demand, outcome);
      }
    },
    send(next) {
      const demands: Demand[] = [];
      let own: Batch | undefined;
      let joined: Queued['requests'] | undefined;
      for (const queued of all.values()) {
        const first = queued.requests[0];
        if (queued.batch !== null || first === undefined) continue;
        own ??= openBatch(first);
        if (queued.requests !== joined) for (const request of queued.requests) join(own, request);
        joined = queued.requests;
        queued.batch = own;
        demands.push(queued.demand);
      }
      waiting = 0;
      if (own === undefined) return;
      own.trace?.set({
        'country_graph.batch.operations': own.requests.size,
        'country_graph.batch.demands': demands.length,
      });
      onBatch?.({ operations: own.requests.size, demands: demands.length });
      const settle: Settle = ({ key }, outcome) => {
        const queued = all.get(key);
        if (queued?.batch !== own) return;
        drop(key);
        for (const request of queued.requests) answer(request, queued.demand, outcome);
      };
      // Rejects if nobody waits any longer, or the gateway is at fault: then each demand fails with the fault.
      next(demands, sendingOf(own), settle).then(
        () => own.trace?.end(),
        (error: unknown) => {
          own.trace?.end(faultIn(error));
          for (const demand of demands) settle(demand, faultOf(error));
        },
      );
    },
  };
}

/** Makes a change once for all demands that share a list of requests: they still share it after the change. */
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
  return { ends: new Cancellation(), first, requests: new Set(), trace };
}

function faultOf(error: unknown): Error {
  return error instanceof Error ? error : new Error('The batch was given up.', { cause: error });
}

function join(batch: Batch, request: Request): void {
  if (batch.requests.has(request)) return;
  request.batches.add(batch);
  batch.requests.add(request);
  if (batch.trace !== undefined && request.sending.trace !== undefined)
    batch.trace.link(request.sending.trace);
}

function rename(request: Request, demand: Demand): void {
  request.renamed ??= new Map();
  request.renamed.set(demand.key, demand);
}

/** @param demand the demand as it was sent for all requests: each is answered by the name that it asked by */
function answer(request: Request, demand: Demand, outcome: Outcome): void {
  request.missing -= 1;
  request.settle(request.renamed?.get(demand.key) ?? demand, outcome);
  if (request.missing === 0) request.onDone();
}

/** Sends on behalf of all requests of a batch. */
function sendingOf(batch: Batch): Sending {
  const { first, ends, requests } = batch;
  return {
    caller: first.sending.caller,
    bill: first.sending.bill,
    payer: sharedPayer(() => payersOf(batch)),
    signal: ends,
    trace: batch.trace,
    waitDeadlineMs: Math.max(...[...requests].map(({ sending }) => sending.waitDeadlineMs)),
    onLeftOut(rows) {
      for (const { sending } of requests) sending.onLeftOut?.(rows);
    },
  };
}

/** The requests that still wait for a demand of a batch, first come first: its calls are billed to them alone. */
function payersOf({ requests }: Batch): Payer[] {
  return [...requests].filter(({ missing }) => missing > 0).map(({ sending }) => sending.payer);
}
