import { existsSync } from 'node:fs';
import { lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Kernel, PluginHost, PluginSample } from '../../gateway/plugin.ts';
import { sha256Of } from '../../graphql/request/persisted.ts';
import { ownBuild, packageFile } from '../../shared/own-version.ts';
import { checkedJson, readText } from '../../shared/text-files.ts';

/** Name of the issued key of pages over the sandbox. */
export const SANDBOX_PAGES_KEY = 'pages';

const SAMPLE_PAGE = 'life-expectancy';

/** The documents of GraphiQL's tour by name, written by the build. */
const SAMPLES = packageFile('dist/graphiql/pages/samples.json');

/** Over the sandbox, public pages are on unless one of these is set. */
export const OF_PAGES = [
  'TRUSTED_DOCUMENTS',
  'PUBLIC_DOCUMENTS',
  'COUNTRY_DATA_KEY',
  'COUNTRY_DATA_KEY_FILE',
];

export type Env = Readonly<Record<string, string | undefined>>;

/** In this user's own folder, so that `publish` can add to them. */
export function sandboxFiles() {
  const folder = join(tmpdir(), `country-graph-${process.getuid?.() ?? 'user'}-${ownBuild().version}`);
  return {
    folder,
    trusted: join(folder, 'trusted-documents.json'),
    published: join(folder, 'public-documents.json'),
  };
}

/** Settings for public pages over the sandbox; null if the operator has their own, or the pages are not built. */
export async function sampleIn(env: Env): Promise<PluginSample | null> {
  const isOwn = env.COUNTRY_DATA_URL !== undefined || OF_PAGES.some((name) => env[name] !== undefined);
  const isPlain = env.MEMORY_MB === undefined && env.SUBGRAPH_PREFIX === undefined && env.MCP !== 'on';
  const isFit = (env.CACHE_URL ?? 'memory:') === 'memory:' && (env.WORKERS ?? '1') === '1';
  if (isOwn || !isFit || !isPlain || !existsSync(SAMPLES)) return null;
  const { folder, trusted, published } = sandboxFiles();
  try {
    await ownFolder(folder);
    for (const [name, text] of Object.entries(await readTable(SAMPLES))) {
      const document = sha256Of(String(text));
      await addTo(trusted, document, text);
      await addTo(published, name, { document, key: SANDBOX_PAGES_KEY });
    }
  } catch {
    // Without a folder for them, the sandbox has no pages.
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

export async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid } = await lstat(folder);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new Error(`${folder} is another user's.`);
}

const Table = z.record(z.string(), z.unknown(), 'must be an object');

async function readTable(path: string): Promise<Record<string, unknown>> {
  return existsSync(path) ? checkedJson(Table, await readText(path), path) : {};
}

/** Replaces the file atomically, since a gateway may be reading it. */
export async function addTo(path: string, name: string, value: unknown): Promise<void> {
  const table = await readTable(path);
  if (JSON.stringify(table[name]) === JSON.stringify(value)) return;
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify({ ...table, [name]: value }, null, 2)}\n`);
  await rename(`${path}.${process.pid}`, path);
}

interface Desk {
  /** Null if no key of the name works. */
  newest(name: string): Promise<object | null>;
  create(terms: { readonly name: string }): Promise<unknown>;
}

/** Creates the key of the sandbox's pages; warns the operator of any other that is missing. */
export async function openKeys(path: string, kernel: Kernel, { warn }: PluginHost): Promise<void> {
  const desk = kernel.api<{ readonly desk: Desk }>('issued-keys')?.desk;
  if (desk === undefined) return;
  const documents = Object.values(await readTable(path).catch(() => ({})));
  for (const name of new Set(documents.map((one) => (one as { readonly key?: unknown } | null)?.key))) {
    // An unreachable store is no reason for a warning.
    if (typeof name !== 'string' || (await desk.newest(name).catch(() => ({}))) !== null) continue;
    if (name === SANDBOX_PAGES_KEY && path === sandboxFiles().published) await desk.create({ name });
    else warn(`PUBLIC_DOCUMENTS: there is no issued key ${name}. Make it: country-graph keys create ${name}`);
  }
}
