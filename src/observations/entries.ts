import { createObjectMemo } from '../cache/object-memo.ts';
import { type CacheEntry, NO_TENANT_CACHE, type TenantCache } from '../cache/tenant-cache.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, demandKey, type Mode } from '../planner/demand.ts';
import { newestOf } from '../planner/newest.ts';
import { observations } from '../upstream/endpoints.ts';
import type { JsonObject } from '../upstream/records/fields.ts';
import { decodeObservations, type ObservationRecord } from '../upstream/records/observations.ts';

/** The figures of one pair as they are held: none where the service held none. */
export interface ObservationEntry {
  readonly rows: readonly ObservationRecord[];
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
  /** What is held of a demand, by its key; undefined where nothing is, or the store can't tell at once. */
  atHand(keyDigest: string, key: string): ObservationEntry | undefined;
  /** What is held of these demands, fresh or not, by the keys of the demands. */
  read(keyDigest: string, demands: readonly Demand[]): Promise<ReadonlyMap<string, ObservationEntry>>;
  /** Keeps what an answer said of each of these pairs; a series is held as the latest figure too. */
  keep(keyDigest: string, mode: Mode, figures: readonly PairFigures[], atMs: number): void;
}

export interface PairFigures {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
}

type RawRows = readonly JsonObject[];

/** Entries of records that the tenant cache holds in this process. */
const entries = createObjectMemo<ObservationEntry>('entry');

export function createObservationEntries(tenantCache: TenantCache): ObservationEntries {
  return {
    atHand(keyDigest, key) {
      const held = tenantCache.isAtHand ? tenantCache.peek<RawRows>(keyDigest, key) : undefined;
      return held === undefined ? undefined : (entryOf(held) ?? undefined);
    },
    async read(keyDigest, demands) {
      const found = new Map<string, ObservationEntry>();
      const held = await tenantCache.read<RawRows>(
        keyDigest,
        demands.map(({ key }) => key),
      );
      for (const [key, raw] of held) {
        const entry = entryOf(raw);
        if (entry !== null) found.set(key, entry);
      }
      return found;
    },
    keep(keyDigest, mode, figures, atMs) {
      if (tenantCache === NO_TENANT_CACHE) return;
      const values = new Map<string, RawRows>();
      const put = (pair: Pair, as: Mode, rows: readonly ObservationRecord[]) => {
        const raw = rows.map(({ record }) => record);
        entries.put(raw, { rows, atMs, checkedAtMs: atMs, wantedAtMs: 0 });
        values.set(demandKey(as, pair), raw);
      };
      for (const { pair, rows } of figures) {
        put(pair, mode, rows);
        if (mode === 'latest') continue;
        const newest = newestOf(rows);
        put(pair, 'latest', newest === null ? [] : [newest]);
      }
      tenantCache.keep(keyDigest, values, atMs);
    },
  };
}

/** Null where what is held is not what was put there. */
function entryOf({ value, atMs }: CacheEntry<RawRows>): ObservationEntry | null {
  if (!Array.isArray(value)) return null;
  const known = entries.of(value);
  if (known !== undefined) return known;
  const { rows, faults } = decodeObservations({ data: value }, observations.route, atMs);
  if (faults.length > 0 || rows.length !== value.length) return null;
  const entry = { rows, atMs, checkedAtMs: atMs, wantedAtMs: 0 };
  entries.put(value, entry);
  return entry;
}
