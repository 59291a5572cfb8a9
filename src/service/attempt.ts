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

export type Attempted =
  | { readonly left: true; readonly answer: Answer; readonly error?: undefined }
  | {
      /** True if the request was sent: the service counts it, whatever the outcome. */
      readonly left: boolean;
      readonly answer?: undefined;
      readonly error: unknown;
    };

/** Makes one attempt; a failed call resolves too. */
export type Transport = (call: Call, sending: Sending) => Promise<Attempted>;

export function watchedTransport(
  next: Transport,
  watchers: readonly ((call: Call, sending: Sending) => AttemptWatcher | null)[],
): Transport {
  if (watchers.length === 0) return next;
  return async (call, sending) => {
    const watching = watchers.map((watch) => watch(call, sending)).filter((one) => one !== null);
    const headers = Object.assign({}, ...watching.map((one) => one.headers), sending.headers);
    const onStatus = (status: number) => {
      for (const one of watching) one.onStatus?.(status);
    };
    const attempted = await next(call, { ...sending, headers, onStatus });
    const error = attempted.error === undefined ? undefined : errorNameOf(attempted.error);
    for (const one of watching) one.onEnd?.(error);
    return attempted;
  };
}
