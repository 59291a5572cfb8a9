import type { Clock } from '../async/clock.ts';
import { KeyedStates } from '../async/keyed-states.ts';
import { excerpt, Failure } from '../errors.ts';
import type { Ledger } from '../quota/ledger.ts';
import type { Answer, Attempt, Call, Send, Sending } from './call.ts';

export interface RateLimitedParts {
  readonly ledger: Ledger;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly onAttempt: (attempt: Attempt) => void;
  /** Called with the milliseconds that a call has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
}

/** Calls under one key that are under way at once, so that a first 429 can stop the rest. */
const MAX_IN_FLIGHT = 8;

/** A call that waits for its turn. */
interface WaitingCall {
  readonly deadlineMs: number;
  readonly wake: () => void;
}

interface CallQueue {
  /** Calls under the key, waiting or under way. */
  calls: number;
  inFlight: number;
  /** Waiting for a free place. */
  readonly forPlace: WaitingCall[];
  /** Waiting for a minute window; woken together when it begins, the earliest deadline first. */
  readonly forMinute: WaitingCall[];
}

/**
 * Bills every attempt, and holds back those that the service would refuse: after a 429, and when the known budget
 * of the minute is spent, nothing leaves before the next minute begins. Calls that may wait do so, the earliest
 * deadline first; the others fail at once. Public routes are billed but not held back.
 */
export function rateLimited(next: Send, { ledger, clock, onAttempt, onMinuteWait }: RateLimitedParts): Send {
  const queues = new KeyedStates<CallQueue>(
    () => ({ calls: 0, inFlight: 0, forPlace: [], forMinute: [] }),
    ({ calls }) => calls === 0,
  );

  /** Takes a place in flight and a unit of the minute's budget, waiting for either as long as allowed. */
  async function takeTurn(queue: CallQueue, sending: Sending): Promise<void> {
    const { keyDigest } = sending.caller;
    for (;;) {
      sending.signal.throwIfAborted();
      const opensAtMs = ledger.opensAtMs(keyDigest);
      if (opensAtMs > Math.max(clock.now(), sending.waitDeadlineMs)) throw ledger.refusal(keyDigest);
      if (opensAtMs > clock.now()) {
        const sinceMs = clock.now();
        await queued(queue.forMinute, sending, (wakeAll) => {
          clock.sleep(opensAtMs - clock.now()).then(wakeAll, wakeAll);
        });
        onMinuteWait?.(clock.now() - sinceMs);
      } else if (queue.inFlight >= (ledger.isDoubtful(keyDigest) ? 1 : MAX_IN_FLIGHT)) {
        await queued(queue.forPlace, sending);
      } else {
        sending.beforeLeaving?.();
        queue.inFlight += 1;
        let isTaken = false;
        try {
          const taken = ledger.take(keyDigest);
          isTaken = taken === true || (await taken);
        } finally {
          // Where other gateways were faster, the ledger knows by now for how long there is nothing to be had.
          if (!isTaken) freePlace(queue);
        }
        if (isTaken) return;
      }
    }
  }

  function freePlace(queue: CallQueue): void {
    queue.inFlight -= 1;
    // All of them, since one place may have become many; those that find none queue again, in the same order.
    for (const waiter of queue.forPlace.splice(0)) waiter.wake();
  }

  async function attempt(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { keyDigest } = sending.caller;
    const reservation = sending.payer.reserve(call.route);
    try {
      if (queue !== null) await takeTurn(queue, sending);
      else leaveAtOnce(sending);
    } catch (error) {
      reservation.release();
      throw error;
    }
    const startedAtMs = clock.now();
    let outcome = 'aborted';
    let isSettled = false;
    /** Charges a request once; one that never left, since nobody waits for it any more, costs nothing. */
    const settle = (isDue: boolean) => {
      if (isSettled) return;
      isSettled = true;
      if (isDue) reservation.charge();
      else reservation.release();
    };
    try {
      const answer = await next(call, { ...sending, onLeaving: () => settle(true) });
      settle(true);
      if (queue !== null) ledger.accepted(keyDigest);
      outcome = 'ok';
      return answer;
    } catch (error) {
      settle(error instanceof Failure);
      if (!(error instanceof Failure)) throw error;
      const isLimited = queue !== null && error.code === 'RATE_LIMITED';
      const failure = isLimited ? ledger.limited(keyDigest, toBeRead(error.fields.detail)) : error;
      outcome = failure.code;
      throw failure;
    } finally {
      if (queue !== null) freePlace(queue);
      onAttempt({ route: call.route, outcome, durationMs: clock.now() - startedAtMs });
    }
  }

  function patient(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    return attempt(call, sending, queue).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      const isLimited = queue !== null && error.code === 'RATE_LIMITED';
      const mayWait = isLimited && ledger.opensAtMs(sending.caller.keyDigest) <= sending.waitDeadlineMs;
      if (!mayWait) throw error.with({ route: call.route });
      return patient(call, sending, queue);
    });
  }

  return (call, sending) => {
    if (call.isPublic) return patient(call, sending, null);
    const queue = queues.of(sending.caller.keyDigest);
    queue.calls += 1;
    const end = () => {
      queue.calls -= 1;
    };
    const answering = patient(call, sending, queue);
    answering.then(end, end);
    return answering;
  };
}

function leaveAtOnce({ signal, beforeLeaving }: Sending): void {
  signal.throwIfAborted();
  beforeLeaving?.();
}

/** As much of the text of a 429 as is read in no time, whatever it is: the figures stand at its beginning. */
function toBeRead(detail = ''): string {
  return excerpt(detail).replace(/\s+/g, ' ');
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
