import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import type { Transport } from '../../src/service/attempt.ts';
import { type AttemptsParts, createAttempts } from '../../src/service/attempts.ts';
import { openBill } from '../../src/service/bill.ts';
import type { Answer, Call, Send } from '../../src/service/call.ts';
import { CallGate } from '../../src/service/gate.ts';
import type { Pacing } from '../../src/service/pacing.ts';
import { payerOf } from '../../src/service/payer.ts';
import { createRetries } from '../../src/service/retries.ts';
import type { Sending } from '../../src/service/sending.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { callerOf } from '../support/tenants.ts';

/** Parts of a call on behalf of an operation under a key. */
export function sendingFor(key = 'one', further: Partial<Sending> = {}): Sending {
  const bill = openBill();
  return {
    caller: callerOf(key),
    signal: new AbortController().signal,
    bill,
    payer: payerOf(bill),
    waitDeadlineMs: 0,
    ...further,
  };
}

export interface Departed {
  readonly call: Call;
  readonly sending: Sending;
  readonly land: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

/** A transport whose requests leave at once, and are answered as a stage would answer them. */
function transportOf(send: Send): Transport {
  return async (call, sending, { charge }) => {
    let left = false;
    try {
      charge();
      left = true;
      return { left, answer: await send(call, sending) };
    } catch (error) {
      return { left, error };
    }
  };
}

/** A stage that sends by a transport, and nothing else. */
export function stageOver(transport: Transport, charge = () => {}): Send {
  return async (call, sending) => {
    const { answer, error } = await transport(call, sending, { charge, isAnew: false });
    if (answer === undefined) throw error;
    return answer;
  };
}

const OPEN_GATE: AttemptsParts['gate'] = {
  visit: () => ({ probe: null, check() {}, hear() {}, end() {} }),
};

const UNPACED: Pacing = {
  async take(_, check) {
    check();
    return { book: ({ error }) => error, end() {} };
  },
};

/** Attempts that nothing holds back and that are made once, but for the given parts. */
export function attemptsOver(send: Send, parts: Partial<AttemptsParts> = {}): Send {
  return createAttempts({
    transport: transportOf(send),
    gate: OPEN_GATE,
    pacing: UNPACED,
    ledger: { opensAtMs: () => Number.POSITIVE_INFINITY },
    retries: createRetries(0, systemClock.after),
    outage: { note() {} },
    clock: systemClock,
    onAttempt() {},
    ...parts,
  });
}

/** A next ring that answers when it is told to. */
export function createGate() {
  const waiting: Departed[] = [];
  const send: Send = (call, sending) =>
    new Promise((land, fail) => {
      waiting.push({ call, sending, land, fail });
      sending.signal.addEventListener('abort', () => fail(sending.signal.reason));
    });
  return { send, waiting };
}

/** Lets everything run that can. */
export const settle = () => new Promise((done) => setImmediate(done));

/** The gate at a time that the test tells, with nobody else's keys. */
export function gateAt(now: () => number, wallNow = now): CallGate {
  return new CallGate({ all: () => [] }, NO_TENANT_CACHE, now, wallNow);
}
