import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { makeKey } from '../../src/plugins/issued-keys/key.ts';
import { heapBytes } from '../support/heap.ts';
import { settled } from '../support/quiet.ts';
import { CARD, trustedFile } from '../tools/documents.ts';
import { FIGURE, figureOf, holdReadings, keep, openFolder, openIssuing } from './issuing.ts';

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'TZ'];

it('a key whose kept text can not be read is listed as such, and keeps nobody from the others', async () => {
  using folder = openFolder();
  await using program = await openIssuing(folder);
  const key = await program.issue({ name: 'page' });
  const { desk, store } = program;
  await keep(store, 'cut', '{"name":"cut","digest":"secret');
  await keep(store, 'old', JSON.stringify({ name: 'old', digest: 'secret', perDay: 'many' }));
  await keep(store, 'none', 'null');
  const lost = { state: 'unreadable', createdAt: null, expiresAt: null, group: null };
  const listed = await desk.list();
  expect(listed.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
    'null unreadable',
    'null unreadable',
    'old unreadable',
    'page active',
  ]);
  expect(listed[0]).toMatchObject({ name: 'page', state: 'active' });
  expect(listed).toContainEqual({ ...lost, name: null, problem: 'Its text is no JSON.' });
  expect(listed).toContainEqual({ ...lost, name: 'old', problem: expect.stringContaining('perDay') });
  expect(JSON.stringify(listed)).not.toContain('secret');
  await expect(desk.show('old')).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('perDay'),
  });
  expect((await desk.usage({})).forecasts.map(({ name }) => name)).toEqual(['page']);
  expect((await desk.create({ name: 'old' })).terms.state).toBe('active');
  await desk.rotate('page', 0);
  await desk.revoke('page');
  expect(await program.codes(FIGURE, { key })).toEqual(['UNAUTHENTICATED']);
  expect(program.requests()).toEqual([]);
});

describe('an issued key', () => {
  it('an issued key stands for the held one, and all visitors share what it has fetched', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', tags: ['figures'] });
    const [first, ...others] = await Promise.all(
      Array.from({ length: 40 }, () => program.ask(FIGURE, { key })),
    );
    expect(first?.errors).toEqual([]);
    expect(first?.data.country.observation.value).toEqual(expect.any(Number));
    for (const reply of others) expect(reply.data).toEqual(first?.data);
    const later = await program.ask(FIGURE, { key: await program.issue({ name: 'other-page' }) });
    expect([later.data, later.upstream.calls]).toEqual([first?.data, 0]);
    const own = await program.ask(FIGURE, { key: program.sandbox.keys.team });
    expect(own.upstream.calls).toBe(0);
    expect([...program.sandbox.log].map(({ key }) => key)).toEqual(['team']);
    expect(program.requests()).toHaveLength(1);
    expect((await program.desk.show('page')).usage).toMatchObject([
      { window: 'minute', of: 'key', calls: 1 },
      { window: 'day', calls: 1 },
      { window: 'month', calls: 1 },
    ]);
  });

  it('an issued key that may read parts of the graph has no room for all the texts that anybody can send by it', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', tags: ['figures'] });
    const refused = (i: number) => program.codes(`{ tickers { symbol } }${' '.repeat(900_000 + i)}`, { key });
    await refused(0);
    const before = heapBytes();
    for (let i = 1; i < 14; i += 1) expect(await refused(i)).toEqual(['DOCUMENT_NOT_ALLOWED']);
    expect(heapBytes() - before).toBeLessThan(8_000_000);
    expect(program.requests()).toEqual([]);
  });

  it('an issued key may not read by its hash a text that somebody sends while it waits for its turn', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { MAX_CONCURRENT_OPERATIONS: '2' } });
    const key = await program.issue({ name: 'page', tags: ['figures'] });
    // Both places are taken, each until its client leaves.
    program.sandbox.faults.set({ kind: 'hang' });
    const leaving = [new AbortController(), new AbortController()];
    const busy = leaving.map(({ signal }, i) =>
      program.ask(i === 0 ? '{ countries { name } }' : '{ sources { key } }', { signal }).catch(() => {}),
    );
    const waiting = (count: number) =>
      expect
        .poll(async () => (await fetch(new URL('/metrics', program.url))).text())
        .toMatch(new RegExp(`operations_waiting\\S* ${count}$`, 'm'));
    await expect.poll(() => program.sandbox.log.length).toBe(2);
    const query = '{ tickers { symbol } }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256Of(query) } };
    const send = async (body: object, bearer: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` };
      return (await fetch(program.url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const stranger = send({ query, extensions }, 'nobody');
    await waiting(1);
    const page = send({ extensions }, key);
    await waiting(2);
    program.sandbox.faults.clear();
    leaving[0]?.abort();
    expect((await stranger).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    const { data, errors, extensions: told } = await page;
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { code: 'DOCUMENT_NOT_ALLOWED' } }]);
    expect(told.upstream.calls).toBe(0);
    leaving[1]?.abort();
    await Promise.all(busy);
  });

  it('an issued key that was made up, cut or altered is refused, and asks nothing of the service', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page' });
    const bad = [makeKey(), key.slice(0, -1), `${key}a`, `${key.slice(0, -1)}-`, 'cgk_', 'cgk_a'];
    for (const made of bad) {
      const reply = await program.ask(FIGURE, { key: made });
      expect([reply.status, reply.errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
      expect(reply.upstream.calls).toBe(0);
    }
    expect(program.requests()).toEqual([]);
  });

  it('an issued key works until it expires, is replaced after its overlap, or is revoked', async () => {
    const passMs = holdReadings();
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', expiresAt: '2026-03-10T13:00:00Z' });
    expect(await program.codes(FIGURE, { key })).toEqual([]);
    const { key: second } = await program.desk.rotate('page', 60);
    expect(await program.codes(FIGURE, { key })).toEqual([]);
    expect(await program.codes(FIGURE, { key: second })).toEqual([]);
    program.pass(61);
    passMs(1_000);
    await expect.poll(() => program.codes(FIGURE, { key })).toEqual(['KEY_EXPIRED']);
    const replaced = await program.ask(FIGURE, { key });
    expect([replaced.status, replaced.errors[0]?.extensions.code]).toEqual([401, 'KEY_EXPIRED']);
    expect(await program.codes(FIGURE, { key: second })).toEqual([]);
    program.pass(3600);
    expect(await program.codes(FIGURE, { key: second })).toEqual(['KEY_EXPIRED']);
    const third = await program.issue({ name: 'page' });
    expect(await program.codes(FIGURE, { key: third })).toEqual([]);
    await program.desk.revoke('page');
    passMs(1_000);
    await expect.poll(() => program.codes(FIGURE, { key: third })).toEqual(['UNAUTHENTICATED']);
    expect(program.requests().length).toBeLessThanOrEqual(2);
  });

  it('an issued key is for pages of its origins', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', origins: ['https://app.example'] });
    const from = (origin?: string) =>
      program.ask('{ quota { state } }', {
        key,
        ...(origin ? { headers: { origin } } : {}),
      });
    expect((await from('https://app.example')).errors).toEqual([]);
    for (const origin of ['https://app.example.evil', 'https://evil.example', 'null', undefined]) {
      const { status, errors } = await from(origin);
      expect([status, errors[0]?.extensions.code]).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    }
    // Says more to somebody who tries the key outside of a page.
    expect((await from()).errors[0]?.message).toContain('has no Origin of the sites');
    expect(program.requests()).toEqual([]);
  });

  it('an issued key reads the parts of the graph that it may, in any form of request', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', tags: ['markets'] });
    const allowed = '{ tickers(countryCode: "KE") { symbol } countries(codes: ["KE"]) { code } }';
    expect(await program.codes(allowed, { key })).toEqual([]);
    program.requests();
    for (const query of [
      FIGURE,
      '{ country(code: "KE") { offices { name } } }',
      '{ country(code: "KE") { profile { record } } }',
      '{ node(id: "x") { ... on Observation { value } } }',
      'query { ...F } fragment F on Query { country(code: "KE") { signals { record } } }',
    ])
      expect(await program.codes(query, { key })).toEqual(['DOCUMENT_NOT_ALLOWED']);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const batch = await fetch(program.url, {
      method: 'POST',
      headers,
      body: JSON.stringify([{ query: '{ health { status } }' }, { query: FIGURE }]),
    });
    expect(await batch.json()).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_NOT_ALLOWED' } }] });
    const get = await fetch(`${program.url}?query=${encodeURIComponent(FIGURE)}`, { headers });
    expect(await get.json()).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_NOT_ALLOWED' } }] });
    const table = await fetch(program.url, {
      method: 'POST',
      headers: { ...headers, accept: 'text/csv' },
      body: JSON.stringify({
        query: '{ countries { observations(metricKeys: ["population_total"]) { value } } }',
      }),
    });
    expect(await table.text()).toContain('DOCUMENT_NOT_ALLOWED');
    expect(program.requests()).toEqual([]);
  });

  it('an issued key runs the listed documents alone if its terms say so, and other keys run any', async () => {
    using folder = openFolder();
    const file = join(folder.path, 'documents.json');
    writeFileSync(file, JSON.stringify({ kenya: FIGURE }));
    const env = { TRUSTED_DOCUMENTS: file, TRUSTED_DOCUMENTS_FOR: 'issued' };
    await using program = await openIssuing({ ...folder, env });
    const key = await program.issue({ name: 'page', documents: 'trusted' });
    const any = await program.issue({ name: 'any' });
    const named = async (bearer: string, documentId: string) => {
      const reply = await fetch(program.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ documentId }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      const { data, errors } = (await reply.json()) as any;
      return data?.country === undefined ? errors?.[0].extensions.code : 'answered';
    };
    expect(await named(key, 'kenya')).toBe('answered');
    expect(await named(key, 'nigeria')).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(await program.codes(FIGURE, { key })).toEqual([]);
    const other = await program.ask(`${FIGURE} `, { key });
    expect([other.status, other.errors[0]?.extensions.code]).toEqual([403, 'DOCUMENT_NOT_ALLOWED']);
    for (const bearer of [any, program.sandbox.keys.team])
      expect(await program.codes(`${FIGURE} `, { key: bearer })).toEqual([]);
    expect(program.requests()).toHaveLength(1);
  });

  it('an issued key slows a visitor who hammers, and no other', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
    const key = await program.issue({ name: 'page', visitorPerMinute: 3 });
    const from = (address: string) =>
      program.codes('{ quota { state } }', {
        key,
        headers: { 'x-forwarded-for': address },
      });
    const hammered = [];
    for (let times = 0; times < 5; times += 1) hammered.push(...(await from(`10.9.9.${times}, 203.0.113.7`)));
    expect(hammered).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
    expect(await from('203.0.113.8')).toEqual([]);
    program.pass(60);
    expect(await from('203.0.113.7')).toEqual([]);
    expect(program.requests()).toEqual([]);
  });

  it('an issued key believes no X-Forwarded-For unless the proxy is listed', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', visitorPerMinute: 2 });
    const codes = [];
    for (let times = 0; times < 3; times += 1)
      codes.push(
        ...(await program.codes('{ quota { state } }', {
          key,
          headers: { 'x-forwarded-for': `203.0.113.${times}` },
        })),
      );
    expect(codes).toEqual(['RATE_LIMITED']);
    expect(program.requests()).toEqual([]);
  });

  it('an issued key calls tools, within its terms', async () => {
    using folder = openFolder();
    const file = trustedFile([CARD]);
    await using program = await openIssuing({
      ...folder,
      env: { MCP: 'on', TRUSTED_DOCUMENTS: file.path, TRUSTED_PROXIES: '127.0.0.1' },
    });
    const called = async (key: string, from = '203.0.113.7') => {
      const reply = await fetch(program.url.replace('/graphql', '/mcp'), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json',
          'x-forwarded-for': from,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'Card', arguments: { code: 'KE' } },
        }),
      });
      return reply.text();
    };
    expect(await called(await program.issue({ name: 'page', tags: ['figures'] }))).toContain(
      '"capital":"Nairobi"',
    );
    const calls = program.requests().length;
    expect((await program.desk.show('page')).usage[0]?.calls).toBe(calls);
    expect(await called(await program.issue({ name: 'other', tags: ['markets'] }))).toContain(
      'DOCUMENT_NOT_ALLOWED',
    );
    expect(await called(await program.issue({ name: 'site', origins: ['https://app.example'] }))).toContain(
      'ORIGIN_NOT_ALLOWED',
    );
    const bounded = await program.issue({ name: 'bounded', visitorPerMinute: 1 });
    expect(await called(bounded)).toContain('"capital":"Nairobi"');
    expect(await called(bounded)).toContain('RATE_LIMITED');
    expect(await called(bounded, '203.0.113.8')).toContain('"capital":"Nairobi"');
    expect(program.requests()).toEqual([]);
    file.remove();
  });
});

describe('a budget', () => {
  it('a budget of an issued key is spent call by call, told by quota and headers, and comes back', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page', perMinute: 2, perMonth: 3 });
    expect(await program.codes(figureOf('KE'), { key })).toEqual([]);
    const second = await program.ask(figureOf('NG'), { key });
    expect(second.headers.get('ratelimit')).toBe('"minute";r=0;t=30, "month";r=1;t=1857570');
    const spent = await program.ask(figureOf('GH'), { key });
    expect(spent.errors[0]?.extensions).toMatchObject({
      code: 'KEY_BUDGET_SPENT',
      retryable: false,
      limit: 2,
      resetsAt: '2026-03-10T12:01:00.000Z',
    });
    expect(spent.headers.get('retry-after')).toBe('30');
    expect(spent.upstream.calls).toBe(0);
    expect(await program.codes(figureOf('KE'), { key })).toEqual([]);
    const quota = '{ quota { requestsPerMinute monthlyRequests callsThisMinute callsThisMonth state } }';
    expect((await program.ask(quota, { key })).data.quota).toEqual({
      requestsPerMinute: 2,
      monthlyRequests: 3,
      callsThisMinute: 2,
      callsThisMonth: 2,
      state: 'MINUTE_SPENT',
    });
    program.pass(30);
    expect(await program.codes(figureOf('GH'), { key })).toEqual([]);
    program.pass(60);
    const month = await program.ask(figureOf('ZA'), { key });
    expect(month.errors[0]?.extensions).toMatchObject({ limit: 3, resetsAt: '2026-04-01T00:00:00.000Z' });
    expect(program.requests()).toHaveLength(3);
  });

  it('a budget of an issued key is that of the group, for all its members', async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const group = { name: 'web' };
    const one = await program.issue({ name: 'one', group: { ...group, perDay: 3 } });
    const other = await program.issue({ name: 'other', group });
    const codes = [];
    for (const [i, code] of CODES.entries())
      codes.push(...(await program.codes(figureOf(code), { key: i % 2 === 0 ? one : other })));
    expect(codes).toEqual(['KEY_BUDGET_SPENT', 'KEY_BUDGET_SPENT', 'KEY_BUDGET_SPENT']);
    expect((await program.ask('{ quota { state } }', { key: other })).data.quota.state).toBe('DAY_SPENT');
    expect(program.requests()).toHaveLength(3);
    await expect(program.issue({ name: 'third', group: { name: 'new' } })).rejects.toThrow(
      'give it a budget',
    );
  });

  it("a budget of an issued key isn't passed by operations that come together, and another key pays for what it may", async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { BATCH_WINDOW_MS: '0' } });
    const poor = await program.issue({ name: 'poor', perMinute: 1 });
    const rich = await program.issue({ name: 'rich' });
    const offices = (code: string) => `{ country(code: "${code}") { offices { name } } }`;
    const replies = await Promise.all([
      ...CODES.map((code) => program.ask(offices(code), { key: poor })),
      ...CODES.map((code) => program.ask(offices(code), { key: rich })),
    ]);
    const calls = replies.reduce((sum, { upstream }) => sum + upstream.calls, 0);
    expect(program.requests()).toHaveLength(calls);
    expect(calls).toBe(6);
    for (const reply of replies.slice(6)) expect(reply.errors).toEqual([]);
    const [minute] = (await program.desk.show('poor')).usage;
    expect(minute?.calls).toBeLessThanOrEqual(1);
    const [others] = (await program.desk.show('rich')).usage;
    expect((minute?.calls ?? 0) + (others?.calls ?? 0)).toBe(6);
  });

  it("a budget of an issued key gives back what wasn't sent", async () => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    const key = await program.issue({ name: 'page' });
    program.sandbox.faults.set({ kind: 'hang', route: '/v1/data' });
    const leaving = new AbortController();
    const left = program.ask(FIGURE, { key, signal: leaving.signal }).catch(() => null);
    leaving.abort();
    await left;
    await settled(program);
    const [minute] = (await program.desk.show('page')).usage;
    expect(minute?.calls).toBe(program.requests().length);
  });
});

describe('the held key', () => {
  it('the held key is told to the service alone', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { UPSTREAM_RETRIES: '0' } });
    const key = await program.issue({ name: 'page', perMonth: 4 });
    const told: unknown[] = [];
    const note = async (query: string, headers = {}) => {
      const reply = await program.ask(query, { key, headers }).catch((error: unknown) => String(error));
      told.push(reply, typeof reply === 'string' ? '' : [...reply.headers]);
    };
    await note(FIGURE);
    await note(FIGURE, { 'x-explain': '1' });
    await note('{ quota { plan state } health { status } }');
    for (const status of [400, 401, 403, 429, 500]) {
      program.sandbox.faults.set({
        kind: 'status',
        status,
        body: { detail: 'the key demo-team is bad' },
        times: 1,
      });
      await note(figureOf('NG'));
    }
    program.sandbox.faults.clear();
    program.pass(120);
    program.sandbox.faults.set({
      kind: 'status',
      status: 400,
      body: { detail: 'the key demo-team is bad' },
      route: '/v1/countries/{code}/profile',
    });
    const inParts = await fetch(program.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await program.issue({ name: 'other' })}`,
        'content-type': 'application/json',
        accept: 'multipart/mixed;deferSpec=20220824, application/json',
      },
      body: JSON.stringify({ query: '{ country(code: "KE") { name ... @defer { profile { record } } } }' }),
    });
    expect(inParts.headers.get('content-type')).toContain('multipart/mixed');
    const parts = await inParts.text();
    expect(parts).toContain('[redacted]');
    told.push(parts, await (await fetch(program.url.replace('graphql', 'metrics'))).text());
    told.push(program.operations, program.problems.map(String));
    for (const file of readdirSync(folder.path)) told.push(readFileSync(join(folder.path, file), 'latin1'));
    const all = JSON.stringify(told);
    expect(all).not.toContain('demo-team');
    expect(all).not.toContain(key);
    expect(all.length).toBeGreaterThan(5_000);
  });
});
