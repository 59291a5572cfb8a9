import { existsSync } from 'node:fs';
import { lstat, mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { PluginDefinition, PluginHost, PluginServices } from '../../plugin/index.ts';
import type { Disk } from './disk.ts';
import { addPages, type PageFiles, readPages } from './page-files.ts';
import { documentIdOf } from './public-documents.ts';

type PluginSample = Awaited<ReturnType<NonNullable<PluginDefinition['sample']>>>;

/** Name of the issued key of pages over the sandbox. */
export const SANDBOX_PAGES_KEY = 'pages';

const Samples = z.record(z.string(), z.string());

const SAMPLE_PAGE = 'life-expectancy';

/** The documents of GraphiQL's tour by name, written by the build. */
const SAMPLES = 'dist/graphiql/pages/samples.json';

/** Over the sandbox, public pages are on unless one of these is set. */
export const OF_PAGES = [
  'COUNTRY_DATA_URL',
  'TRUSTED_DOCUMENTS',
  'PUBLIC_DOCUMENTS',
  'COUNTRY_DATA_KEY',
  'COUNTRY_DATA_KEY_FILE',
];

export type Env = Readonly<Record<string, string | undefined>>;

/** In a folder of this user and this checkout, so that `publish` can add to them. */
export function sandboxFiles(disk: Disk): PageFiles & { readonly folder: string } {
  const checkout = documentIdOf(disk.ofPackage('')).slice(0, 12);
  const folder = join(tmpdir(), `country-graph-${process.getuid?.() ?? 'user'}-${checkout}`);
  return {
    folder,
    trusted: join(folder, 'trusted-documents.json'),
    published: join(folder, 'public-documents.json'),
  };
}

/** Settings for public pages over the sandbox; null if the operator has their own, or the pages are not built. */
export async function sampleIn(env: Env, disk: Disk): Promise<PluginSample> {
  const isOwn = OF_PAGES.some((name) => env[name] !== undefined);
  const isPlain = env.MEMORY_MB === undefined && env.SUBGRAPH_PREFIX === undefined && env.MCP !== 'on';
  const isFit = (env.CACHE_URL ?? 'memory:') === 'memory:' && (env.WORKERS ?? '1') === '1';
  if (isOwn || !isFit || !isPlain || !existsSync(disk.ofPackage(SAMPLES))) return null;
  const files = sandboxFiles(disk);
  let damage: string;
  try {
    await ownFolder(files.folder);
    damage = await addSamples(disk, files);
  } catch {
    // Without a folder for them, the sandbox has no pages.
    return null;
  }
  return {
    settings: {
      TRUSTED_DOCUMENTS: files.trusted,
      TRUSTED_DOCUMENTS_FOR: 'issued',
      PUBLIC_DOCUMENTS: files.published,
      COUNTRY_DATA_KEY: 'demo-team',
    },
    words: (url) =>
      `${damage}Public pages: ${new URL(`c/${SAMPLE_PAGE}`, url)}. Yours: country-graph publish FILE (kept in ${files.folder})`,
  };
}

/** Returns a sentence on what was set aside, since it was damaged: nobody has chosen these files. */
async function addSamples(disk: Disk, files: PageFiles): Promise<string> {
  const samples = disk.ofPackage(SAMPLES);
  const texts = Object.entries(disk.checkedJson(Samples, await disk.readText(samples), samples));
  const documents = Object.fromEntries(texts.map(([, text]) => [documentIdOf(text), text]));
  const pages = texts.map(([name, text]) => [name, { document: documentIdOf(text), key: SANDBOX_PAGES_KEY }]);
  const add = () => addPages(disk, files, documents, Object.fromEntries(pages));
  try {
    await add();
    return '';
  } catch (error) {
    if (!disk.isFileError(error)) throw error;
    const damaged = [files.trusted, files.published].filter((file) => existsSync(file));
    for (const file of damaged) await rename(file, `${file}.damaged`);
    await add();
    return `${error.message}. The files of the pages are set aside, as ${damaged.map((file) => `${basename(file)}.damaged`).join(' and ')}.\n`;
  }
}

export async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid } = await lstat(folder);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new Error(`${folder} is another user's.`);
}

interface Desk {
  /** Null if no key of the name works. */
  newest(name: string): Promise<object | null>;
  create(terms: { readonly name: string }): Promise<unknown>;
}

/** True for the files of the sandbox, which no operator has named. */
export const isOfSandbox = (disk: Disk, published: string) => published === sandboxFiles(disk).published;

/** Creates the key of the sandbox's pages; warns the operator of any other that is missing. */
export async function openKeys(
  published: string,
  { api }: PluginServices,
  { files, warn }: PluginHost,
): Promise<void> {
  const desk = api<{ readonly desk: Desk }>('issued-keys')?.desk;
  if (desk === undefined) return;
  const pages = Object.values(await readPages(files, { published }).catch(() => ({})));
  for (const name of new Set(pages.map((page) => (page as { readonly key?: unknown } | null)?.key))) {
    // An unreachable store is no reason for a warning.
    if (typeof name !== 'string' || (await desk.newest(name).catch(() => ({}))) !== null) continue;
    if (name === SANDBOX_PAGES_KEY && isOfSandbox(files, published)) await desk.create({ name });
    else warn(`PUBLIC_DOCUMENTS: there is no issued key ${name}. Make it: country-graph keys create ${name}`);
  }
}
