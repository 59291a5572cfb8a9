import { cachedFiguresStage, findCached, isFresh } from '../../observations/cached.ts';
import { createPairReader } from '../../observations/cached-pairs.ts';
import type { CallParts } from '../../observations/called.ts';
import { createDataFetch, gatheredStage } from '../../observations/client.ts';
import { type FetchBatch, type Figures, settleAll } from '../../observations/fetch.ts';
import type { Demand } from '../../observations/planner/demand.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { NO_PREFETCH } from '../../observations/prefetch.ts';
import { createRevalidation } from '../../observations/revalidation.ts';
import type { SupposedService } from './supposed-service.ts';
import type { Tally } from './tally.ts';

interface DryTerms {
  readonly tally: Tally;
  readonly service: SupposedService;
  /** The live one, of which plans have a snapshot. */
  readonly learned: Learned;
  /** True if figures that an earlier call may have brought along cost nothing. */
  readonly mayComeAlong: boolean;
}

/** The stages of figures for an operation by itself, which count demands: no batches with others, no prefetch. */
export function createDryFigures(parts: CallParts, terms: DryTerms): Figures {
  const { cache, service } = parts;
  // The supposed answer must not renew cached entries.
  const check = createRevalidation({ ...cache, ask: service.ask, mayRenew: false });
  const caching = { ...parts, prefetch: NO_PREFETCH, revalidation: { check, countCalls() {} } };
  const counted = countedStage(createDataFetch(parts), terms);
  const stage = terms.mayComeAlong ? alongStage(counted) : counted;
  const fetch = cachedFiguresStage(gatheredStage(stage), caching);
  const { several } = cache.entries;
  return {
    find: countedFind(findCached(caching), parts, terms),
    async fetch(demands, ...sending) {
      const refusal = terms.tally.refusal();
      if (refusal !== null) throw refusal;
      terms.service.expect(demands);
      return fetch(demands, ...sending);
    },
    several,
    cachedPairs: createPairReader(cache.tenantCache, several),
  };
}

/** Counts figures as soon as they are demanded and not cached, before they are gathered and planned. */
function countedFind(
  find: Figures['find'],
  { cache: { tenantCache, entries, refusedNames, freshness, now } }: CallParts,
  { tally }: DryTerms,
): Figures['find'] {
  return (demands, sending) => {
    const { tenant } = sending.caller;
    const found = find(demands, sending);
    if (!tenantCache.isAtHand) return found;
    const cachedEntries = found === null ? entries.atHand(tenant, demands) : [];
    for (const [i, demand] of demands.entries()) {
      const isCached =
        found?.outcomes[i] !== undefined || isFresh(demand, cachedEntries[i], now(), { freshness, tenant });
      if (isCached || refusedNames.of(tenant, demand) !== undefined) continue;
      tally.want(demand);
      // Whether a figure that has nothing to be compared with is fetched depends on the rest of the operation.
      if (tally.isDeriving) tally.doubt();
    }
    return found;
  };
}

/**
 * Counts demands before they are planned, and notes if they may take other calls than their plan. The tally counts a
 * figure once, so it makes no difference that `countedFind` has counted most.
 */
function countedStage(next: FetchBatch, { learned, tally }: DryTerms): FetchBatch {
  /** Then a series takes exactly the calls of its plan. */
  const isLengthKnown = ({ mode, years, countryCode, metricKey }: Demand) =>
    mode === 'series' &&
    years === null &&
    learned.facts().totals === 'true' &&
    learned.hasRowsWithin(countryCode, metricKey, null);
  return async (demands, sending, listener) => {
    // If several figures match, the service is asked for the latest one, which no plan shows.
    if (tally.isDeriving ? demands.length > 0 : !demands.every(isLengthKnown)) tally.doubt();
    for (const demand of demands) tally.want(demand);
    await next(demands, sending, listener);
  };
}

/** Takes demands as settled whose country and metric an earlier batch named both: its calls may have brought them. */
function alongStage(next: FetchBatch): FetchBatch {
  const asked: { readonly codes: ReadonlySet<string>; readonly keys: ReadonlySet<string> }[] = [];
  const mayHaveCome = ({ countryCode, metricKey }: Demand) =>
    asked.some(({ codes, keys }) => codes.has(countryCode) && keys.has(metricKey));
  return (demands, sending, listener) => {
    const missing = demands.filter((demand) => !mayHaveCome(demand));
    settleAll(listener, demands.filter(mayHaveCome), []);
    asked.push({
      codes: new Set(missing.map(({ countryCode }) => countryCode)),
      keys: new Set(missing.map(({ metricKey }) => metricKey)),
    });
    return next(missing, sending, listener);
  };
}
