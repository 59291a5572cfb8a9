/**
 * Counts of the comments of a file: how many begin with a relative clause ("What is sent…", "Whether a call…"), and how many
 * of their words leave open what is meant. A doc comment, and a run of line comments, is one comment.
 */
import { parseSync } from 'vite';

export interface Prose {
  readonly comments: number;
  readonly words: number;
  readonly hedges: readonly string[];
  /** First words of each comment that begins with a relative clause. */
  readonly relative: readonly string[];
}

const RELATIVE =
  /^(What|Whether|Where|Whichever|Whatever|Those|Who|Whoever|Whom|Whose|When|How|Which|That)\b/;
const HEDGE = /^(what|where|whatever|whoever|meanwhile)$/i;

/** Comments in `text`, source code in TypeScript: without their marks, each as one line. */
export function commentsIn(path: string, text: string): string[] {
  const found = parseSync(path, text).comments;
  const runs: { text: string; end: number; isLine: boolean }[] = [];
  for (const { type, value, start, end } of found) {
    const last = runs.at(-1);
    const isLine = type === 'Line';
    const follows = last?.isLine && isLine && /^\s*$/.test(text.slice(last.end, start));
    if (last && follows) {
      last.text += ` ${value}`;
      last.end = end;
    } else runs.push({ text: value, end, isLine });
  }
  return runs
    .map(({ text: raw }) =>
      raw
        .replaceAll(/^[ \t]*\*+[ \t]?/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((comment) => comment !== '' && !/^(biome-ignore|@ts-|#__PURE__|v8 ignore)/.test(comment));
}

export function proseOf(comments: readonly string[]): Prose {
  const words = comments.flatMap((comment) =>
    comment.split(/[^\p{L}\p{N}'_-]+/u).filter((word) => word !== ''),
  );
  return {
    comments: comments.length,
    words: words.length,
    hedges: words.filter((word) => HEDGE.test(word)),
    relative: comments.filter((comment) => RELATIVE.test(comment)).map((comment) => comment.slice(0, 70)),
  };
}
