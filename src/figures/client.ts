import { takenUntilMs } from '../plan/demand.ts';
import type { Caller } from '../service/call.ts';
import { bisected } from './bisected.ts';
import { called } from './data-calls.ts';
import type { Fetch, Figures, FiguresParts } from './fetch.ts';
import { createPrefetch, held, heldAtOnce, NO_PREFETCH } from './held.ts';
import { covered, planned } from './planned.ts';
import { createObservationPool, type Participant } from './pool.ts';
import { completed } from './repair.ts';
import { createRevalidation } from './revalidation.ts';

/**
 * Fetches the demands that nobody else who shares the store is fetching, and takes the rest from the store once it has
 * come. The stage stands below the pool, which makes one batch of the demands of all operations: so a demand that comes
 * to several gateways at once takes the calls that one of them would have made.
 */
export function leased(next: Fetch, { inFlight, othersEntries, othersTtlMs, now }: FiguresParts): Fetch {
  const { cache } = inFlight;
  if (cache === null) return next;
  return async (demands, sending, settle) => {
    const { tenant } = sending.caller;
    const startedAtMs = now();
    const byKey = new Map(demands.map((demand) => [demand.key, demand]));
    const named = (keys: readonly string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await inFlight.together({
      group: tenant.digest,
      names: [...byKey.keys()],
      signal: sending.signal,
      fetch: (keys) => next(named(keys), sending, settle),
      async takeOver(keys) {
        const found = await othersEntries.read(tenant, named(keys));
        if (!cache.isAccepted(tenant)) return keys;
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

/** The source of the figures of all operations. */
export interface ObservationClient {
  /** Takes part with one operation. */
  join(caller: Caller): { readonly participant: Participant; readonly figures: Figures };
}

/**
 * Puts together the stages that the figures of an operation pass:
 *
 *     held → pool (→ leased) → planned → covered → called (→ completed, bisected)
 *
 * - Held entries cost nothing. The rest takes along figures that cost no further call.
 * - It meets the demands of other operations in the pool, and all of them are planned as one. Demands that others who
 *   share the store are fetching already are left to them.
 * - A plan becomes rectangles, a call each. Only if an answer is cut, or a call refused, does it enter a repair.
 *
 * The first stage works for one operation, the pool and all below for those that wait for a batch. From `covered` on,
 * stages are of another shape than {@link Fetch}: they fetch pairs, and a rectangle of them.
 */
export function createObservationClient(parts: FiguresParts): ObservationClient {
  const pool = createObservationPool(leased(createDataFetch(parts), parts), parts);
  const prefetch = parts.maxAskedLately === 0 ? NO_PREFETCH : createPrefetch(parts);
  const holding = { ...parts, prefetch, revalidation: createRevalidation(parts) };
  const atOnce = heldAtOnce(holding);
  return {
    join(caller) {
      const participant = pool.join(caller);
      const fetch = held(participant.fetch, holding);
      return { participant, figures: { held: atOnce, fetch, several: parts.entries.several } };
    },
  };
}

/**
 * Puts the same stages together for one operation alone: it meets no other, and nothing goes along.
 * @param watched looks at the demands before they are planned
 */
export function createLoneFigures(parts: FiguresParts, watched: (next: Fetch) => Fetch): Figures {
  // The calls are none that the key sends.
  const revalidation = { ...createRevalidation(parts), countCalls() {} };
  const holding = { ...parts, prefetch: NO_PREFETCH, revalidation };
  const fetch = held(watched(createDataFetch(parts)), holding);
  return { held: heldAtOnce(holding), fetch, several: parts.entries.several };
}

/** Fetches demands from the service, held or not, in the fewest calls that its limits allow. */
export function createDataFetch(parts: FiguresParts): Fetch {
  return planned(covered(called(parts, { cut: completed, refused: bisected }), parts), parts);
}
