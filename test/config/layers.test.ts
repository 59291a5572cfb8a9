import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

/** File, its one line, and the lint rule that has to refuse it; null if the line is right. */
const CASES: readonly [file: string, line: string, rule: string | null][] = [
  ['src/errors.ts', "import './config.ts';", 'noRestrictedImports'],
  ['src/config.ts', "import './errors.ts';", 'noRestrictedImports'],
  ['src/config.ts', "import './memory-budget.ts';", null],
  ['src/memory-budget.ts', "import './config.ts';", 'noRestrictedImports'],
  ['src/warnings.ts', "import './errors.ts';", 'noRestrictedImports'],
  ['src/exact-json.ts', "import './config.ts';", 'noRestrictedImports'],
  ['src/periods.ts', "import './errors.ts';", 'noRestrictedImports'],
  ['src/wings/citations.ts', "import '../errors.ts';", 'noRestrictedImports'],
  ['src/config.ts', "import './wings/citations.ts';", null],
  ['src/graphiql/chart/e.ts', "import '../../wings/citations.ts';", null],
  ['src/tables/cells.ts', "import '../graph/schema.ts';", 'noRestrictedImports'],
  ['src/tables/answer-tables.ts', "import '../exact-json.ts';", null],
  ['src/operations/d.ts', "import '../tables/cells.ts';", null],
  ['src/async/a.ts', "import '../config.ts';", 'noRestrictedImports'],
  ['src/store/d.ts', "import '../exact-json.ts';", null],
  ['src/config.ts', "import 'zod';", null],
  ['src/config.ts', 'export const all = process.env;', null],
  ['src/config.ts', 'export const all = process.env;', null],
  ['src/store/a.ts', "import '../service/call.ts';", 'noRestrictedImports'],
  ['src/store/b.ts', "import '../config.ts';", null],
  ['src/store/c.ts', "import '../gateway.ts';", 'noRestrictedImports'],
  ['src/tenants/a.ts', "import '../service/call.ts';", 'noRestrictedImports'],
  ['src/store/e.ts', "import '../tenants/ledger.ts';", 'noRestrictedImports'],
  ['src/service/a.ts', "import '../plan/plan.ts';", 'noRestrictedImports'],
  ['src/service/records/b.ts', "import '../../loaders/x.ts';", 'noRestrictedImports'],
  ['src/service/records/c.ts', "import '../call.ts';", null],
  ['src/service/d.ts', "import 'graphql';", 'noRestrictedImports'],
  ['src/service/e.ts', "import type { Call } from '../plan/plan.ts';", 'noRestrictedImports'],
  ['src/plan/a.ts', "import '../loaders/x.ts';", 'noRestrictedImports'],
  ['src/plan/b.ts', "import '@apollo/server';", 'noRestrictedImports'],
  ['src/plan/c.ts', "import '../service/call.ts';", null],
  ['src/loaders/a.ts', "import '../graph/context.ts';", 'noRestrictedImports'],
  ['src/loaders/b.ts', "import '../plan/plan.ts';", null],
  ['src/figures/a.ts', "import '../loaders/x.ts';", 'noRestrictedImports'],
  ['src/figures/b.ts', "import '../plan/plan.ts';", null],
  ['src/price/a.ts', "import '../operations/x.ts';", 'noRestrictedImports'],
  ['src/resolvers/d.ts', "import '../price/x.ts';", 'noRestrictedImports'],
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
  ['src/wings/live/a.ts', "import '../../gateway.ts';", 'noRestrictedImports'],
  ['src/wings/live/b.ts', "import '../../operations/x.ts';", null],
  ['src/wings/live/c.ts', "import 'fastify';", 'noRestrictedImports'],
  ['src/gateway.ts', "import './server/http.ts';", 'noRestrictedImports'],
  ['src/gateway.ts', "import './sandbox/sandbox.ts';", 'noRestrictedImports'],
  ['src/gateway.ts', "import '@apollo/server/plugin/disabled';", null],
  ['src/wings/tools/a.ts', "import '../../gateway.ts';", null],
  ['src/wings/tools/b.ts', "import '../../server/http.ts';", 'noRestrictedImports'],
  ['src/wings/tools/c.ts', "import 'fastify';", 'noRestrictedImports'],
  ['src/wings/tools/d.ts', "import '@modelcontextprotocol/server';", null],
  ['src/server/f.ts', "import '../wings/tools/tool-server.ts';", null],
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
  ['src/graphiql/c.ts', "import '../periods.ts';", null],
  ['src/wings/address/a.ts', "import 'fastify';", 'noRestrictedImports'],
  ['src/wings/address/address-route.ts', "import '../../server/http.ts';", null],
  ['src/wings/address/address-route.ts', "import '../../graphiql/looks.ts';", 'noRestrictedImports'],
  ['src/graphiql/picture-worker.ts', "import type { Drawn } from '../wings/address/drawer.ts';", null],
  ['src/graphiql/picture-worker.ts', "import '../config.ts';", 'noRestrictedImports'],
  ['src/graphiql/chart/c.ts', "import '../../periods.ts';", null],
  ['src/graphiql/chart/a.tsx', "import '../../config.ts';", 'noRestrictedImports'],
  ['src/graphiql/chart/b.ts', "import '../exchange.ts';", null],
  ['src/graphiql/chart/c.ts', "import '../../tables/cells.ts';", null],
  ['src/graphiql/chart/d.ts', "import '../../tables/answer-tables.ts';", 'noRestrictedImports'],
];

/** The rules that each case broke. */
let broken: readonly ReadonlySet<string>[];

beforeAll(async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'country-graph-layers-'));
  try {
    broken = await lintAll(scratch);
  } finally {
    await rm(scratch, { recursive: true });
  }
});

describe('imports run one way', () => {
  it.for(CASES.map(([file, line, rule], index) => ({ file, line, rule, index })))(
    '$file: $line → $rule',
    ({ rule, index }) => {
      expect([...(broken[index] ?? [])]).toEqual(rule === null ? [] : [`lint/style/${rule}`]);
    },
  );
});

/**
 * Lints all cases in as few trees as there are cases about one file: a run of the linter takes longer to start than to
 * read all of a tree.
 */
async function lintAll(scratch: string): Promise<Set<string>[]> {
  const found = CASES.map(() => new Set<string>());
  const trees: Map<string, number>[] = [];
  for (const [index, [file]] of CASES.entries()) {
    const tree = trees.find((files) => !files.has(file));
    if (tree === undefined) trees.push(new Map([[file, index]]));
    else tree.set(file, index);
  }
  for (const [number, tree] of trees.entries()) {
    const root = join(scratch, String(number));
    for (const [file, index] of tree) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), `${CASES[index]?.[1]}\n`);
    }
    await cp('biome.json', join(root, 'biome.json'));
    await writeFile(join(root, '.gitignore'), 'node_modules/\n');
    const { summary, diagnostics } = await lint(root);
    // Finds each file read, and no diagnostic of them left out.
    expect(summary.unchanged + summary.changed).toBe(tree.size);
    expect(summary.diagnosticsNotPrinted).toBe(0);
    for (const { severity, category, location } of diagnostics) {
      if (severity !== 'error') continue;
      const index = tree.get(location.path);
      if (index === undefined) expect.fail(`${category} in ${location.path}`);
      found[index]?.add(category);
    }
  }
  return found;
}

interface Report {
  readonly summary: Readonly<Record<'changed' | 'unchanged' | 'diagnosticsNotPrinted', number>>;
  readonly diagnostics: readonly {
    readonly severity: string;
    readonly category: string;
    readonly location: { readonly path: string };
  }[];
}

/** Complaints of the linter. */
function lint(root: string): Promise<Report> {
  return new Promise((resolve, reject) => {
    const biome = join(process.cwd(), 'node_modules/.bin/biome');
    const only = ['--only=style/noRestrictedImports', '--only=style/noProcessEnv'];
    const args = ['lint', '--reporter=json', '--max-diagnostics=none', ...only, 'src'];
    execFile(biome, args, { cwd: root }, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`${error?.message}\n${stderr}`));
      }
    });
  });
}
