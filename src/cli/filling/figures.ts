import type { ComposedGateway } from '../../gateway/plugin.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { ObservationEntry } from '../../observations/entry-reader.ts';
import {
  changedAt,
  type Demand,
  demandsFor,
  latestOf,
  pairKey,
  yearRange,
} from '../../observations/planner/demand.ts';
import { ASSUMED_SERIES_ROWS } from '../../observations/planner/learned.ts';
import { estimate } from '../../observations/planner/modes.ts';
import { areUnchanged, namedIn, sourcesIn } from '../../observations/revalidation.ts';
import type { FetchEvents, FiguresPrice, FiguresToKeep, Filling } from '../../plugin/filling.ts';
import { type Bill, openBill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import { etlStatus, indicators } from '../../service/endpoints.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import { Failure } from '../../shared/errors.ts';
import type { Pace } from './pace.ts';
import { type Block, callsOf, nextBlocks } from './packing.ts';

/** Attempts at anything whose error is retryable. */
const TRIES = 3;

/** Demands whose cached rows are in memory at once. */
const DEMANDS_AT_ONCE = 2_000;

interface FiguresParts {
  readonly gateway: Pick<ComposedGateway, 'callerOf' | 'service'>;
  readonly pace: Pace;
  readonly authorization: string;
  /** Age in milliseconds from which figures may be renewed; null for never. */
  readonly everyMs: number | null;
}

const codeOf = (error: Error) => (error instanceof Failure ? error.code : 'INTERNAL_SERVER_ERROR');

const demandsOf = ({ countryCodes, metricKeys, isLatest, years }: FiguresToKeep): readonly Demand[] => {
  const latest = demandsFor('latest', countryCodes, metricKeys);
  if (isLatest) return latest;
  const range = yearRange(years?.from, years?.to);
  return [...latest, ...demandsFor('series', countryCodes, metricKeys, undefined, range)];
};

const partsOf = (demands: readonly Demand[]) => {
  const { latest = [], series = [] } = Object.groupBy(demands, ({ mode }) => mode);
  return { latest, series };
};

const isOld = ({ changedAtMs }: Demand) => changedAtMs > Number.NEGATIVE_INFINITY;

/** What a store has of figures, and what it lacks. */
function createStored({ entries, planning }: ComposedGateway['service'], tenant: Tenant) {
  /** In portions, since memory may not have room for all rows. */
  async function* cachedOf(demands: readonly Demand[]) {
    for (let from = 0; from < demands.length; from += DEMANDS_AT_ONCE) {
      const some = demands.slice(from, from + DEMANDS_AT_ONCE);
      yield [some, await entries.read(tenant, some)] as const;
    }
  }

  async function missingOf(
    demands: readonly Demand[],
    isCached: (entry: ObservationEntry, demand: Demand) => boolean,
  ) {
    const missing: Demand[] = [];
    for await (const [some, found] of cachedOf(demands))
      for (const demand of some) {
        const entry = found.get(demand.key);
        if (entry === undefined) missing.push(demand);
        else if (!isCached(entry, demand)) missing.push(changedAt(demand, entry.atMs));
      }
    return missing;
  }

  /** Returns the pairs without a latest figure, which have no series either. */
  async function withoutLatest(series: readonly Demand[]): Promise<ReadonlySet<string>> {
    const empty = new Set<string>();
    for await (const [some, found] of cachedOf(latestOf(series)))
      for (const { key, pairKey } of some) if (found.get(key)?.rows.length === 0) empty.add(pairKey);
    return empty;
  }

  /**
   * Divides series into calls. Each yields lengths of series, by which the next ones are divided better.
   * @param empty pairs that are known to have no rows
   */
  function* blocksOf(series: readonly Demand[], empty: ReadonlySet<string>): Generator<Block, void> {
    const { seriesRows } = planning.learned;
    const rowsOf = (countryCode: string, metricKey: string) =>
      empty.has(pairKey(countryCode, metricKey)) ? 0 : seriesRows(countryCode, metricKey);
    let left = series;
    while (left.length > 0) {
      const blocks = nextBlocks(left, rowsOf);
      yield* blocks;
      const yielded = new Set(blocks.flatMap(({ demands }) => demands));
      left = left.filter((demand) => !yielded.has(demand));
    }
  }

  return { cachedOf, missingOf, withoutLatest, blocksOf };
}

type Stored = ReturnType<typeof createStored>;

/** Sends what it takes, and tells what it cost. */
function createSent({ gateway: { service }, pace, everyMs }: FiguresParts, caller: Caller, stored: Stored) {
  const { signal } = new AbortController();

  const sendingOf = (bill: Bill): Sending => ({
    caller,
    bill,
    payer: payerOf(bill),
    signal,
    waitDeadlineMs: Number.POSITIVE_INFINITY,
  });

  /** Returns a function that is true for entries to keep: all, or those that are young or whose sources haven't changed. */
  async function judge(demands: readonly Demand[], sinceMs: number, { onBilled, onFailed }: FetchEvents) {
    if (everyMs === null) return () => true;
    const oldMs = service.clock.now() - everyMs;
    const isYoung = ({ atMs }: ObservationEntry) => atMs > oldMs;
    if (!(await stored.missingOf(demands, isYoung)).some(isOld)) return isYoung;
    const bill = openBill();
    try {
      const records = await service.ask(etlStatus, {}, sendingOf(bill), service.clock.now() - sinceMs);
      const catalogue = await service.ask(indicators, {}, sendingOf(bill));
      const sources = sourcesIn(records ?? [], service.clock.now());
      const byMetric = namedIn(catalogue ?? []);
      return (entry: ObservationEntry, { metricKey }: Demand) =>
        isYoung(entry) || areUnchanged({ entry, metricKey }, byMetric, sources);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (pace.stopped === null) onFailed(error.code);
      return isYoung;
    } finally {
      onBilled(bill.byRoute);
    }
  }

  /** Fetches demands together, until none of their errors is retryable. */
  async function fetchSome(demands: readonly Demand[], { onBilled, onFailed }: FetchEvents): Promise<void> {
    let left = demands;
    for (let tries = 1; left.length > 0; tries += 1) {
      const bill = openBill();
      const { participant, figures } = service.observations.join(caller);
      const outcomes = await figures.fetch(left, sendingOf(bill)).finally(participant.leave);
      onBilled(bill.byRoute);
      await service.tenantCache.landed();
      const unmet = left.flatMap((demand) => {
        const outcome = outcomes.get(demand.name);
        return outcome instanceof Error ? [{ demand, error: outcome }] : [];
      });
      if (pace.stopped !== null) return;
      const passing = unmet.filter(({ error }) => error instanceof Failure && error.retryable);
      if (tries < TRIES && passing.length > 0) {
        left = passing.map(({ demand }) => demand);
        continue;
      }
      for (const { error } of unmet) onFailed(codeOf(error), error.message);
      return;
    }
  }

  return { judge, fetchSome };
}

/** Prices and fetches figures that a store should have. */
export function createFigures(
  parts: FiguresParts,
): Pick<Filling, 'quota' | 'price' | 'fetch' | 'namesWithFigures'> {
  const { gateway, authorization, everyMs } = parts;
  const { service } = gateway;
  const caller = gateway.callerOf({ authorization });
  const { tenant } = caller;
  // The operator has given the key, so it needs no proof.
  tenant.accept();
  const stored = createStored(service, tenant);
  const { cachedOf, missingOf, withoutLatest, blocksOf } = stored;
  const { judge, fetchSome } = createSent(parts, caller, stored);

  return {
    quota: () => service.quota(tenant),
    async price(wanted): Promise<FiguresPrice> {
      const demands = demandsOf(wanted);
      // Counts renewals as if all sources had changed.
      const oldMs = everyMs === null ? Number.NEGATIVE_INFINITY : service.clock.now() - everyMs;
      const missing = await missingOf(demands, ({ atMs }) => atMs > oldMs);
      const { latest, series } = partsOf(missing);
      let calls = latest.length > 0 ? estimate(latest, service.planning).calls : 0;
      for (const block of blocksOf(series, new Set())) calls += callsOf(block);
      return {
        figures: demands.length,
        cached: demands.length - missing.length,
        calls,
        mayRenew: missing.some(isOld),
        hasSeries: series.length > 0,
        assumedRows: ASSUMED_SERIES_ROWS,
      };
    },
    async *fetch(wanted, sinceMs, events) {
      const demands = demandsOf(wanted);
      const { latest, series } = partsOf(await missingOf(demands, await judge(demands, sinceMs, events)));
      yield await fetchSome(latest, events);
      for (const block of blocksOf(series, await withoutLatest(series)))
        yield await fetchSome(block.demands, events);
    },
    async namesWithFigures(wanted) {
      const names = new Set<string>();
      for await (const [some, entries] of cachedOf(latestOf(demandsOf(wanted))))
        for (const { key, countryCode, metricKey } of some)
          if (entries.get(key)?.rows.length !== 0) names.add(countryCode).add(metricKey);
      return names;
    },
  };
}
