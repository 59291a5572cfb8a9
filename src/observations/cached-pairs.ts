import type { TenantCache } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import { observations } from '../service/endpoints.ts';
import { checkRight } from '../service/rights.ts';
import { rangeName } from './cached-ranges.ts';
import { createEntryReader, type ObservationEntry } from './entry-reader.ts';
import { demandKeys, type Pair } from './planner/demand.ts';
import type { SeveralFigures } from './several-figures.ts';

export interface CachedPair {
  readonly whole: ObservationEntry | null;
  readonly rest: readonly ObservationEntry[];
}

/** Returns all that is cached of each pair, fresh or not; asks the service for nothing. */
export type ReadPairs = (caller: Caller, pairs: readonly Pair[]) => Promise<readonly CachedPair[]>;

const NOTHING_CACHED: CachedPair = { whole: null, rest: [] };

/** Reads nothing for keys that the service doesn't accept. */
export function createPairReader(tenantCache: TenantCache, several: SeveralFigures): ReadPairs {
  const { entryOf, rangeEntries } = createEntryReader(several);
  return async (caller, pairs) => {
    checkRight(caller, observations.tag);
    const { tenant } = caller;
    const keys = demandKeys('series', pairs);
    const latestKeys = demandKeys('latest', pairs);
    const cachedValues = await tenantCache.read<unknown>(tenant, [
      ...keys,
      ...keys.map(rangeName),
      ...latestKeys,
    ]);
    // The read may have told more about the key.
    if (!tenantCache.isAccepted(tenant)) return pairs.map(() => NOTHING_CACHED);
    return keys.map((key, i) => {
      const latest = entryOf(cachedValues.get(latestKeys[i] ?? ''), tenant);
      const ranges = rangeEntries(cachedValues.get(rangeName(key))?.value, tenant);
      return {
        whole: entryOf(cachedValues.get(key), tenant),
        rest: latest === null ? ranges : [...ranges, latest],
      };
    });
  };
}
