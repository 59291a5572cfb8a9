/**
 * `npm run removable`: removes each plugin from a copy of the project, and all of them from another: its folder, its line in
 * `src/plugins.ts`, its name in the picture of ARCHITECTURE.md, its tests and their lines in `test/suites.ts`. The rest must
 * type-check, pass the kernel's tests, start, give the same response to the query of README.md, and refuse the plugin's
 * settings. Arguments select plugins; `none` is the copy without any plugin. `--short` runs a few of the tests, and only in
 * the copy without any plugin, where all missing parts show.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { plugins } from '../src/plugins.ts';

/** Tests of plugins outside of `test/plugins` that don't import their files. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'extra-routes': ['test/queries/policies', 'test/queries/trade'],
  availability: ['test/queries/availability'],
  'issued-keys': ['test/issued'],
  journal: ['test/queries/journal'],
  subscriptions: ['test/live', 'test/queries/live'],
  'public-pages': ['test/address'],
  'mcp-tools': ['test/tools'],
  'csv-tables': ['test/tables', 'test/address'],
};

/** Tests of documents, whose tables and sentences tell of all plugins. */
const OF_DOCUMENTS = 'test/config/docs.test.ts';

/** A fast selection of the kernel's tests. */
const SHORT = [
  'test/queries',
  'test/config/layers.test.ts',
  'test/config/structure.test.ts',
  'test/graph/entities.test.ts',
];

const run = promisify(execFile);
const settingsOf = new Map(plugins.map(({ name, settings }) => [name, Object.keys(settings)]));
const args = process.argv.slice(2);
const isShort = args.includes('--short');
const named = args.filter((name) => !name.startsWith('--'));
const [query = ''] = /(?<=```graphql\n)[^`]*/.exec(readFileSync('README.md', 'utf8')) ?? [];

async function main(): Promise<void> {
  const expected = await answerOf('.');
  const all = [...settingsOf.keys()];
  let failed = 0;
  for (const name of named.length > 0 ? named : [...all, 'none']) {
    const beganMs = performance.now();
    try {
      await remove(name === 'none' ? all : [name], expected);
      console.log(
        `without ${name === 'none' ? 'any' : name}: ${Math.round((performance.now() - beganMs) / 1000)} s`,
      );
    } catch (error) {
      failed += 1;
      const { stdout = '', message } = error as Error & { stdout?: string };
      console.error(`without ${name}: ${message}\n${stdout.slice(-6_000)}`);
    }
  }
  if (failed > 0) process.exitCode = 1;
}

/** Removes plugins from a copy, and checks the rest. */
async function remove(names: readonly string[], expected: unknown): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'country-graph-removable-'));
  try {
    const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
    // A file that was deleted may still be listed.
    for (const path of stdout.split('\0').filter(existsSync)) await cp(path, join(root, path));
    for (const path of ['node_modules', 'dist'])
      if (existsSync(path)) await symlink(join(process.cwd(), path), join(root, path));
    for (const name of names) takeOut(root, name);
    rmSync(join(root, OF_DOCUMENTS));
    removeImporters(root);
    removeSuites(root);
    const bin = join(root, 'node_modules/.bin');
    const options = {
      cwd: root,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' },
      maxBuffer: 2 ** 26,
    };
    await run(join(bin, 'tsc'), ['-p', '.'], options);
    const answer = await answerOf(root);
    if (JSON.stringify(answer) !== JSON.stringify(expected))
      throw new Error(`Response to README's query: ${JSON.stringify(answer).slice(0, 500)}`);
    await refuseSettings(
      names.flatMap((name) => settingsOf.get(name) ?? []),
      options,
    );
    if (isShort && names.length < settingsOf.size) return;
    const tests = isShort ? SHORT.filter((path) => existsSync(join(root, path))) : ['--project', 'together'];
    await run(join(bin, 'vitest'), ['run', ...tests], options);
  } finally {
    await rm(root, { recursive: true });
  }
}

/** Removes a plugin's folder, its line in the list, its name in the picture, and its tests. */
function takeOut(root: string, name: string): void {
  for (const path of [`src/plugins/${name}`, `test/plugins/${name}`, ...(TESTS[name] ?? [])])
    rmSync(join(root, path), { recursive: true, force: true });
  const file = join(root, 'src/plugins.ts');
  const text = readFileSync(file, 'utf8');
  const line = new RegExp(`^import \\{ (\\w+) \\} from './plugins/${name}/plugin.ts';\n`, 'm');
  const [found = '', exported = ''] = line.exec(text) ?? [];
  if (found === '') throw new Error(`src/plugins.ts doesn't import ${name}.`);
  writeFileSync(file, text.replace(found, '').replaceAll(new RegExp(`\\b${exported}\\b,?`, 'g'), ''));
  const architecture = join(root, 'ARCHITECTURE.md');
  const drawn = readFileSync(architecture, 'utf8').replaceAll(/(\S+) +◂ (.*)/g, (line, layer, beside) => {
    const left = beside.split(' · ').filter((one: string) => one !== name);
    return left.length === 0 ? layer : line.replace(beside, left.join(' · '));
  });
  writeFileSync(architecture, drawn);
}

/** Removes tests and their helpers that import removed files, until none does. */
function removeImporters(root: string): void {
  const files = globSync('{test,bench}/**/*.ts', { cwd: root });
  // What the project lacks too is imported by a text within the file.
  const isRemoved = (path: string) => existsSync(path) && !existsSync(join(root, path));
  const isLost = (file: string) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].some(
      ([, target = '']) => isRemoved(normalize(join(dirname(file), target))),
    );
  for (let lost = files.filter(isLost); lost.length > 0; ) {
    for (const file of lost) rmSync(join(root, file));
    lost = files.filter((file) => existsSync(join(root, file)) && isLost(file));
  }
}

/** Removes the lines of suites that are gone. */
function removeSuites(root: string): void {
  const file = join(root, 'test/suites.ts');
  const isGone = (pattern: string) => globSync(pattern, { cwd: root }).length === 0;
  const lines = readFileSync(file, 'utf8').split('\n');
  const left = lines.filter((line) => !isGone(/^ {2}'(.*)',$/.exec(line)?.[1] ?? 'test/suites.ts'));
  writeFileSync(file, left.join('\n'));
}

/** Starts the program of a folder from its sources, and sends it the query of README.md. */
async function answerOf(root: string) {
  const env = { ...process.env, PORT: '0', LOG_LEVEL: 'fatal' };
  const child = spawn(process.execPath, ['src/cli/main.ts', 'serve'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressOf(child);
    const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-team' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { data, errors, extensions } = (await response.json()) as {
      data: unknown;
      errors?: unknown;
      extensions: { upstream: { calls: number } };
    };
    return { data, errors, calls: extensions.upstream.calls };
  } finally {
    child.kill('SIGKILL');
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('The program has ended.');
  });
  const address = (async () => {
    for await (const line of createInterface(child.stdout as NodeJS.ReadableStream)) {
      const [url] = /http\S+\/graphql/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    return ended;
  })();
  return Promise.race([address, ended]);
}

/** Checks that the gateway, as a library, refuses these settings. */
async function refuseSettings(names: readonly string[], options: object): Promise<void> {
  const code = `
    const { createGateway } = await import('./src/server/library.ts');
    for (const name of ${JSON.stringify(names)}) {
      const settings = { COUNTRY_DATA_URL: 'http://127.0.0.1:9', [name]: 'on' };
      const error = await createGateway({ settings, onProblem() {} }).catch((error) => error);
      if (error.message !== 'There is no setting ' + name + '.') throw new Error(name + ' is accepted: ' + error);
    }`;
  await run(process.execPath, ['--input-type=module', '--eval', code], options);
}

await main();
