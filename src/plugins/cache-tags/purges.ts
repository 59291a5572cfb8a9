import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PUBLIC } from '../../keys/tenant.ts';
import type { TenantCache } from '../../keys/tenant-cache.ts';
import { type CachedAnswer, nameOfCall } from '../../service/cached-answers.ts';
import type { Answer, Call, Send } from '../../service/call.ts';
import { etlStatus, health, observations } from '../../service/endpoints.ts';
import { ALL_FIGURES, routeTag, sourceTag } from './tags.ts';

/** Sources and answers that are cached, over all keys. */
const MAX_KNOWN = 20_000;

const TIMEOUT_MS = 10_000;

/** Figures change with their sources, and health is never cached. */
const UNWATCHED: ReadonlySet<string> = new Set([observations.route, health.route]);

type Seen = Pick<Answer, 'body' | 'receivedAt'>;

interface PurgeParts {
  readonly url: string;
  readonly key: string | undefined;
  /** The gateway's cache, which opens after this stage. */
  readonly tenantCache: () => TenantCache;
  readonly onProblem: (error: unknown) => void;
}

/** Watches all answers about sources, lists and records, and sends the tags of those that have changed, in the background. */
export function purgeStage({ url, key, tenantCache, onProblem }: PurgeParts): (next: Send) => Send {
  /** Last runs by key and source, and digests of answers by key and target. */
  const seen = new LRUCache<string, string>({ max: MAX_KNOWN });

  async function purge(tags: readonly string[]): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        // For Varnish and Fastly, which don't read bodies.
        'surrogate-key': tags.join(' '),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ tags }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`PURGE_URL answered ${response.status}.`);
    await response.body?.cancel();
  }

  /** Notes a value; true if it was another before. */
  function isChanged(name: string, now: string): boolean {
    const before = seen.get(name);
    seen.set(name, now);
    return before !== undefined && before !== now;
  }

  /** Returns the tags of the sources that have run since the last look. */
  function rerunIn(body: unknown, receivedAt: number, owner: string): readonly string[] {
    const rerun = etlStatus
      .decode(body, {}, receivedAt)
      .filter(({ key, lastSuccessfulRefresh }) => isChanged(`${owner} ${key}`, lastSuccessfulRefresh ?? ''));
    return rerun.length === 0 ? [] : [...rerun.map((source) => sourceTag(source.key)), ALL_FIGURES];
  }

  function changesIn({ route, target }: Call, { body, receivedAt }: Seen, owner: string) {
    const rerun = route === etlStatus.route ? rerunIn(body, receivedAt, owner) : [];
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
    const changed = isChanged(`${owner} ${target}`, digest) ? [routeTag(route, target)] : [];
    return { rerun, all: [...changed, ...rerun] };
  }

  return (next) => async (call, sending) => {
    if (UNWATCHED.has(call.route)) return next(call, sending);
    const tenant = call.isPublic ? PUBLIC : sending.caller.tenant;
    // Another gateway of the store may have had the last answer.
    const cached = await tenantCache().readOne<CachedAnswer>(tenant, nameOfCall(call));
    const answer = await next(call, sending);
    if (answer.status !== 200) return answer;
    try {
      const owner = call.isPublic ? '' : tenant.digest;
      if (cached?.value.status === 200)
        changesIn(call, { body: cached.value.body, receivedAt: cached.atMs }, owner);
      const { rerun, all } = changesIn(call, answer, owner);
      // A purged cache asks any gateway anew, and should get the new figures: they are rechecked everywhere first.
      const areSpread =
        rerun.length > 0 ? tenantCache().recheck(tenant, answer.receivedAt) : Promise.resolve();
      if (all.length > 0) areSpread.then(() => purge(all)).catch(onProblem);
    } catch {
      // The caller learns elsewhere that the answer can't be read.
    }
    return answer;
  };
}
