import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Disk } from './disk.ts';
import { PageTable, type PublicTerms } from './public-documents.ts';

/** The trusted documents and the pages that name them: two files that belong together. */
export interface PageFiles {
  readonly trusted: string;
  readonly published: string;
}

/** A folder of trusted documents gets one more file. */
export function pageFiles(trusted: string, published: string): PageFiles {
  const isFolder = existsSync(trusted) && statSync(trusted).isDirectory();
  return { trusted: isFolder ? join(trusted, 'published.json') : trusted, published };
}

/** Writes what isn't the default. */
function writtenTerms({ picture, ...terms }: PublicTerms): object {
  return { ...terms, ...(Object.keys(picture).length > 0 && { picture }) };
}

const TrustedTable = z.record(z.string(), z.string(), 'must be {"<hash>": "<text>", …}');

type Table = Readonly<Record<string, unknown>>;

/** @throws Error of the file */
export async function readPages(disk: Disk, { published }: Pick<PageFiles, 'published'>): Promise<Table> {
  return readTable(disk, published, PageTable);
}

/** Pages of a file, beyond which none is added by others than the operator. */
const MAX_PAGES = 1_000;

/** The page can't be added; `message` says why. */
export class PageRefusal extends Error {}

/**
 * Adds pages and the documents that they name. Documents are written first, so that no page ever names one that isn't
 * there.
 * @param check throws for what makes them no pages, seen while no other process writes
 * @throws Error of a file that is damaged, and writes nothing
 */
export function addPages(
  disk: Disk,
  files: PageFiles,
  documents: Table,
  pages: Table,
  check: (trusted: Table, published: Table) => void = () => {},
): Promise<void> {
  return changed(disk, files, (trusted, published) => {
    check(trusted, published);
    return [
      [files.trusted, trusted, { ...trusted, ...documents }],
      [files.published, published, { ...published, ...pages }],
    ];
  });
}

/** A page with its document, whose operation may have a name. */
interface OwnPage {
  readonly name: string;
  readonly terms: PublicTerms;
  readonly text: string;
  readonly operationName: string | undefined;
}

/**
 * Adds a page of somebody's own.
 * @param isNew true if the name may not be taken
 * @throws Error of a file that is damaged, and writes nothing
 * @throws PageRefusal, and writes nothing, if a name is taken, or there are too many pages
 */
export function addPage(
  disk: Disk,
  files: PageFiles,
  { name, terms, text, operationName }: OwnPage,
  isNew = false,
): Promise<void> {
  const documents = { [terms.document]: text };
  const pages = { [name]: writtenTerms(terms) };
  return addPages(disk, files, documents, pages, (trusted, published) => {
    if (operationName !== undefined && !Object.hasOwn(trusted, terms.document))
      checkOperationName(published, operationName);
    if (isNew) checkNew(published, name);
  });
}

/** No page may have its document by the name of another one: it would have two. */
function checkOperationName(published: Table, name: string): void {
  for (const [page, terms] of Object.entries(published))
    if ((terms as { readonly document?: unknown } | null)?.document === name)
      throw new PageRefusal(
        `The page ${page} has its query by the name ${name}: give this query another name.`,
      );
}

function checkNew(published: Table, name: string): void {
  if (Object.hasOwn(published, name)) throw new PageRefusal(`The name ${name} is taken: choose another.`);
  if (Object.keys(published).length >= MAX_PAGES)
    throw new PageRefusal(
      `There are ${MAX_PAGES} pages, the most that can be published here: take one back.`,
    );
}

/**
 * Takes a page back, if it is there.
 * @param isOwner true if the documents are there for pages alone: then those that no page names any more go as well
 * @param by takes it back only if it was published by them
 * @returns true if it was there
 * @throws Error of a file that is damaged
 */
export async function removePage(
  disk: Disk,
  files: PageFiles,
  name: string,
  isOwner: boolean,
  by?: string,
): Promise<boolean> {
  let isThere = false;
  await changed(disk, files, (trusted, published) => {
    isThere = Object.hasOwn(published, name) && (by === undefined || publisherOf(published[name]) === by);
    if (!isThere) return [];
    const { [name]: _, ...pages } = published;
    const named = new Set(
      Object.values(pages).map((page) => (page as { readonly document?: unknown } | null)?.document),
    );
    const rest = Object.fromEntries(Object.entries(trusted).filter(([id]) => !isOwner || named.has(id)));
    return [
      [files.published, published, pages],
      [files.trusted, trusted, rest],
    ];
  });
  return isThere;
}

/** Who has published a page from GraphiQL. */
export const publisherOf = (page: unknown) => (page as { readonly by?: unknown } | null | undefined)?.by;

type Change = readonly [file: string, before: Table, after: Table];

/** Reads both and writes what has changed, in their order, while no other process does. */
function changed(
  disk: Disk,
  files: PageFiles,
  changesOf: (trusted: Table, published: Table) => readonly Change[],
): Promise<void> {
  return disk.locked(files.published, async () => {
    const trusted = await readTable(disk, files.trusted, TrustedTable);
    const published = await readPages(disk, files);
    for (const [file, before, after] of changesOf(trusted, published)) {
      if (JSON.stringify(before) === JSON.stringify(after)) continue;
      await disk.replace(file, `${JSON.stringify(after, null, 2)}\n`);
    }
  });
}

async function readTable(disk: Disk, file: string, schema: z.ZodType<Table>): Promise<Table> {
  return existsSync(file) ? disk.checkedJson(schema, await disk.readText(file), file) : {};
}
