import { KeyedStates } from '../async/keyed-states.ts';
import { excerpt, Failure } from '../errors.ts';
import type { Answer, Attempt, Call, Send, Sending } from './call.ts';
import { type CallQueue, createTurns, openQueue, type TurnsParts } from './turns.ts';

export interface RateLimitedParts extends TurnsParts {
  readonly onAttempt: (attempt: Attempt) => void;
}

/**
 * Bills every attempt, and holds back calls that the service would refuse: after a 429, and when the known budget of
 * the minute is spent, nothing leaves before the next minute begins. Calls that may wait do so, the earliest deadline
 * first; the others fail at once. Public routes are billed but not held back.
 */
export function rateLimited(next: Send, parts: RateLimitedParts): Send {
  const { ledger, clock, onAttempt } = parts;
  const queues = new KeyedStates<CallQueue>(openQueue, ({ calls }) => calls === 0);
  const { takeTurn, freePlace } = createTurns(parts);

  async function attempt(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { keyDigest } = sending.caller;
    const reservation = sending.payer.reserve(call.route);
    try {
      const turn = queue === null ? leaveAtOnce(sending) : takeTurn(queue, sending);
      if (turn instanceof Promise) await turn;
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
    if (queue !== null) queue.calls += 1;
    const end = () => {
      if (queue !== null) queue.calls -= 1;
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
        const mayWait = isLimited && ledger.opensAtMs(sending.caller.keyDigest) <= sending.waitDeadlineMs;
        if (!mayWait) throw error.with({ route: call.route });
        return patient(call, sending, queue);
      },
    );
  }

  return (call, sending) =>
    patient(call, sending, call.isPublic ? null : queues.of(sending.caller.keyDigest));
}

function leaveAtOnce({ signal, beforeLeaving }: Sending): void {
  signal.throwIfAborted();
  beforeLeaving?.();
}

/** Cuts the text of a 429 to a length that is read in no time: the figures stand at its beginning. */
function toBeRead(detail = ''): string {
  return excerpt(detail).replace(/\s+/g, ' ');
}
