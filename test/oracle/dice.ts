/** Draws that depend on nothing but the words they are seeded with, so that one more draw in one place moves no other. */
export interface Dice {
  /** Number from 0 up to, and without, 1. */
  next(): number;
  /** A whole number from 0 up to, and without, `n`. */
  below(n: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Some of the items, each once, in a drawn order. */
  some<T>(items: readonly T[], count: number): T[];
}

export function createDice(...words: readonly (string | number)[]): Dice {
  let state = hashOf(words.join(' '));
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    some<T>(items: readonly T[], count: number) {
      const rest = [...items];
      const taken: T[] = [];
      while (taken.length < count && rest.length > 0) taken.push(...rest.splice(below(rest.length), 1));
      return taken;
    },
  };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}
