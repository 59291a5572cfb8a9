import { createLru, createObjectMemo } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import { type CacheEntry, NO_TENANT_CACHE, type TenantCache } from '../keys/tenant-cache.ts';
import type { Caller } from '../service/caller.ts';
import { observations } from '../service/endpoints.ts';
import type { JsonObject } from '../service/records/envelope.ts';
import { decodeObservations, type ObservationRecord } from '../service/records/observations.ts';
import { checkRight } from '../service/rights.ts';
import type { Sending } from '../service/sending.ts';
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
import type { Dimension } from './planner/learned.ts';
import {
  areCopies,
  contenders,
  distinct,
  isLatestStill,
  newestRows,
  periodKeyOf,
  putInOrder,
  sourcesOf,
} from './planner/newest.ts';

/** Texts known at most; past that all are forgotten. Rows keep the texts that they have. */
const MAX_STRINGS = 20_000;

/** Fields whose texts stand in many rows, in our words and in the service's. */
const FIELDS = [
  ['countryCode', 'country_code'],
  ['countryName', 'country_name'],
  ['metricKey', 'metric_key'],
  ['metricName', 'metric_name'],
  ['period', 'period'],
  ['asOfPeriod', 'as_of_period'],
  ['unit', 'unit'],
  ['source', 'source'],
  ['valueStatus', 'value_status'],
  ['datasetVersion', 'dataset_version'],
  ['retrievedAt', 'retrieved_at'],
] as const satisfies readonly (readonly [ours: keyof ObservationRecord, sent: string])[];

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Lets rows that are about to be cached share the texts that they have in common, in the rows and in the records as sent.
 * The parser makes each text anew, and a name, a unit or a time of retrieval stands in thousands of rows. The rows say
 * the same as before.
 */
export function createStringPool(): (rows: readonly ObservationRecord[]) => void {
  const texts = new Map<string, string>();

  function common(text: string): string {
    const pooled = texts.get(text);
    if (pooled !== undefined) return pooled;
    if (texts.size >= MAX_STRINGS) texts.clear();
    texts.set(text, text);
    return text;
  }

  return (rows) => {
    for (const row of rows as readonly Mutable<ObservationRecord>[]) {
      const record = row.record as Record<string, unknown>;
      for (const [ours, sent] of FIELDS) {
        const given = row[ours];
        if (given === null) continue;
        const text = common(given);
        row[ours] = text;
        if (record[sent] === text) record[sent] = text;
      }
    }
  };
}

/** The outcome of a demand that was a guess, if the service refuses the call: what is wanted is asked for anew. */
export class WrongGuess extends Error {
  constructor() {
    super('The figures that were guessed to be wanted could not be had.');
  }
}

/** The outcome of one demand: its rows (none if the service holds no figure), or the reason why there are none. */
export type Outcome = readonly ObservationRecord[] | Error;

const MAX_PAIRS = 20_000;

/** Periods of a country and metric cached: several end on the same day. */
const MAX_PERIODS = 8;

/**
 * Keeps the countries and metrics that, to each key's knowledge, have more than one figure of their newest period. Most
 * services have none. It decides nothing: the answer warns by it.
 */
function createSeveralFigures() {
  /** The sources of figures, by the place and period that they are for. */
  const sourcesByPair = createLru<ReadonlyMap<string, readonly string[]>>(MAX_PAIRS);
  const nameOf = (tenant: Tenant, { countryCode, metricKey }: ObservationRecord) =>
    `${tenant.digest} ${countryCode} ${metricKey}`;

  const several = {
    isEmpty: true,
    /**
     * Notes the rows that have come for the newest period of a country and metric.
     * @param areAll true if there are no others, so that earlier knowledge of the pair is over
     */
    note(tenant: Tenant, rows: readonly ObservationRecord[], areAll: boolean): void {
      if (rows.length === 0 || (rows.length === 1 && sourcesByPair.size === 0)) return;
      const first = rows[0] as ObservationRecord;
      const those = rows.length === 1 ? [] : severalIn(rows);
      if (those.length > 0) sourcesByPair.set(nameOf(tenant, first), new Map(those));
      else if (areAll) sourcesByPair.delete(nameOf(tenant, first));
      several.isEmpty = sourcesByPair.size === 0;
    },
    /** Returns the sources of all figures for the place and period of one; null if none but it are known. */
    sourcesOf(tenant: Tenant, row: ObservationRecord): readonly string[] | null {
      return sourcesByPair.size === 0
        ? null
        : (sourcesByPair.get(nameOf(tenant, row))?.get(whenOf(row)) ?? null);
    },
  };
  return several;
}

function severalIn(rows: readonly ObservationRecord[]): [string, readonly string[]][] {
  const several = [...Map.groupBy(rows, whenOf)].filter(([, alike]) => distinct(alike).length > 1);
  return several.slice(0, MAX_PERIODS).map(([when, alike]) => [when, sourcesOf(alike)]);
}

/** Names the place and the period of a row. */
function whenOf(row: ObservationRecord): string {
  return JSON.stringify([row.year, periodKeyOf(row), row.locationName]);
}

const MAX_NAMES = 10_000;

/** The service's outcome for a name that it refused. */
interface Refused {
  readonly outcome: Outcome;
  /** Instant of the refusal, in milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * Keeps country codes and metric keys that the service has refused a key: a negative cache.
 * @param ttlMs milliseconds for which a refusal is cached; 0 caches none
 */
export function createRefusedNames(now: () => number, ttlMs: number) {
  const names = createLru<Refused>(MAX_NAMES);

  const keyOf = (tenant: Tenant, dimension: Dimension, name: string) =>
    `${tenant.digest} ${dimension} ${dimension === 'countries' ? name.toUpperCase() : name}`;

  function find(key: string): Refused | undefined {
    const refusal = names.get(key);
    if (refusal === undefined || now() - refusal.atMs < ttlMs) return refusal;
    names.delete(key);
    return undefined;
  }

  const refusedNames = {
    /** True as long as no name of any key has been refused. */
    areNone: true,
    /** Returns the refusal of a name of a pair; undefined if there is none, or it is older than data may be. */
    of: (tenant: Tenant, { countryCode, metricKey }: Pair) =>
      find(keyOf(tenant, 'countries', countryCode)) ?? find(keyOf(tenant, 'metrics', metricKey)),
    add(tenant: Tenant, dimension: Dimension, name: string, refused: Refused) {
      if (ttlMs === 0) return;
      names.set(keyOf(tenant, dimension, name), refused);
      refusedNames.areNone = false;
    },
  };
  return refusedNames;
}

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
  const told = typeof value === 'object' && value !== null && 'absence' in value ? value.absence : null;
  return told === 'BLANK' || told === 'UNKNOWN_INDICATOR' || told === 'NOT_OFFERED' ? told : null;
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
function createEntryReader(several: ReturnType<typeof createSeveralFigures>) {
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
  readonly others: readonly ObservationEntry[];
}

const NOTHING_CACHED: CachedPair = { whole: null, others: [] };

/** Reads all that is cached of pairs, by their places, as long as the service accepts the key. */
export function createPairReader(
  tenantCache: TenantCache,
  several: ObservationEntries['several'],
): Figures['cachedPairs'] {
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
        others: latest === null ? ranges : [...ranges, latest],
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
    save(tenant: Tenant, { mode, years }: CachedAs, figures: readonly PairFigures[], atMs: number): void {
      const isCaching = tenantCache !== NO_TENANT_CACHE;
      if (!isCaching && mode === 'latest') return;
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
      for (let i = 0; i < figures.length; i += 1) {
        const { pair, rows } = figures[i] as PairFigures;
        const newest = rows.length < 2 ? rows : newestRows(rows);
        const chosenRows = newest.length < 2 ? newest : contenders(newest);
        several.note(tenant, chosenRows, mode === 'series' && years === null);
        if (!isCaching) continue;
        shareStrings(rows);
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
function rangesIn(value: unknown): RawRanges['ranges'] {
  const ranges = typeof value === 'object' && value !== null && 'ranges' in value ? value.ranges : [];
  return Array.isArray(ranges) ? ranges.filter((range) => Array.isArray(range?.rows) && range.years) : [];
}

/** Holds the ranges of before on, up to a number, unless the new one has their years. */
function withOlder(value: unknown, before: unknown): RawRanges {
  const ranges = rangesIn(value);
  const olderRanges = rangesIn(before).filter((old) => !ranges.some(({ years }) => covers(years, old.years)));
  return { ranges: [...ranges, ...olderRanges].slice(0, MAX_RANGES) };
}

/**
 * Outcomes by the keys of demands; those of an operation by the names, since they may differ in age alone. It belongs to
 * the one who asked.
 */
export type Outcomes = Map<string, Outcome>;

/**
 * Fetches figures of one operation: returns an outcome of each of the demands, no two of which are equal. A failure on
 * the way is an outcome. A thrown error is an error of our own, or the reason for which the operation was given up.
 */
export type Fetch = (demands: readonly Demand[], sending: Sending) => Promise<Outcomes>;

/**
 * Fetches a batch, which several operations wait for. Outcomes are passed on as they come, those of a call together, so that
 * nobody waits for a call that others need.
 */
export type FetchBatch = (
  demands: readonly Demand[],
  sending: Sending,
  listener: FetchListener,
) => Promise<void>;

export interface FetchListener {
  /** Called with demands, each once, and their outcomes by place. */
  readonly onOutcomes: (demands: readonly Demand[], outcomes: readonly Outcome[]) => void;
  /**
   * Called with each call under way that may bring more than was demanded: with a function that has it tell the outcome of
   * a further demand, and returns true if it will.
   */
  readonly onCall?: ((takeAlong: (demand: Demand) => boolean) => void) | undefined;
}

/** Tells that all of these demands have the same outcome. */
export function settleAll({ onOutcomes }: FetchListener, demands: readonly Demand[], outcome: Outcome): void {
  if (demands.length === 0) return;
  onOutcomes(
    demands,
    demands.map(() => outcome),
  );
}

/** Cached figures that may be served without asking. */
export interface Found {
  /** Outcomes by the places of the demands, undefined where there are none. */
  readonly outcomes: readonly (Outcome | undefined)[];
  /** The generation of the cache as of which nothing at all is cached of the others; null if something may be. */
  readonly missingAsOf: number | null;
}

/** The source of the figures of one operation. */
export interface Figures {
  /** Finds the cached figures of demands, each given once; null if none can be found at once. */
  readonly find: (demands: readonly Demand[], sending: Sending) => Found | null;
  /**
   * @param missingAsOf as {@link Found} has it: then they are not looked for once more
   * @throws the signal's reason if the client leaves first
   */
  readonly fetch: (
    demands: readonly Demand[],
    sending: Sending,
    missingAsOf?: number | null,
  ) => Promise<Outcomes>;
  /** The countries and metrics that are known to have several figures of a period. */
  readonly several: ObservationEntries['several'];
  /** Reads all that is cached of pairs, by their places; asks the service for nothing. */
  readonly cachedPairs: (caller: Caller, pairs: readonly Pair[]) => Promise<readonly CachedPair[]>;
}
