/**
 * `npm run trace`: the files of the gateway that the query of README.md passes through from the request to the service and
 * back: the first time, from cached figures, as cached bytes, and under another key. Each function is instrumented to
 * record that it was entered. A stay is a sequence of entries into one file, a return is a stay in a file that was left
 * before; likewise for folders. `--steps` prints the stays, `--pairs` the most frequent changes of file. `--check` compares
 * the numbers with their bounds (`scripts/structure/bounds.json`), and ends with exit code 1 if one is worse than its baseline
 * and beyond its target; `--accept` writes improved baselines.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { numbersOf, type Passage, passageOf } from './structure/passage.ts';
import { checkBounds } from './structure/ratchet.ts';

declare global {
  var enteredFile: (path: string) => void;
}

let entries: string[] | null = null;
globalThis.enteredFile = (path) => entries?.push(path);

const root = pathToFileURL(`${process.cwd()}/src/`).href;
const isTraced = (url: string) => url.startsWith(root) && !url.includes('/src/sandbox/');

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!isTraced(url) || typeof loaded.source === 'string' || loaded.source === undefined) return loaded;
    const text = new TextDecoder().decode(loaded.source as Uint8Array);
    return { ...loaded, source: instrumented(text, fileURLToPath(url).slice(process.cwd().length + 1)) };
  },
});

/** The code, with a call to `enteredFile` at the start of each function. */
function instrumented(text: string, path: string): string {
  const note = `enteredFile(${JSON.stringify(path)})`;
  const inserts: [at: number, code: string][] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) visit(item);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, body } = node as { type?: string; body?: { type: string; start: number; end: number } };
    if (/Function(Declaration|Expression)$/.test(type ?? '') && body) {
      if (body.type === 'BlockStatement' || body.type === 'FunctionBody')
        inserts.push([body.start + 1, `${note};`]);
      else inserts.push([body.start, `(${note}, `], [body.end, ')']);
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit(parseSync(path, text, { preserveParens: true }).program);
  let out = text;
  for (const [at, code] of inserts.sort(([a], [b]) => b - a)) out = out.slice(0, at) + code + out.slice(at);
  return out;
}

// Turns end by the clock: on a busy machine, there would be more of them.
performance.now = () => 0;

const { createSandbox } = await import('../src/sandbox/sandbox.ts');
const { keys } = await import('../src/sandbox/access.ts');
const { readConfig } = await import('../src/config/config.ts');
const { createGateway } = await import('../src/gateway/gateway.ts');
const { plugins } = await import('../src/plugins.ts');

const sandbox = createSandbox();
const service = await sandbox.listen();
const ignore = () => {};
const gateway = await createGateway({
  config: readConfig({}, plugins),
  plugins,
  upstreamUrl: service.url,
  observer: {
    operation: ignore,
    attempt: ignore,
    problem(error) {
      console.error(error);
    },
  },
});

const query = /```graphql\n(.*?)```/s.exec(readFileSync('README.md', 'utf8'))?.[1];

async function ask(key: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { signal } = new AbortController();
  entries = [];
  const { status, body } = await gateway.handle({
    method: 'POST',
    headers,
    search: '',
    body: { query },
    signal,
  });
  const passed = entries;
  entries = null;
  if (status !== 200 || String(body).includes('"errors"')) throw new Error(`${status} ${body}`);
  return passed;
}

const numbers: Record<string, number> = {};

function print(way: string, entries: readonly string[]): void {
  const files = passageOf(entries);
  console.log(`${way}: ${counted('files', files)}; ${counted('folders', passageOf(entries.map(dirname)))}`);
  if (process.argv.includes('--steps')) for (const path of files.stays) console.log(`  ${path}`);
  if (process.argv.includes('--pairs')) printPairs(files.stays);
  Object.assign(numbers, numbersOf(way, files));
}

function counted(kind: string, { entered, stays, returns }: Passage): string {
  return `${entered.size} ${kind}, ${stays.length} stays, ${returns} returns`;
}

/** Prints the most frequent changes of file. */
function printPairs(stays: readonly string[]): void {
  const pairs = stays.slice(1).map((path, i) => `${stays[i]} > ${path}`);
  const counts = [...Map.groupBy(pairs, (pair) => pair)].map(([pair, all]) => [all.length, pair] as const);
  for (const [count, pair] of counts.sort(([a], [b]) => b - a).slice(0, 20))
    console.log(`${String(count).padStart(8)} ${pair}`);
}

print('the first asking', await ask(keys.team));
print('the second asking', await ask(keys.team));
print('the third asking', await ask(keys.team));
print('another key', await ask(keys.analyst));
await gateway.stop();
await sandbox.close();
if (process.argv.includes('--check') || process.argv.includes('--accept'))
  if (!checkBounds('trace', numbers)) process.exitCode = 1;
