import { excerpt, Failure } from '../errors.ts';
import type { Ledger } from '../tenants/ledger.ts';
import type { CallQueue, Tenant, WaitingCall } from '../tenants/tenant.ts';
import type { Answer, Attempt, Call, Send, Sending } from './call.ts';

interface WaitingClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Calls under one key that are under way at once, so that a first 429 can stop the rest. */
const MAX_IN_FLIGHT = 8;

/**
 * Says when a call may leave: it takes a place in flight and a unit of the minute's budget, and waits for either as long
 * as allowed.
 */
function createTurns(ledger: Ledger, clock: WaitingClock, onMinuteWait: (waitedMs: number) => void) {
  /**
   * Takes a turn.
   * @throws Failure RATE_LIMITED if the call may not wait for as long as it would have to, or the signal's reason
   */
  async function takeTurn(queue: CallQueue, sending: Sending): Promise<void> {
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
        const taking = ledger.take(tenant);
        queue.inFlight += 1;
        if (taking === true || (await takenLater(queue, taking))) return;
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

  /** Waits for the store. If other gateways were faster, the ledger knows by then for how long there is no room. */
  async function takenLater(queue: CallQueue, taking: boolean | Promise<boolean>): Promise<boolean> {
    let isTaken = false;
    try {
      isTaken = await taking;
    } finally {
      if (!isTaken) freePlace(queue);
    }
    return isTaken;
  }

  /** Notes that the call is over. */
  function freePlace(queue: CallQueue): void {
    queue.inFlight -= 1;
    // All of them are woken, since one place may have become many; calls that find none queue again, in the same order.
    for (const waiter of queue.forPlace.splice(0)) waiter.wake();
  }

  return { takeTurn, freePlace };
}

/**
 * Waits in a queue that is kept in the order of deadlines. The first to come may set the alarm that wakes all.
 */
async function queued(
  waiters: WaitingCall[],
  { signal, waitDeadlineMs }: Sending,
  setAlarm?: (wakeAll: () => void) => void,
): Promise<void> {
  let waiter: WaitingCall | undefined;
  const onAbort = () => waiter?.wake();
  await new Promise<void>((wake) => {
    waiter = { deadlineMs: waitDeadlineMs, wake };
    const place = waiters.findIndex((other) => other.deadlineMs > waitDeadlineMs);
    waiters.splice(place === -1 ? waiters.length : place, 0, waiter);
    signal.addEventListener('abort', onAbort, { once: true });
    if (waiters.length === 1) {
      setAlarm?.(() => {
        for (const woken of waiters.splice(0)) woken.wake();
      });
    }
  });
  signal.removeEventListener('abort', onAbort);
  const left = waiter === undefined ? -1 : waiters.indexOf(waiter);
  if (left !== -1) waiters.splice(left, 1);
}

/**
 * Bills every attempt, and holds back calls that the service would refuse: after a 429, and when the known budget of
 * the minute is spent, nothing leaves before the next minute begins. Calls that may wait do so, the earliest deadline
 * first; the others fail at once. Public routes are billed but not held back.
 * @param onMinuteWait called with the milliseconds that a call has waited for a minute window
 */
export function rateLimited(
  next: Send,
  ledger: Ledger,
  clock: WaitingClock,
  onAttempt: (attempt: Attempt) => void,
  onMinuteWait: (waitedMs: number) => void = () => {},
): Send {
  const { takeTurn, freePlace } = createTurns(ledger, clock, onMinuteWait);

  async function attempt(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { tenant } = sending.caller;
    const reservation = sending.payer.reserve(call.route);
    try {
      sending.signal.throwIfAborted();
      if (queue === null) sending.beforeLeaving?.();
      else await takeTurn(queue, sending);
    } catch (error) {
      reservation.release();
      throw error;
    }
    const startedAtMs = clock.now();
    let outcome = 'aborted';
    let isSettled = false;
    /** Charges a request once. A request that never left, since nobody waits for it any more, costs nothing. */
    const settle = (isDue: boolean) => {
      if (isSettled) return;
      isSettled = true;
      if (isDue) reservation.charge();
      else reservation.release();
    };
    try {
      const answer = await next(call, { ...sending, onLeaving: () => settle(true) });
      settle(true);
      if (queue !== null) ledger.accepted(tenant);
      outcome = 'ok';
      return answer;
    } catch (error) {
      settle(error instanceof Failure);
      if (!(error instanceof Failure)) throw error;
      const isLimited = queue !== null && error.code === 'RATE_LIMITED';
      const failure = isLimited ? ledger.limited(tenant, toBeRead(error.fields.detail)) : error;
      outcome = failure.code;
      throw failure;
    } finally {
      if (queue !== null) freePlace(queue);
      onAttempt({ route: call.route, outcome, durationMs: clock.now() - startedAtMs });
    }
  }

  function patient(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { tenant } = sending.caller;
    tenant.underWay += 1;
    const end = () => {
      tenant.underWay -= 1;
    };
    return attempt(call, sending, queue).then(
      (answer) => {
        end();
        return answer;
      },
      (error: unknown) => {
        end();
        if (!(error instanceof Failure)) throw error;
        const isLimited = queue !== null && error.code === 'RATE_LIMITED';
        const mayWait = isLimited && ledger.opensAtMs(tenant) <= sending.waitDeadlineMs;
        if (!mayWait) throw error.with({ route: call.route });
        return patient(call, sending, queue);
      },
    );
  }

  return (call, sending) => patient(call, sending, call.isPublic ? null : queueOf(sending.caller.tenant));
}

function queueOf(tenant: Tenant): CallQueue {
  tenant.queue ??= { inFlight: 0, forPlace: [], forMinute: [] };
  return tenant.queue;
}

/** Cuts the text of a 429 to a length that is read in no time: the figures stand at its beginning. */
function toBeRead(detail = ''): string {
  return excerpt(detail).replace(/\s+/g, ' ');
}
