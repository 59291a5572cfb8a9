import { suggestionList } from 'graphql/jsutils/suggestionList.js';

/** The least share of common words that makes a suggestion. */
const LEAST_SHARED = 0.5;

/**
 * Suggestions for an unknown name: first those with the most words in common, in any order (`electricity_access_pct`,
 * `access_electricity_pct`), then those that differ by letters.
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
