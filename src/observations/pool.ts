import { untilAborted } from '../async/cancellation.ts';
import type { Clock } from '../async/clock.ts';
import { KeyedStates } from '../async/keyed-states.ts';
import { Failure } from '../errors.ts';
import type { Demand } from '../planner/demand.ts';
import type { Ledger } from '../quota/ledger.ts';
import type { Caller } from '../upstream/call.ts';
import { type BatchWindow, createBatchWindow } from './batch-window.ts';
import type { Fetch, Settle } from './fetch.ts';
import { type BatchSize, createQueue, type Queue, type Request } from './queue.ts';

/**
 * The meeting point of the demands of all operations under one key. They are planned together, fetched once, and handed
 * back to each operation by name. A demand already under way is waited for, not asked for again.
 *
 * It is the one stage that remembers its operations: an operation joins it, and fetches by a {@link Fetch} of its own.
 */
export interface ObservationPool {
  join(caller: Caller): Participant;
}

/** One operation's part in the pool. */
export interface Participant {
  /**
   * Fetches for this operation. If the operation's time is over, that is the outcome of all demands not yet settled.
   * @throws the signal's reason if the operation is given up otherwise, and Error if it is over
   */
  readonly fetch: Fetch;
  /** Has batches that open from now on wait for the operation: it may yet bring demands. */
  expect(): void;
  /** Ends that wait: the operation brings no demands. */
  forgo(): void;
  /** Ends the operation: nobody waits for its demands any more, and those not yet sent are not sent. */
  leave(): void;
}

export interface PoolParts {
  readonly ledger: Pick<Ledger, 'shareLeft' | 'hasPlenty' | 'opensAtMs' | 'refusal'>;
  readonly clock: Clock;
  /** Milliseconds that operations wait for each other. */
  readonly windowMs: number;
  /** Milliseconds that a batch waits for operations that can still add to it. */
  readonly holdMs: number;
  /** Called with each batch that is sent. */
  readonly onBatch?: ((size: BatchSize) => void) | undefined;
  /** Called with the milliseconds that a batch has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
}

const OVER = 'The operation is over.';

/** The operations and the batching of one key. */
interface Tenant {
  /** Operations that have joined and not left. */
  participants: number;
  /** Null until something is fetched: most operations take everything from held entries. */
  batching: Batching | null;
}

/** The demands under one key, and the window that sends them. */
interface Batching {
  readonly queue: Queue;
  readonly window: BatchWindow;
}

/** @param next fetches the demands of several operations, on behalf of all of them */
export function createObservationPool(next: Fetch, parts: PoolParts): ObservationPool {
  const tenants = new KeyedStates<Tenant>(
    () => ({ participants: 0, batching: null }),
    ({ participants, batching }) => participants === 0 && batching?.queue.isEmpty() !== false,
  );

  return {
    join({ keyDigest }) {
      const tenant = tenants.of(keyDigest);
      const batch = () => {
        tenant.batching ??= openBatching(keyDigest, next, parts);
        return tenant.batching;
      };
      const self = {};
      const requests = new Set<Request>();
      let isHere = true;
      tenant.participants += 1;
      tenant.batching?.window.joined();

      return {
        async fetch(demands, sending, settle) {
          // A demand made ahead, and not wanted in the end, may come this late.
          if (!isHere) throw new Error(OVER);
          if (demands.length > 0) sending.deadline?.start();
          const { queue, window } = batch();
          if (sending.signal.aborted) {
            window.arrived(self);
            settleLate(demands, settle, sending.signal.reason);
            return;
          }
          let onDone = () => {};
          const done = new Promise<void>((resolve) => {
            onDone = resolve;
          });
          const missing = demands.length;
          const request: Request = {
            sending,
            settle,
            demands,
            missing,
            renamed: null,
            batches: new Set(),
            onDone,
          };
          requests.add(request);
          if (queue.add(request)) window.demanded();
          window.arrived(self);
          try {
            if (missing > 0) {
              sending.waits?.service.begin();
              try {
                await untilAborted(done, sending.signal);
              } finally {
                sending.waits?.service.end();
              }
            }
          } catch (reason) {
            settleLate(queue.withdraw(request), settle, reason);
            return;
          } finally {
            queue.withdraw(request);
            requests.delete(request);
          }
          for (const { first } of request.batches) if (first !== request) sending.bill.shared += 1;
        },
        expect() {
          batch().window.expect(self);
        },
        forgo() {
          tenant.batching?.window.arrived(self);
        },
        leave() {
          if (!isHere) return;
          isHere = false;
          tenant.participants -= 1;
          if (requests.size > 0)
            tenant.batching?.queue.settleWaiting(new Error(OVER), (request) => requests.has(request));
          tenant.batching?.window.arrived(self);
        },
      };
    },
  };
}

function openBatching(keyDigest: string, next: Fetch, parts: PoolParts): Batching {
  const { ledger, clock, onBatch, onMinuteWait } = parts;
  const queue = createQueue(onBatch);
  /** Instant since which something waits for a minute window; null if nothing does. */
  let shutSinceMs: number | null = null;
  const window = createBatchWindow({
    ...parts,
    shareLeft: () => ledger.shareLeft(keyDigest),
    hasPlenty: () => ledger.hasPlenty(keyDigest),
    isUnderWay: queue.isUnderWay,
    /**
     * Sends the batch. If the minute is spent, requests that may not wait for the next one are refused; the others
     * stay.
     */
    send() {
      try {
        const opensAtMs = ledger.opensAtMs(keyDigest);
        if (opensAtMs <= clock.now()) {
          if (shutSinceMs !== null && queue.isWaiting()) onMinuteWait?.(clock.now() - shutSinceMs);
          shutSinceMs = null;
          queue.send(next);
          return null;
        }
        const refusal = ledger.refusal(keyDigest).with({ route: '/v1/data' });
        queue.settleWaiting(refusal, ({ sending }) => sending.waitDeadlineMs < opensAtMs);
        shutSinceMs = queue.isWaiting() ? (shutSinceMs ?? clock.now()) : null;
        return queue.isWaiting() ? opensAtMs : null;
      } catch (error) {
        // Timers call this: a fault on the way fails the gathered demands, and nothing else.
        queue.settleWaiting(
          error instanceof Error ? error : new Error('The batch could not be sent.', { cause: error }),
        );
        return null;
      }
    },
  });
  return { queue, window };
}

/**
 * Settles demands that are still open when an operation is given up because its time is over.
 * @throws the reason if it was given up for another one: then nobody reads its answer
 */
function settleLate(demands: readonly Demand[], settle: Settle, reason: unknown): void {
  if (!(reason instanceof Failure)) throw reason;
  for (const demand of demands) settle(demand, reason);
}
