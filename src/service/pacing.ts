import type { Ledger } from '../keys/ledger.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { Attempted } from './attempt.ts';
import type { Sending } from './sending.ts';

interface WaitingCall {
  readonly deadlineMs: number;
  readonly wake: () => void;
}

interface CallQueue {
  inFlight: number;
  readonly forPlace: WaitingCall[];
  /** Calls that wait for the next minute; all are woken when it begins, the earliest deadline first. */
  readonly forMinute: WaitingCall[];
}

/** Concurrent calls per key: few enough that a first 429 stops most of a burst. */
const MAX_IN_FLIGHT = 8;

/** A call's place in flight, and its entry in the ledger. */
export interface Turn {
  /** Books the attempt. Returns its error, if any; of a 429, the failure with the plan and the time. */
  book(attempted: Attempted): unknown;
  /** Gives the place to the next call. */
  end(): void;
}

export type Pacing = ReturnType<typeof createPacing>;

/**
 * Holds back calls that the service would refuse: after a 429, or once the minute's known budget is spent, nothing leaves
 * before the next minute. Calls whose deadline allows it wait, the earliest deadline first; the others fail at once. Each
 * takes one of its key's places in flight, and one call of the minute's budget.
 * @param onMinuteWait called with the milliseconds that a call has waited for the next minute
 */
export function createPacing(
  ledger: Ledger,
  clock: Pick<Clock, 'now' | 'sleep'>,
  onMinuteWait: (waitedMs: number) => void = () => {},
) {
  const queues = new WeakMap<Tenant, CallQueue>();

  function queueOf(tenant: Tenant): CallQueue {
    let queue = queues.get(tenant);
    if (queue === undefined) {
      queue = { inFlight: 0, forPlace: [], forMinute: [] };
      queues.set(tenant, queue);
    }
    return queue;
  }

  async function minuteOpen(queue: CallQueue, sending: Sending, opensAtMs: number): Promise<void> {
    const sinceMs = clock.now();
    await queued(queue.forMinute, sending, (wakeAll) => {
      clock.sleep(opensAtMs - clock.now()).then(wakeAll, wakeAll);
    });
    onMinuteWait(clock.now() - sinceMs);
  }

  function freePlace(queue: CallQueue): void {
    queue.inFlight -= 1;
    // All waiters are woken, since one free place may have become many; those that find none queue again, in order.
    for (const waiter of queue.forPlace.splice(0)) waiter.wake();
  }

  return {
    /**
     * Waits for the turn of a call.
     * @param check called when it is about to leave; throws if it must not leave after all
     * @throws Failure RATE_LIMITED if the wait would pass its deadline, or the signal's reason
     */
    async take(sending: Sending, check: () => void): Promise<Turn> {
      const { caller, signal, waitDeadlineMs } = sending;
      const { tenant } = caller;
      const queue = queueOf(tenant);
      for (;;) {
        signal.throwIfAborted();
        const opensAtMs = ledger.opensAtMs(tenant);
        const nowMs = clock.now();
        if (opensAtMs > Math.max(nowMs, waitDeadlineMs)) throw ledger.refusal(tenant);
        if (opensAtMs > nowMs) await minuteOpen(queue, sending, opensAtMs);
        else if (queue.inFlight >= (ledger.isDoubtful(tenant) ? 1 : MAX_IN_FLIGHT))
          await queued(queue.forPlace, sending);
        else {
          check();
          queue.inFlight += 1;
          const departure = await ledger.take(tenant);
          if (departure !== null)
            return {
              book: (attempted) => ledger.book(tenant, departure, attempted),
              end: () => freePlace(queue),
            };
          // Other gateways took the rest of the budget; the ledger now knows until when.
          freePlace(queue);
        }
      }
    },
  };
}

/** Waits in a queue ordered by deadline. The first to arrive sets the alarm, if there is one, that wakes all. */
async function queued(
  waiters: WaitingCall[],
  { signal, waitDeadlineMs }: Sending,
  setAlarm?: (wakeAll: () => void) => void,
): Promise<void> {
  const { promise: woken, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const waiter: WaitingCall = { deadlineMs: waitDeadlineMs, wake };
  const place = waiters.findIndex((other) => other.deadlineMs > waitDeadlineMs);
  waiters.splice(place === -1 ? waiters.length : place, 0, waiter);
  signal.addEventListener('abort', wake, { once: true });
  if (waiters.length === 1) {
    setAlarm?.(() => {
      for (const other of waiters.splice(0)) other.wake();
    });
  }
  await woken;
  signal.removeEventListener('abort', wake);
  const left = waiters.indexOf(waiter);
  if (left !== -1) waiters.splice(left, 1);
}
