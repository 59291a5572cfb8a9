/** Time that work goes on before others have their turn, in milliseconds. */
const TURN_MS = 20;

/** Time that a text stays as it is before anything is asked about it: it may be typed letter by letter, in milliseconds. */
export const SETTLED_MS = 600;

/**
 * Asks about what may still change, for an effect: only once it has stayed as it is for a moment.
 * @returns ends it, and aborts the signal of what was asked
 */
export function onceSettled(ask: (signal: AbortSignal) => unknown, waitMs = SETTLED_MS): () => void {
  const leaving = new AbortController();
  const timer = setTimeout(() => void ask(leaving.signal), waitMs);
  return () => {
    clearTimeout(timer);
    leaving.abort();
  };
}

/** The next turn of the page, after all that waits for it. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/**
 * Goes through steps until a turn is over.
 * @returns their result; undefined if there are more
 */
export function inOneTurn<T extends object>(steps: Iterator<void, T>): T | undefined {
  const end = performance.now() + TURN_MS;
  do {
    const { done, value } = steps.next();
    if (done) return value;
  } while (performance.now() < end);
  return undefined;
}

/** Goes through steps turn by turn. */
export async function inTurns<T extends object>(steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const result = inOneTurn(steps);
    if (result !== undefined) return result;
  }
}

let last: Promise<void> = Promise.resolve();

/** Does pieces of work one a turn, in the order that they are asked for. */
export function afterOthers(work: () => void): void {
  last = last.then(nextTurn).then(work);
}

/** Goes through all steps at once. */
export function atOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
