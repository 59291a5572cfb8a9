import { createObjectMemo } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import { type CacheEntry, NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import { observations } from '../service/endpoints.ts';
import type { JsonObject } from '../service/records/envelope.ts';
import { decodeObservations, type ObservationRecord } from '../service/records/observations.ts';
import { checkRight } from '../service/rights.ts';
import { type AbsenceOfRows, absenceIn, markOfSomeYears, noRows } from './absences.ts';
import {
  covers,
  type Demand,
  demandKey,
  demandKeys,
  isWithin,
  type Mode,
  type Pair,
  wholeKey,
  type YearRange,
} from './planner/demand.ts';
import { areCopies, contenders, isLatestStill, newestRows, putInOrder } from './planner/newest.ts';
import { createSeveralFigures, type SeveralFigures } from './several-figures.ts';
import { createStringPool } from './string-pool.ts';

/** The cached figures of one pair: none if the service had none. */
export interface ObservationEntry {
  readonly rows: readonly ObservationRecord[];
  /** The years that `rows` has all rows of; null for a whole series, and for a latest figure. */
  readonly years: YearRange | null;
  /** Instant when the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Latest instant when this process knew them to be current: later than `atMs` once they were renewed. */
  checkedAtMs: number;
  /** Instant when this process last counted them among the key's wanted figures; 0 for never. */
  wantedAtMs: number;
}

/** The query of an answer for each of its pairs. */
interface CachedAs extends CachedYears {
  readonly mode: Mode;
}

interface CachedYears {
  /** Null for all years. */
  readonly years: YearRange | null;
}

interface PairFigures {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
}

type RawRows = readonly JsonObject[];

/** Stands for no rows, where the service has told why there are none. */
interface RawAbsence {
  readonly absence: AbsenceOfRows;
}

/** Returns what the service has said of a pair without rows, in a stored value; null if that is another one. */
function absenceOf(value: unknown): AbsenceOfRows | null {
  const absence = typeof value === 'object' && value !== null && 'absence' in value ? value.absence : null;
  return absence === 'BLANK' || absence === 'UNKNOWN_INDICATOR' || absence === 'NOT_OFFERED' ? absence : null;
}

/** Rows of a series, or of some years of it, as they are cached. */
interface RawFigures extends CachedYears {
  readonly rows: RawRows;
  /** Instant when the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Ranges of a pair, as they are cached: the last one first. None has all years of another that came before it. */
interface RawRanges {
  readonly ranges: readonly (RawFigures & { readonly years: YearRange })[];
}

/** Ranges of a pair that are cached at once. */
const MAX_RANGES = 8;

/** Entries of records that the tenant cache holds in this process. */
const entries = createObjectMemo<ObservationEntry>('entry');

/** Stands for a latest figure that a series doesn't tell: reads as nothing cached. */
const UNDECIDED = { isUndecided: true };

/** A latest figure that the service itself may choose otherwise than a series tells it. */
interface Choice {
  /** The newest rows of the series that it may choose: if one of them is cached, it stays. */
  readonly among: readonly ObservationRecord[];
  readonly series: readonly ObservationRecord[];
  /** The value to cache otherwise. */
  readonly otherwise: RawRows | typeof UNDECIDED;
}

export type ObservationEntries = ReturnType<typeof createObservationEntries>;

/** Reads entries of stored values: what this process has put there is at hand, the rest is decoded once. */
function createEntryReader(several: SeveralFigures) {
  /**
   * The entry of a stored value; null if there is none, or not one that was put there.
   * @param years to find among ranges: the entry that was last known to hold, of those that have them all
   */
  function entryOf(
    entry: CacheEntry<unknown> | undefined,
    tenant: Tenant,
    years: YearRange | null = null,
  ): ObservationEntry | null {
    if (entry === undefined) return null;
    const { value, atMs } = entry;
    if (years === null) {
      if (!Array.isArray(value)) return withoutRows(value, atMs);
      return entries.of(value) ?? decoded(value, { years, rows: value, atMs }, tenant);
    }
    const covering = rangesIn(value).filter((range) => covers(range.years, years));
    return lastChecked(covering.map((range) => entries.of(range) ?? decoded(range, range, tenant))) ?? null;
  }

  function withoutRows(value: unknown, atMs: number): ObservationEntry | null {
    const absence = absenceOf(value);
    if (absence === null) return null;
    const entry = { rows: noRows(absence), years: null, atMs, checkedAtMs: atMs, wantedAtMs: 0 };
    return entries.of(value as object) ?? entries.put(value as object, entry);
  }

  /** The entry for each demand that was last known to hold, in the values that are stored under `namesOf` them. */
  function entriesIn(
    cachedValues: readonly (CacheEntry<unknown> | undefined)[],
    tenant: Tenant,
    demands: readonly Demand[],
  ): (ObservationEntry | undefined)[] {
    const cachedEntries = entries.ofValues(cachedValues);
    let range = demands.length;
    return demands.map(({ years }, i) => {
      const whole = cachedEntries[i] ?? entryOf(cachedValues[i], tenant);
      return years === null
        ? (whole ?? undefined)
        : lastChecked([whole, entryOf(cachedValues[range++], tenant, years)]);
    });
  }

  /** @param owner the part of a stored value that the entry is cached on from now on */
  function decoded(owner: object, raw: RawFigures, tenant: Tenant): ObservationEntry | null {
    const { years, atMs } = raw;
    const { rows, errors } = decodeObservations({ data: raw.rows }, observations.route, atMs);
    if (errors.length > 0 || rows.length !== raw.rows.length) return null;
    // An earlier version may have put it there in the order that it came in.
    putInOrder(rows);
    if (years !== null) markOfSomeYears(rows);
    // Another process has put it there.
    several.note(tenant, contenders(rows), false);
    return entries.put(owner, { rows, years, atMs, checkedAtMs: atMs, wantedAtMs: 0 });
  }

  /** All ranges in a stored value. */
  const rangeEntries = (value: unknown, tenant: Tenant) =>
    rangesIn(value).flatMap((range) => entries.of(range) ?? decoded(range, range, tenant) ?? []);

  return { entryOf, entriesIn, rangeEntries };
}

/** All that is cached of a country and metric, fresh or not. */
export interface CachedPair {
  /** The whole series; null if it isn't cached. */
  readonly whole: ObservationEntry | null;
  /** Ranges of its years, and its latest figure. */
  readonly rest: readonly ObservationEntry[];
}

/** Reads all that is cached of pairs, by their places; asks the service for nothing. */
export type ReadPairs = (caller: Caller, pairs: readonly Pair[]) => Promise<readonly CachedPair[]>;

const NOTHING_CACHED: CachedPair = { whole: null, rest: [] };

/** Reads all that is cached of pairs, by their places, as long as the service accepts the key. */
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
    // The read may have told more of the key.
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

/**
 * Holds figures by country, metric and mode, not by the address of the call: addresses of merged calls hardly ever
 * repeat, figures do.
 * @param several learns the countries and metrics that have several figures of a period
 */
export function createObservationEntries(tenantCache: TenantCache, several = createSeveralFigures()) {
  const shareStrings = createStringPool();
  const { entryOf, entriesIn } = createEntryReader(several);

  /**
   * Returns true if the cached latest figures may be those that the service chooses now. If the series shows that they are,
   * they are as good as new.
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
   * Keeps the service's own choice for latest figures that a series came with, if it is cached and may be its choice still.
   * An older choice doesn't outlive the series.
   * @param choices by the names of the latest figures
   */
  async function saveChosen(tenant: Tenant, choices: ReadonlyMap<string, Choice>, atMs: number) {
    const cachedEntries = await tenantCache.read<unknown>(tenant, [...choices.keys()]);
    // A value put there since the read comes first.
    const cachedNow = (name: string) => tenantCache.peek<unknown>(tenant, name) ?? cachedEntries.get(name);
    const gone = [...choices].filter(([name, choice]) => !mayStay(choice, cachedNow(name), tenant, atMs));
    if (gone.length === 0) return;
    tenantCache.save(tenant, new Map(gone.map(([name, { otherwise }]) => [name, otherwise])), atMs);
  }

  return {
    several,
    /** Returns the entries for demands by their places; undefined where none is cached, or the store can't tell at once. */
    atHand(tenant: Tenant, demands: readonly Demand[]): (ObservationEntry | undefined)[] {
      if (!tenantCache.isAtHand) return demands.map(() => undefined);
      return entriesIn(tenantCache.peekMany(tenant, namesOf(demands)), tenant, demands);
    },
    /** Reads the entries for these demands, fresh or not, by the keys of the demands. */
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
     * Keeps an answer's rows of each of these pairs. A series is cached as the latest figure too, if it tells which one
     * that is. The service's own choice stays, as long as it is another one of the newest rows: one of several, or that
     * of a place. Of a range of years, only the rows that lie in it are cached, beside the last few other ranges.
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
      const names = demandKeys(
        mode,
        figures.map(({ pair }) => pair),
      );
      if (isCaching) shareStrings(figures);
      for (let i = 0; i < figures.length; i += 1) {
        const { pair, rows } = figures[i] as PairFigures;
        const newest = rows.length < 2 ? rows : newestRows(rows);
        const chosenRows = newest.length < 2 ? newest : contenders(newest);
        if (chosenRows.length > 1 || !several.isEmpty)
          several.note(tenant, chosenRows, mode === 'series' && years === null);
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
        else if (chosenRows.length > 1)
          choices.set(latest, { among: newest, series: rows, otherwise: UNDECIDED });
        else
          choices.set(latest, {
            among: newest.filter(({ locationName }) => locationName !== null),
            series: rows,
            otherwise: rawOf(chosenRows),
          });
      }
      if (!isCaching) return;
      entries.putMany(owners, made);
      tenantCache.save(tenant, values, atMs, years === null ? undefined : withOlder);
      if (choices.size > 0) void saveChosen(tenant, choices, atMs);
    },
  };
}

/**
 * The name under which the last ranges of a pair are cached.
 * @param key of the demand for its whole series
 */
function rangeName(key: string): string {
  return `years of ${key}`;
}

/** The names of all entries that may answer the demands: of whole figures by their places, and then of the ranges. */
function namesOf(demands: readonly Demand[]): string[] {
  const names = demands.map((demand) => (demand.years === null ? demand.key : wholeKey(demand)));
  for (let i = 0; i < demands.length; i += 1)
    if (demands[i]?.years !== null) names.push(rangeName(names[i] as string));
  return names;
}

/** The first of the entries that were last known to hold. */
function lastChecked(entries: readonly (ObservationEntry | null)[]): ObservationEntry | undefined {
  let best: ObservationEntry | undefined;
  for (const entry of entries)
    if (entry !== null && (best === undefined || entry.checkedAtMs > best.checkedAtMs)) best = entry;
  return best;
}

/** The ranges in a stored value; none if it is not one that was put there. */
export function rangesIn(value: unknown): RawRanges['ranges'] {
  const ranges = typeof value === 'object' && value !== null && 'ranges' in value ? value.ranges : [];
  return Array.isArray(ranges) ? ranges.filter((range) => Array.isArray(range?.rows) && range.years) : [];
}

/** Holds the ranges of before on, up to a number, unless the new one has their years. */
function withOlder(value: unknown, before: unknown): RawRanges {
  const ranges = rangesIn(value);
  const olderRanges = rangesIn(before).filter((old) => !ranges.some(({ years }) => covers(years, old.years)));
  return { ranges: [...ranges, ...olderRanges].slice(0, MAX_RANGES) };
}
