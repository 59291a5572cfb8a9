import type { Live } from '../gateway.ts';
import type { LiveRequest, LiveResults, Opened } from '../live/subscriptions.ts';

/** The hooks of a reader of results. */
interface Reading {
  /** Waits before the next result is made: until then, its reader isn't ready. */
  readonly ready?: () => Promise<void>;
  /** Called with each result that is handed on. */
  readonly onResult?: () => void;
  /** Called once there will be no more. */
  readonly onEnd: () => void;
}

/** Results as the libraries of transports end them. */
export type WatchedResults = LiveResults & { throw(error: unknown): Promise<never> };

/** Begins a subscription; from then until it is over, its connection isn't idle. */
export async function beginSubscription(
  { subscriptions, callerOf }: Live,
  request: LiveRequest & { readonly authorization: string | null },
  { idleness, ...reading }: Omit<Reading, 'onEnd'> & { readonly idleness: Idleness },
): Promise<Opened<WatchedResults>> {
  idleness.begin();
  let isBegun = false;
  try {
    const opened = await subscriptions.open(request, callerOf(request));
    if ('errors' in opened) return opened;
    isBegun = true;
    return { ...opened, results: watched(opened.results, { ...reading, onEnd: () => idleness.end() }) };
  } finally {
    if (!isBegun) idleness.end();
  }
}

/** Makes results when their reader is ready for them, as a generator: libraries end nothing else. */
function watched(results: LiveResults, { ready, onResult, onEnd }: Reading): WatchedResults {
  let isOver = false;
  const end = () => {
    if (!isOver) onEnd();
    isOver = true;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      await ready?.();
      const result = await results.next();
      if (result.done) end();
      else onResult?.();
      return result;
    },
    async return() {
      end();
      return results.return();
    },
    async throw(error) {
      end();
      await results.return();
      throw error;
    },
  };
}

/** Ends a connection that nobody uses: calls back after a time without a subscription. */
export class Idleness {
  readonly #ms: number;
  readonly #onIdle: () => void;
  #underWay = 0;
  #timer: NodeJS.Timeout;

  constructor(ms: number, onIdle: () => void) {
    this.#ms = ms;
    this.#onIdle = onIdle;
    this.#timer = this.#wait();
  }

  begin(): void {
    this.#underWay += 1;
    clearTimeout(this.#timer);
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    clearTimeout(this.#timer);
    this.#timer = this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(this.#onIdle, this.#ms).unref();
  }
}

/** A transport of subscriptions to their clients. */
export interface LiveTransport {
  /**
   * Asks all clients to come back, to another gateway or to this one once it is there again.
   * @returns a promise that settles once they have heard it
   */
  end(): Promise<unknown>;
  /** Cuts the connections that are left. */
  cut(): void;
}
