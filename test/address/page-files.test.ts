import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { files as disk } from '../../src/gateway/files-view.ts';
import { openSchema } from '../../src/gateway/open-schema.ts';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { openTrusted } from '../../src/graphql/request/trusted.ts';
import { addPages, readPages, removePage } from '../../src/plugins/public-pages/page-files.ts';
import { openPublicDocuments } from '../../src/plugins/public-pages/public-documents.ts';
import { withFileLock } from '../../src/shared/file-lock.ts';
import { servicesWith } from '../support/services.ts';
import { DOCUMENTS } from './publishing.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'country-graph-pages-'));
});
afterAll(() => rm(folder, { recursive: true }));

const filesOf = (name: string) => ({
  trusted: join(folder, `${name}-trusted.json`),
  published: join(folder, `${name}-public.json`),
});
const add = (files: ReturnType<typeof filesOf>, name: string, text: string) =>
  addPages(disk, files, { [sha256Of(text)]: text }, { [name]: { document: sha256Of(text), key: 'pages' } });

/** Milliseconds: a look that never comes by itself. */
const NEVER = 1_000_000_000;

describe('a page and its document', () => {
  it('a page and its document are read as one state, whichever file is looked at first', async () => {
    const files = filesOf('one');
    await add(files, 'card', DOCUMENTS.card);
    const problems: unknown[] = [];
    const onProblem = (problem: unknown) => problems.push(problem);
    // Of the two, only the pages are looked at.
    const persisted = await openTrusted(files.trusted, onProblem, NEVER);
    const gateway = servicesWith(await openSchema(), { persisted });
    const means = { gateway, disk, onProblem, leaveOut: null };
    const { current, stop } = await openPublicDocuments(files.published, means, 5);
    for (const [i, text] of [DOCUMENTS.kept, DOCUMENTS.map, DOCUMENTS.scatter, DOCUMENTS.bars].entries()) {
      await add(files, `page-${i}`, text);
      await expect.poll(() => [...current().keys()]).toContain(`page-${i}`);
    }
    await removePage(disk, files, 'page-0', true);
    await expect.poll(() => [...current().keys()]).toEqual(['card', 'page-1', 'page-2', 'page-3']);
    await persisted.look();
    expect(persisted.get(sha256Of(DOCUMENTS.kept), false)).toBeUndefined();
    stop();
    persisted.stop();
    expect(problems).toEqual([]);
  });

  it('a page and its document are told of only if they don`t fit at two looks', async () => {
    const files = filesOf('two');
    await add(files, 'card', DOCUMENTS.card);
    const problems: unknown[] = [];
    const onProblem = (problem: unknown) => problems.push(problem);
    const persisted = await openTrusted(files.trusted, onProblem, NEVER);
    await writeFile(files.trusted, '{');
    await persisted.look();
    expect(problems).toEqual([]);
    await persisted.look();
    await persisted.look();
    expect(problems.map(String)).toEqual([expect.stringContaining('is no JSON in line 1')]);
    persisted.stop();
  });

  it('a page and its document are added by many at once, and none is lost', async () => {
    const files = filesOf('many');
    const names = Array.from({ length: 20 }, (_, i) => `page-${i}`);
    await Promise.all(
      names.map((name) => add(files, name, `query { ${name.replace('-', '_')}: health { status } }`)),
    );
    expect(Object.keys(await readPages(disk, files)).sort()).toEqual(names.toSorted());
    expect((await readdir(folder)).filter((name) => name.startsWith('many'))).toHaveLength(2);
  });
});

it('a lock that nobody gave back is taken after a while', async () => {
  const file = join(folder, 'left');
  await writeFile(`${file}.lock`, '');
  const longAgo = Date.now() / 1000 - 60;
  await utimes(`${file}.lock`, longAgo, longAgo);
  expect(await withFileLock(file, async () => 'done')).toBe('done');
  expect((await readdir(folder)).filter((name) => name.startsWith('left'))).toEqual([]);
});
