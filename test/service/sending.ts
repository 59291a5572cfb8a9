import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import type { Transport } from '../../src/service/attempt.ts';
import { openBill } from '../../src/service/bill.ts';
import type { Answer, Call, Send } from '../../src/service/call.ts';
import { CallGate } from '../../src/service/gate.ts';
import { payerOf } from '../../src/service/payer.ts';
import type { Sending } from '../../src/service/sending.ts';
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
export function transportOf(send: Send): Transport {
  return async (call, sending) => {
    let left = false;
    try {
      sending.onLeaving?.();
      left = true;
      return { left, answer: await send(call, sending) };
    } catch (error) {
      return { left, error };
    }
  };
}

/** A stage that sends by a transport, and nothing else. */
export function stageOver(transport: Transport): Send {
  return async (call, sending) => {
    const { answer, error } = await transport(call, sending);
    if (answer === undefined) throw error;
    return answer;
  };
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
