import type { ComposedGateway } from '../../gateway/plugin.ts';
import type { GatewayRequest } from '../../plugin/index.ts';
import type { LiveReader, LiveRequest } from './reading.ts';
import type { Subscriptions } from './subscriptions.ts';

export type Live = Pick<ComposedGateway, 'enter' | 'holderOf'> & { readonly subscriptions: Subscriptions };

export type Problem = (error: unknown, requestId: string) => void;

/** Until the subscription is over, its connection isn't idle. */
export async function beginSubscription(
  { subscriptions, enter }: Live,
  request: Omit<LiveRequest, 'reader'> & Pick<GatewayRequest, 'headers' | 'address'>,
  idleness: Idleness,
  reading: Omit<LiveReader, 'onEnd'> = {},
) {
  idleness.begin();
  let isBegun = false;
  try {
    const { query, operationName, variables, headers, address, requestId, signal } = request;
    const body = { query, operationName, variables };
    const entering = enter({ method: 'POST', headers, search: '', body, address, requestId, signal });
    const reader = { ...reading, onEnd: () => idleness.end() };
    const opened = await subscriptions.open({ ...request, reader }, entering);
    isBegun = 'results' in opened;
    return opened;
  } finally {
    if (!isBegun) idleness.end();
  }
}

/** Milliseconds, as for HTTP connections without a request. */
const IDLE_MS = 72_000;

/** Calls back once a connection has had no subscription for a while. */
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
