import { readFileSync } from 'node:fs';

const SNIPPET = /^<!-- snippet: (\S+?)(?: from `(.+?)` to `(.+?)`)? -->$/gm;

/** A piece of a file of the repository, as a document names it. */
export interface Snippet {
  readonly file: string;
  readonly text: string;
}

/** The pieces of files that a document names. */
export function snippetsIn(text: string, root: string): Snippet[] {
  return [...text.matchAll(SNIPPET)].map(([, file = '', from, to]) => pieceOf(root, file, from, to));
}

/** A document with the pieces of files that it names in their places. */
export function withSnippets(text: string, root: string): string {
  return text.replace(SNIPPET, (_, file: string, from?: string, to?: string) => {
    const piece = pieceOf(root, file, from, to);
    return `\`\`\`${file.split('.').at(-1)} ${file}\n${piece.text}\`\`\``;
  });
}

/**
 * The lines of a file from the first that contains `from` to the next that is `to`; without both, all of it.
 * @throws Error where there are no such lines
 */
function pieceOf(root: string, file: string, from?: string, to?: string): Snippet {
  const all = readFileSync(`${root}${file}`, 'utf8');
  if (from === undefined || to === undefined) return { file, text: all };
  const lines = all.split('\n');
  const first = lines.findIndex((line) => line.includes(from));
  const last = lines.findIndex((line, i) => i >= first && line.trimEnd() === to);
  if (first < 0 || last < 0) throw new Error(`${file} has no lines from \`${from}\` to \`${to}\`.`);
  return { file, text: `${lines.slice(first, last + 1).join('\n')}\n` };
}
