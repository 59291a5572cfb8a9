/**
 * `npm run trace`: the files of the gateway that the query of README.md passes through on its way from a request to the
 * service and back: the first time, from the cache, as kept bytes, and under another key. Each function notes
 * that it was entered; a stay is a run of entries into one file, and a return is a stay in a file that was
 * left before; the same for folders. `--steps` prints the stays, `--pairs` the changes of file that are most
 * frequent. `--check` shows the numbers beside their bounds (`scripts/structure/bounds.json`), and ends with
 * exit code 1 if one is worse than its baseline and beyond its target; `--accept` writes those that are better.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { numbersOf, type Passage, passageOf } from './structure/passage.ts';
import { hold } from './structure/ratchet.ts';

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
    return { ...loaded, source: noting(text, fileURLToPath(url).slice(process.cwd().length + 1)) };
  },
});

/** The code, with a note at the start of each function. */
function noting(text: string, path: string): string {
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

// Turns end by the clock: on a machine that has other work, more of them would.
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

function tell(way: string, entries: readonly string[]): void {
  const files = passageOf(entries);
  console.log(`${way}: ${counted('files', files)}; ${counted('folders', passageOf(entries.map(dirname)))}`);
  if (process.argv.includes('--steps')) for (const path of files.stays) console.log(`  ${path}`);
  if (process.argv.includes('--pairs')) tellPairs(files.stays);
  Object.assign(numbers, numbersOf(way, files));
}

function counted(kind: string, { entered, stays, returns }: Passage): string {
  return `${entered.size} ${kind}, ${stays.length} stays, ${returns} returns`;
}

/** Prints the changes of file that are most frequent. */
function tellPairs(stays: readonly string[]): void {
  const pairs = stays.slice(1).map((path, i) => `${stays[i]} > ${path}`);
  const counts = [...Map.groupBy(pairs, (pair) => pair)].map(([pair, all]) => [all.length, pair] as const);
  for (const [count, pair] of counts.sort(([a], [b]) => b - a).slice(0, 20))
    console.log(`${String(count).padStart(8)} ${pair}`);
}

tell('the first asking', await ask(keys.team));
tell('the second asking', await ask(keys.team));
tell('the third asking', await ask(keys.team));
tell('another key', await ask(keys.analyst));
await gateway.stop();
await sandbox.close();
if (process.argv.includes('--check') || process.argv.includes('--accept'))
  if (!hold('trace', numbers)) process.exitCode = 1;
