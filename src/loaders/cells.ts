import type { Shelf } from '../cache/shelf.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, demandKey, type Kind } from '../planner/demand.ts';
import { newestOf } from '../planner/newest.ts';
import { observations } from '../upstream/endpoints.ts';
import type { JsonObject } from '../upstream/records/fields.ts';
import { decodeObservations, type ObservationRecord } from '../upstream/records/observations.ts';

/** The figures of one pair as they are held: none where the service held none. */
export interface Cell {
  readonly rows: readonly ObservationRecord[];
  /** When the service sent them, in milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * Figures are held by country, metric and kind, not by the address they came from: addresses of merged calls hardly
 * ever repeat, figures do.
 */
export interface Cells {
  /** What is held of these demands, fresh or not, by the keys of the demands. */
  read(partition: string, demands: readonly Demand[]): Promise<ReadonlyMap<string, Cell>>;
  /** Holds what an answer said of each of these pairs; a series is held as the latest figure too. */
  keep(partition: string, kind: Kind, figures: readonly PairFigures[], atMs: number): void;
}

export interface PairFigures {
  readonly pair: Pair;
  readonly rows: readonly ObservationRecord[];
}

type RawRows = readonly JsonObject[];

/** Decoded rows, as long as the shelf holds their records in this process. */
const decoded = new WeakMap<RawRows, readonly ObservationRecord[]>();

export function createCells(shelf: Shelf): Cells {
  return {
    async read(partition, demands) {
      const held = await shelf.read<RawRows>(partition, demands.map(demandKey));
      const cells = new Map<string, Cell>();
      for (const [key, { value, atMs }] of held) {
        const rows = rowsIn(value, atMs);
        if (rows !== null) cells.set(key, { rows, atMs });
      }
      return cells;
    },
    keep(partition, kind, figures, atMs) {
      const values = new Map<string, RawRows>();
      const put = (pair: Pair, as: Kind, rows: readonly ObservationRecord[]) => {
        const raw = rows.map(({ record }) => record);
        decoded.set(raw, rows);
        values.set(demandKey({ ...pair, kind: as }), raw);
      };
      for (const { pair, rows } of figures) {
        put(pair, kind, rows);
        if (kind === 'latest') continue;
        const newest = newestOf(rows);
        put(pair, 'latest', newest === null ? [] : [newest]);
      }
      shelf.keep(partition, values, atMs);
    },
  };
}

/** Null where what is held is not what was put there. */
function rowsIn(value: unknown, atMs: number): readonly ObservationRecord[] | null {
  if (!Array.isArray(value)) return null;
  const known = decoded.get(value);
  if (known !== undefined) return known;
  const { rows, faults } = decodeObservations({ data: value }, observations.route, atMs);
  if (faults.length > 0 || rows.length !== value.length) return null;
  decoded.set(value, rows);
  return rows;
}
