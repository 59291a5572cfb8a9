import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { editorIsThere, pane, run, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';
import { openProgram } from '../support/program.ts';

const { openPage, origin: originOfAll, serve } = scenesOfGraphiql();

/** A proxy that serves a gateway's paths below each of some others, and nothing else. */
async function openProxy(originOf: (path: string) => string | undefined) {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const [, path = '', rest = ''] = /^(\/[^/?]*)(.*)$/.exec(request.url ?? '') ?? [];
    const origin = originOf(path);
    if (origin === undefined || !rest.startsWith('/')) {
      refused.push(request.url ?? '');
      response.writeHead(404).end();
      return;
    }
    const onward = ask(`${origin}${rest}`, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const LIVE = { SUBSCRIPTIONS: 'on', SUBSCRIPTIONS_POLL_SECONDS: '1' };
const SUBSCRIPTION = `subscription { observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], since: "0") {
  changes { observation { value } } } }`;

describe.skipIf(!hasChromium)('a proxy that serves the gateway below a path', () => {
  it('a proxy that serves the gateway below a path has all of GraphiQL there, at each address that leads to it', async () => {
    await using program = await serve({ env: LIVE });
    const { origin } = new URL(program.url);
    await using proxy = await openProxy((path) => (path === '/data' ? origin : undefined));
    for (const address of ['graphiql', 'graphiql/']) {
      await using opened = await openPage('localStorage.clear();');
      const { page, problems } = opened;
      await page.goto(`http://${proxy.host}/data/${address}`);
      await editorIsThere(page);
      expect(new URL(page.url()).pathname).toMatch(/^\/data\/graphiql\/?$/);
      const { data } = await run(page);
      expect(data.country.name).toBe('Kenya');
      // Loads scripts that wait until they are needed.
      await tab(page, 'AllCountries');
      await run(page);
      await side(page, 'Picture');
      await page.locator('.picture svg').first().waitFor();

      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
      await page.getByRole('status').filter({ hasText: 'curl copied' }).waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).toContain(`http://${proxy.host}/data/graphql`);

      const streamed = page.waitForRequest(/\/data\/graphql\/stream$/);
      await write(page, SUBSCRIPTION);
      await page.getByRole('button', { name: /Execute/ }).click();
      await streamed;
      await page.getByRole('status').filter({ hasText: 'Live. 1 event' }).waitFor();
      expect([address, proxy.refused, problems]).toEqual([address, [], []]);
    }
    for (const address of ['', 'graphql']) {
      await using opened = await openPage();
      await opened.page.goto(`http://${proxy.host}/data/${address}`);
      await editorIsThere(opened.page);
      expect(new URL(opened.page.url()).pathname).toMatch(/^\/data\/graphiql\/?$/);
      expect([address, proxy.refused, opened.problems]).toEqual([address, [], []]);
    }
  }, 120_000);

  it('a proxy that serves the gateway below a path has the schema there where others than trusted documents are refused', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'trusted-')), 'documents.json');
    writeFileSync(file, JSON.stringify({ one: 'query Names { countries { name } }' }));
    await using program = await serve({ env: { TRUSTED_DOCUMENTS: file } });
    const { origin } = new URL(program.url);
    await using proxy = await openProxy(() => origin);
    // Begins its page with no questions, either.
    expect(await (await fetch(`${origin}/graphiql`)).text()).not.toContain('<button');
    await using opened = await openPage();
    const told = opened.page.waitForResponse(/\/schema\.graphql$/);
    await opened.page.goto(`http://${proxy.host}/data/graphiql`);
    expect([(await told).status(), new URL((await told).url()).pathname]).toEqual([
      200,
      '/data/schema.graphql',
    ]);
  });

  it('a proxy that serves the gateway below a path keeps what each of several is told from the others', async () => {
    await using one = await serve();
    await using other = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const origins: Record<string, string> = {
      '/one': new URL(one.url).origin,
      '/other': new URL(other.url).origin,
    };
    await using proxy = await openProxy((path) => origins[path]);
    await using opened = await openPage();
    const { page } = opened;
    const key = page.getByLabel('API key');
    await page.goto(`http://${proxy.host}/one/graphiql`);
    await key.fill('demo-analyst');
    await page.getByLabel('Remember on this device').check();
    await page.goto(`http://${proxy.host}/other/graphiql`);
    await expect.poll(() => key.inputValue()).toBe('demo-team');
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    await page.getByRole('button', { name: 'Clear data' }).click();
    await page.getByRole('button', { name: 'Cleared data' }).waitFor();
    await page.goto(`http://${proxy.host}/one/graphiql/`);
    await expect.poll(() => key.inputValue()).toBe('demo-analyst');
  });
});

const withArea = (area: string, getter: string) =>
  `Object.defineProperty(window, '${area}', { get() { ${getter} } });`;
const both = (getter: string) => withArea('localStorage', getter) + withArea('sessionStorage', getter);
const DENIED = "throw new DOMException('The operation is insecure.', 'SecurityError')";

describe.skipIf(!hasChromium)('GraphiQL where the browser keeps nothing', () => {
  it.for([
    ['both are denied', both(DENIED)],
    ['both are null', both('return null')],
    ['both are absent', both('return undefined')],
    [
      'both are full',
      "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
    ],
    ['what is written is gone', 'Storage.prototype.setItem = () => {};'],
    [
      'nothing may be read',
      "for (const name of ['getItem', 'key', 'removeItem', 'setItem']) Storage.prototype[name] = () => { throw new Error(name); };",
    ],
  ] as const)(
    'GraphiQL where the browser keeps nothing loads, works and does not complain: %s',
    async ([, script]) => {
      await using _program = await serve();
      await using opened = await openPage(script);
      const { page } = opened;
      await page.goto(`${originOfAll()}/graphiql`);
      await editorIsThere(page);
      await page.getByLabel('API key').fill('demo-analyst');
      const asked = page.waitForRequest((request) => request.url().endsWith('/graphql'));
      const { data } = await run(page);
      expect(data.country.name).toBe('Kenya');
      expect((await asked).headers().authorization).toBe('Bearer demo-analyst');
      await pane(page, 'History');
      await page.locator('.graphiql-history-item').first().waitFor();
      await page.getByLabel('Remember on this device').click();
      await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('demo-analyst');
      expect(opened.problems).toEqual([]);
    },
  );

  it('GraphiQL where the browser keeps nothing says so by a box that can not be ticked', async () => {
    await using _program = await serve();
    await using opened = await openPage(both(DENIED));
    await opened.page.goto(`${originOfAll()}/graphiql`);
    const box = opened.page.getByLabel('Remember on this device');
    await box.click();
    expect(await box.isChecked()).toBe(false);
  });

  it.for(['{', 'null', '{"queries":{},"favorites":[1]}', '{"queries":[{}],"favorites":[null],"tabs":7}'])(
    'GraphiQL where the browser keeps nothing takes what others have left there for nothing: %s',
    async (text) => {
      const kept = ['tabState', 'queries', 'favorites', 'theme', 'visiblePlugin', 'editorFlex'];
      const script = `for (const name of ${JSON.stringify(kept)}) localStorage.setItem('graphiql:' + name, ${JSON.stringify(text)});`;
      await using _program = await serve();
      await using opened = await openPage(script);
      const { page } = opened;
      await page.goto(`${originOfAll()}/graphiql`);
      await editorIsThere(page);
      await run(page);
      await pane(page, 'History');
      await page.locator('.graphiql-history-item').first().waitFor();
      expect(opened.problems).toEqual([]);
    },
  );
});

describe.skipIf(!hasChromium)('GraphiQL where an origin has few privileges', () => {
  it('GraphiQL where an origin has few privileges starts and runs under an address with a name and a password', async () => {
    await using _program = await serve();
    await using opened = await openPage();
    const { host } = new URL(originOfAll());
    await opened.page.goto(`http://somebody:secret@${host}/graphiql`);
    await editorIsThere(opened.page);
    const { data } = await run(opened.page);
    expect(data.country.name).toBe('Kenya');
  });

  it('GraphiQL where an origin has few privileges copies without the clipboard of pages that come by TLS, and opens links where addresses stay', async () => {
    await using _program = await serve();
    await using opened = await openPage(
      `const { clipboard } = navigator;
      globalThis.readAll = () => clipboard.readText();
      Object.defineProperty(navigator, 'clipboard', { get: () => undefined });
      for (const name of ['subtle', 'randomUUID']) Object.defineProperty(crypto, name, { get: () => undefined });
      history.replaceState = () => { throw new DOMException('denied', 'SecurityError'); };`,
    );
    const { page } = opened;
    await page.goto(
      `${originOfAll()}/graphiql#query=${encodeURIComponent('{ platformVersion { version } }')}`,
    );
    await editorIsThere(page);
    const { data } = await run(page);
    expect(data.platformVersion.version).toEqual(expect.any(String));
    await page.getByRole('button', { name: 'Copy query' }).click();
    await expect.poll(() => page.evaluate<string>('readAll()')).toContain('platformVersion');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy as fetch' }).click();
    await page.getByRole('status').filter({ hasText: 'fetch copied' }).waitFor();
    await expect.poll(() => page.evaluate<string>('readAll()')).toContain('await fetch(');
    expect(opened.problems).toEqual([]);
  });
});
