import { type Answer, type Call, callKey, type Send, type Sending } from './call.ts';

interface Flight {
  readonly answer: Promise<Answer>;
  readonly ends: AbortController;
  waiting: number;
}

/**
 * Shares what is in flight: equal calls under one key are sent once. The shared call has a signal of its own and is
 * given up only when the last one that waits for it has left. Public calls are shared by all.
 */
export function coalesced(next: Send): Send {
  const flights = new Map<string, Flight>();

  function depart(name: string, call: Call, sending: Sending): Flight {
    const ends = new AbortController();
    const flight: Flight = { answer: next(call, { ...sending, signal: ends.signal }), ends, waiting: 0 };
    flights.set(name, flight);
    const land = () => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    flight.answer.then(land, land);
    return flight;
  }

  return async (call, sending) => {
    const whose = call.isPublic ? '' : sending.caller.partition;
    const name = `${whose} ${callKey(call)} ${JSON.stringify(sending.headers ?? null)}`;
    let flight = flights.get(name);
    const isShared = flight !== undefined;
    flight ??= depart(name, call, sending);
    flight.waiting += 1;
    try {
      const answer = await untilAborted(flight.answer, sending.signal);
      if (isShared) sending.bill.shared += 1;
      return answer;
    } finally {
      flight.waiting -= 1;
      // One that has landed is under this name no longer.
      if (flight.waiting === 0 && flights.get(name) === flight) {
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
