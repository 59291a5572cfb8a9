import type { ExecutionResult, GraphQLFormattedError } from 'graphql';
import type { StartedServices } from '../../plugin/index.ts';

type Subscriptions = Awaited<ReturnType<StartedServices['openSubscriptions']>>;
type LiveRequest = Parameters<Subscriptions['open']>[0];

export interface Live extends Pick<StartedServices, 'holderOf' | 'limits'> {
  readonly subscriptions: Subscriptions;
}

/** The libraries of transports write results as they are. Their errors are no objects of GraphQL's classes. */
export type Results = AsyncGenerator<ExecutionResult, void, undefined>;

/** Until the subscription is over, its connection isn't idle. */
export async function beginSubscription(
  { subscriptions }: Live,
  request: Omit<LiveRequest, 'reader'>,
  idleness: Idleness,
  reading: Omit<LiveRequest['reader'], 'onEnd'> = {},
): Promise<{ readonly results: Results } | { readonly errors: readonly GraphQLFormattedError[] }> {
  idleness.begin();
  let isBegun = false;
  try {
    const reader = { ...reading, onEnd: () => idleness.end() };
    const opened = await subscriptions.open({ ...request, reader });
    if ('errors' in opened) return opened;
    isBegun = true;
    return { results: opened.results as unknown as Results };
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
