import CachePolicy from 'http-cache-semantics';
import { createObjectMemo } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { CacheEntry, TenantCache } from '../keys/tenant-cache.ts';
import { mapValue, type PromiseOrValue } from '../shared/async/promises.ts';
import { Failure } from '../shared/errors.ts';
import { numberOf } from '../shared/exact-json.ts';
import type { Answer, Call, Endpoint } from './call.ts';

/** An answer as it is cached; 422, with {@link RefusedArguments}, for any refusal of arguments. */
export interface CachedAnswer {
  readonly status: 200 | 404 | 422;
  readonly body: unknown;
  /** Milliseconds for which the service allows it to be served; null if it doesn't say. */
  readonly allowedMs: number | null;
  readonly etag: string | null;
}

interface RefusedArguments {
  readonly message: string;
  readonly detail: string | null;
}

/** Records by their body, unless they tell when they came: tenants that were sent the same bytes share them. */
const decoded = createObjectMemo<unknown>('decoded');

/** @throws Failure if the service refused the arguments */
export function recordsIn<Result>({ records, answer }: CachedRecords<Result>, call: Call): Result | null {
  if (answer.status === 422) throw refusalOf(answer, call);
  return records;
}

/** Null for any other failure, and for a call without arguments. */
export function refusedAnswer(error: unknown, { target, route }: Call): CachedAnswer | null {
  if (!(error instanceof Failure) || error.code !== 'BAD_USER_INPUT' || target === route) return null;
  const body: RefusedArguments = { message: error.message, detail: error.fields.detail ?? null };
  return { status: 422, body, allowedMs: null, etag: null };
}

function refusalOf({ body }: CachedAnswer, { route }: Call): Failure {
  const { message, detail } = body as RefusedArguments;
  return new Failure('BAD_USER_INPUT', message, { route, detail: detail ?? undefined });
}

export interface CachedRecords<Result> {
  readonly records: Result | null;
  readonly atMs: number;
  readonly answer: CachedAnswer;
}

/** Null if there is none, or none that can be read. */
export function cachedRecords<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  call: Call,
  tenant: Tenant,
  tenantCache: TenantCache,
): PromiseOrValue<CachedRecords<Result> | null> {
  const decodedIn = (entry: CacheEntry<CachedAnswer> | undefined): CachedRecords<Result> | null => {
    if (entry === undefined || !isAnswer(entry.value)) return null;
    const { value: answer, atMs } = entry;
    try {
      const records = answer.status === 422 ? null : recordsOf(endpoint, params, answer, atMs);
      return { records, atMs, answer };
    } catch {
      return null;
    }
  };
  return mapValue(tenantCache.readOne<CachedAnswer>(tenant, nameOfCall(call)), decodedIn);
}

function isAnswer(value: CachedAnswer): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { status, allowedMs, etag } = value;
  const isFit = (part: unknown, type: string) => part === null || typeof part === type;
  if (status === 422) return isRefusal(value.body);
  return (status === 200 || status === 404) && isFit(allowedMs, 'number') && isFit(etag, 'string');
}

function isRefusal(body: unknown): body is RefusedArguments {
  if (typeof body !== 'object' || body === null || !('message' in body && 'detail' in body)) return false;
  return typeof body.message === 'string' && (body.detail === null || typeof body.detail === 'string');
}

export function nameOfCall(call: Call): string {
  return `answer ${call.target}`;
}

function recordsOf<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  answer: Pick<Answer, 'body' | 'stray'> & { readonly status: number },
  atMs: number,
): Result | null {
  if (answer.status === 404) {
    if (answer.stray !== undefined) throw answer.stray;
    // 404s of absent optional routes don't come so far.
    if (endpoint.route.includes('{') || endpoint.isOptional) return null;
    throw new Failure('UPSTREAM_INVALID_RESPONSE', 'The service does not have this route.', {
      route: endpoint.route,
    });
  }
  const { body } = answer;
  if (endpoint.isDated || typeof body !== 'object' || body === null)
    return endpoint.decode(body, params, atMs);
  return (decoded.of(body) ?? decoded.put(body, endpoint.decode(body, params, atMs))) as Result;
}

/**
 * Reads an answer that has just come; a 304 stands for the cached one.
 * @returns its records, and the entry to cache it as
 */
export function readAnswer<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  answer: Answer,
  cached: CachedAnswer | undefined,
) {
  const { status, body, headers, receivedAt } = answer;
  const etag = endpoint.caching === 'http' ? (headers.etag ?? null) : null;
  const isUnchanged = status === 304 && cached !== undefined;
  const entry: CachedAnswer = isUnchanged
    ? cached
    : { status: status === 404 ? 404 : 200, body, allowedMs: null, etag };
  return { records: recordsOf(endpoint, params, status === 304 ? entry : answer, receivedAt), entry };
}

/**
 * Returns the milliseconds for which headers allow an answer to be served; null if they don't say. A 304 says it anew,
 * or leaves it as it was. This is a cache of one key, so `private` and `Authorization` are no obstacle.
 */
export function allowanceOf(
  { status, headers }: Answer,
  { allowedMs }: CachedAnswer,
): number | null | 'no-store' {
  const policy = new CachePolicy({ headers: {} }, { status: 200, headers }, { shared: false });
  if (!policy.storable()) return 'no-store';
  if (/max-age|no-cache/i.test(headers['cache-control'] ?? '') || headers.expires !== undefined) {
    return Math.max(0, policy.maxAge() - (numberOf(headers.age ?? '') ?? 0)) * 1000;
  }
  return status === 304 ? allowedMs : null;
}
