/** Sums of one owner and day (UTC), by place. Others choose the names of places, so that their number is bounded. */
export interface SumsToAdd {
  /** As `2026-03-10`. */
  readonly day: string;
  readonly owner: string;
  /** The places that the counts may be added to, the finest first: to the first that exists or has room. */
  readonly places: readonly (readonly string[])[];
  /** By measure, of letters, digits and underscores; `operations` is one of them. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The sums of one day and place. */
export interface Sums extends Pick<SumsToAdd, 'day' | 'counts'> {
  readonly place: readonly string[];
}

/** Places of an owner and day above which the finest place isn't made any more, and above which the next isn't. */
export const MOST_PLACES = [100, 200] as const;

/** Chooses the finest place that exists or has room. */
export function choosePlace(
  places: readonly string[],
  isThere: (place: string) => boolean,
  existing: number,
): string {
  const place = places.find(
    (place, i) => isThere(place) || existing < (MOST_PLACES[i] ?? Number.POSITIVE_INFINITY),
  );
  return place ?? '';
}

export const namesOf = ({ places }: Pick<SumsToAdd, 'places'>): readonly string[] =>
  places.map((place) => JSON.stringify(place));

/** None if the stored name is damaged. */
export function sumsAt(day: string, name: string, counts: Sums['counts']): Sums | [] {
  try {
    const place: unknown = JSON.parse(name);
    const isPlace = Array.isArray(place) && place.every((part) => typeof part === 'string');
    return isPlace ? { day, place, counts } : [];
  } catch {
    return [];
  }
}

/** Sums in memory, with a bounded number of places per owner and day. */
export class SumsBook {
  readonly #days = new Map<string, Map<string, Record<string, number>>>();
  readonly #existing = new Map<string, number>();

  add(sums: SumsToAdd): void {
    const { day, owner, counts } = sums;
    const places = this.#days.get(day) ?? new Map<string, Record<string, number>>();
    this.#days.set(day, places);
    const whose = `${day} ${owner}`;
    const existing = this.#existing.get(whose) ?? 0;
    const place = choosePlace(namesOf(sums), (one) => places.has(one), existing);
    const known = places.get(place);
    if (known === undefined) this.#existing.set(whose, existing + 1);
    const added = known ?? { operations: 0 };
    for (const [measure, count] of Object.entries(counts)) added[measure] = (added[measure] ?? 0) + count;
    places.set(place, added);
  }

  sums(days: Iterable<string> = this.#days.keys()): readonly Sums[] {
    return [...days].flatMap((day) =>
      [...(this.#days.get(day) ?? [])].flatMap(([place, counts]) => sumsAt(day, place, counts)),
    );
  }

  /** @param before the first day that is retained */
  forget(before: string): void {
    for (const day of this.#days.keys()) if (day < before) this.#days.delete(day);
    for (const whose of this.#existing.keys()) if (whose < before) this.#existing.delete(whose);
  }
}
