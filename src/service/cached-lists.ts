import type { Lookups } from '../cache/lru.ts';
import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import { ALONE, type InFlight, NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import { mapValue, type PromiseOrValue } from '../shared/async/turns.ts';
import { Failure, type FailureCode } from '../shared/errors.ts';
import { billStale } from './bill.ts';
import {
  allowanceOf,
  type CachedAnswer,
  type CachedRecords,
  cachedRecords,
  nameOf,
  readAnswer,
  recordsIn,
  refusedAnswer,
} from './cached-answers.ts';
import { type Answer, type Call, type Endpoint, makeCall, type Send } from './call.ts';
import { checkRight } from './rights.ts';
import type { Sending } from './sending.ts';
import { tracing } from './trace.ts';

/**
 * Asks one endpoint; an answer that is cached in this process is returned at once.
 * @param maxAgeMs age of the oldest answer that is served without asking, if less than usual
 * @returns its records; null if the service has nothing of the name in the route's path
 * @throws Failure as the stages on the way throw it, or UPSTREAM_INVALID_RESPONSE from the decoder
 */
export type Ask = <Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  sending: Sending,
  maxAgeMs?: number,
) => PromiseOrValue<Result | null>;

/** The cache of answers, and the times for which it serves them. */
export interface ListCache {
  readonly tenantCache: TenantCache;
  readonly freshness: {
    /** Milliseconds without asking again. */
    readonly ttlMs: number;
    /** Milliseconds past that, if the service gives no answer. */
    readonly staleMs: number;
  };
  readonly now: () => number;
  /** The fetches under way of gateways that share the store; left out if nobody shares it. */
  readonly inFlight?: InFlight;
  /** Counts the hits and misses among cached entries. */
  readonly lookups?: Lookups | undefined;
}

/** Failures after which an old answer is better than none. After a refusal of the key none is. */
const BETTER_OLD: ReadonlySet<FailureCode> = new Set([
  'RATE_LIMITED',
  'MONTHLY_QUOTA_EXCEEDED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_INCOMPLETE',
  'OPERATION_TIMEOUT',
]);

/** True if a stale entry may be served instead of this failure. */
export function isBetterOld(failure: unknown): failure is Failure {
  return failure instanceof Failure && BETTER_OLD.has(failure.code);
}

/** What all askings have in common. */
interface Stage extends ListCache {
  readonly inFlight: InFlight;
  readonly send: Send;
  readonly outage: { failure(route: string): Failure | null };
  /** Called with each call that was answered from the cache. */
  readonly onCached: ((call: Call) => void) | undefined;
}

/** A call of an endpoint, on behalf of an operation. */
interface Asked<Params, Result> {
  readonly endpoint: Endpoint<Params, Result>;
  readonly params: Params;
  readonly call: Call;
  readonly tenant: Tenant;
  readonly sending: Sending;
  readonly maxAgeMs: number;
}

/** What is cached of its answer, fresh or stale; null if nothing is. */
type Cached<Result> = CachedRecords<Result> | null;

/**
 * Answers from the cache if an entry is fresh there, and asks for the rest; only a body that could be decoded is cached.
 * Entries are fresh for `ttlMs`, and if an endpoint's headers count, for no longer than they allow. One with an entity tag
 * is then asked for by it, and a 304 renews it. If the service gives no answer, a stale one is served and billed as such.
 * Refused arguments are an answer like any other: the call is not made again while it is fresh.
 * @param onCached called with each call that was answered from the cache
 */
export function cachedStage(
  send: Send,
  cache: ListCache,
  outage: Stage['outage'],
  onCached?: (call: Call) => void,
): Ask {
  const stage: Stage = { ...cache, inFlight: cache.inFlight ?? ALONE, send, outage, onCached };
  return (endpoint, params, sending, maxAgeMs = Number.POSITIVE_INFINITY) => {
    checkRight(sending.caller, endpoint.tag);
    const call = makeCall(endpoint, params);
    const tenant = call.isPublic ? PUBLIC : sending.caller.tenant;
    const asked = { endpoint, params, call, tenant, sending, maxAgeMs };
    if (!isCaching(stage, endpoint)) return fetchMissing(stage, asked, null);
    const reading = cachedRecords(endpoint, params, call, tenant, cache.tenantCache);
    sending.waits?.store.timing(reading);
    return mapValue(reading, (entry) =>
      isFresh(stage, asked, entry) ? serveFresh(stage, asked, entry) : fetchMissing(stage, asked, entry),
    );
  };
}

function isCaching({ tenantCache }: Stage, { caching }: Pick<Endpoint, 'caching'>): boolean {
  return caching !== 'none' && tenantCache !== NO_TENANT_CACHE;
}

/** Returns the milliseconds for which an answer is fresh. */
function freshMs(
  { freshness: { ttlMs } }: Stage,
  { maxAgeMs }: { readonly maxAgeMs: number },
  allowedMs: number | null,
): number {
  // Only callers for whom nothing is asked (offline) have an endless `ttlMs`.
  if (ttlMs === Number.POSITIVE_INFINITY) return maxAgeMs;
  return Math.min(allowedMs ?? ttlMs, ttlMs, maxAgeMs);
}

function isFresh<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
): cached is CachedRecords<Result> {
  if (cached === null || !stage.tenantCache.isAccepted(asked.tenant)) return false;
  return stage.now() - cached.atMs < freshMs(stage, asked, cached.answer.allowedMs);
}

function serveFresh<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: CachedRecords<Result>,
): Result | null {
  const { sending, call } = asked;
  sending.bill.cached += 1;
  if (stage.lookups !== undefined) stage.lookups.hits += 1;
  const { atMs } = cached;
  sending.onCached?.(atMs + freshMs(stage, asked, cached.answer.allowedMs), call.route, atMs, atMs);
  stage.onCached?.(call);
  return recordsIn(cached, call);
}

/** Fetches an answer, or takes it from another gateway that shares the store and is fetching it at the moment. */
function fetchMissing<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
): Promise<Result | null> {
  const { endpoint } = asked;
  if (isCaching(stage, endpoint) && stage.lookups !== undefined) stage.lookups.misses += 1;
  const shared = endpoint.caching === 'none' ? null : stage.inFlight.cache;
  return shared === null ? fetchRecords(stage, asked, cached) : fetchOnce(stage, asked, cached, shared);
}

/** Fetches an answer once for all gateways that share a cache: the others wait, and read it there. */
async function fetchOnce<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
  shared: TenantCache,
): Promise<Result | null> {
  const { endpoint, params, call, tenant, sending } = asked;
  sending.deadline?.start();
  const startedAtMs = stage.now();
  let records: Result | null = null;
  const together = stage.inFlight.together({
    group: tenant.digest,
    names: [nameOf(call)],
    signal: sending.signal,
    async fetch() {
      records = await fetchRecords(stage, asked, cached);
    },
    async takeOver(names) {
      const entry = await cachedRecords(endpoint, params, call, tenant, shared);
      if (entry === null || !shared.isAccepted(tenant)) return names;
      const forMs = isCaching(stage, endpoint) ? freshMs(stage, asked, entry.answer.allowedMs) : 0;
      // One that came since the wait began counts, however soon it is stale.
      if (entry.atMs < startedAtMs && stage.now() - entry.atMs >= forMs) return names;
      sending.bill.shared += 1;
      sending.onFetched?.(forMs > 0 ? entry.atMs + forMs : 0);
      records = recordsIn(entry, call);
      return [];
    },
  });
  sending.waits?.service.timing(together);
  try {
    await together;
    return records;
  } catch (error) {
    if (!sending.signal.aborted) throw error;
    // Nothing is sent any more, but a stale answer may be served.
    return fetchRecords(stage, asked, cached);
  }
}

async function fetchRecords<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
): Promise<Result | null> {
  const { call, sending } = asked;
  try {
    const down = mayBeStale(stage, asked, cached) ? stage.outage.failure(call.route) : null;
    if (down !== null) throw down.with({ route: call.route, attempts: 0 });
    const sent = stage.send(call, conditional(sending, cached?.answer));
    sending.waits?.service.timing(sent);
    return handleAnswer(stage, asked, cached, await sent);
  } catch (error) {
    return handleFailure(stage, asked, cached, error);
  }
}

/** Asks for an answer only if it is another than the cached one. */
function conditional(sending: Sending, cached: CachedAnswer | undefined): Sending {
  const etag = cached?.etag ?? null;
  return etag === null ? sending : { ...sending, headers: { ...sending.headers, 'if-none-match': etag } };
}

function handleAnswer<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
  answer: Answer,
): Result | null {
  const { endpoint, params, sending } = asked;
  const { records, entry } = tracing(sending.trace, 'decode', () =>
    readAnswer(endpoint, params, answer, cached?.answer),
  );
  const isByHeaders = endpoint.caching === 'http' && cacheOf(stage, endpoint) !== null;
  const allowedMs = isByHeaders ? allowanceOf(answer, entry) : null;
  const mayStore = allowedMs !== 'no-store';
  const forMs = isCaching(stage, endpoint) && mayStore ? freshMs(stage, asked, allowedMs) : 0;
  sending.onFetched?.(forMs > 0 ? answer.receivedAt + forMs : 0);
  if (mayStore) store(stage, asked, { ...entry, allowedMs }, answer.receivedAt);
  return records;
}

function handleFailure<Params, Result>(
  stage: Stage,
  asked: Asked<Params, Result>,
  cached: Cached<Result>,
  error: unknown,
): Result | null {
  const { call, sending } = asked;
  const refused = cached === null || cached.answer.status === 422 ? refusedAnswer(error, call) : null;
  if (refused !== null) store(stage, asked, refused, stage.now());
  if (!mayBeStale(stage, asked, cached) || !isBetterOld(error)) throw error;
  billStale(sending.bill, call.route, error, cached.atMs, stage.now());
  sending.onStale?.(cached.records, error.code);
  return cached.records;
}

/** True if a stale answer may be served, should the service give none. */
function mayBeStale<Params, Result>(
  { freshness, now, tenantCache }: Stage,
  { maxAgeMs, tenant }: Asked<Params, Result>,
  cached: Cached<Result>,
): cached is CachedRecords<Result> {
  if (cached === null || cached.answer.status === 422) return false;
  const mostMs = Math.min(freshness.ttlMs + freshness.staleMs, maxAgeMs);
  return now() - cached.atMs <= mostMs && tenantCache.refusal(tenant) === null;
}

/** Finds the cache of an endpoint's answers: if we hold none, the one in which others who share the store look for them. */
function cacheOf(stage: Stage, endpoint: Pick<Endpoint, 'caching'>): TenantCache | null {
  if (isCaching(stage, endpoint)) return stage.tenantCache;
  return endpoint.caching === 'none' ? null : stage.inFlight.cache;
}

function store<Params, Result>(
  stage: Stage,
  { endpoint, call, tenant }: Asked<Params, Result>,
  entry: CachedAnswer,
  atMs: number,
): void {
  cacheOf(stage, endpoint)?.save(tenant, new Map([[nameOf(call), entry]]), atMs);
}
