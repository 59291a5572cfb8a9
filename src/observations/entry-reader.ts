import { createObjectMemo } from '../cache/lru.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { CacheEntry } from '../keys/tenant-cache.ts';
import { observations } from '../service/endpoints.ts';
import { decodeObservations, type ObservationRecord } from '../service/records/observations.ts';
import { type AbsenceOfRows, markOfSomeYears, noRows } from './absences.ts';
import { type RawFigures, rangesIn } from './cached-ranges.ts';
import { covers, type Demand, type YearRange } from './planner/demand.ts';
import { latestIn } from './planner/latest.ts';
import { putInOrder } from './planner/newest.ts';
import type { SeveralFigures } from './several-figures.ts';

/** The cached figures of one pair: none if the service had none. */
export interface ObservationEntry {
  readonly rows: readonly ObservationRecord[];
  /** The years that `rows` is complete for; null for a whole series or a latest figure. */
  readonly years: YearRange | null;
  /** Instant at which the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Latest instant at which they were known to be current: later than `atMs` once renewed. */
  checkedAtMs: number;
  /** Instant at which they were last counted among the key's wanted figures; 0 for never. */
  wantedAtMs: number;
}

export interface RawAbsence {
  readonly absence: AbsenceOfRows;
}

function absenceOf(value: unknown): AbsenceOfRows | null {
  const absence = typeof value === 'object' && value !== null && 'absence' in value ? value.absence : null;
  return absence === 'BLANK' || absence === 'UNKNOWN_INDICATOR' || absence === 'NOT_OFFERED' ? absence : null;
}

export const entries = createObjectMemo<ObservationEntry>('entry');

/** Entries that this process saved are at hand; others are decoded once. */
export function createEntryReader(several: SeveralFigures) {
  /**
   * Null if there is none, or not one of ours.
   * @param years to find among ranges: of those that cover them, the entry last known to hold
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

  /** @param cachedValues stored under `namesOf` the demands */
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

  /** @param owner the part of a stored value that the entry is attached to */
  function decoded(owner: object, raw: RawFigures, tenant: Tenant): ObservationEntry | null {
    const { years, atMs } = raw;
    const { rows, errors } = decodeObservations({ data: raw.rows }, observations.route, atMs);
    if (errors.length > 0 || rows.length !== raw.rows.length) return null;
    // An earlier version may have put it there in the order that it came in.
    putInOrder(rows);
    if (years !== null) markOfSomeYears(rows);
    // Another process has put it there.
    several.note(tenant, latestIn(rows).candidates, false);
    return entries.put(owner, { rows, years, atMs, checkedAtMs: atMs, wantedAtMs: 0 });
  }

  const rangeEntries = (value: unknown, tenant: Tenant) =>
    rangesIn(value).flatMap((range) => entries.of(range) ?? decoded(range, range, tenant) ?? []);

  return { entryOf, entriesIn, rangeEntries };
}

function lastChecked(entries: readonly (ObservationEntry | null)[]): ObservationEntry | undefined {
  let best: ObservationEntry | undefined;
  for (const entry of entries)
    if (entry !== null && (best === undefined || entry.checkedAtMs > best.checkedAtMs)) best = entry;
  return best;
}
