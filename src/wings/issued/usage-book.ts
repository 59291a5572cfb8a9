/** Counts of what one client has asked by one key, of one document, in one day (UTC). */
export interface UsageRow {
  /** As `2026-03-10`. */
  readonly day: string;
  /** Name of the key. */
  readonly key: string;
  /** Name that the client gives itself; empty if it gives none. */
  readonly client: string;
  /** Name of the operation, or of the listed document if the operation has none; empty if neither is known. */
  readonly document: string;
  /** Numbers by their measure: `operations`, which each row has, others of {@link MEASURES}, and codes of errors. */
  readonly counts: Readonly<Record<string, number>>;
}

/** `failed` counts operations with an error, the others what their bills say. */
export const MEASURES = ['operations', 'failed', 'calls', 'shared', 'cached'] as const;

/** Measure that a row exists by. */
const MARK = 'operations';

/** Takes the place of names beyond the bound: clients give themselves and their operations any. */
export const OTHER = 'other';

/**
 * Rows that a key may have in a day before clients are told apart no more, and before documents aren't, either. So
 * made-up names of clients take no document out of sight, and one key takes no room of another's.
 */
export const MOST_ROWS = [100, 200] as const;

/** Lists the places that a row may be counted at, the finest first. */
export function placesOf({ key, client, document }: Omit<UsageRow, 'day' | 'counts'>): readonly string[] {
  return [
    [key, client, document],
    [key, OTHER, document],
    [key, OTHER, OTHER],
  ].map((names) => JSON.stringify(names));
}

/** Chooses the place of a row: the finest that is there already, or that there is room for. */
export function choosePlace(
  places: readonly string[],
  isThere: (place: string) => boolean,
  rows: number,
): string {
  const found = places.find(
    (place, i) => isThere(place) || rows < (MOST_ROWS[i] ?? Number.POSITIVE_INFINITY),
  );
  return found ?? '';
}

/** Makes the row of a place. */
export function rowAt(day: string, place: string, counts: UsageRow['counts']): UsageRow {
  const [key = '', client = '', document = ''] = JSON.parse(place) as string[];
  return { day, key, client, document, counts };
}

/** Usage in memory, of a bounded number of rows for each key and day. */
export class UsageBook {
  readonly #days = new Map<string, Map<string, Record<string, number>>>();
  readonly #rows = new Map<string, number>();

  add(row: UsageRow): void {
    const { day, key, counts } = row;
    const places = this.#days.get(day) ?? new Map<string, Record<string, number>>();
    this.#days.set(day, places);
    const owner = `${day} ${key}`;
    const rows = this.#rows.get(owner) ?? 0;
    const place = choosePlace(placesOf(row), (one) => places.has(one), rows);
    const known = places.get(place);
    if (known === undefined) this.#rows.set(owner, rows + 1);
    const sums = known ?? { [MARK]: 0 };
    for (const [measure, count] of Object.entries(counts)) sums[measure] = (sums[measure] ?? 0) + count;
    places.set(place, sums);
  }

  rows(days: Iterable<string> = this.#days.keys()): readonly UsageRow[] {
    return [...days].flatMap((day) =>
      [...(this.#days.get(day) ?? [])].map(([place, counts]) => rowAt(day, place, counts)),
    );
  }

  /** Forgets all days before one. */
  forget(before: string): void {
    for (const day of this.#days.keys()) if (day < before) this.#days.delete(day);
    for (const owner of this.#rows.keys()) if (owner < before) this.#rows.delete(owner);
  }
}
