import type { ComposedGateway } from '../../gateway/plugin.ts';
import type { GatewayRequest } from '../../graphql/request/requests.ts';
import type { LiveResults } from './event-results.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Subscriptions, and the way in to them. */
export type Live = Pick<ComposedGateway, 'enter' | 'holderOf'> & { readonly subscriptions: Subscriptions };

/** Called with an error that only a defect of ours can explain. */
export type Problem = (error: unknown, requestId: string) => void;

interface Reading {
  /** Waits before the next result is made: until then, its reader isn't ready. */
  readonly ready?: () => Promise<void>;
  readonly onResult?: () => void;
}

/** Results as the libraries of transports end them. */
type WatchedResults = LiveResults & { throw(error: unknown): Promise<never> };

/** Begins a subscription; from then until it is over, its connection isn't idle. */
export async function beginSubscription(
  { subscriptions, enter }: Live,
  request: Parameters<Subscriptions['open']>[0] & Pick<GatewayRequest, 'headers' | 'address'>,
  idleness: Idleness,
  reading: Reading = {},
) {
  idleness.begin();
  let isBegun = false;
  try {
    const { query, operationName, variables, headers, address, requestId, signal } = request;
    const body = { query, operationName, variables };
    const entering = enter({ method: 'POST', headers, search: '', body, address, requestId, signal });
    const opened = await subscriptions.open(request, entering);
    if ('errors' in opened) return opened;
    isBegun = true;
    return { ...opened, results: watched(opened.results, reading, () => idleness.end()) };
  } finally {
    if (!isBegun) idleness.end();
  }
}

/**
 * Makes results when their reader is ready for them, as a generator: libraries end nothing else.
 * @param onEnd called once there will be no more
 */
function watched(results: LiveResults, { ready, onResult }: Reading, onEnd: () => void): WatchedResults {
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

/** Milliseconds that a connection may be without a subscription: as long as one of HTTP without a request. */
const IDLE_MS = 72_000;

/** Ends a connection that nobody uses: calls back after a time without a subscription. */
export class Idleness {
  readonly #onIdle: () => void;
  #underWay = 0;
  #timer: NodeJS.Timeout;

  constructor(onIdle: () => void) {
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
    return setTimeout(this.#onIdle, IDLE_MS).unref();
  }
}
