/**
 * Counts of the comments of a file: how many begin with a relative clause ("What is sent…", "Whether a
 * call…"), and how many of their words are vague. A doc comment, and a run of line comments, is one comment.
 *
 * `node scripts/prose.ts --documents` counts the same of the sentences of documents and of descriptions in
 * the SDL, and ends with exit code 1 if one of them is beyond the bounds. `--code` counts comments of all code
 * outside the core, whose own `npm run structure` bounds. With `--list` both print each place.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, visit } from 'graphql';
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

export interface CodeFile {
  /** Path from the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface CodeProse {
  readonly comments: number;
  readonly words: number;
  /** Each hedge with its file and the words around it. */
  readonly hedges: readonly string[];
  /** First words of each comment that begins with a relative clause, with its file. */
  readonly relative: readonly string[];
  /** True if no comment begins so, and the hedges are few. */
  readonly isPlain: boolean;
}

const CORE = /^src\/(?!(graphiql|sandbox)\/)/;
const SOURCE = /(?<!\.d)\.[cm]?[jt]sx?$/;
const FIXTURE = /(^|\/)fixtures\//;
const GENERATED = /^\/\/ Written by `npm run codegen`\./;
/** Hedges that comments outside the core may have in 100 words. */
const MOST_CODE_HEDGES = 0.5;

/** TypeScript and JavaScript of the repository outside the core: neither generated, nor declarations, nor fixtures. */
export function codeOutsideCore(root: string): CodeFile[] {
  return execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => SOURCE.test(path) && !CORE.test(path) && !FIXTURE.test(path))
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !GENERATED.test(text));
}

/** Counts of the comments of all these files together. */
export function proseOfCode(files: readonly CodeFile[]): CodeProse {
  const each = files.map(({ path, text }) => {
    const comments = commentsIn(path, text);
    const within = (places: readonly string[]) => places.map((place) => `${path}: ${place}`);
    const { words, relative } = proseOf(comments);
    const hedges = comments.flatMap((comment) => hedgesAmong(wordsOf(comment)));
    return { comments: comments.length, words, relative: within(relative), hedges: within(hedges) };
  });
  const words = each.reduce((sum, one) => sum + one.words, 0);
  const [relative, hedges] = [each.flatMap((one) => one.relative), each.flatMap((one) => one.hedges)];
  return {
    comments: each.reduce((sum, one) => sum + one.comments, 0),
    words,
    relative,
    hedges,
    isPlain: relative.length === 0 && hedges.length * 100 <= words * MOST_CODE_HEDGES,
  };
}

export interface DocumentProse {
  readonly sentences: number;
  readonly words: number;
  /** Each hedge with the words around it. */
  readonly hedges: readonly string[];
  /** First words of each sentence that begins with a relative clause. */
  readonly relative: readonly string[];
}

/** Documents that are bounded: all but the history and the benchmark's report. */
const DOCUMENTS: readonly string[] = [
  '*.md',
  'docs/*.md',
  'clients/README.md',
  'clients/client/README.md',
  'src/*/README.md',
  'schema/**/*.graphql',
];
const LEFT_OUT = ['CHANGELOG.md'];

/** Shares that a document may have. One such sentence and two hedges are allowed in any, however short. */
const BOUNDS = { relative: 3 / 100, hedges: 0.7 / 100 };

/** The first words of a sentence whose subject, or condition, is a relative clause. */
const CLAUSE =
  /^(What|Whether|Where|Whichever|Whatever|Wherever|However|Who|Whoever|Whom|Whose|How|Which|Those (who|that|which|whose|of)|That (a|an|the|each|no|there|it)) /i;

/** Sentences of a document in Markdown: paragraphs, items and cells, without headings, blocks of code, comments and addresses. */
export function sentencesOfMarkdown(text: string): string[] {
  const plain = text
    .replaceAll(/^```[\s\S]*?^```$/gm, '\n')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^#+ .*$/gm, '\n')
    .replaceAll(/^\|[-| :]+\|$/gm, '\n')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/<[^>\n]+>/g, '');
  const blocks = plain
    .replaceAll(/^\s*([-*]|\d+\.) /gm, '\n\n')
    .replaceAll(/^\|(.*)\|$/gm, (_, row: string) => `\n\n${row.replaceAll(/(?<!\\)\|/g, '\n\n')}\n\n`)
    .split(/\n\s*\n/);
  return blocks.flatMap(sentencesIn);
}

/** Sentences of the descriptions of an SDL. */
function sentencesOfSdl(text: string): string[] {
  const found: string[] = [];
  visit(parse(text), {
    enter(node) {
      if ('description' in node && node.description)
        found.push(...node.description.value.split(/\n\s*\n/).flatMap(sentencesIn));
    },
  });
  return found;
}

/** Sentences of a paragraph. A name in code and the title of a link are one word each: a full stop in them ends nothing. */
function sentencesIn(block: string): string[] {
  return block
    .replaceAll(/`[^`]+`/g, 'NAME')
    .replaceAll(/\[[^\]]*\]\([^)]*\)/g, 'TITLE')
    .replaceAll(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '')
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?][)"]?) (?=\S)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length > 1);
}

const wordsOf = (sentence: string) =>
  sentence.split(/[^\p{L}\p{N}'’_-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));

/** Hedges among words, each with those around it. */
const hedgesAmong = (words: readonly string[]) =>
  words.flatMap((word, at) => (HEDGE.test(word) ? [words.slice(Math.max(0, at - 4), at + 5).join(' ')] : []));

/** Counts of sentences. A question is no relative clause. */
export function proseOfSentences(sentences: readonly string[]): DocumentProse {
  const all = sentences.map(wordsOf);
  return {
    sentences: sentences.length,
    words: all.flat().length,
    hedges: all.flatMap(hedgesAmong),
    relative: sentences
      .filter((sentence) => CLAUSE.test(sentence) && !sentence.endsWith('?'))
      .map((sentence) => sentence.slice(0, 70)),
  };
}

/** Sentences of a file by its ending. */
function sentencesOf(path: string, text: string): string[] {
  return path.endsWith('.graphql') ? sentencesOfSdl(text) : sentencesOfMarkdown(text);
}

export function proseOfDocument(path: string, text: string): DocumentProse {
  return proseOfSentences(sentencesOf(path, text));
}

/** True if a document keeps the bounds. */
export function isPlain({ sentences, words, hedges, relative }: DocumentProse): boolean {
  return (
    relative.length <= Math.max(1, sentences * BOUNDS.relative) &&
    hedges.length <= Math.max(2, words * BOUNDS.hedges)
  );
}

/** Bounded documents below a folder, by their path from there. */
export function boundedDocuments(root: string): { readonly path: string; readonly file: string }[] {
  return globSync([...DOCUMENTS], { cwd: root })
    .filter((path) => !LEFT_OUT.includes(path))
    .sort()
    .map((path) => ({ path, file: join(root, path) }));
}

const share = (part: readonly string[], of: number) => `${((100 * part.length) / (of || 1)).toFixed(2)} %`;

function printDocuments(isListed: boolean): void {
  const row = (name: string, { sentences, words, hedges, relative }: DocumentProse) =>
    `${name.padEnd(32)} ${String(sentences).padStart(5)} sentences, ${String(words).padStart(6)} words · relative ${String(relative.length).padStart(3)} (${share(relative, sentences)}) · hedges ${String(hedges.length).padStart(3)} (${share(hedges, words)})`;
  const documents = boundedDocuments('.').map(({ path, file }) => ({
    path,
    sentences: sentencesOf(path, readFileSync(file, 'utf8')),
  }));
  for (const { path, sentences } of documents) {
    const prose = proseOfSentences(sentences);
    console.log(`${row(path, prose)}${isPlain(prose) ? '' : '  beyond'}`);
    if (isListed) for (const place of [...prose.relative, ...prose.hedges]) console.log(`    ${place}`);
    if (!isPlain(prose)) process.exitCode = 1;
  }
  const all = proseOfSentences(documents.flatMap(({ sentences }) => sentences));
  console.log(row('all', all));
  if (!isPlain(all)) process.exitCode = 1;
}

function printCode(isListed: boolean): void {
  const { comments, words, relative, hedges, isPlain: isSo } = proseOfCode(codeOutsideCore('.'));
  for (const place of isListed ? [...relative, ...hedges] : relative) console.log(place);
  console.log(
    `${comments} comments, ${words} words · relative ${relative.length} (${share(relative, comments)}) · hedges ${hedges.length} (${share(hedges, words)})${isSo ? '' : '  beyond'}`,
  );
  if (!isSo) process.exitCode = 1;
}

if (import.meta.main) {
  const isListed = process.argv.includes('--list');
  if (process.argv.includes('--documents')) printDocuments(isListed);
  if (process.argv.includes('--code')) printCode(isListed);
}
