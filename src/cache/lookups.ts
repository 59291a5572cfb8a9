/** Lookups in a cache: found fresh, and not found. */
export interface Lookups {
  hits: number;
  misses: number;
}

/** Lookups by kind: figures, lists and other answers of the service, and whole answers to operations. */
export interface CacheLookups {
  readonly figures: Lookups;
  readonly lists: Lookups;
  readonly answers: Lookups;
}

/** Opens plain numbers that are counted up on the way of every operation, and read when somebody asks. */
export function openLookups(): CacheLookups {
  return { figures: noLookups(), lists: noLookups(), answers: noLookups() };
}

function noLookups(): Lookups {
  return { hits: 0, misses: 0 };
}
