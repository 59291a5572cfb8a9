import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { runCommand } from '../support/command.ts';
import { type ServingOptions, SOURCES, startServing } from '../support/serving.ts';
import { FIGURE, openFolder } from './issuing.ts';

const OPERATOR_KEY = 'an-operator-of-ours';

/** The program as a user starts it, over a sandbox. */
async function start(env: Readonly<Record<string, string>>, how: ServingOptions = {}) {
  const sandbox = createSandbox();
  const { url: service } = await sandbox.listen();
  const serving = await startServing({
    env: { COUNTRY_DATA_URL: service, ADMIN_PORT: '0', ...env },
    isLogKept: true,
    ...how,
  });
  const [, admin = ''] = /^Health and metrics are at (http:\S+)$/m.exec(serving.printed()) ?? [];
  return {
    ...serving,
    sandbox,
    admin,
    async [Symbol.asyncDispose]() {
      serving.child.kill('SIGTERM');
      if (serving.child.exitCode === null) await once(serving.child, 'exit');
      await sandbox.close();
    },
  };
}

const ask = async (url: string, key: string, query = FIGURE) => {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      authorization: `Bearer ${key}`,
      'apollographql-client-name': 'web',
    },
    body: JSON.stringify({ query }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return (await reply.json()) as any;
};

const USAGE_HEADING = 'day,key,client,document,operations,failed,calls,shared,cached,cacheShare,errors';

describe('the commands of keys', () => {
  it('the commands of keys create, list, show, rotate and revoke what the gateway takes', async () => {
    using folder = openFolder();
    const env = { CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team', LOG_LEVEL: 'trace' };
    await using program = await start(env);
    const keys = async (...args: string[]) => runCommand(['keys', ...args], { env });
    const created = await keys('create', 'page', '--tag', 'figures', '--per-day', '9', '--expires', '90d');
    const { key, terms } = JSON.parse(created.stdout);
    expect(terms).toMatchObject({ name: 'page', tags: ['figures'], perDay: 9, state: 'active' });
    expect((await ask(program.url, key)).extensions.upstream.calls).toBe(1);
    expect(program.sandbox.log).toHaveLength(1);
    expect((await keys('list')).stdout).toMatch(
      /^name +state +createdAt +expiresAt +group\npage +active +\d\S+Z +\d\S+Z *\n$/,
    );
    const shown = JSON.parse((await keys('show', 'page')).stdout);
    expect(shown.usage[1]).toEqual({ window: 'day', of: 'key', calls: 1, limit: 9 });
    const { key: second } = JSON.parse((await keys('rotate', 'page', '--overlap', '600')).stdout);
    for (const each of [key, second])
      expect((await ask(program.url, each)).extensions.upstream.calls).toBe(0);
    const usage = (...args: string[]) => runCommand(['usage', ...args], { env });
    const today = new Date().toISOString().slice(0, 10);
    await expect
      .poll(async () => (await usage('--csv')).stdout, { timeout: 30_000 })
      .toBe(`${USAGE_HEADING}\r\n${today},page,web,,3,0,1,0,2,67,\n`);
    expect((await usage('page', '--days', '1')).stdout).toMatch(
      /^usage\nday +key .*\n\S+ +page +web +3 .*\n\nforecast of the month\nname .*\npage +key +1 /,
    );
    expect((await usage('--csv', '--forecast')).stdout).toMatch(/^name,of,calls,.*\r\npage,key,1,/);
    const old = await usage('--days', '100');
    expect([old.code, old.stderr]).toEqual([1, expect.stringContaining('up to 92')]);
    expect((await keys('revoke', 'page')).code).toBe(0);
    for (const each of [key, second])
      await expect
        .poll(async () => (await ask(program.url, each)).errors?.[0].extensions.code, { timeout: 1_000 })
        .toBe('UNAUTHENTICATED');
    expect(program.sandbox.log).toHaveLength(1);
    const taken = await keys('show', 'none');
    expect([taken.code, taken.stderr]).toEqual([1, 'There is no key none.\n']);
    const wrong = await keys('create', 'page', '--origin', 'nowhere');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must be an origin')]);
    const memory = await runCommand(['keys', 'list']);
    expect([memory.code, memory.stderr]).toEqual([1, expect.stringContaining('ADMIN_PORT')]);
    const metrics = await (await fetch(new URL('/metrics', program.admin))).text();
    const files = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), 'latin1'));
    expect(program.errors()).toContain('attempt');
    for (const text of [program.errors(), program.printed(), created.stderr, metrics, ...files]) {
      expect(text).not.toContain('demo-team');
      expect(text).not.toContain(key);
    }
  });
});

describe('the port of operators', () => {
  it('the port of operators manages keys for the operator alone, and says that memory forgets', async () => {
    await using program = await start({ COUNTRY_DATA_KEY: 'demo-team', OPERATOR_KEY });
    // The log and the line that says it is ready come by ways of their own.
    await expect.poll(() => program.errors()).toContain('forgotten when the program ends');
    const send = async (method: string, path: string, body?: unknown, bearer = OPERATOR_KEY) => {
      const reply = await fetch(new URL(path, program.admin), {
        method,
        headers: {
          ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return { status: reply.status, body: (await reply.json()) as any };
    };
    expect((await send('GET', '/keys', undefined, '')).status).toBe(401);
    expect((await send('GET', '/keys', undefined, 'another-operator')).status).toBe(401);
    const { status, body } = await send('POST', '/keys', { name: 'page', perDay: 5 });
    expect([status, body.terms.perDay]).toEqual([201, 5]);
    expect((await ask(program.url, body.key)).errors).toBeUndefined();
    expect((await send('POST', '/keys', { name: 'page' })).status).toBe(409);
    expect((await send('POST', '/keys', { name: 'p', colour: 1 })).body.message).toContain('colour');
    expect((await send('GET', '/keys')).body).toMatchObject([{ name: 'page', state: 'active' }]);
    expect((await send('GET', '/keys/page')).body.usage[1].calls).toBe(1);
    expect((await send('GET', '/usage?days=1&key=page')).body).toMatchObject({
      usage: [{ key: 'page', client: 'web', operations: 1, calls: 1 }],
      forecasts: [{ name: 'page', of: 'key', calls: 1, limit: null }],
    });
    expect((await send('GET', '/usage?days=none')).status).toBe(400);
    expect((await send('GET', '/usage', undefined, '')).status).toBe(401);
    const csv = await fetch(new URL('/usage.csv', program.admin), {
      headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    });
    expect(await csv.text()).toMatch(new RegExp(`^${USAGE_HEADING}\r\n.*,page,web,,1,0,1,`));
    const metrics = await (await fetch(new URL('/metrics', program.admin))).text();
    for (const line of [
      'country_graph_issued_key_operations_total{key="page",outcome="ok"} 1',
      'country_graph_issued_key_operations_total{key="page",outcome="error"} 0',
      'country_graph_issued_key_calls_total{key="page"} 1',
      'country_graph_issued_key_calls_saved_total{key="page",by="cached"} 0',
    ])
      expect(metrics).toContain(line);
    expect((await send('POST', '/keys/page/rotate', { overlapSeconds: 0 })).status).toBe(201);
    expect((await send('DELETE', '/keys/page')).body).toHaveLength(2);
    expect((await send('GET', '/keys/none')).status).toBe(404);
    expect(program.sandbox.log).toHaveLength(1);
    expect((await fetch(new URL('/keys', program.url))).status).toBe(404);
  });
});

/** Writes the names of the files of the plugin that a program loads to standard error, but for its definition. */
const LOADS = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/src\\/plugins\\/issued-keys\\/(?!plugin\\.ts)/.test(url)) process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  } });`,
)}`;

it.each([
  [{ CACHE_URL: 'memory:' }, false],
  [{ COUNTRY_DATA_KEY: 'demo-team' }, true],
] as const)('with %o, files of issued keys are loaded: %s', async (env, isLoaded) => {
  await using program = await start(env, { bin: SOURCES, nodeArgs: ['--import', LOADS] });
  expect((await ask(program.url, 'demo-team')).errors).toBeUndefined();
  expect(program.sandbox.log).toHaveLength(1);
  expect(program.errors().includes('LOADED')).toBe(isLoaded);
});

describe.skipIf(!hasChromium)('a static page of another origin', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it('a static page of another origin shows figures with an issued key alone, and a countdown once its calls are spent', async () => {
    using folder = openFolder();
    const site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Page</title><p id="figure">…</p>');
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const env = { CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team', CORS_ORIGINS: origin };
    await using program = await start(env);
    const { stdout } = await runCommand(['keys', 'create', 'page', '--origin', origin, '--per-month', '1'], {
      env,
    });
    const { key } = JSON.parse(stdout);
    const page = await browser.newPage();
    await page.goto(origin);
    const shown = (code: string, method = 'POST') =>
      page.evaluate(
        async ([url, key, query, method]) => {
          const reply = await fetch(url as string, {
            method: method as string,
            headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
            body: JSON.stringify({ query }),
          });
          const { data, errors } = await reply.json();
          return { value: data?.country?.observation?.value, error: errors?.[0].extensions };
        },
        [program.url, key, FIGURE.replace('KE', code), method],
      );
    expect((await shown('KE')).value).toEqual(expect.any(Number));
    expect((await shown('KE', 'QUERY')).value).toEqual(expect.any(Number));
    const spent = await shown('NG');
    expect(spent.error).toMatchObject({
      code: 'KEY_BUDGET_SPENT',
      resetsAt: expect.stringMatching(/-01T00:00/),
    });
    expect(Date.parse(spent.error.resetsAt)).toBeGreaterThan(Date.now());
    expect(program.sandbox.log).toHaveLength(1);
    const elsewhere = await ask(program.url, key);
    expect(elsewhere.errors[0].extensions.code).toBe('ORIGIN_NOT_ALLOWED');
    expect(program.errors()).not.toContain('demo-team');
    await page.close();
    site.close();
  });
});
