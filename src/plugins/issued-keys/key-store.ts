import type { KeptStore, SumsBook } from '../../plugin/index.ts';

/** Counts of one client, key, document and day (UTC). */
export interface UsageRow {
  /** As `2026-03-10`. */
  readonly day: string;
  readonly key: string;
  /** As the client names itself; empty if it doesn't. */
  readonly client: string;
  /** Name of the operation, or else of the listed document; empty if neither is known. */
  readonly document: string;
  /** By measure: `operations`, which every row has, the others of {@link MEASURES}, and error codes. */
  readonly counts: Readonly<Record<string, number>>;
}

/** `failed` counts operations with an error; `calls`, `shared` and `cached` are sums of bills. */
export const MEASURES = ['operations', 'failed', 'calls', 'shared', 'cached'] as const;

/** Replaces names beyond the bound, since clients choose the names of themselves and their operations. */
export const OTHER = 'other';

type SumsToAdd = Parameters<SumsBook['add']>[0];
type Sums = ReturnType<SumsBook['sums']>[number];

export const sumsOf = ({ day, key, client, document, counts }: UsageRow): SumsToAdd => ({
  day,
  owner: key,
  places: [
    [key, client, document],
    [key, OTHER, document],
    [key, OTHER, OTHER],
  ],
  counts,
});

export function rowsOf(sums: readonly Sums[]): readonly UsageRow[] {
  return sums.flatMap(({ day, place, counts }) => {
    const [key, client, document, ...rest] = place;
    const isNamed = key !== undefined && client !== undefined && document !== undefined;
    return isNamed && rest.length === 0 ? { day, key, client, document, counts } : [];
  });
}

/** Issued keys by digest, with counts of their calls and usage, for all gateways that share the store. */
export interface KeyStore extends Omit<KeptStore, 'addSums' | 'readSums'> {
  /**
   * A batch counts once, so that one with an unknown outcome can be sent again.
   * @param retainedFrom the first day that is retained
   */
  addUsage(rows: readonly UsageRow[], batch: string, retainedFrom: string): Promise<void>;
  readUsage(days: readonly string[]): Promise<readonly UsageRow[]>;
}

/** Milliseconds after which a request goes on without the store, if it can. */
export const LATE_MS = 50;

export function keyStoreIn({ addSums, readSums, ...kept }: KeptStore): KeyStore {
  return {
    ...kept,
    addUsage: (rows, batch, retainedFrom) => addSums(rows.map(sumsOf), batch, retainedFrom),
    readUsage: async (days) => rowsOf(await readSums(days)),
  };
}
