import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import type { ConsoleMessage, Locator, Page, Request } from 'playwright-core';
import { openBrowser } from './chromium.ts';
import { openProgram, type Program, type ProgramOptions } from './program.ts';

export interface Opening extends ProgramOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly path?: string;
  readonly colorScheme?: 'light' | 'dark';
}

/**
 * A browser with one page for all tests of a file, at one address: what it has compiled of GraphiQL's scripts, it takes for
 * each of them.
 */
export async function openGraphiql() {
  /** Of the test that runs. */
  let program: Program;
  const front = createServer((socket) => {
    pipeline(socket, connect(Number(new URL(program.url).port), '127.0.0.1'), socket, () => {});
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const browser = await openBrowser();
  const page = await browser.newPage({ acceptDownloads: true });
  return {
    page,
    origin,
    /** GraphiQL in a browser that remembers nothing of it, over a program of its own. */
    async open({
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
    },
    async close() {
      front.close();
      await browser.close();
    },
  };
}

/** Puts an operation in place of what the editor holds. */
export async function write(page: Page, text: string) {
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  // Brackets that the editor has closed of its own accord.
  await page.keyboard.press('Shift+ControlOrMeta+End');
  await page.keyboard.press('Delete');
}

/** Runs what the editor holds, and waits for its answer. */
export async function run(page: Page) {
  const answered = page.waitForResponse(
    (response) =>
      response.url().endsWith('/graphql') && !response.request().postData()?.includes('{ quota {\\n'),
    { timeout: 60_000 },
  );
  await page.getByRole('button', { name: /Execute/ }).click();
  return (await answered).json();
}

export function showPane(page: Page, name: string) {
  return page.getByRole('button', { name: `Show ${name}` }).click();
}

/** Presses a button that saves a file, and reads it. */
export async function saved(page: Page, button: Locator) {
  const download = page.waitForEvent('download');
  await button.click();
  const file = await download;
  return { name: file.suggestedFilename(), bytes: readFileSync((await file.path()) ?? '') };
}
