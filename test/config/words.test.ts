import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'vite';
import { expect, it } from 'vitest';

/** Words that this project once had of its own, and the field's for them. */
const OLD_WORDS: Readonly<Record<string, string>> = {
  errand: 'task',
  fault: 'error',
  faults: 'errors',
  faulty: 'malformed',
  held: 'cached',
  inbox: 'queue',
  kept: 'cached, stored',
  purse: 'budget',
  remembered: 'cached',
  remembers: 'caches',
  told: 'resolved, shown',
  untold: 'pending, omitted',
  wing: 'plugin',
  wings: 'plugins',
};

/** Names that say nothing by themselves, and stand for nouns. */
const NO_NOUNS: ReadonlySet<string> = new Set(['found', 'known', 'others', 'own', 'there']);

/** English that is no name of ours: these words of a comment are taken out before it is looked at. */
const ENGLISH = /`[^`]*`|\bheld (?:back|up)\b|\bkept\b|\btold\b|\bpage faults\b|\bat fault\b/g;

interface Node {
  readonly type: string;
  readonly name?: unknown;
  readonly start: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) see(value);
  for (const member of Object.values(value)) visit(member, see);
}

const partsOf = (name: string) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _]/);

/** Returns the old words of a file, each with its place. */
function oldWordsIn(path: string, text: string): readonly string[] {
  const { program, comments } = parseSync(path, text);
  const lineOf = (at: number) => text.slice(0, at).split('\n').length;
  const names: string[] = [];
  visit(program, ({ type, name, start }) => {
    if (!type.endsWith('Identifier') || typeof name !== 'string') return;
    if (name === 'NOT_HELD') return;
    const isOld = NO_NOUNS.has(name) || partsOf(name).some((part) => Object.hasOwn(OLD_WORDS, part));
    if (isOld) names.push(`${path}:${lineOf(start)} ${name}`);
  });
  const words = comments.flatMap(({ value, start }) =>
    value
      .replaceAll(ENGLISH, '')
      .split(/[^A-Za-z]+/)
      .filter((word) => Object.hasOwn(OLD_WORDS, word.toLowerCase()))
      .map((word) => `${path}:${lineOf(start)} "${word}" in a comment`),
  );
  return [...names, ...words];
}

const files = globSync('src/**/*.{ts,tsx}').filter(
  (path) => !/node_modules|^src\/sandbox\/|\/generated\.ts$|\.d\.ts$/.test(path),
);

it('the source says the field’s words for things that once had names of our own', () => {
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((path) => oldWordsIn(path, readFileSync(path, 'utf8')))).toEqual([]);
});

it.for([
  ['const held = 1;', 'x.ts:1 held'],
  ['const rest = { isHeld: 1 };', 'x.ts:1 isHeld'],
  ['class A { #purse = 1 }', 'x.ts:1 purse'],
  ['// The purse pays.', 'x.ts:1 "purse" in a comment'],
] as const)('"%s" is found to say an old word', ([text, place]) => {
  expect(oldWordsIn('x.ts', text)).toContain(place);
});
