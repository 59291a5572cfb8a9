import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildSchema } from 'graphql';
import type { Page } from 'playwright-core';
import { parseSync } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Figure } from '../../clients/graphiql/src/chart/figures.ts';
import { dataTypeOf } from '../../clients/graphiql/src/share/data-type.ts';
import { asEmbed, lookParameters, withoutFrame } from '../../clients/graphiql/src/share/embed.ts';
import { linkTo, MAX_LINK, sharedIn, warningOf } from '../../clients/graphiql/src/share/link.ts';
import { asFetch, asTypeScript } from '../../clients/graphiql/src/share/snippets.ts';
import { DOCUMENTS, openFiles } from '../address/publishing.ts';
import { hasChromium } from '../support/chromium.ts';
import { scenesOfGraphiql, write, written } from '../support/graphiql.ts';
import { threadMs } from '../support/thread-ms.ts';

const { open, shared } = scenesOfGraphiql();

const execute = promisify(execFile);

const PAGE = 'https://example.org/graphiql';

describe('a link', () => {
  it.for([
    { query: '{ a }', variables: '' },
    { query: 'query Ä($x: Int) {\n  a # & = + %\n}', variables: '{ "x": "\u20ac&#" }' },
  ])('a link brings back what was put in: $query', (shared) => {
    const link = linkTo(PAGE, shared) ?? '';
    expect(new URL(link).search).toBe('');
    expect(sharedIn(new URL(link).hash)).toEqual(shared);
  });

  it('a link is neither made nor read beyond its length', () => {
    expect(linkTo(PAGE, { query: 'x'.repeat(MAX_LINK), variables: '' })).toBeNull();
    expect(sharedIn(`#query=${'x'.repeat(MAX_LINK)}`)).toBeNull();
  });

  it('a link that mail programs may cut says so', () => {
    expect(warningOf(`${PAGE}#${'x'.repeat(1_000)}`)).toBe('');
    expect(warningOf('x'.repeat(2_345))).toBe(
      '; it has 2,345 characters, of which some mail programs and chats take 2,000',
    );
  });

  it.for(['', '#', '#query=', '#variables=1', '#other'])(
    'a link without an operation holds none: %s',
    (hash) => {
      expect(sharedIn(hash)).toBeNull();
    },
  );
});

describe('the type of an answer', () => {
  const schema = buildSchema(`
    scalar JSON
    enum State { OK SPENT }
    interface Node { id: ID! }
    type Query { word: String! list: [Int!] lists: [[Int]!]! state: State item: Item node: Node any: JSON }
    type Item implements Node { id: ID! name: String size: Float items: [Item!]! }
  `);

  it.for([
    [
      '{ word list lists }',
      '{ readonly word: string; readonly list: readonly number[] | null; readonly lists: readonly (readonly (number | null)[])[]; }',
    ],
    ['{ s: state any }', "{ readonly s: 'OK' | 'SPENT' | null; readonly any: unknown; }"],
    [
      '{ item { name items { size } } }',
      '{ readonly item: { readonly name: string | null; readonly items: readonly { readonly size: number | null; }[]; } | null; }',
    ],
    [
      '{ item { ...F ...F } } fragment F on Item { id __typename }',
      '{ readonly item: { readonly id: string; readonly __typename: string; } | null; }',
    ],
    [
      '{ node { id ... on Item { name } } }',
      '{ readonly node: { readonly id: string; readonly name?: string | null; } | null; }',
    ],
    ['query ($x: Boolean!) { word @include(if: $x) }', '{ readonly word?: string; }'],
    ['{ unknown }', '{ readonly unknown: unknown; }'],
  ] as const)('the type of an answer is written: %s', ([query, type]) => {
    expect(dataTypeOf(schema, query, undefined).replace(/\s+/g, ' ')).toBe(type);
  });

  it('the type of an answer ends where fragments spread each other', () => {
    const query = '{ item { ...F } } fragment F on Item { items { ...F } ...F }';
    expect(dataTypeOf(schema, query, undefined)).toContain('readonly items');
    const wide = `{ item { ...F } } fragment F on Item { ${['a', 'b', 'c'].map((a) => `${a}: items { ...F }`).join(' ')} }`;
    const before = process.threadCpuUsage();
    expect(dataTypeOf(schema, wide, undefined).length).toBeLessThan(2_000_000);
    expect(threadMs(before)).toBeLessThan(2_000);
  });

  it('the type of an answer stands in TypeScript that can be read', () => {
    const text = asTypeScript(
      'https://example.org/graphql',
      { query: `{ \`\${a}\` \\ }` },
      '{\n  readonly a: 1;\n}',
    );
    expect(parseSync('ask.ts', text).errors).toEqual([]);
    expect(parseSync('ask.js', asFetch('https://example.org/graphql', { query: '`' })).errors).toEqual([]);
  });
});

describe('a frame', () => {
  const document = { url: 'https://figures.example/c/lines', title: 'People & "years"' };

  it('a frame has its variables in its address, lists with commas', () => {
    const text = asEmbed(document, { codes: ['KE', 'ZA'], from: 2000, to: null, of: 'a&b' });
    expect(text).toContain('src="https://figures.example/c/lines?codes=KE,ZA&amp;from=2000&amp;of=a%26b"');
    expect(text).toContain('title="People &amp; &quot;years&quot;"');
    expect(text).toMatch(/^<iframe .*width="\d+" height="\d+" loading="lazy".*><\/iframe><script/);
    expect(text).toContain('<script async src="https://figures.example/c/frames.js">');
    expect(asEmbed(document)).toContain('src="https://figures.example/c/lines" ');
  });

  it('a frame shows the picture that is seen: of which indicator, and how', () => {
    const figure = (indicator: string) => ({ indicator }) as Figure;
    const pictures = ['a', 'b'].map((key) => ({ kind: 'lines', key, figures: [figure(key)] }) as never);
    const of = (looks: object) => decodeURIComponent(lookParameters(pictures, looks as never).toString());
    expect(of({})).toBe('');
    expect(of({ a: { kind: 'ranking', year: 2010, removed: [] } })).toBe(
      'picture.kind=ranking&picture.year=2010',
    );
    expect(of({ b: { removed: ['KE', 'NG'], isLog: true } })).toBe(
      'picture.indicator=b&picture.removed=KE&picture.removed=NG&picture.isLog=true',
    );
  });

  it('a refusal of a frame says which parameters the page of that name takes', () => {
    const text = 'query Lines($from: Int) { a }';
    const published = [{ url: '', title: '', text }];
    expect(withoutFrame('query Lines { b }', published)).toContain('Its address takes from.');
    expect(withoutFrame('query Other { b }', published)).toContain('Share, Publish');
  });
});

/** Copies the operation of the editor, and reads the clipboard then. */
async function copy(page: Page, what: string): Promise<string> {
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('menuitem', { name: what }).click();
  await page.locator('.share [role=status]', { hasText: 'copied' }).waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

// The editor would indent more lines by itself.
const OPERATION =
  "# it's `quoted` \\ $x\nquery Quoted($code: CountryCode!) { country(code: $code) { name } }";

async function writeQuoted(page: Page) {
  await write(page, OPERATION);
  await page.getByRole('button', { name: 'Variables' }).click();
  await page.locator('.graphiql-editor-tool .view-lines').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText('{ "code": "KE" ');
  await page.keyboard.press('Shift+ControlOrMeta+End');
  await page.keyboard.insertText('}');
}

describe.skipIf(!hasChromium)('sharing', () => {
  it('a link says its length where it is copied, on a telephone too, if mail programs may cut it', async () => {
    await using scene = await open({ viewport: { width: 390, height: 844 } });
    const { page, program } = scene;
    await page.setViewportSize({ width: 1366, height: 768 });
    await write(page, `# ${'long '.repeat(500)}\n{ countries { code } }`);
    await page.setViewportSize({ width: 390, height: 844 });
    const link = await copy(page, 'Copy link');
    const said = page.locator('.share [role=status]');
    await expect.poll(() => said.innerText()).toBe(`Link copied, without the key${warningOf(link)}`);
    const box = await said.boundingBox();
    expect([(box?.x ?? -1) >= 0, (box?.x ?? 0) + (box?.width ?? 9_999) <= 390]).toEqual([true, true]);
    expect(program.requests()).toEqual([]);
  });

  it('sharing by a link opens the operation in a tab, unrun, and takes it out of the address', async () => {
    await using scene = await open();
    const { page } = scene;
    await writeQuoted(page);
    const link = await copy(page, 'Copy link');
    expect(link).not.toContain('demo-');
    await page.goto('about:blank');
    await page.goto(link);
    await page.evaluate('localStorage.clear()');
    await page.goto('about:blank');
    await page.goto(link);
    await expect.poll(() => written(page)).toBe(OPERATION);
    await expect.poll(() => page.locator('.graphiql-tab-active').innerText()).toContain('Quoted');
    await page.getByRole('button', { name: 'Variables' }).click();
    await expect
      .poll(() => page.locator('.graphiql-editor-tool .view-lines').first().innerText())
      .toContain('KE');
    expect(new URL(page.url()).hash).toBe('');
    expect(scene.program.requests()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('an operation that is copied', () => {
  const sceneOf = shared();
  beforeAll(() => writeQuoted(sceneOf().page));

  it('an operation that is copied as curl is a command that runs, with the key from the environment', async () => {
    const command = await copy(sceneOf().page, 'Copy as curl');
    expect(command).not.toContain('demo-');
    const env = { PATH: process.env.PATH, COUNTRY_GRAPH_KEY: 'demo-team' };
    const { stdout } = await execute('sh', ['-c', command], { env });
    expect(JSON.parse(stdout).data).toEqual({ country: { name: 'Kenya' } });
  });

  it.for(['Copy as fetch', 'Copy as TypeScript'])('an operation that is copied runs: %s', async (what) => {
    const text = await copy(sceneOf().page, what);
    expect(text).not.toContain('demo-');
    const isFetch = what === 'Copy as fetch';
    const module = isFetch
      ? `${text}console.log(JSON.stringify(data));`
      : `${text}console.log(JSON.stringify((await ask('demo-team')).data));`;
    if (!isFetch) expect(text).toContain('readonly name: string | null;');
    const env = { PATH: process.env.PATH, COUNTRY_GRAPH_KEY: 'demo-team' };
    const type = isFetch ? 'module' : 'module-typescript';
    const { stdout } = await execute(process.execPath, [`--input-type=${type}`, '--eval', module], { env });
    expect(JSON.parse(stdout)).toEqual({ country: { name: 'Kenya' } });
  });
});

describe.skipIf(!hasChromium)('a frame of the operation', () => {
  const files = openFiles();
  const env = { ...files.env, CACHE_URL: files.folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team' };
  const sceneOf = shared({ env: { ...env, TRUSTED_DOCUMENTS_FOR: 'issued' } });
  afterAll(() => files.folder[Symbol.dispose]());

  it('a frame of the operation is there for a public document, and shows it with its variables', async () => {
    const { page, program } = sceneOf();
    const { key } = (await program.issued?.desk.create({ name: 'page' })) ?? {};
    await write(page, DOCUMENTS.bars);
    await page.getByRole('button', { name: 'Variables' }).click();
    await page.locator('.graphiql-editor-tool .view-lines').first().click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{ "codes": ["KE", "ET"] ');
    await page.keyboard.press('Shift+ControlOrMeta+End');
    await page.keyboard.insertText('}');
    const text = await copy(page, 'Copy embed');
    expect(text).toMatch(/^<iframe src="http:\/\/127\.0\.0\.1:\d+\/c\/bars\?codes=KE,ET" title="bars" /);
    expect(text).toContain(' loading="lazy"');
    for (const secret of [key ?? 'cgk_', 'cgk_', 'demo-']) expect(text).not.toContain(secret);
    program.requests();
    const framed = await fetch(/src="([^"]+)"/.exec(text)?.[1] ?? '');
    expect([framed.status, (await framed.text()).includes('Ethiopia')]).toEqual([200, true]);
    expect(program.requests()).toHaveLength(1);
  });

  it('a frame of the operation is not there for another, and the operator is told the way to it', async () => {
    const { page } = sceneOf();
    await write(page, DOCUMENTS.kept);
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy embed' }).click();
    await expect
      .poll(() => page.locator('.share [role=status]').innerText())
      .toBe('This operation has no public page. To make one: Share, Publish.');
  });
});
