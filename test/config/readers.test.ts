import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The sandbox is an island, which writes such texts. */
const SOURCES = globSync('src/**/*.{ts,tsx}').filter(
  (path) => !/^src\/sandbox\/|\/node_modules\/|generated\.ts$/.test(path),
);

/** Readers of a text, each with the only files that may have it. */
const READERS: readonly [what: string, pattern: RegExp, files: readonly string[]][] = [
  ['a time', /Date\.parse\(/, ['src/shared/periods.ts']],
  // Of numbers, which are named after their unit, dates may be made anywhere.
  ['a time', /new Date\((?!0\)|[^\n]*(?:Ms\b|MS\b|wallNow\(\))|at\))[^\n]/, []],
  ['a period or a date', /\\d\{4\}|\\d\\d\\d\\d|\[0-9\]\{4\}/, ['src/shared/periods.ts']],
  ['a quarter, or a month', /\[1-4\]|0\[1-9\]|1\[0-2\]/, []],
  ['a time of day', /\\d(?:\{1?,?2\}|\\d)\)?:/, ['src/shared/periods.ts']],
];

it.for(READERS)('%s is read from a text in one place: %s', ([, pattern, files]) => {
  const found = SOURCES.filter((path) => pattern.test(readFileSync(path, 'utf8')));
  expect(found).toEqual(expect.arrayContaining(files.slice()));
  expect(found.filter((path) => !files.includes(path))).toEqual([]);
});
