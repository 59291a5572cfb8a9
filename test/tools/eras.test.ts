import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, describe, expect, it } from 'vitest';
import { openFolder, openIssuing } from '../issued/issuing.ts';
import { openProgram } from '../support/program.ts';
import { CARD, CATALOGUE, RANKED, trustedFile } from './documents.ts';

const file = trustedFile();
afterAll(() => file.remove());

const MODERN = '2026-07-28';
const ERAS = ['2025', MODERN] as const;
const ENV = { MCP: 'on', TRUSTED_DOCUMENTS: file.path, CACHE_URL: 'memory:' };

interface Asked {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

/** The SDK's client of an era, for one caller. */
async function connected(program: { readonly url: string }, era: (typeof ERAS)[number], key: string) {
  const url = new URL(program.url.replace('/graphql', '/mcp'));
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const about = { name: 'test', version: '1' };
  const opened = async () => {
    if (era === '2025') {
      const client = new OldClient(about);
      await client.connect(new OldTransport(url, { requestInit }));
      return client;
    }
    const client = new NewClient(about, { versionNegotiation: { mode: { pin: MODERN } } });
    await client.connect(new NewTransport(url, { requestInit }));
    return client;
  };
  const client = await opened();
  return {
    client,
    tools: async () => (await client.listTools()).tools,
    async call(asked: Asked) {
      const { structuredContent, isError = false, _meta } = await client.callTool(asked as never);
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return { ...(structuredContent as any), isError, budget: _meta?.['country-graph/budget'] as any };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The parts of a schema that strict clients refuse: lists of types, and null as a value. */
function strangersIn(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, enum: values, $ref } = schema as Record<string, unknown>;
  const isStrange =
    Array.isArray(type) ||
    (Array.isArray(values) && values.includes(null)) ||
    ($ref !== undefined && Object.keys(schema).length > 1);
  return [...(isStrange ? [schema] : []), ...Object.values(schema).flatMap(strangersIn)];
}

describe.each(ERAS)('a client of %s', (era) => {
  it('a client of either era lists tools in schemas for strict clients, is told prices, and runs', async () => {
    await using program = await openProgram({ env: ENV });
    await using asking = await connected(program, era, program.sandbox.keys.team);
    const tools = await asking.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['Card', 'Ranked', 'Catalogue', 'Governments'],
      ...['search', 'price'],
    ]);
    expect(strangersIn(tools)).toEqual([]);
    expect(tools[0]?.description).toContain('Costs 2 call(s)');
    const priced = await asking.call({
      name: 'price',
      arguments: { tool: 'Card', arguments: '{"code":"NG"}' },
    });
    expect(priced).toMatchObject({ isError: false, data: { calls: 2 }, upstream: { calls: 0 } });
    expect(program.requests()).toEqual([]);
    const ran = await asking.call({ name: 'Card', arguments: { code: 'NG' } });
    expect(ran).toMatchObject({
      isError: false,
      data: { country: { capital: 'Abuja' } },
      upstream: { calls: 2 },
    });
    expect(program.requests()).toHaveLength(2);
    const held = await asking.call({
      name: 'price',
      arguments: { tool: 'Card', arguments: '{"code":"NG"}' },
    });
    expect(held.data).toMatchObject({ calls: 0, most: 0 });
    expect(program.requests()).toEqual([]);
    expect(program.problems).toEqual([]);
  });

  it('a client of either era finds fields and indicators', async () => {
    await using program = await openProgram({ env: ENV });
    await using asking = await connected(program, era, program.sandbox.keys.team);
    const fields = await asking.call({
      name: 'search',
      arguments: { words: 'public holders office', in: 'FIELDS' },
    });
    expect(fields.data).toEqual({ fields: [] });
    const offices = await asking.call({
      name: 'search',
      arguments: { words: 'country offices', in: 'FIELDS' },
    });
    expect(offices.data.fields[0]).toMatchObject({
      field: 'Country.offices',
      type: '[Office!]',
      description: expect.stringContaining('call'),
    });
    expect(program.requests()).toEqual([]);
    const both = await asking.call({ name: 'search', arguments: { words: 'population total' } });
    expect(both.data.fields).toEqual([]);
    expect(both.data.indicators).toContainEqual(expect.objectContaining({ key: 'population_total' }));
    expect([both.isError, both.upstream.calls, program.requests().length]).toEqual([false, 1, 1]);
    const again = await asking.call({ name: 'search', arguments: { words: 'gdp', in: 'INDICATORS' } });
    expect([Object.keys(again.data), again.upstream.calls, program.requests().length]).toEqual([
      ['indicators'],
      0,
      0,
    ]);
    const bad = await asking.call({ name: 'search', arguments: { words: 'gdp', in: 'ELSEWHERE' } });
    expect(bad).toMatchObject({ isError: true, errors: [{ code: 'BAD_USER_INPUT' }] });
    const none = await asking.call({ name: 'price', arguments: { tool: 'None' } });
    expect(none).toMatchObject({ isError: true, errors: [{ code: 'BAD_USER_INPUT' }] });
  });

  it('a client of either era is refused beyond its budget, before any call', async () => {
    await using program = await openProgram({ env: { ...ENV, MCP_BUDGET: '3', CACHE_URL: 'none' } });
    await using asking = await connected(program, era, program.sandbox.keys.team);
    const first = await asking.call({ name: 'Card', arguments: { code: 'KE' } });
    expect(first).toMatchObject({ isError: false, budget: { limit: 3, spent: 2 } });
    expect(program.requests()).toHaveLength(2);
    const refused = await asking.call({ name: 'Card', arguments: { code: 'NG' } });
    expect(refused).toMatchObject({
      isError: true,
      upstream: { calls: 0 },
      errors: [
        { code: 'OPERATION_TOO_EXPENSIVE', limit: 1, resetsAt: expect.stringMatching(/:00:00.000Z$/) },
      ],
    });
    expect(refused.errors[0].planned).toBe(2);
    expect(program.requests()).toEqual([]);
    // Tools that take less still run, and another key has a budget of its own.
    expect(await asking.call({ name: 'Catalogue' })).toMatchObject({ isError: false, budget: { spent: 3 } });
    expect(await asking.call({ name: 'search', arguments: { words: 'gdp' } })).toMatchObject({
      isError: true,
    });
    await using other = await connected(program, era, program.sandbox.keys.free);
    expect(await other.call({ name: 'Catalogue' })).toMatchObject({ isError: false, budget: { spent: 1 } });
    expect(program.requests()).toHaveLength(2);
  });

  it('a client of either era says how many calls one request may take', async () => {
    await using program = await openProgram({ env: ENV });
    await using asking = await connected(program, era, program.sandbox.keys.team);
    const bounded = (maxCalls: unknown) =>
      asking.call({ name: 'Card', arguments: { code: 'KE' }, _meta: { 'country-graph/maxCalls': maxCalls } });
    expect(await bounded(1)).toMatchObject({
      isError: true,
      errors: [{ code: 'OPERATION_TOO_EXPENSIVE', limit: 1 }],
    });
    expect(await bounded('many')).toMatchObject({ isError: true, errors: [{ code: 'BAD_USER_INPUT' }] });
    expect(program.requests()).toEqual([]);
    expect(await bounded(60)).toMatchObject({ isError: false, upstream: { calls: 2 } });
    expect(await bounded(0)).toMatchObject({ isError: false, upstream: { calls: 0 } });
    expect(program.requests()).toHaveLength(2);
  });

  it('a client of either era takes no more calls at once than are left', async () => {
    await using program = await openProgram({ env: { ...ENV, MCP_BUDGET: '9', CACHE_URL: 'none' } });
    await using asking = await connected(program, era, program.sandbox.keys.team);
    const codes = ['KE', 'NG', 'GH', 'ZA', 'EG', 'TZ', 'UG', 'RW', 'SN', 'ML', 'ET', 'MA'];
    const replies = await Promise.all(
      codes.map((code) => asking.call({ name: 'Governments', arguments: { codes: [code] } })),
    );
    const sent = program.requests().length;
    expect(sent).toBe(9);
    const refused = replies.filter(({ isError }) => isError);
    expect(refused.map(({ errors }) => errors[0].code)).toEqual(Array(3).fill('OPERATION_TOO_EXPENSIVE'));
  });

  it('a client of either era runs by an issued key, whose use names it', async () => {
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { ...ENV, CACHE_URL: folder.cacheUrl } });
    const key = await program.issue({ name: 'model', perDay: 2 });
    await using asking = await connected(program, era, key);
    expect(await asking.call({ name: 'Card', arguments: { code: 'KE' } })).toMatchObject({ isError: false });
    const spent = await asking.call({ name: 'Card', arguments: { code: 'NG' } });
    expect(spent).toMatchObject({ isError: true, errors: [{ code: 'KEY_BUDGET_SPENT' }] });
    await program.gather();
    const { usage } = await program.desk.usage({});
    const client = era === '2025' ? 'mcp' : 'mcp test';
    expect(usage).toMatchObject([{ key: 'model', client, document: 'Card', calls: 2, operations: 2 }]);
    expect(program.requests()).toHaveLength(2);
  });
});

it('a client that may speak either speaks the newer', async () => {
  await using program = await openProgram({ env: ENV });
  const client = new NewClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new NewTransport(new URL(program.url.replace('/graphql', '/mcp'))));
  expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
  expect(client.getServerVersion()?.name).toBe('country-graph');
  expect(client.getInstructions()).toContain('`price` prices a tool');
  await client.close();
});

/** A request of 2026-07-28 as no client of the SDK's sends it. */
async function post(program: { readonly url: string }, method: string, headers: Record<string, string> = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(program.url.replace('/graphql', '/mcp'), {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta } }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, body: (await response.json()) as any };
}

describe('the revision of 2026', () => {
  it('the revision of 2026 is discovered, without a session, and says how long its answers hold', async () => {
    await using program = await openProgram({ env: ENV });
    const discovered = await post(program, 'server/discover');
    expect(discovered.body.result).toMatchObject({
      supportedVersions: [MODERN],
      ttlMs: 600_000,
      cacheScope: 'public',
    });
    const { body } = await post(program, 'tools/list');
    expect(body.result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
    expect(body.result.tools).toHaveLength(6);
    expect(program.requests()).toEqual([]);
  });

  it('the revision of 2026 has nothing to subscribe to, and refuses headers that say something else', async () => {
    await using program = await openProgram({ env: ENV });
    expect((await post(program, 'subscriptions/listen')).body.error).toBeDefined();
    const odd = await post(program, 'tools/list', { 'mcp-method': 'tools/call' });
    expect([odd.status, odd.body.error.code]).toEqual([400, -32_020]);
    const unknown = await post(program, 'tools/list', { 'mcp-protocol-version': '2030-01-01' });
    expect(unknown.status).toBe(400);
    expect(program.problems).toEqual([]);
  });
});

describe('tools of documents', () => {
  it('tools of documents give way to those of the gateway, and no others see its operation', async () => {
    const own = trustedFile([CARD, '# Mine.\nquery search { health { status } }']);
    await using program = await openProgram({ env: { ...ENV, TRUSTED_DOCUMENTS: own.path } });
    own.remove();
    await using asking = await connected(program, MODERN, program.sandbox.keys.team);
    const names = (await asking.tools()).map(({ name }) => name);
    expect(names).toEqual(['Card', expect.stringMatching(/^search_[0-9a-f]{8}$/), 'search', 'price']);
    expect(await asking.call({ name: names[1] ?? '' })).toMatchObject({ data: { health: {} } });
    expect(program.requests()).toHaveLength(1);
  });
});

describe('/llms.txt', () => {
  it('/llms.txt names the ways to ask, and the tools with their prices', async () => {
    const own = trustedFile([CARD, CATALOGUE, RANKED]);
    await using program = await openProgram({ env: { ...ENV, TRUSTED_DOCUMENTS: own.path } });
    own.remove();
    const reply = await fetch(program.url.replace('/graphql', '/llms.txt'));
    expect([reply.status, reply.headers.get('content-type'), reply.headers.get('cache-control')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'public, max-age=60',
    ]);
    const text = await reply.text();
    expect(text).toMatch(/^# Country Graph\n\n> /);
    expect(text).toContain('(mcp)');
    expect(text).toMatch(/- \*\*Card\*\*: A country's capital and population\. .*Costs 2 call\(s\)/);
    expect(text).toContain('- **search**: ');
    await using plain = await openProgram();
    expect((await fetch(plain.url.replace('/graphql', '/llms.txt'))).status).toBe(404);
    expect([...program.requests(), ...plain.requests()]).toEqual([]);
  });
});
