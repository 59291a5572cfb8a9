import { suggestionList } from 'graphql/jsutils/suggestionList.js';

/** Share of the words of two names that both have, from which the one may be meant by the other. */
const LEAST_SHARED = 0.5;

/**
 * Lists names that may be meant by one that isn't among them: those with the most words in common first, in any order
 * (`electricity_access_pct`, `access_electricity_pct`), and then those that differ by letters.
 */
export function alikeNames(name: string, names: readonly string[]): readonly string[] {
  const words = wordsOf(name);
  const shared = new Map(names.map((other) => [other, sharedOf(words, wordsOf(other))]));
  const byWords = names.filter((other) => (shared.get(other) ?? 0) >= LEAST_SHARED);
  const ranked = byWords.toSorted((a, b) => (shared.get(b) ?? 0) - (shared.get(a) ?? 0));
  return [...new Set([...ranked, ...suggestionList(name, names)])];
}

function wordsOf(name: string): ReadonlySet<string> {
  return new Set(name.toLowerCase().split(/[^a-z0-9]+/));
}

function sharedOf(words: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const both = [...words].filter((word) => other.has(word)).length;
  return both / (words.size + other.size - both);
}
