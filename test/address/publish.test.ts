import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { runCommand } from '../support/command.ts';
import { type Serving, SOURCES, startServing } from '../support/serving.ts';

const LIFE = `query Life($codes: [CountryCode!] = ["KE", "NG"], $from: Int = 2000) {
  observations(countryCodes: $codes, metricKeys: ["life_expectancy"], fromYear: $from) { value }
}
`;

let folder: string;
let serving: Serving;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'country-graph-publish-'));
  file = join(folder, 'life.graphql');
  writeFileSync(file, LIFE);
  serving = await startServing({ env: { TMPDIR: folder }, bin: SOURCES });
}, 60_000);
afterAll(async () => {
  serving.child.kill();
  await once(serving.child, 'exit');
  rmSync(folder, { recursive: true });
});

const origin = () => new URL(serving.url).origin;
const publish = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(['publish', ...args], { env: { TMPDIR: folder, ...env }, bin: SOURCES });

describe('public pages over the sandbox', () => {
  it('public pages over the sandbox are there at the start, and one command adds one', async () => {
    expect(serving.printed()).toContain(`Public pages: ${origin()}/c/life-expectancy.`);
    const sample = await (await fetch(`${origin()}/c/life-expectancy`)).text();
    expect(sample).toContain('Life expectancy at birth, total');
    const { stdout, stderr, code } = await publish([file, '--url', origin(), '--title', 'Lives since $from']);
    expect([stderr, code]).toEqual(['', 0]);
    // Says the price, the address and the frame.
    expect(stdout).toContain('It takes 1 call to the service, and none while');
    const [, address = ''] = /<iframe src="([^"]+)"/.exec(stdout) ?? [];
    expect(stdout).toContain('title="Lives since 2000"');
    expect(address).toBe(`${origin()}/c/life`);
    await expect.poll(async () => (await fetch(address)).status, { timeout: 15_000 }).toBe(200);
    const page = await (await fetch(`${address}?from=2010`)).text();
    expect(page).toContain('<h1>Lives since 2010</h1>');
    const svg = await (await fetch(`${address}.svg`)).text();
    expect(svg).toContain('<title>Lives since 2000</title>');
    expect(svg).toContain('>Kenya<');
  }, 60_000);

  it.for([
    ['{ a', 'is no GraphQL'],
    ['{ nothing }', 'Cannot query field "nothing"'],
    ['query A { health { status } } query B { health { status } }', 'one query, and no other'],
  ] as const)('publish refuses what no page could show, and writes nothing: %s', async ([text, words]) => {
    const other = join(folder, 'other.graphql');
    writeFileSync(other, text);
    const { stdout, stderr, code } = await publish([other]);
    expect([stdout, code, stderr]).toEqual(['', 1, expect.stringContaining(words)]);
    expect((await fetch(`${origin()}/c/other`)).status).toBe(404);
  });

  it('publish says what a gateway of one`s own still lacks, and writes its files', async () => {
    const [trusted, published] = [join(folder, 'trusted.json'), join(folder, 'public.json')];
    const env = {
      TRUSTED_DOCUMENTS: trusted,
      PUBLIC_DOCUMENTS: published,
      PUBLIC_URL: 'https://figures.example',
    };
    const { stdout } = await publish([file, '--key', 'press'], {
      ...env,
      CACHE_URL: `sqlite:${join(folder, 'figures.db')}`,
    });
    expect(stdout).toContain('The gateway has to be started with COUNTRY_DATA_KEY');
    expect(stdout).toContain('Unless it is there, the key is made by: country-graph keys create press');
    expect(stdout).toContain('\nhttps://figures.example/c/life\n');
    const { life } = JSON.parse(readFileSync(published, 'utf8')) as {
      life: { document: string; key: string };
    };
    expect(life.key).toBe('press');
    expect(JSON.parse(readFileSync(trusted, 'utf8'))[life.document]).toBe(LIFE);
  });

  it('publish by several at once loses no page', async () => {
    const [trusted, published] = [join(folder, 'six-trusted.json'), join(folder, 'six-public.json')];
    const env = { TRUSTED_DOCUMENTS: trusted, PUBLIC_DOCUMENTS: published };
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const files = names.map((name) => join(folder, `six-${name}.graphql`));
    for (const [i, path] of files.entries()) writeFileSync(path, LIFE.replace('2000', String(2001 + i)));
    const runs = await Promise.all(files.map((path) => publish([path], env)));
    expect(runs.map(({ code }) => code)).toEqual(names.map(() => 0));
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    expect(Object.keys(read(published)).sort()).toEqual(names.map((name) => `six-${name}`));
    expect(Object.keys(read(trusted))).toHaveLength(6);
    expect(
      readdirSync(folder).filter((name) => name.startsWith('six-') && !name.endsWith('.graphql')),
    ).toEqual(['six-public.json', 'six-trusted.json']);
  }, 300_000);

  it('pages are listed, and one is taken back', async () => {
    expect((await publish([file, '--name', 'brief', '--title', 'In brief'])).code).toBe(0);
    await expect.poll(async () => (await fetch(`${origin()}/c/brief`)).status, { timeout: 60_000 }).toBe(200);
    const listed = await publish(['--list', '--url', origin()]);
    expect(listed.stdout).toMatch(/^name +key +title +address\n/);
    expect(listed.stdout).toMatch(new RegExp(`\nbrief +pages +In brief +${origin()}/c/brief\n`));
    const [, stored = ''] = /They are stored in (.*)\n$/.exec(listed.stdout) ?? [];
    expect(serving.printed()).toContain(`(kept in ${dirname(stored)})`);
    const unpublish = (name: string) =>
      runCommand(['unpublish', name], { env: { TMPDIR: folder }, bin: SOURCES });
    expect(await unpublish('brief')).toMatchObject({
      code: 0,
      stdout: `brief is public no more (${stored}).\n`,
    });
    await expect.poll(async () => (await fetch(`${origin()}/c/brief`)).status, { timeout: 60_000 }).toBe(404);
    expect((await publish(['--list'])).stdout).not.toContain('brief');
    expect(await unpublish('brief')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no page "brief" in /),
    });
  }, 300_000);

  it('whoever has a key of the sandbox publishes from GraphiQL, and no page of another site', async () => {
    const send = async (method: 'POST' | 'DELETE', headers: Readonly<Record<string, string>>) => {
      const path = method === 'POST' ? '/c' : '/c/mine';
      const body = JSON.stringify({ name: 'mine', query: LIFE, note: 'From here.' });
      const type = { 'content-type': 'application/json' };
      const { statusCode, body: answer } = await request(origin() + path, {
        method,
        headers: method === 'POST' ? { ...type, ...headers } : headers,
        ...(method === 'POST' && { body }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: as tests look into answers elsewhere
      return [statusCode, ((await answer.json()) as any).errors?.[0].extensions.code];
    };
    const authorization = 'Bearer demo-team';
    expect(await send('POST', {})).toEqual([401, 'UNAUTHENTICATED']);
    expect(await send('POST', { authorization: 'Bearer other-key' })).toEqual([401, 'UNAUTHENTICATED']);
    // A name that was bound to this address after its page had come.
    const bound = { authorization, host: 'evil.example', origin: 'http://evil.example' };
    expect(await send('POST', bound)).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    expect((await fetch(`${origin()}/c/mine`)).status).toBe(404);
    expect(await send('POST', { authorization, origin: origin(), 'sec-fetch-site': 'same-origin' })).toEqual([
      201,
      undefined,
    ]);
    expect(await (await fetch(`${origin()}/c/mine`)).text()).toContain('<p>From here.</p>');
    // The command and the browser have the same pages.
    expect((await publish(['--list', '--url', origin()])).stdout).toMatch(/\nmine +pages /);
    expect(await send('DELETE', bound)).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    expect(await send('DELETE', { authorization })).toEqual([200, undefined]);
    expect((await fetch(`${origin()}/c/mine`)).status).toBe(404);
  }, 60_000);

  it('a page of the sandbox that this build can`t serve is left out with a remark, and damaged files are set aside', async () => {
    const other = mkdtempSync(join(folder, 'other-'));
    const start = () => startServing({ env: { TMPDIR: other }, bin: SOURCES, isLogKept: true });
    const stop = async ({ child }: Serving) => {
      child.kill();
      await once(child, 'exit');
    };
    const first = await start();
    await stop(first);
    const [pages = ''] = readdirSync(other).map((name) => join(other, name));
    const published = join(pages, 'public-documents.json');
    const trusted = join(pages, 'trusted-documents.json');
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const life = read(published)['life-expectancy'];
    writeFileSync(trusted, JSON.stringify({ ...read(trusted), old: '{ nothing }' }));
    writeFileSync(
      published,
      JSON.stringify({
        ...read(published),
        later: { ...life, licence: 'of a later release' },
        old: { document: 'old', key: 'pages' },
        none: null,
      }),
    );
    const second = await start();
    const statusOf = async (name: string) => (await fetch(new URL(`/c/${name}`, second.url))).status;
    expect(await statusOf('life-expectancy')).toBe(200);
    for (const name of ['later', 'old', 'none']) {
      expect(await statusOf(name)).toBe(404);
      expect(second.errors()).toMatch(
        new RegExp(`"level":40,[^\\n]*"msg":"Left out of the public pages: [^\\n]*\\b${name}: `),
      );
    }
    expect(second.errors()).not.toContain('"level":50');
    await stop(second);

    writeFileSync(published, '{"half');
    const third = await start();
    expect(third.printed()).toContain(
      `${published} is no JSON in line 1: Unterminated string, at {"half. The files of the pages are set aside, as`,
    );
    expect((await fetch(new URL('/c/life-expectancy', third.url))).status).toBe(200);
    expect(readFileSync(`${published}.damaged`, 'utf8')).toBe('{"half');
    await stop(third);
  }, 300_000);

  it.skipIf(!hasChromium)(
    'public pages over the sandbox are three clicks from a question to a frame elsewhere',
    async () => {
      const browser = await openBrowser();
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await context.newPage();
      await page.goto(`${origin()}/graphiql`);
      await page.getByRole('button', { name: 'How have three countries fared' }).click();
      await page.locator('#root .frame.lines g.top path').first().waitFor({ timeout: 30_000 });
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Copy embed' }).click();
      await page.locator('.share [role=status]', { hasText: 'copied' }).waitFor();
      const frame = await page.evaluate<string>('navigator.clipboard.readText()');
      const host = createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><html lang="en"><title>Host</title>${frame}`);
      });
      await once(host.listen(0, '127.0.0.1'), 'listening');
      await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
      const image = page.frameLocator('iframe').locator('img');
      await expect
        .poll(() => image.evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth > 0))
        .toBe(true);
      expect(await page.frameLocator('iframe').locator('h1').innerText()).toContain('Life expectancy');
      await browser.close();
      host.close();
    },
    90_000,
  );
});
