import { TransientMap } from '../cache/lru.ts';
import { untilAborted } from '../shared/async/promises.ts';
import type { Call, Send } from './call.ts';
import { sharedPayer } from './payer.ts';
import type { Sending } from './sending.ts';

/**
 * Shares calls in flight: equal calls under one key are sent once, public calls once for all keys. A shared call has its own
 * signal, and is aborted only when the last operation that waits for it has left. Each request is billed to the first
 * operation that still waits.
 */
export function coalescedStage(next: Send): Send {
  const inFlight = new TransientMap<ReturnType<typeof send>>();

  function send(name: string, call: Call, sending: Sending) {
    const ends = new AbortController();
    /** The payers, one entry for each operation that waits. */
    const waiting = [sending.payer];
    const payer = sharedPayer(waiting);
    const shared = { answer: next(call, { ...sending, payer, signal: ends.signal }), ends, waiting };
    inFlight.set(name, shared);
    return shared;
  }

  return (call, sending) => {
    sending.deadline?.start();
    // An aborted operation sends nothing more.
    if (sending.signal.aborted) return Promise.reject(sending.signal.reason);
    const whose = call.isPublic ? '' : sending.caller.tenant.digest;
    const name = `${whose} ${call.target} ${JSON.stringify(call.headers ?? null)}`;
    const pendingCall = inFlight.get(name);
    if (pendingCall !== undefined) {
      pendingCall.waiting.push(sending.payer);
      // The call left before whatever the operation sends from now on.
      sending.payer.onLeave?.(call.route);
    }
    const shared = pendingCall ?? send(name, call, sending);
    return untilAborted(shared.answer, sending.signal, (end) => {
      shared.waiting.splice(shared.waiting.indexOf(sending.payer), 1);
      if (end === 'fulfilled' && pendingCall !== undefined) sending.bill.shared += 1;
      const isGivenUp = end === 'aborted' && shared.waiting.length === 0;
      const isOver = end !== 'aborted' || isGivenUp;
      if (isOver && inFlight.get(name) === shared) inFlight.delete(name);
      if (isGivenUp) shared.ends.abort();
    });
  };
}
