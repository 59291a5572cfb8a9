import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Send } from '../../service/call.ts';
import { etlStatus, health, observations } from '../../service/endpoints.ts';
import { ALL_FIGURES, routeTag, sourceTag } from './tags.ts';

/** Sources, and answers, known at most, of all keys together. */
const MAX_KNOWN = 20_000;

const TIMEOUT_MS = 10_000;

/** Routes whose answers tell of no change: figures change with their sources, and health is never cached. */
const UNWATCHED: ReadonlySet<string> = new Set([observations.route, health.route]);

interface PurgeParts {
  readonly url: string;
  readonly key: string | undefined;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Watches sources, lists and records, whoever asks for them, and tells an address the tags of those that are others than at
 * the last look. Nobody waits for it.
 */
export function purgeStage({ url, key, onProblem }: PurgeParts): (next: Send) => Send {
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

  return (next) => async (call, sending) => {
    const answer = await next(call, sending);
    const { route, target } = call;
    if (answer.status !== 200 || UNWATCHED.has(route)) return answer;
    try {
      const { body, receivedAt } = answer;
      const owner = call.isPublic ? '' : sending.caller.tenant.digest;
      const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
      const tags = route === etlStatus.route ? rerunIn(body, receivedAt, owner) : [];
      const all = isChanged(`${owner} ${target}`, digest) ? [routeTag(route, target), ...tags] : tags;
      // Whoever drops an answer asks anew, and is to get what the source has brought.
      if (tags.length > 0) sending.caller.tenant.recheckBeforeMs = receivedAt;
      if (all.length > 0) purge(all).catch(onProblem);
    } catch {
      // Whoever has asked is told that it can't be read.
    }
    return answer;
  };
}
