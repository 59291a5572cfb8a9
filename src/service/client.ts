import type { Lookups } from '../cache/lru.ts';
import type { SharedCounters } from '../cache/store.ts';
import type { OutgoingProxy } from '../config/config.ts';
import { createLedger } from '../keys/ledger.ts';
import type { Tenants } from '../keys/tenant.ts';
import type { InFlight, TenantCache } from '../keys/tenant-cache.ts';
import type { Clock } from '../shared/async/clock.ts';
import { type Attempt, watchedTransport } from './attempt.ts';
import { createAttempts } from './attempts.ts';
import { cachedStage, type ListCache } from './cached-lists.ts';
import type { Send } from './call.ts';
import { coalescedStage } from './coalescing.ts';
import { CallGate } from './gate.ts';
import { type BodyOptions, createHttp } from './http.ts';
import { createOutage } from './outage.ts';
import { createPacing } from './pacing.ts';
import { createRetries } from './retries.ts';

interface UpstreamParts {
  /** Base address of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** One attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly bodies: BodyOptions;
  readonly proxy?: OutgoingProxy;
  /** Further attempts after the first. */
  readonly retries: number;
  readonly clock: Clock;
  /** The clock of ages; see `createSteadyClock`. */
  readonly steadyNow?: () => number;
  /** Milliseconds since any instant, by a clock that nobody can set: the one of pauses. */
  readonly elapsed?: () => number;
  readonly tenantCache: TenantCache;
  readonly tenants: Tenants;
  /** Counts of the calls of all gateways that share a store; null if this one is alone. */
  readonly sharedCounters: SharedCounters | null;
  /** The fetches under way of gateways that share the store. */
  readonly inFlight: InFlight;
  readonly freshness: ListCache['freshness'];
  /** Sees the answers of lists and records go by. */
  readonly notedListsStage: (next: Send) => Send;
  readonly onAttempt: (attempt: Attempt) => void;
  /** Called with the milliseconds that a call has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
  /** Stages around each call, the outermost first. */
  readonly stages?: readonly ((next: Send) => Send)[];
  /** Hear of each request. */
  readonly watchers?: Parameters<typeof watchedTransport>[1];
  /** Counts the hits and misses of lists and other answers among cached entries. */
  readonly lookups?: Lookups;
}

/** Puts the stages together, the innermost first: a cached answer costs nothing (outermost), and a call in flight is shared. */
export function createUpstream(parts: UpstreamParts) {
  const { clock, steadyNow = clock.now, elapsed = steadyNow } = parts;
  const ledger = createLedger(clock.now, parts.sharedCounters);
  const { baseUrl, timeoutMs, bodies, proxy = null } = parts;
  const http = createHttp({ baseUrl, timeoutMs, clock, steadyNow, bodies, proxy });
  const outage = createOutage(elapsed);
  const verdicts = parts.inFlight.cache ?? parts.tenantCache;
  const gate = new CallGate(parts.tenants, verdicts, elapsed, clock.now);
  const attempts = createAttempts({
    transport: watchedTransport(http.transport, parts.watchers ?? []),
    gate,
    pacing: createPacing(ledger, clock, parts.onMinuteWait),
    ledger,
    retries: createRetries(parts.retries, clock.after),
    outage,
    clock,
    onAttempt: parts.onAttempt,
  });
  const staged = (parts.stages ?? []).reduceRight((next, stage) => stage(next), attempts);
  const send = coalescedStage(staged);
  const ask = cachedStage(parts.notedListsStage(send), { ...parts, now: steadyNow }, outage);

  return { ask, send, ledger, gate, outage, close: http.close };
}
