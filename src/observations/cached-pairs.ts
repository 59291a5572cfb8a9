import type { TenantCache } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import { observations } from '../service/endpoints.ts';
import { checkRight } from '../service/rights.ts';
import { eachInTurns, yieldToEventLoop } from '../shared/async/turns.ts';
import { rangeName } from './cached-ranges.ts';
import { createEntryReader, type ObservationEntry } from './entry-reader.ts';
import { demandKey, type Pair } from './planner/demand.ts';
import type { SeveralFigures } from './several-figures.ts';

export interface CachedPair {
  readonly whole: ObservationEntry | null;
  readonly rest: readonly ObservationEntry[];
}

/**
 * Reads all that is cached of pairs, fresh or not, in turns; asks the service for nothing.
 * @returns false, with nothing read, for a key that the service hasn't accepted lately
 */
export type ReadPairs = (
  caller: Caller,
  pairs: readonly Pair[],
  each: (pair: Pair, cached: CachedPair) => void,
) => Promise<boolean>;

/** Pairs that are read from the store together: their names alone take a good millisecond. */
const PAIRS_TOGETHER = 256;

export function createPairReader(tenantCache: TenantCache, several: SeveralFigures): ReadPairs {
  const { entryOf, rangeEntries } = createEntryReader(several);
  return async (caller, pairs, each) => {
    checkRight(caller, observations.tag);
    const { tenant } = caller;
    if (pairs.length === 0) await tenantCache.lookUp(tenant);
    for (let from = 0; from < pairs.length; from += PAIRS_TOGETHER) {
      await yieldToEventLoop(caller);
      const names = pairs.slice(from, from + PAIRS_TOGETHER).map((pair) => {
        const series = demandKey('series', pair);
        return { pair, series, ranges: rangeName(series), latest: demandKey('latest', pair) };
      });
      const cachedValues = await tenantCache.read<unknown>(
        tenant,
        names.flatMap(({ series, ranges, latest }) => [series, ranges, latest]),
      );
      // The read may have told more about the key.
      if (!tenantCache.isAccepted(tenant)) return false;
      await eachInTurns(caller, names, ({ pair, series, ranges, latest }) => {
        const whole = entryOf(cachedValues.get(series), tenant);
        const rest = rangeEntries(cachedValues.get(ranges)?.value, tenant);
        const newest = entryOf(cachedValues.get(latest), tenant);
        if (newest !== null) rest.push(newest);
        if (whole !== null || rest.length > 0) each(pair, { whole, rest });
      });
    }
    return tenantCache.isAccepted(tenant);
  };
}
