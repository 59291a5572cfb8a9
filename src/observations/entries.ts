import { createObjectMemo } from '../cache/object-memo.ts';
import { type CacheEntry, NO_TENANT_CACHE, type TenantCache } from '../cache/tenant-cache.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, demandKey, type Mode, wholeKey } from '../planner/demand.ts';
import { areCopies, contenders } from '../planner/newest.ts';
import { covers, isWithin, type YearRange } from '../planner/year-range.ts';
import { observations } from '../upstream/endpoints.ts';
import type { JsonObject } from '../upstream/records/fields.ts';
import { decodeObservations, type ObservationRecord } from '../upstream/records/observations.ts';
import { createCommonTexts } from './common-texts.ts';
import { createSeveralFigures, type SeveralFigures } from './several-figures.ts';

/** The figures of one pair as they are held: none where the service held none. */
export interface ObservationEntry {
  readonly rows: readonly ObservationRecord[];
  /** The years that they are all rows of; null for those of a whole series, and for a latest figure. */
  readonly years: YearRange | null;
  /** When the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
  /** When this process last knew them to be what the service would send: later than `atMs` once they were renewed. */
  checkedAtMs: number;
  /** When this process last counted them among what the key asks for; 0 for never. */
  wantedAtMs: number;
}

/**
 * Figures are held by country, metric and mode, not by the address they came from: addresses of merged calls hardly
 * ever repeat, figures do.
 */
export interface ObservationEntries {
  /** What is held of a demand; undefined where nothing is, or the store can't tell at once. */
  atHand(keyDigest: string, demand: Demand): ObservationEntry | undefined;
  /** What is held of these demands, fresh or not, by the keys of the demands. */
  read(keyDigest: string, demands: readonly Demand[]): Promise<ReadonlyMap<string, ObservationEntry>>;
  /**
   * Keeps what an answer said of each of these pairs. A series is held as the latest figure too, where it tells which that is: else
   * what the service has chosen stays, as long as it is one of the newest rows. Of a range of years those rows alone are held
   * that lie in it.
   */
  keep(keyDigest: string, asked: KeptAs, figures: Iterable<PairFigures>, atMs: number): void;
  /** What has been shown of countries and metrics that have several figures of a period. */
  readonly several: SeveralFigures;
}

/** What an answer was asked for of each pair. */
export interface KeptAs {
  readonly mode: Mode;
  /** Null for all years. */
  readonly years: YearRange | null;
}

export interface PairFigures {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
}

type RawRows = readonly JsonObject[];

/** Rows of some years of a series, as they are held. */
interface RawRange {
  readonly years: YearRange;
  readonly rows: RawRows;
}

/** Entries of records that the tenant cache holds in this process. */
const entries = createObjectMemo<ObservationEntry>('entry');

/** Stands for a latest figure that a series doesn't tell: reads as nothing held. */
const UNTOLD = { isUntold: true };

export function createObservationEntries(
  tenantCache: TenantCache,
  several = createSeveralFigures(),
): ObservationEntries {
  const shareTexts = createCommonTexts();

  /** Null where what is held is not what was put there. */
  function entryOf({ value, atMs }: CacheEntry<unknown>, keyDigest: string): ObservationEntry | null {
    const isRange = isRawRange(value);
    if (!isRange && !Array.isArray(value)) return null;
    const known = entries.of(value);
    if (known !== undefined) return known;
    const raw: RawRows = isRange ? value.rows : value;
    const { rows, faults } = decodeObservations({ data: raw }, observations.route, atMs);
    if (faults.length > 0 || rows.length !== raw.length) return null;
    const entry = { rows, years: isRange ? value.years : null, atMs, checkedAtMs: atMs, wantedAtMs: 0 };
    entries.put(value, entry);
    // Another process has put it there.
    several.note(keyDigest, contenders(rows), false);
    return entry;
  }

  /** Tells latest figures that are the newest rows of a series which has come since. */
  function areAmong(newest: PairFigures['rows'], held: CacheEntry<unknown> | undefined, keyDigest: string) {
    const chosen = held === undefined ? [] : (entryOf(held, keyDigest)?.rows ?? []);
    return chosen.length > 0 && chosen.every((one) => newest.some((row) => areCopies(one, row)));
  }

  /**
   * Has latest figures that a series doesn't tell be what the service has chosen of its newest rows, where that is held, and else
   * asked for: an older one doesn't outlive the series.
   * @param untold the newest rows of the series, by the name of the latest figure
   */
  async function keepChosen(
    keyDigest: string,
    untold: ReadonlyMap<string, PairFigures['rows']>,
    atMs: number,
  ): Promise<void> {
    const names = [...untold.keys()];
    const held = await tenantCache.read<unknown>(keyDigest, names);
    // What was put there since comes first.
    const heldNow = (name: string) => tenantCache.peek<unknown>(keyDigest, name) ?? held.get(name);
    const gone = names.filter((name) => !areAmong(untold.get(name) ?? [], heldNow(name), keyDigest));
    if (gone.length > 0) tenantCache.keep(keyDigest, new Map(gone.map((name) => [name, UNTOLD])), atMs);
  }

  return {
    several,
    atHand(keyDigest, demand) {
      if (!tenantCache.isAtHand) return undefined;
      const find = (name: string) => {
        const held = tenantCache.peek<unknown>(keyDigest, name);
        return held === undefined ? null : entryOf(held, keyDigest);
      };
      return bestOf(demand, find);
    },
    async read(keyDigest, demands) {
      const best = new Map<string, ObservationEntry>();
      const held = await tenantCache.read<unknown>(keyDigest, namesOf(demands));
      const find = (name: string) => {
        const raw = held.get(name);
        return raw === undefined ? null : entryOf(raw, keyDigest);
      };
      for (const demand of demands) {
        const entry = bestOf(demand, find);
        if (entry !== undefined) best.set(demand.key, entry);
      }
      return best;
    },
    keep(keyDigest, { mode, years }, figures, atMs) {
      const isHolding = tenantCache !== NO_TENANT_CACHE;
      if (!isHolding && mode === 'latest') return;
      const values = new Map<string, RawRows | RawRange>();
      const untold = new Map<string, PairFigures['rows']>();
      const put = (name: string, rows: readonly ObservationRecord[]) => {
        const raw = rows.map(({ record }) => record);
        const value = years === null ? raw : { years, rows: raw };
        entries.put(value, { rows, years, atMs, checkedAtMs: atMs, wantedAtMs: 0 });
        values.set(name, value);
      };
      for (const { pair, rows } of figures) {
        const newest = contenders(rows);
        several.note(keyDigest, newest, mode === 'series' && years === null);
        if (!isHolding) continue;
        shareTexts(rows);
        if (years !== null) {
          // A row of a later year shows that those of the range are not the newest.
          const later = { from: years.from, to: null };
          put(
            rangeName(pair),
            rows.filter(({ year }) => isWithin(later, year)),
          );
          continue;
        }
        put(demandKey(mode, pair), rows);
        if (mode === 'latest') continue;
        const latest = demandKey('latest', pair);
        if (newest.length <= 1) put(latest, newest);
        else untold.set(latest, newest);
      }
      if (!isHolding) return;
      tenantCache.keep(keyDigest, values, atMs);
      if (untold.size > 0) void keepChosen(keyDigest, untold, atMs);
    },
  };
}

/** The name of the range of a pair that came last. */
function rangeName(pair: Pair): string {
  return `years of ${demandKey('series', pair)}`;
}

/** The names under which what answers demands is held. */
function namesOf(demands: readonly Demand[]): string[] {
  const names = demands.map(wholeKey);
  for (const demand of demands) if (demand.years !== null) names.push(rangeName(demand));
  return names;
}

/** What was last known to hold, of that which answers a demand. */
function bestOf(
  demand: Demand,
  find: (name: string) => ObservationEntry | null,
): ObservationEntry | undefined {
  const whole = find(wholeKey(demand)) ?? undefined;
  const { years } = demand;
  if (years === null) return whole;
  const range = find(rangeName(demand));
  if (range === null || range.years === null || !covers(range.years, years)) return whole;
  return whole === undefined || range.checkedAtMs > whole.checkedAtMs ? range : whole;
}

function isRawRange(value: unknown): value is RawRange {
  if (typeof value !== 'object' || value === null || !('years' in value && 'rows' in value)) return false;
  return typeof value.years === 'object' && value.years !== null && Array.isArray(value.rows);
}
