/** Paths through files, as recorded by `npm run trace`. */
export interface Passage {
  readonly entered: ReadonlySet<string>;
  /** Sequences of entries into one file. */
  readonly stays: readonly string[];
  /** Stays in a file that was left before. */
  readonly returns: number;
}

/** @param entries the file of each function that was entered, in order */
export function passageOf(entries: readonly string[]): Passage {
  const stays = entries.filter((path, i) => path !== entries[i - 1]);
  const entered = new Set(stays);
  return { entered, stays, returns: stays.length - entered.size };
}

/** The numbers of a path, by their names in `scripts/structure/bounds.json`. */
export function numbersOf(way: string, { entered, returns }: Passage): Record<string, number> {
  return {
    [`files of ${way}`]: entered.size,
    [`returns of ${way}`]: returns,
  };
}
