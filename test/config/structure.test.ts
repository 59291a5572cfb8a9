import { describe, expect, it } from 'vitest';
import type { SourceFile } from '../../scripts/structure/look.ts';
import { measure } from '../../scripts/structure/measure.ts';
import { numbersOf, passageOf } from '../../scripts/structure/passage.ts';
import {
  accepted,
  type Bounds,
  type BoundsFile,
  judge,
  readBounds,
} from '../../scripts/structure/ratchet.ts';

type Tree = Readonly<Record<string, string>>;

const ROWS =
  'Handle  received( run )  src/gateway.ts\nFetch   held → plan → (cover | call)\nSend    retried( http )';
const lines = (count: number, text = '\n') => text.repeat(count);

/** A small house that keeps all rules: `big.ts` is imported once and long enough, `small.ts` by two. */
const HOUSE: Tree = {
  'ARCHITECTURE.md': `# Architecture\n\n\`\`\`\n${ROWS}\n\`\`\`\n`,
  'README.md': '# Readme\n',
  'src/gateway.ts':
    "import { big } from './plan/big.ts';\nimport { small } from './plan/small.ts';\n/** Puts it together. */\nconst all = [big, small];\nconsole.log(all);\n",
  'src/plan/big.ts': `import { small } from './small.ts';\nexport const big = small;\n${lines(80)}`,
  'src/plan/small.ts': 'export const small = 1;\n',
  'src/wings/live.ts': `export interface Live { readonly at: number }\nexport const live = 1;\n${lines(80)}`,
};

function numbersIn(tree: Tree, small: BoundsFile['small'] = {}): Record<string, number> {
  const files: SourceFile[] = Object.entries(tree).map(([path, text]) => ({ path, text }));
  const { measures } = measure(files, small);
  return Object.fromEntries(Object.entries(measures).map(([name, { value }]) => [name, value]));
}

/** Bounds that the house keeps, and nothing beyond it but sizes, which have room up to their targets. */
const BOUNDS: Bounds = Object.fromEntries(
  Object.entries(numbersIn(HOUSE)).map(([name, baseline]) => {
    const isSize = /^(lines|bytes) of /.test(name);
    return [name, { baseline, target: isSize ? (readBounds().structure[name]?.target ?? 0) : 0 }];
  }),
);

/** Houses that break a rule each: files that come, or take the place of others. */
const PLANTED: readonly (readonly [rule: string, files: Tree])[] = [
  ['core files', { 'src/plan/new.ts': '' }],
  ['files in the largest folder', { 'src/plan/c.ts': '', 'src/plan/d.ts': '' }],
  ['core lines', { 'src/wings/new.ts': '\n' }],
  ['kernel lines', { 'src/plan/new.ts': '\n' }],
  [
    'exports',
    { 'src/plan/new.ts': 'export const { a, b: [c] } = all;\nexport type { D } from "./big.ts";\n' },
  ],
  ['Parts types', { 'src/plan/new.ts': 'interface NewParts { readonly a: 1 }\n' }],
  ['Pick and Omit', { 'src/plan/new.ts': "interface New extends Omit<Old, 'a'> { readonly b: 1 }\n" }],
  ['Pick and Omit', { 'src/plan/new.ts': "const a = (given: Pick<Old, 'a'>) => given.a;\n" }],
  [
    'files with PromiseOrValue',
    { 'src/plan/new.ts': "import type { PromiseOrValue } from '../async/turns.ts';\n" },
  ],
  [
    'files with PromiseOrValue',
    { 'src/plan/new.ts': "import { mapValue as then } from '../async/turns.ts';\n" },
  ],
  [
    'files that slice themselves',
    { 'src/plan/new.ts': "import { type Job, timeSliced } from '../async/turns.ts';\n" },
  ],
  [
    'tables by key',
    {
      'src/plan/new.ts':
        'export function open() {\n  const known = createLru<number>(1);\n  return { of: ({ caller }) => known.get(caller.keyDigest) };\n}\n',
    },
  ],
  [
    'tables by key',
    {
      'src/plan/new.ts':
        "class Known {\n  readonly #known = new Map<string, number>();\n  of(call: Call, { keyDigest }: Caller) {\n    const whose = call.isPublic ? '' : keyDigest;\n    return this.#known.get(whose);\n  }\n}\n",
    },
  ],
  [
    'tables by key and more',
    {
      'src/plan/new.ts':
        'const known = new LRUCache<string, number>({ max: 1 });\nexport const find = (name: string) => known.get(name);\n' +
        `const nameOf = (keyDigest: string, name: string) => \`\${keyDigest} \${name}\`;\nexport const of = (keyDigest: string) => find(nameOf(keyDigest, 'a'));\n`,
    },
  ],
  ['memo sites', { 'src/plan/new.ts': 'const known = new WeakMap<object, number>();\n' }],
  ['memo sites', { 'src/plan/new.ts': 'const known = new Map<string, number>();\n' }],
  ['stages in the rows', { 'ARCHITECTURE.md': `\`\`\`\n${ROWS.replace('http', 'paced( http )')}\n\`\`\`\n` }],
  ['stages in the rows', { 'ARCHITECTURE.md': '# Architecture without rows\n' }],
  [
    'functions that wrap the next stage',
    {
      'src/plan/new.ts':
        'type Send = (call: Call) => Promise<Answer>;\nfunction retried(send: Send): Send {\n  return send;\n}\n',
    },
  ],
  [
    'comments that begin with a relative clause, %',
    { 'src/plan/new.ts': '/** Whether it is so. */\nconst a = 1;\n' },
  ],
  ['hedges in 100 words of comments', { 'src/plan/new.ts': '// Keeps whatever comes.\n' }],
  [
    'small files that one other imports',
    {
      'src/plan/tiny.ts': 'export const tiny = 1;\n',
      'src/plan/new.ts': "import { tiny } from './tiny.ts';\n",
    },
  ],
  [
    'files that take a digest',
    { 'src/plan/new.ts': 'export const a = ({ keyDigest }: Caller) => keyDigest;\n' },
  ],
  ['files that take a digest', { 'src/plan/new.ts': 'interface A { of(digest: string): number }\n' }],
  ['wings that the kernel imports', { 'src/plan/new.ts': "import { live } from '../wings/live.ts';\n" }],
  ['wings that the kernel imports', { 'src/plan/new.ts': "import { type Live } from '../wings/live.ts';\n" }],
  ['lines of the largest file', { 'src/plan/new.ts': lines(701) }],
  ['lines of the largest function', { 'src/plan/new.ts': `function long() {${lines(120)}}\n` }],
  ['circles of imports', { 'src/plan/small.ts': "export { big as small } from './big.ts';\n" }],
  ['circles of imports', { 'src/plan/small.ts': "import type { big } from './big.ts';\n" }],
  [
    'names of types that mean two things',
    { 'src/plan/a.ts': 'interface Same { readonly a: 1 }\n', 'src/plan/b.ts': 'type Same = 1;\n' },
  ],
  [
    'generators and closures that outlive what made them',
    { 'src/plan/new.ts': 'function outer() {\n  return function* () {};\n}\n' },
  ],
  [
    'generators and closures that outlive what made them',
    { 'src/plan/new.ts': 'class A {\n  constructor() {\n    this.a = () => {};\n  }\n}\n' },
  ],
  ['bytes of ARCHITECTURE.md', { 'ARCHITECTURE.md': `${HOUSE['ARCHITECTURE.md']}${lines(20_480)}` }],
  ['bytes of README.md', { 'README.md': lines(8193) }],
];

/** Neighbours of the rules above, that break none of those that are named. */
const ALLOWED: readonly (readonly [rule: string, why: string, files: Tree])[] = [
  ['core files', 'is an island', { 'src/sandbox/new.ts': '', 'src/graphiql/new.tsx': '' }],
  ['core lines', 'is generated', { 'src/graph/generated.ts': lines(1000) }],
  ['kernel lines', 'is a wing or a command', { 'src/wings/new.ts': lines(9), 'src/cli/new.ts': lines(9) }],
  [
    'tables by key',
    'is gone with the call, or is asked by something else',
    {
      'src/plan/new.ts':
        "const digest = hash('sha1', name);\nfunction once(keyDigest: string) {\n  const found = new Map<string, number>();\n  return found.get(keyDigest);\n}\nfunction open() {\n  const seen = createLru(1);\n  return () => seen.get(digest);\n}\n",
    },
  ],
  [
    'small files that one other imports',
    'is loaded lazily',
    {
      'src/plan/tiny.ts': 'export const tiny = 1;\n',
      'src/plan/new.ts':
        "const load = async () => {\n  const { tiny } = await import('./tiny.ts');\n  return tiny;\n};\n",
    },
  ],
  [
    'files that take a digest',
    'is the store',
    { 'src/store/new.ts': 'const a = (keyDigest: string) => keyDigest;\n' },
  ],
  [
    'wings that the kernel imports',
    'is loaded lazily, or is a type',
    {
      'src/plan/new.ts':
        "import type { Live } from '../wings/live.ts';\nconst load = (): Promise<Live> => import('../wings/live.ts');\n",
    },
  ],
  [
    'circles of imports',
    'is loaded lazily',
    { 'src/plan/small.ts': "const big = () => import('./big.ts');\n" },
  ],
  ['lines of the largest file', 'is as long as a file may be', { 'src/plan/new.ts': lines(700) }],
  [
    'lines of the largest function',
    'is as long as a function may be',
    { 'src/plan/new.ts': `function long() {${lines(119)}}\n` },
  ],
  [
    'memo sites',
    'waits for an event',
    { 'src/plan/new.ts': "import { once } from 'node:events';\nawait once(process, 'exit');\n" },
  ],
  [
    'files that slice themselves',
    'takes another helper, or is one',
    {
      'src/plan/new.ts': "import type { Job, PromiseOrValue } from '../async/turns.ts';\n",
      'src/async/new.ts': "import { timeSliced } from './turns.ts';\n",
    },
  ],
];

const worseIn = (tree: Tree) => judge(numbersIn({ ...HOUSE, ...tree }), BOUNDS).worse;

describe('the rules of the house', () => {
  it('are kept by a house that keeps them', () => {
    expect(worseIn({})).toEqual([]);
  });

  it.for(PLANTED.map(([rule, files]) => ({ rule, files })))('refuse more $rule', ({ rule, files }) => {
    expect(worseIn(files)).toContain(rule);
  });

  it.for(ALLOWED.map(([rule, why, files]) => ({ rule, why, files })))(
    'count for $rule nothing that $why',
    ({ rule, files }) => {
      expect(worseIn(files)).not.toContain(rule);
    },
  );

  it('are all tried, by their names', () => {
    const { structure, trace } = readBounds();
    const tried = new Set([...PLANTED.map(([rule]) => rule), 'small files that are listed for nothing']);
    expect([...tried].sort()).toEqual(Object.keys(structure).sort());
    expect(Object.keys(numbersIn(HOUSE))).toEqual(expect.arrayContaining(Object.keys(structure)));
    const ways = ['a cold figure', 'the same bytes again'].map((way) => numbersOf(way, passageOf([])));
    expect(Object.keys(trace)).toEqual(ways.flatMap((numbers) => Object.keys(numbers)));
  });

  it('count who uses an export, by whichever way it is imported', () => {
    const before = numbersIn(HOUSE);
    const of = (tree: Tree) => {
      const { 'exports used by one other file alone': one = 0, 'exports used by no other file': none = 0 } =
        numbersIn({
          ...HOUSE,
          ...tree,
        });
      return [
        one - (before['exports used by one other file alone'] ?? 0),
        none - (before['exports used by no other file'] ?? 0),
      ];
    };
    const made = { 'src/plan/made.ts': 'export const a = 1;\nexport const b = 2;\n' };
    expect(of(made)).toEqual([0, 2]);
    expect(of({ ...made, 'src/x.ts': "import { a as c } from './plan/made.ts';\n" })).toEqual([1, 1]);
    expect(of({ ...made, 'src/x.ts': "import * as all from './plan/made.ts';\n" })).toEqual([2, 0]);
    expect(of({ ...made, 'src/x.ts': "const { b } = await import('./plan/made.ts');\n" })).toEqual([1, 1]);
    expect(of({ ...made, 'src/x.ts': "let c: import('./plan/made.ts').a;\n" })).toEqual([1, 1]);
  });

  it('let a small file stand alone where the table says why, and no longer', () => {
    const tree = {
      ...HOUSE,
      'src/plan/new.ts': "import { t } from './tiny.ts';\n",
      'src/plan/tiny.ts': 'export const t = 1;\n',
    };
    const small = { 'src/plan/tiny.ts': 'a pure algorithm' };
    const counted = (files: Tree) => {
      const numbers = numbersIn(files, small);
      return [
        numbers['small files that one other imports'],
        numbers['small files that are listed for nothing'],
      ];
    };
    expect(counted(tree)).toEqual([0, 0]);
    expect(counted(HOUSE)).toEqual([0, 1]);
    expect(counted({ ...tree, 'src/plan/tiny.ts': lines(80) })).toEqual([0, 1]);
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
  ] as const)('of %j refuses %j', ([numbers, worse]) => {
    expect(judge(numbers, bounds).worse).toEqual(worse);
  });

  it('takes a better number as its baseline, and never a worse one', () => {
    expect(accepted({ met: 4, open: 7, bare: 1 }, bounds)).toEqual({
      met: { baseline: 3, target: 5 },
      open: { baseline: 7, target: 5 },
      bare: { baseline: 1 },
    });
  });

  it('is shown as today · baseline · target, and has to be of something that is counted', () => {
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
  it('counts files, returns to one that was left, and wings', () => {
    const entries = ['src/a.ts', 'src/a.ts', 'src/b.ts', 'src/a.ts', 'src/wings/live.ts', 'src/b.ts'];
    expect(numbersOf('it', passageOf(entries))).toEqual({
      'files of it': 3,
      'returns of it': 2,
      'wings of it': 1,
    });
  });
});
