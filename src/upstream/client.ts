import type { Clock } from '../async/clock.ts';
import type { InFlight } from '../cache/in-flight.ts';
import type { Lookups } from '../cache/lookups.ts';
import type { ProvenKeys } from '../cache/proven.ts';
import type { SharedCounters } from '../cache/shared-counters.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import type { Failure } from '../errors.ts';
import { createLedger, type Ledger } from '../quota/ledger.ts';
import { absentRoutes } from './absent-routes.ts';
import { authenticated } from './authenticated.ts';
import { type Ask, cached, type Freshness } from './cached.ts';
import type { Attempt, Send } from './call.ts';
import { type Circuits, createCircuits } from './circuits.ts';
import { coalesced } from './coalesced.ts';
import { createHttp } from './http.ts';
import { createKeyRefusals } from './key-refusals.ts';
import { createOutage, type Outage } from './outage.ts';
import { rateLimited } from './rate-limited.ts';
import { retried } from './retried.ts';
import { createRetryBudget } from './retry-budget.ts';
import { tracedAttempts, tracedCalls } from './traced.ts';

/** The service, as the rest of the gateway sees it. */
export interface Upstream {
  readonly ask: Ask;
  /** Sends a call through all rings. */
  readonly send: Send;
  readonly ledger: Ledger;
  readonly circuits: Pick<Circuits, 'open'>;
  readonly outage: Outage;
  /** Returns the service's latest refusal of a key; null if there is none, or it is time to find out anew. */
  readonly keyRefusal: (keyDigest: string) => Failure | null;
  close(): Promise<void>;
}

export interface UpstreamParts {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** The clock by which ages are told; see `steadied`. */
  readonly steadyNow?: () => number;
  readonly tenantCache: TenantCache;
  readonly proven: ProvenKeys;
  /** Counts of the calls of all gateways that share a store; null if this one is alone. */
  readonly sharedCounters: SharedCounters | null;
  /** The fetches under way of gateways that share the store. */
  readonly inFlight: InFlight;
  readonly freshness: Freshness;
  /** Sees every answer go by. */
  readonly remembering: (next: Send) => Send;
  readonly onAttempt: (attempt: Attempt) => void;
  /** Called with the milliseconds that a call has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
  /** True if somebody traces: else nothing is done for it. */
  readonly isTraced?: boolean;
  /** Routes that the service may lack; left out if all are specified. */
  readonly optionalRoutes?: ReadonlySet<string>;
  /** Counts the hits and misses of lists and other answers among held entries. */
  readonly lookups?: Lookups;
}

/**
 * Puts the rings together. Their order is policy. A held answer costs nothing (outermost), and a call in flight is
 * shared. A retry is patient. Nothing is sent under a key that was just refused or to a route that is down. Every
 * attempt is billed, since the service counts attempts, and each tells if the key is good.
 */
export function createUpstream(parts: UpstreamParts): Upstream {
  const { clock, steadyNow = clock.now, lookups } = parts;
  const ledger = createLedger(clock.now, parts.sharedCounters);
  const http = createHttp({ baseUrl: parts.baseUrl, timeoutMs: parts.timeoutMs, now: clock.now, steadyNow });
  const authenticate = authenticated(http.send, parts.proven, parts.inFlight.cache ?? parts.tenantCache);
  const outage = createOutage(steadyNow);
  const refusals = createKeyRefusals({ proven: parts.proven, now: steadyNow });
  const circuits = createCircuits({ proven: parts.proven, now: steadyNow, wallNow: clock.now });
  const heard = circuits.hearing(refusals.hearing(authenticate));
  const meter = refusals.stopping(
    circuits.stopping(rateLimited(parts.isTraced ? tracedAttempts(heard) : heard, { ...parts, ledger })),
  );
  const patient = retried(meter, { retries: parts.retries, budget: createRetryBudget() });
  const watched = outage.watching(parts.isTraced ? tracedCalls(patient) : patient);
  const routes = parts.optionalRoutes;
  const there = routes?.size ? absentRoutes(watched, { routes, now: steadyNow }) : watched;
  const send = parts.remembering(coalesced(there));
  const ask = cached(send, {
    tenantCache: parts.tenantCache,
    freshness: parts.freshness,
    now: steadyNow,
    outage,
    inFlight: parts.inFlight,
    lookups,
  });

  return { ask, send, ledger, circuits, outage, keyRefusal: refusals.refusal, close: http.close };
}
