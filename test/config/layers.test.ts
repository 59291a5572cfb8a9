import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** File, its one line, and the lint rule that has to refuse it; null where the line is right. */
const CASES: readonly [file: string, line: string, rule: string | null][] = [
  ['src/errors.ts', "import './config.ts';", 'noRestrictedImports'],
  ['src/config.ts', "import './errors.ts';", 'noRestrictedImports'],
  ['src/warnings.ts', "import './errors.ts';", 'noRestrictedImports'],
  ['src/exact-json.ts', "import './config.ts';", 'noRestrictedImports'],
  ['src/async/a.ts', "import '../config.ts';", 'noRestrictedImports'],
  ['src/cache/d.ts', "import '../exact-json.ts';", null],
  ['src/config.ts', "import 'zod';", null],
  ['src/config.ts', 'export const all = process.env;', null],
  ['src/cache/a.ts', "import '../upstream/call.ts';", 'noRestrictedImports'],
  ['src/cache/b.ts', "import '../config.ts';", null],
  ['src/cache/c.ts', "import '../gateway.ts';", 'noRestrictedImports'],
  ['src/quota/a.ts', "import '../upstream/call.ts';", 'noRestrictedImports'],
  ['src/cache/e.ts', "import '../quota/ledger.ts';", 'noRestrictedImports'],
  ['src/upstream/a.ts', "import '../planner/plan.ts';", 'noRestrictedImports'],
  ['src/upstream/records/b.ts', "import '../../loaders/x.ts';", 'noRestrictedImports'],
  ['src/upstream/records/c.ts', "import '../call.ts';", null],
  ['src/upstream/d.ts', "import 'graphql';", 'noRestrictedImports'],
  ['src/upstream/e.ts', "import type { Call } from '../planner/plan.ts';", 'noRestrictedImports'],
  ['src/planner/a.ts', "import '../loaders/x.ts';", 'noRestrictedImports'],
  ['src/planner/b.ts', "import '@apollo/server';", 'noRestrictedImports'],
  ['src/planner/c.ts', "import '../upstream/call.ts';", null],
  ['src/loaders/a.ts', "import '../graph/context.ts';", 'noRestrictedImports'],
  ['src/loaders/b.ts', "import '../planner/plan.ts';", null],
  ['src/observations/a.ts', "import '../loaders/x.ts';", 'noRestrictedImports'],
  ['src/observations/b.ts', "import '../planner/plan.ts';", null],
  ['src/pricing/a.ts', "import '../operations/x.ts';", 'noRestrictedImports'],
  ['src/resolvers/d.ts', "import '../pricing/x.ts';", 'noRestrictedImports'],
  ['src/loaders/c.ts', "import '../execution/plan.ts';", 'noRestrictedImports'],
  ['src/execution/a.ts', "import '../errors.ts';", 'noRestrictedImports'],
  ['src/execution/b.ts', "import 'graphql';", null],
  ['src/execution/c.ts', "import '../async/yielding.ts';", null],
  ['src/graph/a.ts', "import '../resolvers/country.ts';", 'noRestrictedImports'],
  ['src/graph/b.ts', "import 'fastify';", 'noRestrictedImports'],
  ['src/graph/c.ts', "import 'graphql';", null],
  ['src/resolvers/a.ts', "import '../gateway.ts';", 'noRestrictedImports'],
  ['src/resolvers/b.ts', "import '../graph/context.ts';", null],
  ['src/resolvers/c.ts', "import '../operations/apollo.ts';", 'noRestrictedImports'],
  ['src/operations/a.ts', "import '../gateway.ts';", 'noRestrictedImports'],
  ['src/operations/b.ts', "import '../execution/plan.ts';", null],
  ['src/gateway.ts', "import './server/server.ts';", 'noRestrictedImports'],
  ['src/gateway.ts', "import './sandbox/sandbox.ts';", 'noRestrictedImports'],
  ['src/gateway.ts', "import '@apollo/server/plugin/disabled';", null],
  ['src/server/a.ts', "import '../cli/serve.ts';", 'noRestrictedImports'],
  ['src/server/b.ts', "import '../sandbox/sandbox.ts';", 'noRestrictedImports'],
  ['src/server/c.ts', "import '../gateway.ts';", null],
  ['src/server/d.ts', 'export const all = process.env;', 'noProcessEnv'],
  ['src/cli/main.ts', "import '../sandbox/sandbox.ts';", null],
  ['src/cli/main.ts', 'export const all = process.env;', null],
  ['src/sandbox/a.ts', "import '../errors.ts';", 'noRestrictedImports'],
  ['src/sandbox/b.ts', "import './seed.ts';", null],
  ['src/sandbox/catalogue/a.ts', "import '../../config.ts';", 'noRestrictedImports'],
  ['src/sandbox/catalogue/b.ts', "import '../seed.ts';", null],
  ['src/server/e.ts', "import '../graphiql/tabs.ts';", 'noRestrictedImports'],
  ['src/graphiql/a.tsx', "import '../errors.ts';", 'noRestrictedImports'],
  ['src/graphiql/b.ts', "import './exchange.ts';", null],
  ['src/graphiql/chart/a.tsx', "import '../../config.ts';", 'noRestrictedImports'],
  ['src/graphiql/chart/b.ts', "import '../exchange.ts';", null],
];

let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'country-graph-layers-'));
});
afterAll(() => rm(scratch, { recursive: true }));

/** Each case is linted in a tree of its own, since several of them are about the same file. */
describe('imports run one way', () => {
  it.for(CASES.map(([file, line, rule], index) => ({ file, line, rule, index })))(
    '$file: $line → $rule',
    async ({ file, line, rule, index }) => {
      const root = join(scratch, String(index));
      const path = join(root, file);
      await mkdir(dirname(path), { recursive: true });
      await Promise.all([
        writeFile(path, `${line}\n`),
        cp('biome.json', join(root, 'biome.json')),
        writeFile(join(root, '.gitignore'), 'node_modules/\n'),
      ]);
      const report = await lint(root);
      if (rule === null) expect(report).toBe('');
      else expect(report).toContain(`lint/style/${rule}`);
    },
  );
});

/** What the linter complains of; an empty text where it is content. */
function lint(root: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const biome = join(process.cwd(), 'node_modules/.bin/biome');
    const only = ['--only=style/noRestrictedImports', '--only=style/noProcessEnv'];
    execFile(biome, ['lint', '--reporter=github', ...only, 'src'], { cwd: root }, (error, stdout, stderr) => {
      if (error && !stdout.includes('::error')) reject(new Error(`${error.message}\n${stderr}`));
      else resolve(error ? stdout : '');
    });
  });
}
