import type { Ledger } from '../keys/ledger.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { Clock } from '../shared/async/clock.ts';
import { Failure } from '../shared/errors.ts';
import type { Attempt, Attempted, Transport } from './attempt.ts';
import type { Answer, Call, Send } from './call.ts';
import { Unfunded } from './call-budget.ts';
import type { Reservation } from './payer.ts';
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

/** Admits calls: each takes one of the key's places in flight and one call of the minute's budget, or waits for them. */
function createTurns(
  ledger: Ledger,
  clock: Pick<Clock, 'now' | 'sleep'>,
  onMinuteWait: (waitedMs: number) => void,
) {
  /** @throws Failure RATE_LIMITED if the wait would pass the call's deadline, or the signal's reason */
  async function takeTurn(queue: CallQueue, sending: Sending) {
    const { tenant } = sending.caller;
    for (;;) {
      sending.signal.throwIfAborted();
      const opensAtMs = ledger.opensAtMs(tenant);
      const nowMs = clock.now();
      if (opensAtMs > Math.max(nowMs, sending.waitDeadlineMs)) throw ledger.refusal(tenant);
      if (opensAtMs > nowMs) await minuteOpen(queue, sending, opensAtMs);
      else if (queue.inFlight >= (ledger.isDoubtful(tenant) ? 1 : MAX_IN_FLIGHT))
        await queued(queue.forPlace, sending);
      else {
        sending.beforeLeaving?.();
        queue.inFlight += 1;
        const departure = await ledger.take(tenant);
        if (departure !== null) return departure;
        // Other gateways took the rest of the budget; the ledger now knows until when.
        freePlace(queue);
      }
    }
  }

  async function minuteOpen(queue: CallQueue, sending: Sending, opensAtMs: number): Promise<void> {
    const sinceMs = clock.now();
    await queued(queue.forMinute, sending, (wakeAll) => {
      clock.sleep(opensAtMs - clock.now()).then(wakeAll, wakeAll);
    });
    onMinuteWait(clock.now() - sinceMs);
  }

  /** Gives the place of a call that is over to the next. */
  function freePlace(queue: CallQueue): void {
    queue.inFlight -= 1;
    // All waiters are woken, since one free place may have become many; those that find none queue again, in order.
    for (const waiter of queue.forPlace.splice(0)) waiter.wake();
  }

  return { takeTurn, freePlace };
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

/** What one attempt has reserved. */
interface Due {
  readonly tenant: Tenant;
  readonly reservation: Reservation;
  /** The ledger's entry for the call; null on a public route. */
  readonly departure: Awaited<ReturnType<Ledger['take']>>;
}

/**
 * Bills every attempt, and holds back calls that the service would refuse: after a 429, or once the minute's known budget
 * is spent, nothing leaves before the next minute. Calls whose deadline allows it wait, the earliest deadline first; the
 * others fail at once. Public routes are billed but never held back.
 * @param onMinuteWait called with the milliseconds that a call has waited for the next minute
 */
export function pacedStage(
  next: Transport,
  ledger: Ledger,
  clock: Pick<Clock, 'now' | 'sleep'>,
  onAttempt: (attempt: Attempt) => void,
  onMinuteWait: (waitedMs: number) => void = () => {},
): Send {
  const queues = new WeakMap<Tenant, CallQueue>();
  const { takeTurn, freePlace } = createTurns(ledger, clock, onMinuteWait);

  function queueOf(tenant: Tenant): CallQueue {
    let queue = queues.get(tenant);
    if (queue === undefined) {
      queue = { inFlight: 0, forPlace: [], forMinute: [] };
      queues.set(tenant, queue);
    }
    return queue;
  }

  /** Reserves the cost of an attempt, and waits until it may leave. */
  async function due({ route }: Call, sending: Sending, queue: CallQueue | null): Promise<Due> {
    const { tenant } = sending.caller;
    const reservation = sending.payer.reserve(route);
    try {
      sending.signal.throwIfAborted();
      if (queue !== null) return { tenant, reservation, departure: await takeTurn(queue, sending) };
      sending.beforeLeaving?.();
      return { tenant, reservation, departure: null };
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  /** Books an attempt that is over with its key's account; the operation was charged when it left. */
  function book({ tenant, reservation, departure }: Due, { left, error }: Attempted): unknown {
    if (!left) reservation.release();
    return departure === null ? error : ledger.book(tenant, departure, { left, error });
  }

  async function attempt(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const owed = await due(call, sending, queue);
    const startedAtMs = clock.now();
    try {
      const attempted = await next(call, { ...sending, onLeaving: owed.reservation.charge });
      const error = book(owed, attempted);
      const failed = error instanceof Failure ? error.code : 'aborted';
      const durationMs = clock.now() - startedAtMs;
      onAttempt({ route: call.route, outcome: error === undefined ? 'ok' : failed, durationMs });
      if (attempted.answer === undefined) throw error;
      return attempted.answer;
    } finally {
      if (queue !== null) freePlace(queue);
    }
  }

  return async (call, sending) => {
    const { tenant } = sending.caller;
    const queue = call.isPublic ? null : queueOf(tenant);
    for (;;) {
      tenant.underWay += 1;
      try {
        return await attempt(call, sending, queue);
      } catch (error) {
        if (error instanceof Unfunded) await error.settled;
        else {
          if (!(error instanceof Failure)) throw error;
          const isLimited = queue !== null && error.code === 'RATE_LIMITED';
          // If the minute is over by now, it may leave at once.
          const untilMs = Math.max(clock.now(), sending.waitDeadlineMs);
          const mayWait = isLimited && ledger.opensAtMs(tenant) <= untilMs;
          if (!mayWait) throw error.with({ route: call.route });
        }
      } finally {
        tenant.underWay -= 1;
      }
    }
  };
}
