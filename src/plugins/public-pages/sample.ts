import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kernel, PluginHost, PluginSample } from '../../gateway/plugin.ts';
import { ownBuild, packageFile } from '../../shared/own-version.ts';

/** Name of the issued key that pages over the sandbox run under. */
export const SANDBOX_PAGES_KEY = 'pages';

/** A page that is there over any sandbox. */
const SAMPLE_PAGE = 'life-expectancy';

/** Documents of GraphiQL's tour, as the build of the pages writes them: texts by the names of their pages. */
const SAMPLES = packageFile('dist/graphiql/pages/samples.json');

/** Settings that public pages take; over the sandbox, they are on unless one of them is given. */
export const OF_PAGES = [
  'TRUSTED_DOCUMENTS',
  'PUBLIC_DOCUMENTS',
  'COUNTRY_DATA_KEY',
  'COUNTRY_DATA_KEY_FILE',
];

export type Env = Readonly<Record<string, string | undefined>>;

/** The folder of this user's documents over the sandbox, which `publish` adds to while it runs. */
export function sandboxFiles() {
  const folder = join(tmpdir(), `country-graph-${process.getuid?.() ?? 'user'}-${ownBuild().version}`);
  return {
    folder,
    trusted: join(folder, 'trusted-documents.json'),
    published: join(folder, 'public-documents.json'),
  };
}

/**
 * Has a gateway over the sandbox show public pages of its sample documents, and of what was published there; null if the
 * operator has settings of his own for them, or nothing draws pictures here.
 */
export async function sampleIn(env: Env): Promise<PluginSample | null> {
  const isOwn = env.COUNTRY_DATA_URL !== undefined || OF_PAGES.some((name) => env[name] !== undefined);
  const isPlain = env.MEMORY_MB === undefined && env.SUBGRAPH_PREFIX === undefined && env.MCP !== 'on';
  const isFit = (env.CACHE_URL ?? 'memory:') === 'memory:' && (env.WORKERS ?? '1') === '1';
  if (isOwn || !isFit || !isPlain || !existsSync(SAMPLES)) return null;
  const { folder, trusted, published } = sandboxFiles();
  try {
    await ownFolder(folder);
    for (const [name, text] of Object.entries(await readTable(SAMPLES))) {
      await addTo(trusted, sha256(String(text)), text);
      await addTo(published, name, { document: sha256(String(text)), key: SANDBOX_PAGES_KEY });
    }
  } catch {
    // A machine without a place for them has a sandbox without pages.
    return null;
  }
  return {
    settings: {
      TRUSTED_DOCUMENTS: trusted,
      TRUSTED_DOCUMENTS_FOR: 'issued',
      PUBLIC_DOCUMENTS: published,
      COUNTRY_DATA_KEY: 'demo-team',
    },
    words: (url) => `Public pages: ${new URL(`c/${SAMPLE_PAGE}`, url)}. Yours: country-graph publish FILE`,
  };
}

/** @throws Error if the folder is another user's */
export async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid } = await lstat(folder);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new Error(`${folder} is another user's.`);
}

async function readTable(path: string): Promise<Record<string, unknown>> {
  return existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : {};
}

/** Adds an entry to a file of JSON, whole or not at all: a gateway reads it when it changes. */
export async function addTo(path: string, name: string, value: unknown): Promise<void> {
  const table = await readTable(path);
  if (JSON.stringify(table[name]) === JSON.stringify(value)) return;
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify({ ...table, [name]: value }, null, 2)}\n`);
  await rename(`${path}.${process.pid}`, path);
}

const sha256 = (text: string) => hash('sha256', text, 'hex');

/** The desk of issued keys, as far as pages need it. */
interface Desk {
  /** Returns null if no key of the name works. */
  newest(name: string): Promise<object | null>;
  create(terms: { readonly name: string }): Promise<unknown>;
}

/** Makes the key of pages over the sandbox; otherwise tells the operator of issued keys that his pages lack. */
export async function openKeys(path: string, kernel: Kernel, { warn }: PluginHost): Promise<void> {
  const desk = kernel.api<{ readonly desk: Desk }>('issued-keys')?.desk;
  if (desk === undefined) return;
  const documents = Object.values(await readTable(path).catch(() => ({})));
  for (const name of new Set(documents.map((one) => (one as { readonly key?: unknown } | null)?.key))) {
    // A store that can't be asked tells of no lack.
    if (typeof name !== 'string' || (await desk.newest(name).catch(() => ({}))) !== null) continue;
    if (name === SANDBOX_PAGES_KEY && path === sandboxFiles().published) await desk.create({ name });
    else warn(`PUBLIC_DOCUMENTS: there is no issued key ${name}. Make it: country-graph keys create ${name}`);
  }
}
