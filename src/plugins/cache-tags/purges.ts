import { LRUCache } from 'lru-cache';
import type { Send } from '../../service/call.ts';
import { etlStatus } from '../../service/endpoints.ts';
import { ALL_FIGURES, sourceTag } from './tags.ts';

/** Sources known at most, of all keys together. */
const MAX_SOURCES = 20_000;

const TIMEOUT_MS = 10_000;

interface PurgeParts {
  readonly url: string;
  readonly key: string | undefined;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Watches the sources, whoever asks for them, and tells an address the tags of those that have run again. Nobody waits
 * for it.
 */
export function purgeStage({ url, key, onProblem }: PurgeParts): (next: Send) => Send {
  /** Texts of the last run, by key of the service and source. */
  const refreshes = new LRUCache<string, string>({ max: MAX_SOURCES });

  async function purge(tags: readonly string[]): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ tags }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`PURGE_URL answered ${response.status}.`);
    await response.body?.cancel();
  }

  /** Notes the runs of all sources; returns the tags of those that are known to have run since the last time. */
  function changed(body: unknown, receivedAt: number, owner: string): readonly string[] {
    return etlStatus.decode(body, {}, receivedAt).flatMap(({ key: source, lastSuccessfulRefresh }) => {
      const name = `${owner} ${source}`;
      const before = refreshes.get(name);
      const now = lastSuccessfulRefresh ?? '';
      refreshes.set(name, now);
      return before === undefined || before === now ? [] : [sourceTag(source)];
    });
  }

  return (next) => async (call, sending) => {
    const answer = await next(call, sending);
    if (call.route !== etlStatus.route || answer.status !== 200) return answer;
    try {
      const tags = changed(answer.body, answer.receivedAt, sending.caller.tenant.digest);
      if (tags.length > 0) purge([...tags, ALL_FIGURES]).catch(onProblem);
    } catch {
      // Whoever has asked is told that it can't be read.
    }
    return answer;
  };
}
