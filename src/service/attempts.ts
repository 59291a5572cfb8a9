import type { Ledger } from '../keys/ledger.ts';
import type { Clock } from '../shared/async/clock.ts';
import { Failure } from '../shared/errors.ts';
import type { Attempt, Transport } from './attempt.ts';
import type { Answer, Call, Send } from './call.ts';
import { Unfunded } from './call-budget.ts';
import type { CallGate } from './gate.ts';
import type { Outage } from './outage.ts';
import type { Pacing, Turn } from './pacing.ts';
import type { Retries } from './retries.ts';
import type { Sending } from './sending.ts';

export interface AttemptsParts {
  readonly transport: Transport;
  readonly gate: Pick<CallGate, 'visit'>;
  readonly pacing: Pacing;
  readonly ledger: Pick<Ledger, 'opensAtMs'>;
  readonly retries: Retries;
  readonly outage: Pick<Outage, 'note'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly onAttempt: (attempt: Attempt) => void;
}

/**
 * Sends a call, in as many attempts as it takes. Each passes the gate, waits for its turn, and is billed as it leaves, since
 * the service counts attempts. Its outcome is told to the gate, which judges the key and the route, and to the ledger.
 * Public routes are billed but never held back by the ledger.
 */
export function createAttempts(parts: AttemptsParts): Send {
  const { transport, gate, pacing, ledger, retries, outage, clock, onAttempt } = parts;

  async function attempt(call: Call, sending: Sending, isAnew: boolean): Promise<Answer> {
    const { caller, payer, signal } = sending;
    const { route, isPublic } = call;
    const visit = gate.visit(call, caller.tenant);
    let turn: Turn | null = null;
    try {
      if (visit.probe !== null) await visit.probe;
      visit.check();
      const { charge, release } = payer.reserve(route);
      let left = false;
      try {
        signal.throwIfAborted();
        if (isPublic) visit.check();
        else turn = await pacing.take(sending, visit.check);
        const startedAtMs = clock.now();
        const attempted = await transport(call, sending, { charge, isAnew });
        left = attempted.left;
        await visit.hear(attempted);
        const error = turn === null ? attempted.error : turn.book(attempted);
        const failed = error instanceof Failure ? error.code : 'aborted';
        const durationMs = clock.now() - startedAtMs;
        onAttempt({ route, outcome: error === undefined ? 'ok' : failed, durationMs });
        if (attempted.answer === undefined) throw error;
        return attempted.answer;
      } finally {
        if (!left) release();
      }
    } finally {
      turn?.end();
      visit.end();
    }
  }

  /** True after a 429 whose minute ends before the call's deadline, or is over by now. */
  function mayWait(error: unknown, { isPublic }: Call, { caller, waitDeadlineMs }: Sending): boolean {
    if (isPublic || !(error instanceof Failure) || error.code !== 'RATE_LIMITED') return false;
    return ledger.opensAtMs(caller.tenant) <= Math.max(clock.now(), waitDeadlineMs);
  }

  return async (call, sending) => {
    const { tenant } = sending.caller;
    const retry = retries.begin(sending.signal);
    const end = tenant.keep();
    try {
      for (let isAnew = false; ; ) {
        try {
          const answer = await attempt(call, sending, isAnew);
          outage.note(null, call);
          return answer;
        } catch (error) {
          if (error instanceof Unfunded) await error.settled;
          else if (!mayWait(error, call, sending))
            isAnew = await retry(error instanceof Failure ? error.with({ route: call.route }) : error);
        }
      }
    } catch (error) {
      outage.note(error, call);
      throw error;
    } finally {
      end();
    }
  };
}
