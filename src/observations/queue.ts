import { Cancellation } from '../async/cancellation.ts';
import type { Demand } from '../planner/demand.ts';
import type { Payer, Sending } from '../upstream/call.ts';
import { sharedPayer } from '../upstream/payer.ts';
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
}

/** What is asked for under one key and has no outcome: it waits to be sent, or is under way. */
export interface Queue {
  readonly isEmpty: boolean;
  /** @returns whether some of it is not under way yet */
  add(request: Request): boolean;
  /** The request is answered or given up: a batch that nobody waits for any more is given up too. */
  withdraw(request: Request): void;
  /** Settles what waits to be sent for these requests. */
  settleWaiting(outcome: Outcome, isMeant?: (request: Request) => boolean): void;
  /** Whether something waits to be sent. */
  isWaiting(): boolean;
  /** Sends all that waits, as one batch. */
  send(next: Fetch): void;
}

/** A demand, who waits for it, and the batch that brings it; null while it waits to be sent. */
interface Queued {
  readonly demand: Demand;
  readonly requests: Set<Request>;
  batch: Batch | null;
}

export function createQueue(): Queue {
  const queue = new Map<string, Queued>();

  const waiting = () => [...queue.values()].filter(({ batch }) => batch === null);

  /** Has nobody wait for what the batch still has to bring: whoever asks from now on must not wait for one given up. */
  function giveUp(batch: Batch): void {
    let isUnderWay = false;
    for (const [key, queued] of queue) {
      if (queued.batch !== batch) continue;
      queue.delete(key);
      isUnderWay = true;
    }
    if (isUnderWay) batch.ends.abort();
  }

  return {
    get isEmpty() {
      return queue.size === 0;
    },
    add(request) {
      let isNew = false;
      for (const [key, demand] of request.missing) {
        const queued = queue.get(key) ?? { demand, requests: new Set(), batch: null };
        queue.set(key, queued);
        queued.requests.add(request);
        if (queued.batch === null) isNew = true;
        else join(queued.batch, request);
      }
      return isNew;
    },
    withdraw(request) {
      for (const key of request.missing.keys()) {
        const queued = queue.get(key);
        queued?.requests.delete(request);
        if (queued?.batch === null && queued.requests.size === 0) queue.delete(key);
      }
      for (const batch of request.batches) {
        batch.requests.delete(request);
        if (batch.requests.size === 0) giveUp(batch);
      }
    },
    settleWaiting(outcome, isMeant = () => true) {
      for (const { demand, requests } of waiting()) {
        const { key } = demand;
        for (const request of requests) {
          if (!isMeant(request)) continue;
          requests.delete(request);
          answer(request, key, outcome);
        }
        if (requests.size === 0) queue.delete(key);
      }
    },
    isWaiting: () => waiting().length > 0,
    send(next) {
      const sent = waiting();
      const [first] = sent[0]?.requests ?? [];
      if (first === undefined) return;
      const batch: Batch = { ends: new Cancellation(), first, requests: new Set() };
      for (const queued of sent) {
        queued.batch = batch;
        for (const request of queued.requests) join(batch, request);
      }
      const settle: Settle = ({ key }, outcome) => {
        const queued = queue.get(key);
        if (queued?.batch !== batch) return;
        queue.delete(key);
        for (const request of queued.requests) answer(request, key, outcome);
      };
      const demands = sent.map(({ demand }) => demand);
      // Nobody waits any longer, or the gateway is at fault: then each demand fails with the fault.
      next(demands, sendingOf(batch), settle).catch((error: unknown) => {
        for (const demand of demands) settle(demand, faultOf(error));
      });
    },
  };
}

function faultOf(error: unknown): Error {
  return error instanceof Error ? error : new Error('The batch was given up.', { cause: error });
}

function join(batch: Batch, request: Request): void {
  request.batches.add(batch);
  batch.requests.add(request);
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
