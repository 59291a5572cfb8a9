import { globSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measure } from '../../scripts/structure/measure.ts';
import { numbersOf, passageOf } from '../../scripts/structure/passage.ts';
import { accepted, type Bounds, judge, readBounds } from '../../scripts/structure/ratchet.ts';
import { DOCUMENT_WORDS, wordCountOf, wordsOfDocuments } from '../../scripts/structure/words.ts';

type Tree = Readonly<Record<string, string>>;

const TREE: Tree = {
  'src/gateway/gateway.ts':
    "import { plan } from '../observations/planner/plan.ts';\nexport const gateway = plan;\n",
  'src/observations/planner/plan.ts': 'export const plan = 1;\n',
  'src/shared/live.ts': 'export const live = 1;\n',
};

function measuresOf(files: Tree): Record<string, number> {
  const { measures } = measure(Object.entries({ ...TREE, ...files }).map(([path, text]) => ({ path, text })));
  return Object.fromEntries(Object.entries(measures).map(([name, { value }]) => [name, value]));
}

describe('the structure of the source', () => {
  it.for([
    ['imports against the layers', "import { gateway } from '../../gateway/gateway.ts';\n", 1],
    ['imports against the layers', "import type { Gateway } from '../../gateway/gateway.ts';\n", 1],
    ['imports against the layers', "const gateway = () => import('../../gateway/gateway.ts');\n", 1],
    ['imports against the layers', "import { live } from '../../shared/live.ts';\n", 0],
    ['imports of plugins by others', "import type { A } from '../../plugins/a/a.ts';\n", 1],
    ['imports of plugins by others', "const a = () => import('../../plugins/a/a.ts');\n", 1],
    ['imports of plugins by others', "import { plugins } from '../../plugins.ts';\n", 1],
    ['circles of imports', "export { gateway } from '../../gateway/gateway.ts';\n", 1],
    ['circles of imports', "const gateway = () => import('../../gateway/gateway.ts');\n", 0],
    ['files in circles of any imports', "const gateway = () => import('../../gateway/gateway.ts');\n", 2],
    ['files in circles of any imports', "import { type gateway } from '../../gateway/gateway.ts';\n", 2],
    ['files in circles of any imports', "let all: import('../../gateway/gateway.ts').all;\n", 2],
    ['files in circles of any imports', "import { live } from '../../shared/live.ts';\n", 0],
    ['lines of the largest function', `function long() {${'\n'.repeat(7)}}\n`, 8],
    ['generator functions made by calls', 'function f() {\n  function* g() {}\n}\n', 1],
    ['generator functions made by calls', 'const f = () => ({ *g() {} });\n', 1],
    ['generator functions made by calls', 'function* f() {}\nclass A {\n  *g() {}\n}\n', 0],
    ['kernel lines', '\n\n\n', 6],
  ] as const)('the structure of the source has as "%s", with a plan of %j, %i', ([name, text, value]) => {
    expect(measuresOf({ 'src/observations/planner/plan.ts': text })[name]).toBe(value);
  });

  it.for([
    ["import { b } from '../b/b.ts';\n", 1],
    ["import type { B } from '../b/b.ts';\n", 1],
    ["const b = () => import('./b.ts');\n", 0],
    ["import { gateway } from '../../gateway/gateway.ts';\n", 0],
  ] as const)(
    'the structure of the source has for a plugin with %j %i imports of another',
    ([text, value]) => {
      expect(measuresOf({ 'src/plugins/a/a.ts': text })['imports of one plugin by another']).toBe(value);
    },
  );

  it('the structure of the source lets the command line take the list of plugins', () => {
    const files = { 'src/cli/serve.ts': "import { plugins } from '../plugins.ts';\n" };
    expect(measuresOf(files)['imports of plugins by others']).toBe(0);
  });

  it('the structure of the source has bounds on nothing that is not counted', () => {
    const { structure, trace } = readBounds();
    expect([...Object.keys(measuresOf({})), DOCUMENT_WORDS]).toEqual(
      expect.arrayContaining(Object.keys(structure)),
    );
    const ways = ['the first asking', 'the second asking', 'the third asking', 'another key'];
    const numbers = ways.flatMap((way) => Object.keys(numbersOf(way, passageOf([]))));
    expect(numbers).toEqual(expect.arrayContaining(Object.keys(trace)));
  });
});

describe('a bound', () => {
  const bounds: Bounds = {
    met: { baseline: 3, target: 5 },
    open: { baseline: 9, target: 5 },
    bare: { baseline: 2 },
  };

  it.for([
    [{ met: 5, open: 9, bare: 2 }, []],
    [{ met: 6, open: 10, bare: 3 }, ['met', 'open', 'bare']],
    [{ met: 3, open: 4, bare: 0 }, []],
  ] as const)('a bound of %j refuses %j', ([numbers, worse]) => {
    expect(judge(numbers, bounds).worse).toEqual(worse);
  });

  it('a bound takes a better number as its baseline, and never a worse one', () => {
    expect(accepted({ met: 4, open: 7, bare: 1 }, bounds)).toEqual({
      met: { baseline: 3, target: 5 },
      open: { baseline: 7, target: 5 },
      bare: { baseline: 1 },
    });
  });

  it('a bound is shown as today · baseline · target, and has to be of something that is counted', () => {
    const { lines: shown, unknown, better } = judge({ met: 1234, bare: 1, more: 7 }, bounds);
    expect(shown).toEqual([
      '   today · baseline ·   target',
      '   1,234 ·        3 ·        5  met',
      '       1 ·        2 ·        –  bare',
      '       7 ·        – ·        –  more',
    ]);
    expect({ unknown, better }).toEqual({ unknown: ['open'], better: ['bare'] });
  });
});

describe('a way through files', () => {
  it('a way through files counts files, and returns to one that was left', () => {
    const entries = ['src/a.ts', 'src/a.ts', 'src/b.ts', 'src/a.ts', 'src/c.ts', 'src/b.ts'];
    expect(numbersOf('it', passageOf(entries))).toEqual({
      'files of it': 3,
      'returns of it': 2,
    });
  });
});

it('ARCHITECTURE.md shows the layers and plugins as the imports have them', () => {
  const paths = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('node_modules') });
  const { picture } = measure(paths.map((path) => ({ path, text: readFileSync(path, 'utf8') })));
  expect(readFileSync('ARCHITECTURE.md', 'utf8')).toContain(`\n\`\`\`\n${picture}\n\`\`\`\n`);
  expect(picture).toMatch(/^cli\n server\n {2}gateway\n {3}plugin/);
  for (const plugin of readdirSync('src/plugins')) expect(picture).toContain(plugin);
});

describe('the words of the documents', () => {
  it('the words of the documents include those of code, and no bar of a table', () => {
    expect(
      wordCountOf('# Two words\n\n| a | 1 |\n|---|---|\n- `b`\n\n```ts\nconst c = { d: é };\n```\n'),
    ).toBe(10);
  });

  it('the words of the documents are those that users and contributors read, of no package', () => {
    const { value, places } = wordsOfDocuments();
    const files = places.map((place) => place.trim().split(/ +/)[1]);
    for (const file of ['README.md', 'SECURITY.md', 'docs/settings.md', 'clients/client/README.md'])
      expect(files).toContain(file);
    expect(files.filter((file) => /CHANGELOG|node_modules/.test(file ?? ''))).toEqual([]);
    expect(value).toBeGreaterThan(10_000);
  });
});
