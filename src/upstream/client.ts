import { Failure } from '../errors.ts';
import { type Attempt, type Endpoint, makeCall, type Send, type Sending } from './call.ts';
import type { Clock } from './clock.ts';
import { coalesced } from './coalesced.ts';
import { createHttp } from './http.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { metered } from './metered.ts';
import { retried } from './retried.ts';

/** The service, as the rest of the gateway sees it. */
export interface Upstream {
  /**
   * Asks one endpoint.
   * @returns its records; null where the service has nothing of the name in the route's path
   * @throws Failure as the rings of the way throw it, or UPSTREAM_INVALID_RESPONSE from the decoder
   */
  ask<Params, Result>(
    endpoint: Endpoint<Params, Result>,
    params: Params,
    sending: Sending,
  ): Promise<Result | null>;
  /** Sends a call through all rings. */
  readonly send: Send;
  readonly ledger: Ledger;
  close(): Promise<void>;
}

export interface UpstreamParts {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly clock: Clock;
  /** Sees every answer go by. */
  readonly remembering: (next: Send) => Send;
  readonly onAttempt: (attempt: Attempt) => void;
}

/**
 * Puts the rings together. Their order is policy: what is in flight is shared (outermost), a retry is patient, and
 * every attempt is billed, since the service counts attempts.
 */
export function createUpstream(parts: UpstreamParts): Upstream {
  const { clock, onAttempt } = parts;
  const ledger = createLedger(clock.now);
  const http = createHttp({ baseUrl: parts.baseUrl, timeoutMs: parts.timeoutMs, now: clock.now });
  const send = parts.remembering(
    coalesced(retried(metered(http.send, { ledger, clock, onAttempt }), { retries: parts.retries })),
  );

  return { ask: asking(send), send, ledger, close: http.close };
}

/** Asks endpoints over a way to the service. */
export function asking(send: Send): Upstream['ask'] {
  return async (endpoint, params, sending) => {
    const answer = await send(makeCall(endpoint, params), sending);
    if (answer.status !== 404) return endpoint.decode(answer.body, params);
    if (endpoint.route.includes('{')) return null;
    throw new Failure('UPSTREAM_INVALID_RESPONSE', 'The service does not have this route.', {
      route: endpoint.route,
    });
  };
}
