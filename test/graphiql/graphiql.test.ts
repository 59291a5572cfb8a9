import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, ConsoleMessage, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LESSONS } from '../../src/graphiql/tabs.ts';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { openProgram, type Program, type ProgramOptions } from '../support/program.ts';

// A page draws its charts in a second, and in several where other suites take the machine.
vi.setConfig({ expect: { poll: { timeout: 10_000 } } });

let browser: Browser;
/** One for all tests, at one address: what the browser has compiled of GraphiQL's scripts, it takes for each of them. */
let page: Page;
let origin: string;
/** Of the test that runs. */
let program: Program;

const front = createServer((socket) => {
  pipeline(socket, connect(Number(new URL(program.url).port), '127.0.0.1'), socket, () => {});
});

beforeAll(async () => {
  if (!hasChromium) return;
  await once(front.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  browser = await openBrowser();
  page = await browser.newPage({ acceptDownloads: true });
}, 60_000);
afterAll(async () => {
  front.close();
  await browser?.close();
});

interface Opening extends ProgramOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly path?: string;
  readonly colorScheme?: 'light' | 'dark';
}

/** GraphiQL in a browser that remembers nothing of it, over a program of its own. */
async function open({
  viewport = { width: 1400, height: 900 },
  path = '/graphiql',
  colorScheme = 'light',
  ...options
}: Opening = {}) {
  program = await openProgram({ env: { CACHE_URL: 'memory:' }, ...options });
  const outside: string[] = [];
  const problems: string[] = [];
  // The browser finds no other host. To route each request by way of this process would take a quarter more time.
  const onRequest = (request: Request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) outside.push(url);
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(message.text());
  };
  const onError = (error: unknown) => problems.push(String(error));

  // A page of the same address that runs nothing.
  await page.goto(`${origin}/health/live`);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  page.on('request', onRequest).on('console', onConsole).on('pageerror', onError);
  await page.goto(origin + path);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  return {
    program,
    origin,
    page,
    outside,
    problems,
    async [Symbol.asyncDispose]() {
      page.off('request', onRequest).off('console', onConsole).off('pageerror', onError);
      await page.goto('about:blank');
      await program[Symbol.asyncDispose]();
    },
  };
}

const tab = (page: Page, name: string) =>
  page.locator('.graphiql-tabs').getByRole('button', { name, exact: true }).click();
const pane = (page: Page, name: string) => page.getByRole('button', { name: `Show ${name}` }).click();

/** Puts an operation in place of what the editor holds. */
async function write(page: Page, text: string) {
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  // Brackets that the editor has closed of its own accord.
  await page.keyboard.press('Shift+ControlOrMeta+End');
  await page.keyboard.press('Delete');
}

/** Runs what the editor holds, and waits for its answer. */
async function run(page: Page) {
  const answered = page.waitForResponse(
    (response) =>
      response.url().endsWith('/graphql') && !response.request().postData()?.includes('{ quota {\\n'),
  );
  await page.getByRole('button', { name: /Execute/ }).click();
  return (await answered).json();
}

describe.skipIf(!hasChromium)('GraphiQL', () => {
  it('opens with the network closed, without a complaint, and runs its first operation', async () => {
    await using scene = await open();
    const answer = await run(scene.page);
    expect(answer.errors).toBeUndefined();
    expect(answer.data.country.name).toBe('Kenya');
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toContain('Nairobi');
    expect(scene.outside).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it.for(['/', '/graphql'])('is where a browser lands that opens %s', async (path) => {
    await using scene = await open({ path });
    expect(new URL(scene.page.url()).pathname).toBe('/graphiql');
  });

  it('says that the figures are synthetic, and has a demo key filled in', async () => {
    await using scene = await open();
    expect(await scene.page.getByRole('note').innerText()).toContain('all figures are synthetic');
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('demo-free');
  });

  it('says no such thing of a service that is real', async () => {
    await using service = await openProgram();
    await using scene = await open({ upstreamUrl: service.service.url });
    expect(await scene.page.getByRole('note').count()).toBe(0);
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('');
  });

  it('has operations in its tabs that run, one lesson each', async () => {
    await using scene = await open();
    expect(await scene.page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    for (const { query } of LESSONS) {
      const { data, errors } = await scene.program.ask(query);
      if (!query.includes('query Errors')) expect(errors).toEqual([]);
      else
        expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
      expect(Object.values(data).some((value) => value !== null)).toBe(true);
    }
  });

  it('shows what the schema says of a field', async () => {
    await using scene = await open();
    await pane(scene.page, 'Documentation Explorer');
    await scene.page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).click();
    await scene.page
      .locator('.graphiql-plugin')
      .getByRole('link', { name: 'observations', exact: true })
      .click();
    await expect
      .poll(() => scene.page.locator('.graphiql-plugin').innerText())
      .toContain('Observations of several countries and indicators.');
  });

  it('completes what is being written', async () => {
    await using scene = await open();
    await write(scene.page, '{ country(code: "KE") { offi } }');
    for (let i = 0; i < 4; i += 1) await scene.page.keyboard.press('ArrowLeft');
    await scene.page.keyboard.press('ControlOrMeta+Space');
    await expect
      .poll(() => scene.page.locator('.suggest-widget').innerText(), { timeout: 10_000 })
      .toMatch(/officialName[\s\S]*offices|offices[\s\S]*officialName/);
  });
});

describe.skipIf(!hasChromium)('the key', () => {
  it('is sent as it was typed, and lies neither in an address nor in what stays on the device', async () => {
    await using scene = await open();
    await scene.page.getByLabel('API key').fill('demo-analyst');
    const asked = scene.page.waitForRequest((request) => request.url().endsWith('/graphql'));
    await run(scene.page);
    expect((await asked).headers().authorization).toBe('Bearer demo-analyst');
    expect(scene.program.sandbox.log.map(({ key }) => key)).toContain('analyst');
    const stays = () => scene.page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(await stays()).toContain('CountryCard');
    expect(await stays()).not.toContain('demo-');
    expect(scene.page.url()).not.toContain('demo-');
    await scene.page.reload();
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('demo-analyst');

    await scene.page.getByLabel('Remember on this device').check();
    expect(await stays()).toContain('demo-analyst');
    await scene.page.getByLabel('Remember on this device').uncheck();
    expect(await stays()).not.toContain('demo-');
  });
});

describe.skipIf(!hasChromium)('the cost', () => {
  it('of 54 countries and three figures is two calls, and none again', async () => {
    await using scene = await open();
    await tab(scene.page, 'Cost');
    await pane(scene.page, 'Cost');
    await run(scene.page);
    await expect
      .poll(() => scene.page.locator('.calls').innerText())
      .toBe('2 calls to the metered service, instead of 163 if each field fetched for itself.');
    expect(await scene.page.locator('.pane tbody tr').allInnerTexts()).toEqual([
      '/v1/countries\t1',
      '/v1/data\t1',
    ]);
    await run(scene.page);
    await expect.poll(() => scene.page.locator('.calls').getAttribute('data-calls')).toBe('0');
  });

  it('is explained without a call', async () => {
    await using scene = await open();
    await tab(scene.page, 'Cost');
    await pane(scene.page, 'Cost');
    await scene.page.getByRole('button', { name: 'Explain' }).click();
    await expect.poll(() => scene.page.locator('[data-explained]').getAttribute('data-explained')).toBe('2');
    expect(await scene.page.locator('.plan li').count()).toBe(2);
    expect(scene.program.requests()).toEqual([]);
  });

  it('of the key is shown, with what is left', async () => {
    await using scene = await open();
    await pane(scene.page, 'Cost');
    await run(scene.page);
    await expect
      .poll(() => scene.page.getByLabel('Quota of the key').innerText())
      .toMatch(/calls this minute\s+2, until/);
  });
});

describe.skipIf(!hasChromium)('what goes wrong', () => {
  it('is said in words, with a countdown where a minute is spent', async () => {
    await using scene = await open();
    scene.program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    });
    await pane(scene.page, 'Errors');
    await run(scene.page);
    const error = scene.page.getByLabel('RATE_LIMITED');
    await expect.poll(() => error.innerText()).toContain('The requests of this minute are spent.');
    const seconds = async () => Number(await error.getByRole('timer').getAttribute('data-seconds'));
    const before = await seconds();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThanOrEqual(60);
    await expect.poll(seconds, { timeout: 10_000 }).toBeLessThan(before);
  });

  it('is told apart by code', async () => {
    await using scene = await open();
    await tab(scene.page, 'Errors');
    await pane(scene.page, 'Errors');
    await run(scene.page);
    const error = scene.page.getByLabel('BAD_USER_INPUT');
    await expect.poll(() => error.innerText()).toContain('Asking again as it is will not help.');
    expect(await error.locator('li').count()).toBe(2);
  });
});

describe.skipIf(!hasChromium)('whoever comes by keyboard, screen reader or telephone', () => {
  const panes = ['Documentation Explorer', 'History', 'GraphiQL Explorer', 'Chart', 'Cost', 'Errors'];

  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    let scene: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      scene = await open({ colorScheme });
      await tab(scene.page, 'OverTime');
      await run(scene.page);
      await scene.page.locator('.graphiql-response .view-line').nth(3).waitFor();
      await scene.page.evaluate(axe.source);
    });
    afterAll(() => scene?.[Symbol.asyncDispose]());

    it.for(panes)('meets no serious fault: %s', async (title) => {
      await pane(scene.page, title);
      await scene.page.locator('.graphiql-plugin').first().waitFor();
      expect(await scene.page.getByRole('button', { name: `Hide ${title}` }).count()).toBe(1);
      if (title === 'Chart') await scene.page.locator('.picture svg').first().waitFor();
      const { violations } = await scene.page.evaluate<AxeResults>('axe.run(document)');
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))])).toEqual([]);
    });
  });

  it('can use it at the width of a telephone', async () => {
    await using scene = await open({ viewport: { width: 390, height: 800 } });
    await run(scene.page);
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toContain('Nairobi');
    const [scrollWidth, clientWidth] = await scene.page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
    for (const selector of ['.graphiql-query-editor', '.graphiql-response']) {
      expect((await scene.page.locator(selector).first().boundingBox())?.width).toBeGreaterThan(250);
    }
  });
});
