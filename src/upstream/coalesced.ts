import { Cancellation } from '../async/cancellation.ts';
import { TransientMap } from '../async/transient-map.ts';
import { type Answer, type Call, callKey, type Payer, type Send, type Sending } from './call.ts';
import { sharedPayer } from './payer.ts';

/** A call under way that several operations may wait for. */
interface SharedCall {
  readonly answer: Promise<Answer>;
  readonly ends: Cancellation;
  /** Who pays, one entry for each that waits. */
  readonly waiting: Payer[];
}

/**
 * Shares what is in flight: equal calls under one key are sent once. The shared call has a signal of its own and is
 * given up only when the last one that waits for it has left; each request is billed to the first that still waits.
 * Public calls are shared by all.
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

  function forget(name: string, shared: SharedCall): void {
    if (inFlight.get(name) === shared) inFlight.delete(name);
  }

  return (call, sending) => {
    sending.deadline?.start();
    // Whoever has been given up sends nothing more.
    if (sending.signal.aborted) return Promise.reject(sending.signal.reason);
    const whose = call.isPublic ? '' : sending.caller.keyDigest;
    const name = `${whose} ${callKey(call)} ${JSON.stringify(sending.headers ?? null)}`;
    const known = inFlight.get(name);
    known?.waiting.push(sending.payer);
    const shared = known ?? send(name, call, sending);
    return whileWaiting(shared, sending, {
      onAnswered() {
        if (known !== undefined) sending.bill.shared += 1;
      },
      onOver: () => forget(name, shared),
      onLeft() {
        if (shared.waiting.length > 0) return;
        forget(name, shared);
        shared.ends.abort();
      },
    });
  };
}

interface WaitingEnds {
  readonly onAnswered: () => void;
  /** Called where the call is over, answered or failed. */
  readonly onOver: () => void;
  /** Called where the caller leaves before that. */
  readonly onLeft: () => void;
}

/** What becomes of a shared call, as long as its caller waits: one promise for all of it, since each call passes here. */
function whileWaiting(
  { answer, waiting }: SharedCall,
  { payer, signal }: Sending,
  { onAnswered, onOver, onLeft }: WaitingEnds,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    function leave(): void {
      waiting.splice(waiting.indexOf(payer), 1);
    }
    let hasLeft = false;
    function onAbort(): void {
      hasLeft = true;
      leave();
      onLeft();
      reject(signal.reason);
    }
    /** Whether the caller still waits. */
    function over(): boolean {
      if (hasLeft) return false;
      signal.removeEventListener('abort', onAbort);
      leave();
      onOver();
      return true;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(
      (value) => {
        if (!over()) return;
        onAnswered();
        resolve(value);
      },
      (error: unknown) => {
        if (over()) reject(error);
      },
    );
  });
}
