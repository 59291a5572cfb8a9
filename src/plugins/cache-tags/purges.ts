import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PUBLIC } from '../../keys/tenant.ts';
import type { TenantCache } from '../../keys/tenant-cache.ts';
import { type CachedAnswer, nameOf } from '../../service/cached-answers.ts';
import type { Answer, Call, Send } from '../../service/call.ts';
import { etlStatus, health, observations } from '../../service/endpoints.ts';
import { ALL_FIGURES, routeTag, sourceTag } from './tags.ts';

/** Sources, and answers, known at most, of all keys together. */
const MAX_KNOWN = 20_000;

const TIMEOUT_MS = 10_000;

/** Routes whose answers tell of no change: figures change with their sources, and health is never cached. */
const UNWATCHED: ReadonlySet<string> = new Set([observations.route, health.route]);

/** A body of the service, and the instant at which it came. */
type Seen = Pick<Answer, 'body' | 'receivedAt'>;

interface PurgeParts {
  readonly url: string;
  readonly key: string | undefined;
  /** Returns what the gateways of the store have cached. */
  readonly tenantCache: () => TenantCache;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Watches sources, lists and records, whoever asks for them, and tells an address the tags of those that are others than at
 * the last look. Nobody waits for it.
 */
export function purgeStage({ url, key, tenantCache, onProblem }: PurgeParts): (next: Send) => Send {
  /** Texts of the last run by key of the service and source, and digests of answers by key and target. */
  const seen = new LRUCache<string, string>({ max: MAX_KNOWN });

  async function purge(tags: readonly string[]): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        // Caches that look at no body, as Varnish and Fastly, take them from here.
        'surrogate-key': tags.join(' '),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ tags }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`PURGE_URL answered ${response.status}.`);
    await response.body?.cancel();
  }

  /** Notes what something is now; returns true if it is known to have been something else. */
  function isChanged(name: string, now: string): boolean {
    const before = seen.get(name);
    seen.set(name, now);
    return before !== undefined && before !== now;
  }

  /** Notes the runs of all sources; returns the tags of those that are known to have run since the last time. */
  function rerunIn(body: unknown, receivedAt: number, owner: string): readonly string[] {
    const rerun = etlStatus
      .decode(body, {}, receivedAt)
      .filter(({ key, lastSuccessfulRefresh }) => isChanged(`${owner} ${key}`, lastSuccessfulRefresh ?? ''));
    return rerun.length === 0 ? [] : [...rerun.map((source) => sourceTag(source.key)), ALL_FIGURES];
  }

  /** Notes an answer; returns the tags of the sources that have run since the last one, and of all that is other than then. */
  function changesIn({ route, target }: Call, { body, receivedAt }: Seen, owner: string) {
    const rerun = route === etlStatus.route ? rerunIn(body, receivedAt, owner) : [];
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
    const changed = isChanged(`${owner} ${target}`, digest) ? [routeTag(route, target)] : [];
    return { rerun, all: [...changed, ...rerun] };
  }

  return (next) => async (call, sending) => {
    if (UNWATCHED.has(call.route)) return next(call, sending);
    const tenant = call.isPublic ? PUBLIC : sending.caller.tenant;
    // The last one may have come to another gateway of the store.
    const cached = await tenantCache().readOne<CachedAnswer>(tenant, nameOf(call));
    const answer = await next(call, sending);
    if (answer.status !== 200) return answer;
    try {
      const owner = call.isPublic ? '' : tenant.digest;
      if (cached?.value.status === 200)
        changesIn(call, { body: cached.value.body, receivedAt: cached.atMs }, owner);
      const { rerun, all } = changesIn(call, answer, owner);
      // Whoever drops an answer asks anew, of any gateway, and is to get what the source has brought.
      const areSpread =
        rerun.length > 0 ? tenantCache().recheck(tenant, answer.receivedAt) : Promise.resolve();
      if (all.length > 0) areSpread.then(() => purge(all)).catch(onProblem);
    } catch {
      // Whoever has asked is told that it can't be read.
    }
    return answer;
  };
}
