import { Cancellation, untilAborted } from '../async/cancellation.ts';
import { TransientMap } from '../async/transient-map.ts';
import { type Answer, type Call, callKey, type Payer, type Send, type Sending } from './call.ts';
import { sharedPayer } from './payer.ts';

/** A call under way that several operations may wait for. */
interface SharedCall {
  readonly answer: Promise<Answer>;
  readonly ends: Cancellation;
  /** The payers, one entry for each operation that waits. */
  readonly waiting: Payer[];
}

/**
 * Shares calls in flight: equal calls under one key are sent once. The shared call has a signal of its own and is given
 * up only when the last one that waits for it has left. Each request is billed to the first that still waits. Public
 * calls are shared by all.
 */
export function coalesced(next: Send): Send {
  const inFlight = new TransientMap<SharedCall>();

  function send(name: string, call: Call, sending: Sending): SharedCall {
    const ends = new Cancellation();
    const waiting = [sending.payer];
    const payer = sharedPayer(() => waiting);
    const shared = { answer: next(call, { ...sending, payer, signal: ends }), ends, waiting };
    inFlight.set(name, shared);
    return shared;
  }

  return (call, sending) => {
    sending.deadline?.start();
    // An operation that has been given up sends nothing more.
    if (sending.signal.aborted) return Promise.reject(sending.signal.reason);
    const whose = call.isPublic ? '' : sending.caller.keyDigest;
    const name = `${whose} ${callKey(call)} ${JSON.stringify(sending.headers ?? null)}`;
    const known = inFlight.get(name);
    known?.waiting.push(sending.payer);
    const shared = known ?? send(name, call, sending);
    return untilAborted(shared.answer, sending.signal, (end) => {
      shared.waiting.splice(shared.waiting.indexOf(sending.payer), 1);
      if (end === 'fulfilled' && known !== undefined) sending.bill.shared += 1;
      const isGivenUp = end === 'aborted' && shared.waiting.length === 0;
      const isOver = end !== 'aborted' || isGivenUp;
      if (isOver && inFlight.get(name) === shared) inFlight.delete(name);
      if (isGivenUp) shared.ends.abort();
    });
  };
}
