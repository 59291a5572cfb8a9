import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { ConsoleMessage, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, vi } from 'vitest';
import { hasChromium, openBrowser } from './chromium.ts';
import { openProgram, type Program, type ProgramOptions } from './program.ts';

export interface Opening extends ProgramOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly path?: string;
  readonly colorScheme?: 'light' | 'dark';
}

/**
 * A browser with one page for all tests of a process, at one address: scripts of GraphiQL that it has
 * compiled once serve each of them. To start it takes as long as several tests, so that files share it; it
 * ends with the process.
 */
export function openGraphiql(): ReturnType<typeof startGraphiql> {
  started ??= startGraphiql();
  return started;
}
let started: ReturnType<typeof startGraphiql> | undefined;

async function startGraphiql() {
  /** Of the test that runs. */
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
  const context = await browser.newContext({
    acceptDownloads: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  return {
    page,
    origin,
    /** Of all that the browser has received so far. */
    bytesReceived: () => bytes,
    /** A program behind the address, with no page of it. */
    async serve({ env = {}, ...options }: ProgramOptions = {}) {
      program = await openProgram({ env: { CACHE_URL: 'memory:', ...env }, ...options });
      // Ends connections that the browser keeps open: they lead to the program before.
      for (const socket of sockets) socket.destroy();
      return program;
    },
    /** A further page that remembers nothing, with a script to run before any of ours. */
    async openPage(script = '') {
      const further = await context.newPage();
      await further.addInitScript(FORGOTTEN);
      if (script !== '') await further.addInitScript(script);
      const { problems } = watch(further, origin);
      return { page: further, problems, [Symbol.asyncDispose]: () => further.close() };
    },
    /** GraphiQL in a browser that remembers nothing of it, over a program of its own. */
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

/** Clears the browser's storage as a page is first opened: another page of it may have written there until then. */
const FORGOTTEN = `if (sessionStorage.getItem('forgotten') === null) {
  localStorage.clear();
  sessionStorage.setItem('forgotten', '');
}`;

/** Clears the browser's storage for GraphiQL, on a page of the same address that runs nothing. */
async function forget(page: Page, origin: string) {
  await page.goto(`${origin}/health/live`);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
}

/**
 * Notes complaints of a page, and its requests to others. The browser finds no other host. To route each
 * request by way of this process would take a quarter more time.
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

/** Waits for the editor, which waits for questions unless somebody turns to it. */
export async function editorIsThere(page: Page) {
  await page.locator('.graphiql-editors').dispatchEvent('pointerdown');
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
}

/** A place in the visible part of an editor that no pane covers, however tall its text is and however far it is scrolled. */
const FIRST_LINE = { x: 20, y: 8 };

/** Puts an operation in place of the editor's text. */
export async function write(page: Page, text: string) {
  await page.locator('.graphiql-query-editor .editor-scrollable').click({ position: FIRST_LINE });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  // Brackets that the editor has closed of its own accord.
  await page.keyboard.press('Shift+ControlOrMeta+End');
  await page.keyboard.press('Delete');
}

/** The editor's text, as far as it is scrolled into view. */
export const written = (page: Page) => linesOf(page, '.graphiql-query-editor');

/** The text in the answer's editor. */
export const answered = (page: Page) => linesOf(page, '.result-window');

/** Lines stand in no order but that of their places, and blanks don't break. */
async function linesOf(page: Page, editor: string): Promise<string> {
  const lines = await page.locator(`${editor} .view-line`).evaluateAll((all) =>
    all
      .map((line) => ({ top: Number.parseInt((line as HTMLElement).style.top, 10), text: line.textContent }))
      .sort((a, b) => a.top - b.top)
      .map(({ text }) => text ?? ''),
  );
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

/** Runs the operation in the editor, and waits for its answer. */
export async function run(page: Page) {
  const arrived = page.waitForResponse(
    (response) =>
      response.url().endsWith('/graphql') &&
      response.request().headers()['x-explain'] === undefined &&
      !/\{ sources \{ key name url \} \}/.test(response.request().postData() ?? '') &&
      !/IntrospectionQuery|\{ quota \{\\n/.test(response.request().postData() ?? ''),
    { timeout: 60_000 },
  );
  await page.getByRole('button', { name: /Execute/ }).click();
  return (await arrived).json();
}

/** Opens a tab of operations. */
export const tab = (page: Page, name: string) =>
  page.locator('.graphiql-tabs').getByRole('button', { name, exact: true }).click();

/** Opens a tab that has none of the choices and drawings of others. */
export async function newTab(page: Page) {
  const tabs = page.locator('.graphiql-tab');
  const before = await tabs.count();
  await page.getByRole('button', { name: 'New tab' }).click();
  await tabs.nth(before).waitFor();
}

/** Opens a pane at the left. */
export const pane = (page: Page, name: string) => page.getByRole('button', { name: `Show ${name}` }).click();

/** Opens the catalogue, which asks first if it takes calls. */
export async function openCatalogue(page: Page) {
  await pane(page, 'Catalogue');
  const load = page.getByRole('button', { name: 'Load the catalogue' });
  const all = page.getByText('207 of 207 indicators');
  await load.or(all).first().waitFor();
  if (await load.isVisible()) await load.click();
  await all.waitFor();
}

/** Shows results of the operation in one of the tabs of the right side. */
export const side = (page: Page, name: 'Query' | 'Answer' | 'Picture' | 'Cost' | 'Errors') =>
  page.getByRole('tab', { name }).click();

/** Presses a button that saves a file, and reads it. */
export async function saved(page: Page, button: Locator) {
  const download = page.waitForEvent('download');
  await button.click();
  const file = await download;
  return { name: file.suggestedFilename(), bytes: readFileSync((await file.path()) ?? '') };
}

export type Scene = Awaited<ReturnType<Awaited<ReturnType<typeof openGraphiql>>['open']>>;

/** The same for the tests of a file, which needs no browser if there is none. */
export function scenesOfGraphiql() {
  // A page draws its charts in a second, or in several if other suites take the machine.
  vi.setConfig({ expect: { poll: { timeout: 10_000 } } });
  let graphiql: Awaited<ReturnType<typeof openGraphiql>>;
  beforeAll(async () => {
    if (hasChromium) graphiql = await openGraphiql();
  }, 60_000);
  return {
    open: (opening?: Opening) => graphiql.open(opening),
    /**
     * A scene that the tests of a suite share: each finds it as the last has left it. To open one takes
     * seconds.
     */
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
    origin: () => graphiql.origin,
    bytesReceived: () => graphiql.bytesReceived(),
  };
}
