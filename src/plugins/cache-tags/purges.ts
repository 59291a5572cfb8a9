import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CallStage, OutgoingCall } from '../../plugin/index.ts';
import { ALL_FIGURES, routeTag, sourceTag } from './tags.ts';

/** Sources and answers that are cached, over all keys. */
const MAX_KNOWN = 20_000;

const TIMEOUT_MS = 10_000;

interface PurgeParts {
  readonly url: string;
  readonly key: string | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** Watches all answers about sources, lists and records, and sends the tags of those that have changed, in the background. */
export function purgeStage({ url, key, onProblem }: PurgeParts): CallStage {
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
  function rerunIn(call: OutgoingCall, body: unknown): readonly string[] {
    const rerun = call
      .sourceRunsIn(body)
      .filter(({ key, lastRunAt }) => isChanged(`${call.owner} ${key}`, lastRunAt ?? ''));
    return rerun.length === 0 ? [] : [...rerun.map((source) => sourceTag(source.key)), ALL_FIGURES];
  }

  function changesIn(call: OutgoingCall, body: unknown) {
    const { route, target, owner } = call;
    const rerun = call.about === 'sources' ? rerunIn(call, body) : [];
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
    const changed = isChanged(`${owner} ${target}`, digest) ? [routeTag(route, target)] : [];
    return { rerun, all: [...changed, ...rerun] };
  }

  return async (call, next) => {
    // Figures change with their sources, and health is never cached.
    if (call.about === 'figures' || call.about === 'health') return next();
    // Another gateway of the store may have had the last answer.
    const cached = await call.cached();
    const answer = await next();
    if (answer.status !== 200) return answer;
    try {
      if (cached !== null) changesIn(call, cached.body);
      const { rerun, all } = changesIn(call, answer.body);
      // A purged cache asks any gateway anew, and should get the new figures: they are rechecked everywhere first.
      const areSpread = rerun.length > 0 ? call.recheckFigures(answer.receivedAt) : Promise.resolve();
      if (all.length > 0) areSpread.then(() => purge(all)).catch(onProblem);
    } catch {
      // The caller learns elsewhere that the answer can't be read.
    }
    return answer;
  };
}
