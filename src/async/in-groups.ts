import { setImmediate } from 'node:timers/promises';

/** How many go on at once. Each further group is twice as large as the one before, up to the largest. */
const FIRST_GROUP = 2;
const LARGEST_GROUP = 64;

const GROWING_GROUPS = Math.log2(LARGEST_GROUP / FIRST_GROUP);
const GROWING_SIZE = LARGEST_GROUP - FIRST_GROUP;

/** Which group has this place, where the sizes are 2, 4, 8, 16, 32, 64, 64 and so on. */
function groupOf(place: number): number {
  return place < GROWING_SIZE
    ? Math.floor(Math.log2(place / FIRST_GROUP + 1))
    : GROWING_GROUPS + Math.floor((place - GROWING_SIZE) / LARGEST_GROUP);
}

/**
 * Lets many who wait for the same thing go on in groups, as they came, with iterations of the event loop in between: what
 * the first ones lead to isn't kept waiting by all the others, nor is anybody else.
 */
export class InGroups {
  readonly #turns: Promise<void>[] = [];

  /**
   * To be asked once what they wait for is there.
   * @param place how many are before this one
   * @returns when its group goes on; undefined for those who go on at once
   */
  turnOf(place: number): Promise<void> | undefined {
    const group = groupOf(place);
    while (this.#turns.length < group) this.#turns.push((this.#turns.at(-1) ?? setImmediate()).then(pause));
    return this.#turns[group - 1];
  }
}

/** Two iterations: in the first, sockets are read; what is then written waits for its end. */
function pause(): Promise<void> {
  return setImmediate().then(() => setImmediate());
}
