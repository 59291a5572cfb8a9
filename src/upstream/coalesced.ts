import { type Answer, type Call, callKey, type Payer, type Send, type Sending } from './call.ts';
import { sharedPayer } from './payer.ts';

interface Flight {
  readonly answer: Promise<Answer>;
  readonly ends: AbortController;
  /** Who pays, one entry for each that waits. */
  readonly waiting: Payer[];
}

/**
 * Shares what is in flight: equal calls under one key are sent once. The shared call has a signal of its own and is
 * given up only when the last one that waits for it has left; each request is billed to the first that still waits.
 * Public calls are shared by all.
 */
export function coalesced(next: Send): Send {
  const flights = new Map<string, Flight>();

  function depart(name: string, call: Call, sending: Sending): Flight {
    const ends = new AbortController();
    const waiting = [sending.payer];
    const payer = sharedPayer(() => waiting);
    const flight: Flight = { answer: next(call, { ...sending, payer, signal: ends.signal }), ends, waiting };
    flights.set(name, flight);
    const land = () => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    flight.answer.then(land, land);
    return flight;
  }

  return async (call, sending) => {
    sending.deadline?.start();
    // Whoever has been given up sends nothing more.
    sending.signal.throwIfAborted();
    const whose = call.isPublic ? '' : sending.caller.keyDigest;
    const name = `${whose} ${callKey(call)} ${JSON.stringify(sending.headers ?? null)}`;
    let flight = flights.get(name);
    const isShared = flight !== undefined;
    if (flight === undefined) flight = depart(name, call, sending);
    else flight.waiting.push(sending.payer);
    try {
      const answer = await untilAborted(flight.answer, sending.signal);
      if (isShared) sending.bill.shared += 1;
      return answer;
    } finally {
      flight.waiting.splice(flight.waiting.indexOf(sending.payer), 1);
      // One that has landed is under this name no longer.
      if (flight.waiting.length === 0 && flights.get(name) === flight) {
        flights.delete(name);
        flight.ends.abort();
      }
    }
  };
}

/** The promise's outcome, or the signal's reason if that comes first. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
