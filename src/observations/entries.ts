import type { Tenant } from '../keys/tenant.ts';
import { type CacheEntry, NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import { absenceIn, markOfSomeYears } from './absences.ts';
import { type CachedYears, type RawRanges, type RawRows, rangeName, withOlder } from './cached-ranges.ts';
import { createEntryReader, entries, type ObservationEntry, type RawAbsence } from './entry-reader.ts';
import {
  type Demand,
  demandKey,
  demandKeys,
  isWithin,
  type Mode,
  type Pair,
  wholeKey,
} from './planner/demand.ts';
import { isLatestStill, type Latest, latestInEach } from './planner/latest.ts';
import { areCopies } from './planner/newest.ts';
import { createSeveralFigures } from './several-figures.ts';
import { createStringPool } from './string-pool.ts';

interface CachedAs extends CachedYears {
  readonly mode: Mode;
}

export interface PairFigures {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
}

/** Stands for a latest figure that a series doesn't determine: reads as nothing cached. */
const UNDECIDED = { isUndecided: true };

/** A latest figure for which the service may choose another than the series suggests. */
interface Choice {
  /** If one of these is cached, it stays. */
  readonly among: readonly ObservationRecord[];
  readonly series: readonly ObservationRecord[];
  readonly otherwise: RawRows | typeof UNDECIDED;
}

export type ObservationEntries = ReturnType<typeof createObservationEntries>;

/**
 * Figures by country, metric and mode rather than by address: addresses of merged calls hardly ever repeat, figures
 * do.
 */
export function createObservationEntries(tenantCache: TenantCache, several = createSeveralFigures()) {
  const shareStrings = createStringPool();
  const { entryOf, entriesIn } = createEntryReader(several);

  /**
   * True if the cached latest figures may be the service's current choice. Renews them if the series shows that they
   * are.
   */
  function mayStay(
    { among, series }: Choice,
    cached: CacheEntry<unknown> | undefined,
    tenant: Tenant,
    atMs: number,
  ): boolean {
    const entry = entryOf(cached, tenant);
    if (entry === null || entry.rows.length === 0) return false;
    const isStill = entry.rows.every((one) => isLatestStill(one, series, entry.atMs));
    if (isStill) entry.checkedAtMs = Math.max(entry.checkedAtMs, atMs);
    return isStill || entry.rows.every((one) => among.some((row) => areCopies(one, row)));
  }

  /**
   * Keeps a cached latest figure that may still be the service's choice; any other doesn't outlive the series.
   * @param choices by the names of the latest figures
   */
  async function saveChosen(tenant: Tenant, choices: ReadonlyMap<string, Choice>, atMs: number) {
    const cachedEntries = await tenantCache.read<unknown>(tenant, [...choices.keys()]);
    // A value saved since the read comes first.
    const cachedNow = (name: string) => tenantCache.peek<unknown>(tenant, name) ?? cachedEntries.get(name);
    const gone = [...choices].filter(([name, choice]) => !mayStay(choice, cachedNow(name), tenant, atMs));
    if (gone.length === 0) return;
    tenantCache.save(tenant, new Map(gone.map(([name, { otherwise }]) => [name, otherwise])), atMs);
  }

  return {
    several,
    /** By index of the demand; undefined if none is cached, or the store can't tell synchronously. */
    atHand(tenant: Tenant, demands: readonly Demand[]): (ObservationEntry | undefined)[] {
      if (!tenantCache.isAtHand) return demands.map(() => undefined);
      return entriesIn(tenantCache.peekMany(tenant, namesOf(demands)), tenant, demands);
    },
    /** By key of the demand. */
    async read(tenant: Tenant, demands: readonly Demand[]): Promise<ReadonlyMap<string, ObservationEntry>> {
      const names = namesOf(demands);
      const cachedValues = await tenantCache.read<unknown>(tenant, names);
      const cachedEntries = entriesIn(names.map(cachedValues.get, cachedValues), tenant, demands);
      const byKey = new Map<string, ObservationEntry>();
      for (let i = 0; i < demands.length; i += 1) {
        const entry = cachedEntries[i];
        if (entry !== undefined) byKey.set((demands[i] as Demand).key, entry);
      }
      return byKey;
    },
    /**
     * Saves an answer's rows by pair. A series is saved as the latest figure too, if it determines it; the service's
     * own choice stays while it may be another of the newest rows. Of a range only its own rows are saved, beside the
     * last few other ranges.
     */
    save(tenant: Tenant, { mode, years }: CachedAs, given: Iterable<PairFigures>, atMs: number): void {
      const isCaching = tenantCache !== NO_TENANT_CACHE;
      if (!isCaching && mode === 'latest') return;
      const figures = [...given];
      const values = new Map<string, RawRows | RawRanges | RawAbsence>();
      const choices = new Map<string, Choice>();
      const owners: object[] = [];
      const made: ObservationEntry[] = [];
      const rawOf = (rows: readonly ObservationRecord[]) => rows.map(({ record }) => record);
      const put = (name: string, rows: readonly ObservationRecord[]) => {
        const raw = rawOf(rows);
        const range = years === null ? null : { years, rows: raw, atMs };
        const absence = rows.length === 0 ? absenceIn(rows) : null;
        const whole = absence === null ? raw : { absence };
        owners.push(range ?? whole);
        if (range !== null) markOfSomeYears(rows);
        made.push({ rows, years, atMs, checkedAtMs: atMs, wantedAtMs: atMs });
        values.set(name, range === null ? whole : { ranges: [range] });
      };
      const names = demandKeys(mode, figures);
      const latestFigures = latestInEach(figures);
      if (isCaching) shareStrings(figures);
      for (let i = 0; i < figures.length; i += 1) {
        const { pair, rows } = figures[i] as PairFigures;
        const { newest, candidates } = latestFigures[i] as Latest;
        if (candidates.length > 1 || !several.isEmpty)
          several.note(tenant, candidates, mode === 'series' && years === null);
        if (!isCaching) continue;
        if (years !== null) {
          // A row of a later year shows that those of the range are not the newest.
          const later = { from: years.from, to: null };
          put(
            rangeName(names[i] as string),
            rows.filter(({ year }) => isWithin(later, year)),
          );
          continue;
        }
        put(names[i] as string, rows);
        if (mode === 'latest') continue;
        const latest = demandKey('latest', pair);
        if (newest.length <= 1) put(latest, newest);
        else if (candidates.length > 1)
          choices.set(latest, { among: newest, series: rows, otherwise: UNDECIDED });
        else {
          const among = newest.filter((row) => !candidates.includes(row));
          choices.set(latest, { among, series: rows, otherwise: rawOf(candidates) });
        }
      }
      if (!isCaching) return;
      entries.putMany(owners, made);
      tenantCache.save(tenant, values, atMs, years === null ? undefined : withOlder);
      if (choices.size > 0) void saveChosen(tenant, choices, atMs);
    },
  };
}

/** Names of whole figures by index, then those of the ranges. */
function namesOf(demands: readonly Demand[]): string[] {
  const names = demands.map((demand) => (demand.years === null ? demand.key : wholeKey(demand)));
  for (let i = 0; i < demands.length; i += 1)
    if (demands[i]?.years !== null) names.push(rangeName(names[i] as string));
  return names;
}
