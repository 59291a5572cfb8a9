/**
 * `npm run outside`: moves each plugin out of the house. It is copied to an empty folder over the
 * packed package, as a package of its own would have it, type-checked there, and put in the place of ours while its own tests
 * run: with another copy of everything that it imports than the gateway has. Arguments select plugins. `--built` takes the
 * package as it was last built.
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPacked } from '../test/support/packed.ts';

const run = promisify(execFile);
const root = process.cwd();
const args = process.argv.slice(2);
const named = args.filter((name) => !name.startsWith('--'));

/** Packages that plugins bring themselves, though ours has a copy. */
const THEIR_OWN = ['graphql', 'graphql-sse', 'graphql-ws', 'lru-cache'];

/** Tests of plugins without a folder of `test/plugins`. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'csv-tables': ['test/tables/exports.test.ts'],
  graphiql: ['test/server/server.test.ts'],
  'issued-keys': ['test/issued'],
  'mcp-tools': ['test/tools'],
  // Its other tests run the program.
  offline: ['test/plugins/offline/fill.test.ts', 'test/plugins/offline/offline.test.ts'],
  'public-pages': ['test/address'],
  subscriptions: ['test/live'],
};

async function main(): Promise<void> {
  await using packed = await installPacked({ isBuilt: args.includes('--built') });
  const { home } = packed;
  for (const name of THEIR_OWN)
    await symlink(resolve('node_modules', name), join(home, 'node_modules', name));
  for (const name of named.length > 0 ? named : readdirSync('src/plugins')) {
    const beganMs = performance.now();
    try {
      await moveOut(name, join(home, name));
      console.log(`${name} outside: ${Math.round((performance.now() - beganMs) / 1000)} s`);
    } catch (error) {
      process.exitCode = 1;
      const { stdout = '', message } = error as Error & { stdout?: string };
      console.error(`${name} outside: ${message}\n${stdout.slice(-6_000)}`);
    }
  }
}

/** @param folder that it is copied to */
async function moveOut(name: string, folder: string): Promise<void> {
  const from = join(root, 'src/plugins', name);
  await mkdir(folder);
  await cp(from, folder, { recursive: true });
  for (const file of globSync(join(folder, '**/*.ts'))) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll("'../../plugin/index.ts'", "'country-graph/plugin'"));
  }
  const options = {
    cwd: root,
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`, NO_COLOR: '1' },
    maxBuffer: 2 ** 26,
  };
  const project = join(folder, 'tsconfig.json');
  const typeRoots = [join(root, 'node_modules/@types')];
  const compiled = { extends: join(root, 'tsconfig.json'), compilerOptions: { typeRoots }, include: ['.'] };
  await writeFile(project, JSON.stringify({ ...compiled, exclude: [] }));
  await run('tsc', ['-p', project], options);
  const tests = TESTS[name] ?? [`test/plugins/${name}`];
  const marker = join(folder, 'imported');
  const config = join(folder, 'vitest.config.ts');
  await writeFile(config, configOf(from, folder, marker));
  await run('vitest', ['run', '--root', root, '--config', config, ...tests], options);
  if (!existsSync(marker)) throw new Error('Its tests have run without it.');
  rmSync(folder, { recursive: true });
}

/** Has tests import a plugin's files from the folder that it was moved to. */
const configOf = (from: string, to: string, marker: string) => `
import { writeFileSync } from 'node:fs';
import { mergeConfig } from '${join(root, 'node_modules/vitest/dist/config.js')}';
import ours from '${join(root, 'vitest.config.ts')}';

const outside = {
  name: 'outside',
  enforce: 'pre',
  async resolveId(id, importer, options) {
    const found = await this.resolve(id, importer, { ...options, skipSelf: true });
    if (!found?.id.startsWith('${from}/')) return found;
    writeFileSync('${marker}', '');
    return { ...found, id: found.id.replace('${from}', '${to}') };
  },
};
const config = mergeConfig(ours, { plugins: [outside] });
config.test.projects = config.test.projects.map((project) => ({ ...project, extends: '${join(to, 'vitest.config.ts')}' }));
export default config;
`;

await main();
