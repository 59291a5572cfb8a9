import { createObjectMemo } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import { cachedRecords } from '../service/cached-answers.ts';
import type { Ask } from '../service/cached-lists.ts';
import { makeCall } from '../service/call.ts';
import { etlStatus, indicators } from '../service/endpoints.ts';
import { leftOutOf } from '../service/records/envelope.ts';
import type { IndicatorRecord, SourceRecord } from '../service/records/reference.ts';
import type { Sending } from '../service/sending.ts';
import { timeIn } from '../shared/periods.ts';
import type { FiguresCache } from './called.ts';
import type { ObservationEntry } from './entry-reader.ts';
import { trafficOf } from './traffic.ts';

/** Milliseconds by which the service's clock may differ from ours. */
export const CLOCK_SKEW_MS = 60_000;

/** Share of expired entries that a check is expected to renew, before any has shown. */
const EXPECTED_SHARE = 0.9;

/** Weight of the last check in the estimate for the next. */
const LEARNING_RATE = 0.3;

/** Growth of the expected share with each check that was not worth it. */
const RECOVERY = 0.01;

interface CachedFigures {
  readonly entry: ObservationEntry;
  readonly metricKey: string;
}

/**
 * Tells which expired figures still hold. The service announces no revisions, but one call says when each source last
 * changed: figures hold if no source that may bring their metric has changed since. The catalogue, if cached, names
 * these sources; otherwise any may be one.
 */
export interface Revalidation {
  /**
   * Returns the latest instant at which figures were known to be current. Spends a call only if that is likely to
   * save more than one.
   */
  check(
    expired: readonly CachedFigures[],
    costs: FetchCosts,
    sending: Sending,
  ): Promise<(figures: CachedFigures) => number>;
  /** By these, the worth of a check is judged. */
  countCalls(tenant: Tenant, calls: number, nowMs: number): void;
}

/** Calls to fetch expired demands, without and with a check of the sources. */
interface FetchCosts {
  readonly calls: () => number;
  readonly callsIfRenewed: () => number;
}

interface RevalidationParts extends Pick<FiguresCache, 'tenantCache' | 'freshness' | 'now'> {
  readonly ask: Ask;
  /** False still uses the results of earlier checks. */
  readonly mayRenew: boolean;
}

export function createRevalidation({
  ask,
  tenantCache,
  freshness,
  now,
  mayRenew,
}: RevalidationParts): Revalidation['check'] {
  let share = EXPECTED_SHARE;

  /** True if a check probably saves more than its own call, now and until entries expire again. */
  function isWorthIt(tenant: Tenant, { calls, callsIfRenewed }: FetchCosts): boolean {
    const traffic = trafficOf(tenant, now(), freshness);
    const callsNow = calls();
    const callsLater = Math.max(0, Math.max(traffic.calls, traffic.callsBefore) - callsNow);
    return share * (callsNow - callsIfRenewed() + callsLater) > 1;
  }

  /** Null if the sources are unknown, or known from longer ago than data may be. */
  async function look(costs: FetchCosts, sending: Sending): Promise<Sources | null> {
    const { tenant } = sending.caller;
    const cachedStatus = await cachedRecords(etlStatus, {}, makeCall(etlStatus, {}), tenant, tenantCache);
    if (cachedStatus?.records && now() - cachedStatus.atMs < freshness.ttlMs)
      return sourcesIn(cachedStatus.records, cachedStatus.atMs);
    const mayLook = mayRenew && now() - (tenant.traffic?.askedAtMs ?? 0) >= Math.max(1, freshness.ttlMs);
    if (!mayLook) return null;
    if (!isWorthIt(tenant, costs)) {
      share = Math.min(EXPECTED_SHARE, share + RECOVERY);
      return null;
    }
    const askedAtMs = now();
    trafficOf(tenant, askedAtMs, freshness).askedAtMs = askedAtMs;
    try {
      const records = await ask(etlStatus, {}, sending, 0);
      return records === null ? null : sourcesIn(records, now());
    } catch {
      // Whatever fails this call will fail the calls for figures too.
      return null;
    }
  }

  /** Only what a cached catalogue names. */
  async function sourcesByMetric({ caller }: Sending): Promise<SourcesByMetric> {
    const call = makeCall(indicators, {});
    const cachedIndicators = await cachedRecords(indicators, {}, call, caller.tenant, tenantCache);
    return cachedIndicators?.records ? namedIn(cachedIndicators.records) : NONE_NAMED;
  }

  return async (cachedFigures, costs, sending) => {
    const asBefore = ({ entry }: CachedFigures) => entry.checkedAtMs;
    const { tenant } = sending.caller;
    const wasAskedAtMs = tenant.traffic?.askedAtMs ?? 0;
    const sources = await look(costs, sending);
    if (sources === null) return asBefore;
    const byMetric = await sourcesByMetric(sending);
    const isUnchanged = (figures: CachedFigures) => areUnchanged(figures, byMetric, sources);
    if ((tenant.traffic?.askedAtMs ?? 0) !== wasAskedAtMs) {
      const renewed = cachedFigures.filter(isUnchanged).length;
      share += LEARNING_RATE * (renewed / cachedFigures.length - share);
    }
    return (figures) => {
      const { atMs } = figures.entry;
      return isUnchanged(figures) ? Math.max(atMs, sources.atMs) : atMs;
    };
  };
}

type Sources = ReturnType<typeof sourcesIn>;

/**
 * The last change of each source, in milliseconds since the epoch: the latest instant that the service's words can
 * mean, infinite if they can't be read. Sources that have never run well are left out.
 */
export function sourcesIn(records: readonly SourceRecord[], atMs: number) {
  const changedAtMs = new Map<string, number>();
  for (const { key, lastSuccessfulRefresh } of records) {
    if (lastSuccessfulRefresh === null) continue;
    // A mere day may mean any instant of it.
    const changedAt = timeIn(lastSuccessfulRefresh)?.lastMs ?? Number.POSITIVE_INFINITY;
    changedAtMs.set(key.toLowerCase(), changedAt);
  }
  const isKnown = changedAtMs.size > 0 && leftOutOf(records) === null;
  const lastChangeAtMs = isKnown ? Math.max(...changedAtMs.values()) : Number.POSITIVE_INFINITY;
  return { atMs, changedAtMs, lastChangeAtMs };
}

/** Lower-case keys of the sources that may bring a metric, by metric. */
export type SourcesByMetric = ReadonlyMap<string, readonly string[]>;

const NONE_NAMED: SourcesByMetric = new Map();

const named = createObjectMemo<SourcesByMetric>('sources by metric');

/** Metrics of which the catalogue doesn't name all sources are left out. */
export function namedIn(catalogue: readonly IndicatorRecord[]): SourcesByMetric {
  const byMetric = () =>
    new Map(
      catalogue.flatMap(({ key, sources, areAllSources }) =>
        areAllSources && sources.length > 0 && leftOutOf(sources) === null
          ? [[key, sources.map((source) => source.toLowerCase())] as const]
          : [],
      ),
    );
  return named.of(catalogue) ?? named.put(catalogue, byMetric());
}

export function areUnchanged(
  { entry, metricKey }: CachedFigures,
  byMetric: SourcesByMetric,
  sources: Sources,
): boolean {
  return lastChangeMs(entry, byMetric.get(metricKey), sources) + CLOCK_SKEW_MS <= entry.atMs;
}

/** Null (any) if the catalogue names none, or lacks the source of a row. */
export function namedSources(
  rows: ObservationEntry['rows'],
  sourceKeys: readonly string[] | undefined,
): readonly string[] | null {
  if (sourceKeys === undefined) return null;
  return rows.every(({ source }) => sourceKeys.includes(source.toLowerCase())) ? sourceKeys : null;
}

function lastChangeMs(
  { rows }: ObservationEntry,
  sourceKeys: readonly string[] | undefined,
  { changedAtMs, lastChangeAtMs }: Sources,
): number {
  const changeOf = (key: string) => changedAtMs.get(key) ?? Number.POSITIVE_INFINITY;
  const named = namedSources(rows, sourceKeys);
  if (named !== null) return Math.max(...named.map(changeOf));
  const keysOfRows = rows.map(({ source }) => source.toLowerCase());
  return Math.max(lastChangeAtMs, ...new Set(keysOfRows.map(changeOf)));
}
