import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { openProgram, type Program } from '../support/program.ts';

const ENTRY = fileURLToPath(new URL('../../clients/client/src/figures.ts', import.meta.url));
const PARSE = fileURLToPath(import.meta.resolve('graphql/language/parser.js'));
/** The bound of the entry, compressed as servers do. */
const MAX_BYTES = 12_000;

async function bundle(input: string, code?: string): Promise<string> {
  const build = await rolldown({
    input: code === undefined ? input : 'page',
    plugins:
      code === undefined
        ? []
        : [
            {
              name: 'page',
              resolveId: (id) => (id === 'page' ? id : null),
              load: (id) => (id === 'page' ? code : null),
            },
          ],
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output[0].code;
}

it('the entry for held figures takes at most 12 kB, compressed', async () => {
  const bytes = gzipSync(await bundle(ENTRY)).length;
  expect(bytes).toBeLessThan(MAX_BYTES);
});

const QUERY = `query Series($codes: [CountryCode!]!, $from: Int, $to: Int) {
  observations(countryCodes: $codes, metricKeys: ["population_total"], fromYear: $from, toYear: $to) {
    year value country { code } indicator { key }
  }
}`;

describe.runIf(hasChromium)('figures held by a browser', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let origin = '';
  let script = '';
  const pages = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    script = await bundle(
      'page',
      `import { parse } from ${JSON.stringify(PARSE)};
       import { holdFigures } from ${JSON.stringify(ENTRY)};
       Object.assign(globalThis, { parse, holdFigures });`,
    );
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
  });

  const gateway = () => openProgram({ env: { CACHE_URL: 'memory:', CORS_ORIGINS: origin } });

  /** A tab whose page holds figures on the disk. */
  async function openTab(context: BrowserContext, { url }: Program): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${origin}/?${new URLSearchParams({ gateway: url })}`);
    await ready(page);
    return page;
  }

  const ready = (page: Page) =>
    page.evaluate(() => {
      const page = globalThis as never as Record<string, (...args: unknown[]) => never>;
      const url = new URLSearchParams(location.search).get('gateway') ?? '';
      Object.assign(page, { figures: page.holdFigures?.({ url, parse: page.parse, disk: indexedDB }) });
    });

  /** Figures, and what was done for them; or the message of what failed. */
  const ask = (page: Page, codes: readonly string[], key = 'demo-team') =>
    page.evaluate(
      async ([query, codes, key]) => {
        const { figures } = globalThis as never as {
          figures: { fetch: typeof fetch; written(): Promise<void> };
        };
        const url = new URLSearchParams(location.search).get('gateway') ?? '';
        try {
          const response = await figures.fetch(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
            body: JSON.stringify({ query, variables: { codes, from: 2000, to: 2020 } }),
          });
          const { data, extensions } = await response.json();
          await figures.written();
          return { count: data.observations?.length, ...extensions?.client };
        } catch (error) {
          return { failed: (error as Error).name };
        }
      },
      [QUERY, codes, key] as const,
    );
  const forget = (page: Page) =>
    page.evaluate(() => (globalThis as never as { figures: { forget(): Promise<void> } }).figures.forget());
  const reload = async (page: Page) => {
    await page.reload();
    await ready(page);
  };

  it('figures held by a browser are there offline, after a reload', async () => {
    await using program = await gateway();
    const context = await browser.newContext();
    const page = await openTab(context, program);
    expect(await ask(page, ['KE', 'NG'])).toEqual({ count: 42, held: 0, asked: 42, spared: 0 });
    await program.drain();
    await reload(page);
    expect(await ask(page, ['NG'])).toEqual({ count: 21, held: 21, asked: 0, spared: 1 });
    expect(await ask(page, ['GH'])).toEqual({ failed: 'TypeError' });
    expect(await ask(page, ['KE'], 'demo-analyst')).toEqual({ failed: 'TypeError' });
    await context.close();
  });

  it('figures held by a browser go from each tab, and from the disk, at the logout in one', async () => {
    await using program = await gateway();
    const context = await browser.newContext();
    const [one, other] = [await openTab(context, program), await openTab(context, program)];
    await ask(one, ['KE']);
    await ask(other, ['NG']);
    await forget(one);
    for (const tab of [one, other])
      await expect.poll(async () => (await ask(tab, [tab === one ? 'NG' : 'KE'])).held).toBe(0);
    await forget(other);
    const third = await openTab(context, program);
    expect(await ask(third, ['KE', 'NG'])).toMatchObject({ held: 0, asked: 42 });
    await context.close();
  });

  it('figures held by a browser are asked for anew in each tab, and after a reload, once an event tells one of them', async () => {
    await using program = await gateway();
    const context = await browser.newContext();
    const [one, other] = [await openTab(context, program), await openTab(context, program)];
    await ask(one, ['KE', 'NG']);
    await ask(other, ['KE', 'NG']);
    await one.evaluate(async () => {
      const { figures } = globalThis as never as {
        figures: { revised(event: object): void; written(): Promise<void> };
      };
      const observation = { country: { code: 'KE' }, indicator: { key: 'population_total' } };
      figures.revised({ changes: [{ kind: 'REVISED', observation }] });
      await figures.written();
    });
    const third = await openTab(context, program);
    for (const tab of [third, other])
      expect(await ask(tab, ['KE', 'NG'])).toMatchObject({ held: 21, asked: 21 });
    await context.close();
  });

  it('figures held by a browser without room on the disk are held for as long as the page is open', async () => {
    await using program = await gateway();
    const context = await browser.newContext();
    const page = await openTab(context, program);
    const watching = await context.newCDPSession(page);
    await watching.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    expect(await ask(page, ['KE'])).toMatchObject({ asked: 21 });
    expect(await ask(page, ['KE'])).toMatchObject({ held: 21, spared: 1 });
    await reload(page);
    expect(await ask(page, ['KE'])).toMatchObject({ count: 21, held: 0 });
    await context.close();
  });

  it('figures held by a browser are asked for if its clock was set back since', async () => {
    await using program = await gateway();
    const context = await browser.newContext();
    const page = await openTab(context, program);
    await ask(page, ['KE']);
    await page.clock.setSystemTime(Date.now() - 3_600_000);
    await reload(page);
    expect(await ask(page, ['KE'])).toMatchObject({ held: 0, asked: 21 });
    await context.close();
  });
});
