/**
 * Counts the words of the documents that users and contributors read. A word is separated by white space and has a letter or a
 * digit: the bars of a table and the marks of a list are none. Code blocks count too.
 */
import { globSync, readFileSync } from 'node:fs';
import type { Measured } from './measure.ts';

/** Name of the number in `scripts/structure/bounds.json`. */
export const DOCUMENT_WORDS = 'words of the documents';

const DOCUMENTS = [
  '{README,ARCHITECTURE,CONTRIBUTING,SECURITY}.md',
  'docs/**/*.md',
  'clients/**/*.md',
] as const;

export const wordCountOf = (text: string) => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

/** The places are the documents with their counts, the longest first. */
export function wordsOfDocuments(): Measured {
  const files = globSync(DOCUMENTS, { exclude: (path) => path.endsWith('node_modules') });
  const counts = files.map((file) => ({ file, count: wordCountOf(readFileSync(file, 'utf8')) }));
  return {
    value: counts.reduce((sum, { count }) => sum + count, 0),
    places: counts
      .toSorted((a, b) => b.count - a.count)
      .map(({ file, count }) => `${String(count).padStart(6)}  ${file}`),
  };
}
