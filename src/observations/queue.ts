import { Cancellation } from '../async/cancellation.ts';
import type { Trace } from '../async/trace.ts';
import type { Demand } from '../planner/demand.ts';
import type { Payer, Sending } from '../upstream/call.ts';
import { sharedPayer } from '../upstream/payer.ts';
import { faultIn } from '../upstream/traced.ts';
import type { Fetch, Settle } from './fetch.ts';
import type { Outcome } from './outcome.ts';

/** What one operation asks for at once. */
export interface Request {
  readonly sending: Sending;
  readonly settle: Settle;
  /** Demands that have no outcome yet, by their keys. */
  readonly missing: Map<string, Demand>;
  /** Batches that bring some of it. */
  readonly batches: Set<Batch>;
  /** Called once nothing is missing. */
  readonly onDone: () => void;
}

/** Demands that were sent together, and the requests that wait for some of them. */
export interface Batch {
  readonly ends: Cancellation;
  /** The request whose operation is billed where nobody else pays. */
  readonly first: Request;
  readonly requests: Set<Request>;
  /** Its span, which all operations that share it are linked with. */
  readonly trace: Trace | undefined;
}

/** What is asked for under one key and has no outcome: it waits to be sent, or is under way. */
export interface Queue {
  isEmpty(): boolean;
  /** Whether a batch is under way. */
  isUnderWay(): boolean;
  /** Whether something waits to be sent. */
  isWaiting(): boolean;
  /** @returns whether some of it is not under way yet */
  add(request: Request): boolean;
  /** The request is answered or given up: a batch that nobody waits for any more is given up too. */
  withdraw(request: Request): void;
  /** Settles what waits to be sent for these requests. */
  settleWaiting(outcome: Outcome, isMeant?: (request: Request) => boolean): void;
  /** Sends all that waits, as one batch. */
  send(next: Fetch): void;
}

/** A demand, and who waits for it. */
interface Queued {
  readonly demand: Demand;
  readonly requests: Request[];
  /** What it is under way with; null while it waits to be sent. */
  batch: Batch | null;
}

/** A batch that leaves. */
export interface BatchSize {
  /** Operations that wait for some of it. */
  readonly operations: number;
  readonly demands: number;
}

/** @param onBatch called with each batch that is sent */
export function createQueue(onBatch?: (size: BatchSize) => void): Queue {
  /** By the keys of the demands. */
  const all = new Map<string, Queued>();
  /** How many of them wait to be sent. */
  let waiting = 0;

  function dropWaiting(key: string): void {
    if (all.delete(key)) waiting -= 1;
  }

  /** Has nobody wait for what the batch still has to bring: whoever asks from now on must not wait for one given up. */
  function giveUp(batch: Batch): void {
    let hasMore = false;
    for (const [key, queued] of all) {
      if (queued.batch !== batch) continue;
      all.delete(key);
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
      for (const demand of request.missing.values()) {
        const queued = all.get(demand.key);
        if (queued === undefined) {
          all.set(demand.key, { demand, requests: [request], batch: null });
          waiting += 1;
        } else {
          queued.requests.push(request);
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
      for (const key of request.missing.keys()) {
        const queued = all.get(key);
        if (queued === undefined) continue;
        const { requests, batch } = queued;
        const place = requests.indexOf(request);
        if (place !== -1) requests.splice(place, 1);
        if (requests.length === 0 && batch === null) dropWaiting(key);
      }
      for (const batch of request.batches) {
        batch.requests.delete(request);
        if (batch.requests.size === 0) giveUp(batch);
      }
    },
    settleWaiting(outcome, isMeant = () => true) {
      for (const [key, { requests, batch }] of all) {
        if (batch !== null) continue;
        const meant = requests.filter(isMeant);
        const others = requests.filter((request) => !meant.includes(request));
        requests.splice(0, requests.length, ...others);
        if (others.length === 0) dropWaiting(key);
        for (const request of meant) answer(request, key, outcome);
      }
    },
    send(next) {
      const demands: Demand[] = [];
      let own: Batch | undefined;
      for (const queued of all.values()) {
        const first = queued.requests[0];
        if (queued.batch !== null || first === undefined) continue;
        own ??= openBatch(first);
        for (const request of queued.requests) join(own, request);
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
        all.delete(key);
        for (const request of queued.requests) answer(request, key, outcome);
      };
      // Nobody waits any longer, or the gateway is at fault: then each demand fails with the fault.
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

function answer(request: Request, key: string, outcome: Outcome): void {
  const demand = request.missing.get(key);
  if (demand === undefined) return;
  request.missing.delete(key);
  request.settle(demand, outcome);
  if (request.missing.size === 0) request.onDone();
}

/** On behalf of all requests of a batch. */
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

/** Those that wait for something of a batch, first come first: what it sends is billed to them alone. */
function payersOf({ requests }: Batch): Payer[] {
  return [...requests].filter(({ missing }) => missing.size > 0).map(({ sending }) => sending.payer);
}
