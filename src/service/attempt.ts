import type { Answer, Call } from './call.ts';
import type { Sending } from './sending.ts';
import { errorNameOf } from './trace.ts';

/** One attempt at one call, for metrics and logs. */
export interface Attempt {
  readonly route: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Follows one request to the service. */
export interface AttemptWatcher {
  /** Further headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  onStatus?(status: number): void;
  /** @param error code of the failure, if there is no usable answer */
  onEnd?(error?: string): void;
}

/** What came of an attempt. */
export interface Attempted {
  /** True if the request was sent: the service counts it, whatever the outcome. */
  readonly left: boolean;
  /** Absent if no answer has begun. */
  readonly status?: number | undefined;
  /** Absent if there is an error. */
  readonly answer?: Answer;
  readonly error?: unknown;
}

/** How a request leaves. */
export interface Leaving {
  /** Called once, at the instant the request leaves. Throws to keep it from being sent. */
  readonly charge: () => void;
  /** True to send it over a new connection. */
  readonly isAnew: boolean;
}

/** Makes one attempt; a failed call resolves too. */
export type Transport = (call: Call, sending: Sending, leaving: Leaving) => Promise<Attempted>;

export function watchedTransport(
  next: Transport,
  watchers: readonly ((call: Call, sending: Sending) => AttemptWatcher | null)[],
): Transport {
  if (watchers.length === 0) return next;
  return async (call, sending, leaving) => {
    const watching = watchers.map((watch) => watch(call, sending)).filter((one) => one !== null);
    const headers = Object.assign({}, ...watching.map((one) => one.headers), call.headers);
    const attempted = await next({ ...call, headers }, sending, leaving);
    const { status, error } = attempted;
    for (const one of watching) {
      if (status !== undefined) one.onStatus?.(status);
      one.onEnd?.(error === undefined ? undefined : errorNameOf(error));
    }
    return attempted;
  };
}
