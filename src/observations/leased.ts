import type { InFlight } from '../cache/in-flight.ts';
import { takenUntilMs } from '../planner/demand.ts';
import type { ObservationEntries } from './entries.ts';
import type { Fetch } from './fetch.ts';

export interface LeasedParts {
  readonly inFlight: InFlight;
  /** Entries that others have fetched. */
  readonly othersEntries: Pick<ObservationEntries, 'read'>;
  /** Milliseconds for which others' entries count for operations that come later. */
  readonly othersTtlMs: number;
  readonly now: () => number;
}

/**
 * Fetches the demands that nobody else who shares the store is fetching, and takes the rest from the store once it has
 * come. The stage stands below the pool, which makes one batch of the demands of all operations: so a demand that comes
 * to several gateways at once takes the calls that one of them would have made.
 */
export function leased(next: Fetch, { inFlight, othersEntries, othersTtlMs, now }: LeasedParts): Fetch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, settle) => {
    const { keyDigest } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: keyDigest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, settle),
      async takeOver(keys) {
        const found = await othersEntries.read(keyDigest, named(keys));
        if (!cache.isAccepted(keyDigest)) return keys;
        const missing: string[] = [];
        for (const demand of named(keys)) {
          const entry = found.get(demand.key);
          const isFresh =
            entry !== undefined &&
            // An entry that was young enough at the start is not too old for having been waited for.
            (entry.atMs >= startedAtMs || startedAtMs < takenUntilMs(demand, entry.atMs, othersTtlMs));
          if (isFresh) settle(demand, entry.rows);
          else missing.push(demand.key);
        }
        if (missing.length < keys.length) sending.bill.shared += 1;
        return missing;
      },
    });
  };
}
