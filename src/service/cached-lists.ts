import type { Lookups } from '../cache/lru.ts';
import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import { ALONE, type InFlight, NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import { mapValue, type PromiseOrValue } from '../shared/async/promises.ts';
import { Failure, type FailureCode } from '../shared/errors.ts';
import { billStale } from './bill.ts';
import {
  allowanceOf,
  type CachedAnswer,
  type CachedRecords,
  cachedRecords,
  nameOfCall,
  readAnswer,
  recordsIn,
  refusedAnswer,
} from './cached-answers.ts';
import { type Answer, type Call, type Endpoint, makeCall, type Send } from './call.ts';
import { checkRight } from './rights.ts';
import type { Sending } from './sending.ts';
import { tracing } from './trace.ts';

/**
 * An answer that is cached in this process is returned at once.
 * @param maxAgeMs greatest age of a cached answer, if less than usual
 * @returns its records; null if the service has nothing of the name in the route's path
 * @throws Failure
 */
export type Ask = <Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  sending: Sending,
  maxAgeMs?: number,
) => PromiseOrValue<Result | null>;

export interface ListCache {
  readonly tenantCache: TenantCache;
  readonly freshness: {
    /** Milliseconds without asking again. */
    readonly ttlMs: number;
    /** Milliseconds past that, if the service gives no answer. */
    readonly staleMs: number;
  };
  readonly now: () => number;
  /** Left out if nobody shares the store. */
  readonly inFlight?: InFlight;
  readonly lookups?: Lookups | undefined;
}

/** Failures after which an old answer is better than none. A refusal of the key is not among them. */
const BETTER_OLD: ReadonlySet<FailureCode> = new Set([
  'RATE_LIMITED',
  'MONTHLY_QUOTA_EXCEEDED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'UPSTREAM_INCOMPLETE',
  'OPERATION_TIMEOUT',
]);

/** True if a stale answer may be served instead. */
export function isBetterOld(failure: unknown): failure is Failure {
  return failure instanceof Failure && BETTER_OLD.has(failure.code);
}

/** What all calls have in common. */
interface Stage extends ListCache {
  readonly inFlight: InFlight;
  readonly send: Send;
  readonly outage: { failure(route: string): Failure | null };
  readonly onCached: ((call: Call) => void) | undefined;
}

/** What is cached of an answer, fresh or stale; null if nothing is. */
type Cached<Result> = CachedRecords<Result> | null;

/**
 * Answers from the cache if an entry is fresh, otherwise asks. Only a body that could be decoded is cached. Entries are
 * fresh for `ttlMs`, and if an endpoint's headers count, for no longer than they allow. One with an entity tag is then
 * revalidated. If the service gives no answer, a stale one is served, and billed as such. Refused arguments are an
 * answer like any other: the call is not made again while it is fresh.
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
    return new CachedCall(stage, endpoint, params, sending, maxAgeMs).answer();
  };
}

/** A call of an endpoint, on behalf of an operation. */
class CachedCall<Params, Result> {
  readonly #stage: Stage;
  readonly #endpoint: Endpoint<Params, Result>;
  readonly #params: Params;
  readonly #sending: Sending;
  readonly #maxAgeMs: number;
  readonly #call: Call;
  readonly #tenant: Tenant;
  readonly #isCaching: boolean;
  /** The cache of the answer: if we hold none, the one in which others who share the store look for it. */
  readonly #cache: TenantCache | null;

  constructor(
    stage: Stage,
    endpoint: Endpoint<Params, Result>,
    params: Params,
    sending: Sending,
    maxAgeMs: number,
  ) {
    this.#stage = stage;
    this.#endpoint = endpoint;
    this.#params = params;
    this.#sending = sending;
    this.#maxAgeMs = maxAgeMs;
    this.#call = makeCall(endpoint, params);
    this.#tenant = this.#call.isPublic ? PUBLIC : sending.caller.tenant;
    const mayCache = endpoint.caching !== 'none';
    this.#isCaching = mayCache && stage.tenantCache !== NO_TENANT_CACHE;
    this.#cache = this.#isCaching ? stage.tenantCache : mayCache ? stage.inFlight.cache : null;
  }

  answer(): PromiseOrValue<Result | null> {
    if (!this.#isCaching) return this.#fetchMissing(null);
    const reading = this.#cachedIn(this.#stage.tenantCache);
    this.#sending.waits?.store.timing(reading);
    return mapValue(reading, (cached) =>
      this.#isFresh(cached) ? this.#serveFresh(cached) : this.#fetchMissing(cached),
    );
  }

  #cachedIn(cache: TenantCache): PromiseOrValue<Cached<Result>> {
    return cachedRecords(this.#endpoint, this.#params, this.#call, this.#tenant, cache);
  }

  #freshMs(allowedMs: number | null): number {
    const { ttlMs } = this.#stage.freshness;
    // Only callers for whom nothing is asked (offline) have an endless `ttlMs`.
    if (ttlMs === Number.POSITIVE_INFINITY) return this.#maxAgeMs;
    return Math.min(allowedMs ?? ttlMs, ttlMs, this.#maxAgeMs);
  }

  #isFresh(cached: Cached<Result>): cached is CachedRecords<Result> {
    const { tenantCache, now } = this.#stage;
    if (cached === null || !tenantCache.isAccepted(this.#tenant)) return false;
    return now() - cached.atMs < this.#freshMs(cached.answer.allowedMs);
  }

  #serveFresh(cached: CachedRecords<Result>): Result | null {
    const { lookups, onCached } = this.#stage;
    this.#sending.bill.cached += 1;
    if (lookups !== undefined) lookups.hits += 1;
    const { atMs } = cached;
    this.#sending.onCached?.(atMs + this.#freshMs(cached.answer.allowedMs), this.#call.route, atMs, atMs);
    onCached?.(this.#call);
    return recordsIn(cached, this.#call);
  }

  /** Fetches an answer, unless another gateway that shares the store is fetching it. */
  #fetchMissing(cached: Cached<Result>): Promise<Result | null> {
    const { lookups, inFlight } = this.#stage;
    if (this.#isCaching && lookups !== undefined) lookups.misses += 1;
    const shared = this.#endpoint.caching === 'none' ? null : inFlight.cache;
    return shared === null ? this.#fetchRecords(cached) : this.#fetchOnce(cached, shared);
  }

  /** Fetches an answer once for all gateways that share a cache: the others wait, and find it there. */
  async #fetchOnce(cached: Cached<Result>, shared: TenantCache): Promise<Result | null> {
    const { now, inFlight } = this.#stage;
    const sending = this.#sending;
    sending.deadline?.start();
    const startedAtMs = now();
    let records: Result | null = null;
    const together = inFlight.together({
      group: this.#tenant.digest,
      names: [nameOfCall(this.#call)],
      signal: sending.signal,
      fetch: async () => {
        records = await this.#fetchRecords(cached);
      },
      takeOver: async (names) => {
        const entry = await this.#cachedIn(shared);
        if (entry === null || !shared.isAccepted(this.#tenant)) return names;
        const forMs = this.#isCaching ? this.#freshMs(entry.answer.allowedMs) : 0;
        // An entry from after the wait began counts, however soon it is stale.
        if (entry.atMs < startedAtMs && now() - entry.atMs >= forMs) return names;
        sending.bill.shared += 1;
        sending.onFetched?.(forMs > 0 ? entry.atMs + forMs : 0);
        records = recordsIn(entry, this.#call);
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
      return this.#fetchRecords(cached);
    }
  }

  async #fetchRecords(cached: Cached<Result>): Promise<Result | null> {
    const { route } = this.#call;
    try {
      const down = this.#mayBeStale(cached) ? this.#stage.outage.failure(route) : null;
      if (down !== null) throw down.with({ route, attempts: 0 });
      const etag = cached?.answer.etag ?? null;
      const call = etag === null ? this.#call : { ...this.#call, headers: { 'if-none-match': etag } };
      const sent = this.#stage.send(call, this.#sending);
      this.#sending.waits?.service.timing(sent);
      return this.#handleAnswer(cached, await sent);
    } catch (error) {
      return this.#handleFailure(cached, error);
    }
  }

  #handleAnswer(cached: Cached<Result>, answer: Answer): Result | null {
    const { records, entry } = tracing(this.#sending.trace, 'decode', () =>
      readAnswer(this.#endpoint, this.#params, answer, cached?.answer),
    );
    const isByHeaders = this.#endpoint.caching === 'http' && this.#cache !== null;
    const allowedMs = isByHeaders ? allowanceOf(answer, entry) : null;
    const mayStore = allowedMs !== 'no-store';
    const forMs = this.#isCaching && mayStore ? this.#freshMs(allowedMs) : 0;
    this.#sending.onFetched?.(forMs > 0 ? answer.receivedAt + forMs : 0);
    if (mayStore) this.#store({ ...entry, allowedMs }, answer.receivedAt);
    return records;
  }

  #handleFailure(cached: Cached<Result>, error: unknown): Result | null {
    const isUnknown = cached === null || cached.answer.status === 422;
    const refused = isUnknown ? refusedAnswer(error, this.#call) : null;
    if (refused !== null) this.#store(refused, this.#stage.now());
    if (!this.#mayBeStale(cached) || !isBetterOld(error)) throw error;
    billStale(this.#sending.bill, this.#call.route, error, cached.atMs, this.#stage.now());
    this.#sending.onStale?.(cached.records, error.code);
    return cached.records;
  }

  /** True if a stale answer may be served, should the service give none. */
  #mayBeStale(cached: Cached<Result>): cached is CachedRecords<Result> {
    const { freshness, now, tenantCache } = this.#stage;
    if (cached === null || cached.answer.status === 422) return false;
    const mostMs = Math.min(freshness.ttlMs + freshness.staleMs, this.#maxAgeMs);
    return now() - cached.atMs <= mostMs && tenantCache.refusal(this.#tenant) === null;
  }

  #store(entry: CachedAnswer, atMs: number): void {
    this.#cache?.save(this.#tenant, new Map([[nameOfCall(this.#call), entry]]), atMs);
  }
}
