import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { ConsoleMessage, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, vi } from 'vitest';
import { systemClock } from '../../src/shared/async/clock.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { openProgram, type Program, type ProgramOptions } from './program.ts';

export interface Opening extends ProgramOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly path?: string;
  readonly colorScheme?: 'light' | 'dark';
}

/**
 * A browser at one origin for all tests of a process, so that it compiles GraphiQL's scripts only once. Starting it takes
 * as long as several tests, so test files share it. It ends with the process.
 */
export function openGraphiql(): ReturnType<typeof startGraphiql> {
  started ??= startGraphiql();
  return started;
}
let started: ReturnType<typeof startGraphiql> | undefined;

async function startGraphiql() {
  /** Of the current test. */
  let program: Program;
  let bytes = 0;
  const sockets = new Set<Socket>();
  const front = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    const onward = connect(Number(new URL(program.url).port), '127.0.0.1');
    onward.on('data', (chunk) => {
      bytes += chunk.length;
    });
    pipeline(socket, onward, socket, () => {});
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const browser = await openBrowser();
  const allowed = { acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] };
  const context = await browser.newContext(allowed);
  const page = await context.newPage();
  return {
    page,
    origin,
    /** Of everything that the browser has received so far. */
    bytesReceived: () => bytes,
    /** Puts a program behind the origin, without opening a page. */
    async serve({ env = {}, ...options }: ProgramOptions = {}) {
      // A browser has a clock of its own: timers are real.
      const clock = { ...systemClock, ...options.clock };
      program = await openProgram({ env: { CACHE_URL: 'memory:', ...env }, ...options, clock });
      // The browser's open connections lead to the previous program.
      for (const socket of sockets) socket.destroy();
      return program;
    },
    /** A new page with empty storage, and a script that runs before GraphiQL's. */
    async openPage(script = '') {
      const further = await context.newPage();
      await further.addInitScript(FORGOTTEN);
      if (script !== '') await further.addInitScript(script);
      const { problems } = watch(further, origin);
      return { page: further, problems, [Symbol.asyncDispose]: () => further.close() };
    },
    /** A page of a telephone, which is touched, in a browser of its own. */
    async openTelephone(viewport: { readonly width: number; readonly height: number }) {
      const own = await browser.newContext({ ...allowed, viewport, hasTouch: true, isMobile: true });
      const further = await own.newPage();
      const { problems } = watch(further, origin);
      return { page: further, problems, [Symbol.asyncDispose]: () => own.close() };
    },
    /** GraphiQL over a new program, in a browser with empty storage. */
    async open({
      viewport = { width: 1400, height: 900 },
      path = '/graphiql',
      colorScheme = 'light',
      ...options
    }: Opening = {}) {
      const served = await this.serve(options);
      await forget(page, origin);
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      const { outside, problems, stop } = watch(page, origin);
      await page.goto(origin + path);
      await editorIsThere(page);
      return {
        program: served,
        origin,
        page,
        outside,
        problems,
        async [Symbol.asyncDispose]() {
          stop();
          await page.goto('about:blank');
          await served[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** Clears the browser's storage when a page is first opened: until then, another page may have written to it. */
const FORGOTTEN = `if (sessionStorage.getItem('forgotten') === null) {
  localStorage.clear();
  sessionStorage.setItem('forgotten', '');
}`;

/** Clears the browser's storage for GraphiQL, on a page of the same origin without scripts. */
export async function forget(page: Page, origin: string) {
  await page.goto(`${origin}/health/live`);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
}

/**
 * Records errors of a page, and its requests to other hosts, which the browser can't resolve. Intercepting each request in
 * this process would take a quarter more time.
 */
function watch(page: Page, origin: string) {
  const outside: string[] = [];
  const problems: string[] = [];
  const onRequest = (request: Request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) outside.push(url);
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(message.text());
  };
  const onError = (error: unknown) => problems.push(String(error));
  page.on('request', onRequest).on('console', onConsole).on('pageerror', onError);
  return {
    outside,
    problems,
    stop: () => page.off('request', onRequest).off('console', onConsole).off('pageerror', onError),
  };
}

/** Has the editor load, by a pointer event, and waits for it: otherwise it loads after the list of questions. */
export async function editorIsThere(page: Page) {
  await page.locator('.graphiql-editors').dispatchEvent('pointerdown');
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
}

/** A point in the visible part of an editor that no pane covers, for any height of its text and any scroll position. */
const FIRST_LINE = { x: 20, y: 8 };

/** Replaces the editor's text by an operation. */
export async function write(page: Page, text: string) {
  await page.locator('.graphiql-query-editor .editor-scrollable').click({ position: FIRST_LINE });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  // Brackets that the editor has added automatically.
  await page.keyboard.press('Shift+ControlOrMeta+End');
  await page.keyboard.press('Delete');
}

/** The part of the editor's text that is scrolled into view. */
export const written = (page: Page) => linesOf(page, '.graphiql-query-editor');

/** The text in the response's editor. */
export const answered = (page: Page) => linesOf(page, '.result-window');

/** Lines are only ordered by their positions, and spaces are non-breaking. */
async function linesOf(page: Page, editor: string): Promise<string> {
  const lines = await page.locator(`${editor} .view-line`).evaluateAll((all) =>
    all
      .map((line) => ({ top: Number.parseInt((line as HTMLElement).style.top, 10), text: line.textContent }))
      .sort((a, b) => a.top - b.top)
      .map(({ text }) => text ?? ''),
  );
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

/** Runs the operation in the editor, and waits for its response. */
export async function run(page: Page) {
  const arrived = page.waitForResponse(
    // What the page asks by itself comes whole.
    (response) => /^multipart\/mixed/.test(response.request().headers().accept ?? ''),
    { timeout: 60_000 },
  );
  await page.getByRole('button', { name: /Execute/ }).click();
  return (await arrived).json();
}

/** Opens the tab of an operation. */
export const tab = (page: Page, name: string) =>
  page.locator('.graphiql-tabs').getByRole('button', { name, exact: true }).click();

/** Opens a new tab, without the state of other tabs. */
export async function newTab(page: Page) {
  const tabs = page.locator('.graphiql-tab');
  const before = await tabs.count();
  await page.getByRole('button', { name: 'New tab' }).click();
  await tabs.nth(before).waitFor();
}

/** Opens a pane on the left. */
export const pane = (page: Page, name: string) => page.getByRole('button', { name: `Show ${name}` }).click();

/** Opens the catalogue, which asks for confirmation if it takes calls. */
export async function openCatalogue(page: Page) {
  await pane(page, 'Catalogue');
  const load = page.getByRole('button', { name: 'Load the catalogue' });
  const all = page.getByText('207 of 207 indicators');
  await load.or(all).first().waitFor();
  // It comes by itself if it turns out to be cached.
  if (await load.isVisible()) await load.click({ timeout: 2_000 }).catch(() => {});
  await all.waitFor();
}

/** Shows the operation's result in one of the tabs on the right. */
export const side = (page: Page, name: 'Query' | 'Answer' | 'Picture' | 'Cost' | 'Errors') =>
  page.getByRole('tab', { name }).click();

/** Has a picture drawn in another form. */
export const drawAs = (page: Page, kind: string) =>
  page.getByRole('group', { name: 'Draw' }).getByRole('button', { name: kind, exact: true }).click();

/** Clicks a button that downloads a file, and reads the file. */
export async function saved(page: Page, button: Locator) {
  const download = page.waitForEvent('download');
  await button.click();
  const file = await download;
  return { name: file.suggestedFilename(), bytes: readFileSync((await file.path()) ?? '') };
}

export type Scene = Awaited<ReturnType<Awaited<ReturnType<typeof openGraphiql>>['open']>>;

/** The same for the tests of a file, which are skipped without a browser. */
export function scenesOfGraphiql() {
  // A page draws its charts within a second, or several on a busy machine.
  vi.setConfig({ expect: { poll: { timeout: 10_000 } } });
  let graphiql: Awaited<ReturnType<typeof openGraphiql>>;
  beforeAll(async () => {
    if (hasChromium) graphiql = await openGraphiql();
  }, 60_000);
  return {
    open: (opening?: Opening) => graphiql.open(opening),
    /** A scene that the tests of a suite share: each finds it as the previous test left it. Opening one takes seconds. */
    shared(opening?: Opening) {
      let scene: Scene;
      beforeAll(async () => {
        if (hasChromium) scene = await graphiql.open(opening);
      });
      afterAll(() => scene?.[Symbol.asyncDispose]());
      return () => scene;
    },
    serve: (options?: ProgramOptions) => graphiql.serve(options),
    openPage: (script?: string) => graphiql.openPage(script),
    openTelephone: (viewport: { readonly width: number; readonly height: number }) =>
      graphiql.openTelephone(viewport),
    origin: () => graphiql.origin,
    bytesReceived: () => graphiql.bytesReceived(),
  };
}
