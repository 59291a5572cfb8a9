import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  boundedDocuments,
  codeOutsideCore,
  type DocumentProse,
  isPlain,
  proseOfCode,
  proseOfDocument,
  proseOfSentences,
  sentencesOfMarkdown,
} from '../../scripts/prose.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PLAIN = 'The gateway holds figures.';

/** A document of a hundred plain sentences, and others. */
const among = (...sentences: readonly string[]) =>
  proseOfSentences([...Array.from({ length: 100 }, () => PLAIN), ...sentences]);

describe('documents', () => {
  const documents = boundedDocuments(ROOT);

  it('are all of those that a reader begins with', () => {
    expect(documents.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'README.md',
        'docs/errors.md',
        'clients/README.md',
        'schema/extra/trade.graphql',
      ]),
    );
    expect(documents.length).toBeGreaterThan(30);
  });

  it.for(documents)('$path is plain', ({ path, file }) => {
    const prose = proseOfDocument(path, readFileSync(file, 'utf8'));
    expect(isPlain(prose) ? [] : [...prose.relative, ...prose.hedges]).toEqual([]);
  });
});

describe('a document is not plain', () => {
  it.for([
    'What is held costs no call.',
    'Whatever asks sends its key.',
    'Whether it is refused goes by its price.',
    'Where the service fails, the old is served.',
    'However figures are spread, they travel in one call.',
    'Those who ask get parts.',
    'How often it looks depends on the plan.',
    'That a figure was retrieved anew is no change.',
  ])('with more than three in a hundred such as "%s"', (sentence) => {
    const { relative } = among(sentence);
    expect(relative).toEqual([sentence]);
    expect(isPlain(among(sentence))).toBe(true);
    expect(isPlain(among(...Array.from({ length: 4 }, () => sentence)))).toBe(false);
  });

  it('with more than seven in a thousand words that hedge', () => {
    const hedged = 'A key can tell what it costs, meanwhile.';
    expect(among(hedged).hedges).toEqual([
      'A key can tell what it costs meanwhile',
      'tell what it costs meanwhile',
    ]);
    expect(isPlain(among(hedged))).toBe(true);
    expect(isPlain(among(hedged, hedged))).toBe(false);
  });
});

describe('comments outside the core', () => {
  const files = codeOutsideCore(ROOT);
  const plain = { path: 'test/plain.ts', text: `// ${PLAIN}\n\n`.repeat(100) };
  const proseWith = (text: string) => proseOfCode([plain, { path: 'bench/new.tsx', text }]);

  it('are those of all code that somebody has written', () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'codegen.ts',
        'src/graphiql/main.tsx',
        'src/sandbox/sandbox.ts',
        'scripts/prose.ts',
        'scripts/prepare.mjs',
        'bin/country-graph.cjs',
        'bench/race.ts',
        'clients/client/src/index.ts',
        'test/config/prose.test.ts',
      ]),
    );
    for (const path of ['src/gateway.ts', 'src/sandbox/routes.ts', 'clients/client/src/schema.ts'])
      expect(paths).not.toContain(path);
    expect(paths.filter((path) => path.endsWith('.d.ts'))).toEqual([]);
  });

  it('are plain', { timeout: 30_000 }, () => {
    const { relative, hedges, isPlain: isSo } = proseOfCode(files);
    expect(relative).toEqual([]);
    expect(isSo ? [] : hedges).toEqual([]);
  });

  it.for([
    '/** Whether it is so. */\nconst a = 1;',
    'const a = 1; // What is held.',
    '// Those of a key\n// are one.',
    'const a = <p>{/* Where it stands. */}</p>;',
  ])('are not with one such as "%s"', (text) => {
    expect(proseWith(text)).toMatchObject({
      isPlain: false,
      relative: [expect.stringMatching(/^bench\/new/)],
    });
  });

  it('are not with more than five in a thousand words that hedge', () => {
    const hedged = '// Keeps whatever comes.\n';
    expect(proseWith(hedged).isPlain).toBe(true);
    expect(proseWith(`${hedged}\n\nconst a = 1;\n`.repeat(3))).toMatchObject({
      isPlain: false,
      relative: [],
      hedges: Array.from({ length: 3 }, () => 'bench/new.tsx: Keeps whatever comes'),
    });
  });
});

describe('sentences', () => {
  const relativeIn = (path: string, text: string): DocumentProse['relative'] =>
    proseOfDocument(path, text).relative;

  it('are those of paragraphs, items, cells and descriptions', () => {
    for (const [path, text] of [
      ['a.md', 'It runs. **What it runs** is held.'],
      ['a.md', '- It runs.\n- What it runs is held.'],
      ['a.md', '| a | b |\n|---|---|\n| `A` | what it runs |'],
      ['a.graphql', '"It runs. What it runs is held."\ntype Query { a: Int }'],
      ['a.graphql', 'type Query { "A number." a("What it is." b: Int): Int }'],
    ] as const)
      expect(relativeIn(path, text), text).toHaveLength(1);
  });

  it('are no headings, code, comments, titles of links, or questions', () => {
    for (const [path, text] of [
      ['a.md', '## What it costs\n\nNothing is due.'],
      ['a.md', '```sh\nWhat is held costs nothing.\n```'],
      ['a.md', '<!-- What is held. -->'],
      ['a.md', 'It is held. [What it costs](costs.md), and `Where. It` stands.'],
      ['a.md', 'What does it cost?'],
      ['a.graphql', '# What is held.\ntype Query { a: Int }'],
    ] as const)
      expect(relativeIn(path, text), text).toEqual([]);
  });

  it('end with a full stop outside of code', () => {
    expect(sentencesOfMarkdown('One `a. B` two.\nThree (four). Five or six!')).toEqual([
      'One NAME two.',
      'Three (four).',
      'Five or six!',
    ]);
  });
});
