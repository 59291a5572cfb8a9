import { existsSync } from 'node:fs';
import { z } from 'zod';
import { withFileLock } from '../../shared/file-lock.ts';
import { checkedJson, readText, replaceFile } from '../../shared/text-files.ts';
import { PageTable } from './public-documents.ts';

/** The trusted documents and the pages that name them: two files that belong together. */
export interface PageFiles {
  readonly trusted: string;
  readonly published: string;
}

const TrustedTable = z.record(z.string(), z.string(), 'must be {"<hash>": "<text>", …}');

type Table = Readonly<Record<string, unknown>>;

/** @throws FileError */
export async function readPages({ published }: Pick<PageFiles, 'published'>): Promise<Table> {
  return readTable(published, PageTable);
}

/**
 * Adds pages and the documents that they name. Documents are written first, so that no page ever names one that isn't
 * there.
 * @throws FileError, and writes nothing, if one of the files is damaged
 */
export function addPages(files: PageFiles, documents: Table, pages: Table): Promise<void> {
  return changed(files, (trusted, published) => [
    [files.trusted, trusted, { ...trusted, ...documents }],
    [files.published, published, { ...published, ...pages }],
  ]);
}

/**
 * Takes a page back.
 * @param isOwner true if the documents are there for pages alone: then those that no page names any more go as well
 * @throws FileError
 */
export function removePage(files: PageFiles, name: string, isOwner: boolean): Promise<void> {
  return changed(files, (trusted, published) => {
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
}

type Change = readonly [file: string, before: Table, after: Table];

/** Reads both and writes what has changed, in their order, while no other process does. */
function changed(
  files: PageFiles,
  changesOf: (trusted: Table, published: Table) => readonly Change[],
): Promise<void> {
  return withFileLock(files.published, async () => {
    const [trusted, published] = [await readTable(files.trusted, TrustedTable), await readPages(files)];
    for (const [file, before, after] of changesOf(trusted, published)) {
      if (JSON.stringify(before) === JSON.stringify(after)) continue;
      await replaceFile(file, `${JSON.stringify(after, null, 2)}\n`);
    }
  });
}

async function readTable(file: string, schema: z.ZodType<Table>): Promise<Table> {
  return existsSync(file) ? checkedJson(schema, await readText(file), file) : {};
}
