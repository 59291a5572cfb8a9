import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { mcpTools } from '../../src/plugins/mcp-tools/plugin.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type Program, type ProgramOptions } from '../support/program.ts';
import { CARD, CATALOGUE, trustedFile } from './documents.ts';

const file = trustedFile();
afterAll(() => file.remove());

const OWN = ['search', 'price'];

const ENV = { MCP: 'on', TRUSTED_DOCUMENTS: file.path };
const openTools = ({ env, ...options }: ProgramOptions = {}) =>
  openProgram({ ...options, env: { ...ENV, ...env } });
const addressOf = ({ url }: Program) => new URL(url.replace('/graphql', '/mcp'));

/** The SDK's own client. */
async function connected(program: Program, key: string | null = program.sandbox.keys.team) {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(addressOf(program), { requestInit: { headers } }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Answer of a tool: the structure, with the table for models beside it. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { structuredContent, content, isError = false } = await client.callTool({ name, arguments: given });
  const [{ text }] = content as [{ text: string }];
  const { upstream } = structuredContent as { upstream: { calls: number } };
  expect(text).toMatch(new RegExp(`^Cost: ${upstream.calls} call\\(s\\) `));
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { ...(structuredContent as any), isError };
}

describe('tools by HTTP', () => {
  it('tools by HTTP follow the documents, which are read again', async () => {
    const own = trustedFile([CARD]);
    await using program = await openTools({ env: { TRUSTED_DOCUMENTS: own.folder } });
    await using client = await connected(program);
    const tools = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await tools()).toEqual(['Card', ...OWN]);
    writeFileSync(join(own.folder, 'more.json'), JSON.stringify({ catalogue: CATALOGUE }));
    await expect.poll(tools).toEqual(['Catalogue', 'Card', ...OWN]);
    expect(await call(client, 'Catalogue')).toMatchObject({ isError: false, upstream: { calls: 1 } });
    own.remove();
  });

  it('tools by HTTP are the described operations, with variables as JSON Schema and prices in calls', async () => {
    await using program = await openTools();
    await using client = await connected(program);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Card', 'Ranked', 'Catalogue', 'Governments', ...OWN]);
    const [card, ranked, catalogue, governments] = tools;
    const explained = await program.ask(CARD, {
      variables: { code: 'KE' },
      headers: { 'x-explain': '1' },
    });
    const { least, calls, most, limit } = explained.extensions.explain as Record<string, number>;
    expect(card?.description).toBe(
      `A country's capital and population.\nFigures are the latest.\n\nCosts 2 call(s) to the metered service for {"code":"KE"} where nothing is cached: at least ${least}, at most ${most}. It is refused before any call where it would cost more than 60.`,
    );
    expect(card?._meta).toEqual({
      'country-graph/price': { least, expected: calls, most, limit, variables: { code: 'KE' } },
    });
    expect(card?.inputSchema).toEqual({
      type: 'object',
      properties: {
        code: {
          type: 'string',
          pattern: '^[A-Za-z]{2}$',
          description: 'Country code, case-insensitive.',
        },
        page: {
          type: 'integer',
          minimum: 1,
          default: 1,
          description: 'Page of an answer that is longer than 60 KB.',
        },
      },
      required: ['code'],
      additionalProperties: false,
    });
    expect(ranked?.inputSchema).toMatchObject({
      properties: {
        codes: {
          type: 'array',
          items: { type: 'string', pattern: '^[A-Za-z]{2}$' },
          default: ['KE', 'NG'],
          description: 'Countries; all where none are given.',
        },
        metric: { type: 'string' },
        scope: { type: 'string', enum: ['NATIONAL', 'PLACES', 'ALL'] },
        order: { type: 'array', items: { $ref: '#/$defs/ObservationOrder' } },
      },
      required: ['metric'],
      $defs: { ObservationOrder: { type: 'object', required: ['field'], additionalProperties: false } },
    });
    expect(Object.keys(catalogue?.inputSchema.properties ?? {})).toEqual(['page']);
    expect(catalogue?.inputSchema.required).toEqual([]);
    expect(governments?.annotations).toMatchObject({ readOnlyHint: true });
    expect([calls, program.requests()]).toEqual([2, []]);
  });

  it('tools by HTTP run by the gateway, and answer with data and bill', async () => {
    await using program = await openTools();
    await using client = await connected(program);
    await client.listTools();
    program.operations.length = 0;
    const asked = await program.ask(CARD, { variables: { code: 'KE' } });
    const requests = program.requests();
    const { data, upstream, isError } = await call(client, 'Card', { code: 'ke' });
    expect(isError).toBe(false);
    expect(data).toEqual(asked.data);
    expect(data.country).toMatchObject({ capital: 'Nairobi', population: { value: expect.any(Number) } });
    expect(upstream).toEqual(asked.upstream);
    expect(program.requests()).toEqual(requests);
    expect(requests).toHaveLength(2);
    expect(program.operations.map(({ name, calls }) => [name, calls])).toEqual([
      ['Card', 2],
      ['Card', 2],
    ]);
  });

  it('tools by HTTP take lists, values of enums and input objects', async () => {
    await using program = await openTools();
    await using client = await connected(program);
    const order = [{ field: 'VALUE', direction: 'DESC' }];
    const given = { metric: 'population_total', codes: ['KE', 'NG', 'GH'], scope: 'NATIONAL', order };
    const { data, upstream } = await call(client, 'Ranked', given);
    const values = data.observations.map(({ value }: { value: number }) => value);
    expect(values).toHaveLength(3);
    expect(values).toEqual(values.toSorted((a: number, b: number) => b - a));
    expect([upstream.calls, program.requests().length]).toEqual([1, 1]);
  });

  it('tools by HTTP are refused before any call where they are too dear', async () => {
    await using program = await openTools({ env: { MAX_UPSTREAM_CALLS: '2' } });
    await using client = await connected(program);
    const { tools } = await client.listTools();
    expect(tools[3]?.description).toContain('It is refused before any call where it would cost more than 2.');
    const { errors, data, upstream, isError } = await call(client, 'Governments', {
      codes: ['KE', 'NG', 'ZA'],
    });
    expect([isError, data, upstream.calls]).toEqual([true, null, 0]);
    expect(errors).toMatchObject([
      { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 3, limit: 2 },
    ]);
    expect(program.requests()).toEqual([]);
  });

  it.for([
    [{ code: 'Kenya' }, /two letters/],
    [{}, /\$code/],
    [{ code: null }, /\$code/],
    [{ code: 'KE', year: 2020 }, /no argument year\. The tool takes code, page\./],
  ] as const)('tools by HTTP refuse %j before any call', async ([given, words]) => {
    await using program = await openTools();
    await using client = await connected(program);
    const { errors, upstream, isError } = await call(client, 'Card', given);
    expect([isError, upstream.calls]).toEqual([true, 0]);
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT', retryable: false }]);
    expect(errors[0].message).toMatch(words);
    expect(program.requests()).toEqual([]);
  });

  it.for([
    ['no key', null, 0],
    ['a key that the service refuses', 'nobody', 1],
  ] as const)('tools by HTTP say so where there is %s', async ([, key, calls]) => {
    await using program = await openTools();
    await using client = await connected(program, key);
    const { errors, isError } = await call(client, 'Catalogue');
    expect(isError).toBe(true);
    expect(errors).toMatchObject([{ code: 'UNAUTHENTICATED', retryable: false }]);
    expect(program.requests()).toHaveLength(calls);
  });

  it('tools by HTTP say when it is worth asking again', async () => {
    const { clock } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
    await using program = await openTools({ clock, sandbox: { now: clock.now } });
    await using client = await connected(program, program.sandbox.keys.free);
    for (let i = 0; i < 5; i += 1) await call(client, 'Catalogue');
    const { errors, data, upstream } = await call(client, 'Catalogue');
    expect(errors).toMatchObject([
      { code: 'RATE_LIMITED', retryable: true, retryAt: '2026-11-21T10:01:00.000Z' },
    ]);
    expect(data).toEqual({ indicators: null });
    expect(program.requests()).toHaveLength(5 + upstream.calls);
  });

  it('tools by HTTP that there are none of by a name are an error of the protocol', async () => {
    await using program = await openTools();
    await using client = await connected(program);
    await expect(client.callTool({ name: 'Plain', arguments: {} })).rejects.toThrow(
      'There is no tool Plain.',
    );
    expect(program.requests()).toEqual([]);
  });
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** A request as no client of the SDK's sends it. */
async function post(program: Program, body: unknown, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(addressOf(program), {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

describe('/mcp', () => {
  it('/mcp is for pages of listed origins alone', async () => {
    await using program = await openTools({ env: { CORS_ORIGINS: 'https://app.example' } });
    const { port } = addressOf(program);
    const others = ['https://evil.example', 'null', 'http://127.0.0.1:1', `http://localhost:${port}`];
    for (const origin of [...others, `http://127.0.0.1.evil.example:${port}`, `file://127.0.0.1:${port}`])
      expect(await post(program, LIST, { origin })).toMatchObject({ status: 403 });
    expect(await post(program, LIST, { origin: 'https://app.example' })).toMatchObject({ status: 200 });
    expect(await post(program, LIST)).toMatchObject({ status: 200 });
  });

  it('/mcp is for its own pages on the machine that it runs on, and for no host that was made to mean it', async () => {
    await using program = await openTools();
    const { port } = addressOf(program);
    const from = async (origin: string, host: string) => {
      const { statusCode, body } = await request(addressOf(program), {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin, host },
        body: JSON.stringify(LIST),
      });
      await body.dump();
      return statusCode;
    };
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await from(`http://${name}:${port}`, `${name}:${port}`)).toBe(200);
    for (const name of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '128.0.0.1'])
      expect(await from(`http://${name}:${port}`, `${name}:${port}`)).toBe(403);
    expect(await from(`http://localhost:${Number(port) + 1}`, `localhost:${port}`)).toBe(403);
  });

  it('/mcp takes null for what is left out, as some serializers write it, and for nothing else', async () => {
    await using program = await openTools();
    const sent = async (message: object) => {
      const { text } = await post(
        program,
        { jsonrpc: '2.0', id: 1, ...message },
        { authorization: `Bearer ${program.sandbox.keys.team}` },
      );
      const { error, result } = JSON.parse(text);
      return error?.code ?? result.structuredContent?.errors?.[0].code ?? 'taken';
    };
    const call = (params: object) => ({ method: 'tools/call', params: { name: 'search', ...params } });
    const taken = [
      { method: 'tools/list', params: null },
      { method: 'tools/list', params: { cursor: null, _meta: { progressToken: null } } },
      call({ arguments: { words: 'office', in: null, page: null }, _meta: null }),
      call({ name: 'price', arguments: { tool: 'Catalogue', arguments: null } }),
      call({ name: 'Ranked', arguments: { metric: 'population_total', scope: null }, task: null }),
    ];
    for (const message of taken) expect([message, await sent(message)]).toEqual([message, 'taken']);
    const refused = [
      [call({ arguments: 'KE' }), -32_602],
      [call({ arguments: null }), 'BAD_USER_INPUT'],
      [call({ name: null, arguments: {} }), -32_602],
      [call({ name: 'Ranked', arguments: { metric: null } }), 'BAD_USER_INPUT'],
    ] as const;
    for (const [message, code] of refused) expect([message, await sent(message)]).toEqual([message, code]);
    const notice = { jsonrpc: '2.0', id: null, method: 'notifications/initialized', params: null };
    expect((await post(program, notice)).status).toBe(202);
    expect(program.requests()).toHaveLength(2);
  });

  it.for([
    'application/json, text/event-stream',
    'application/json',
    'Application/JSON; charset=utf-8',
    'text/html, application/json;q=0.5',
    'application/*',
    '*/*',
    'text/event-stream, */*;q=0.1',
    '*',
    '',
  ])('/mcp answers JSON to clients that accept %j', async (accept) => {
    await using program = await openTools();
    const { status, headers, text } = await post(program, LIST, { accept });
    expect([status, headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^application\/json\b/),
    ]);
    expect(JSON.parse(text).result.tools).toHaveLength(6);
  });

  it.for(['text/event-stream', 'text/html', 'application/json;q=0', 'application/json;q=0, */*'])(
    '/mcp has nothing for clients that accept %j',
    async (accept) => {
      await using program = await openTools();
      const { status, text } = await post(program, LIST, { accept });
      expect([status, JSON.parse(text).error.message]).toEqual([
        406,
        'Answers are application/json: name it in Accept.',
      ]);
    },
  );

  it.for([
    ['an array of messages', [LIST, LIST], {}, 400, /one message at a time/],
    ['what is no JSON', '{', {}, 400, /JSON/],
    ['what is no message', { a: 1 }, {}, 400, /not a valid JSON-RPC/],
    ['deep nesting', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}, 400, /levels deep/],
    ['a long body', JSON.stringify({ a: 'x'.repeat(20_000) }), {}, 413, /large/],
    ['a malformed key', LIST, { authorization: 'Bearer a b' }, 401, /printable ASCII/],
    ['a type that is no JSON', '{}', { 'content-type': 'text/plain' }, 415, /Media Type/],
  ] as const)('/mcp refuses %s in words', async ([, body, headers, status, words]) => {
    await using program = await openTools({ env: { MAX_BODY_BYTES: '20000' } });
    const refused = await post(program, body, headers);
    expect(refused.status).toBe(status);
    const { jsonrpc, error } = JSON.parse(refused.text);
    expect([jsonrpc, error.message]).toEqual(['2.0', expect.stringMatching(words)]);
    expect(program.requests()).toEqual([]);
    expect(program.problems).toEqual([]);
  });

  it.for(['GET', 'DELETE'])('/mcp has no sessions, so %s is not allowed', async (method) => {
    await using program = await openTools();
    const { status, headers } = await post(program, null, {}, method);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('/mcp stops what runs where the client leaves', async () => {
    await using program = await openTools();
    program.sandbox.faults.set({ kind: 'hang' });
    const controller = new AbortController();
    const leaving = fetch(addressOf(program), {
      method: 'POST',
      signal: controller.signal,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${program.sandbox.keys.team}`,
      },
      body: JSON.stringify({ ...LIST, method: 'tools/call', params: { name: 'Catalogue', arguments: {} } }),
    });
    await expect.poll(() => program.sandbox.log.length).toBe(1);
    controller.abort();
    await expect(leaving).rejects.toThrow();
    await expect.poll(() => program.operations.length).toBe(1);
    expect(program.operations).toMatchObject([{ name: 'Catalogue', calls: 1 }]);
    expect(program.problems).toEqual([]);
  });

  it('/mcp is not there by default', async () => {
    await using program = await openProgram({ env: { TRUSTED_DOCUMENTS: file.path } });
    expect(await post(program, LIST)).toMatchObject({ status: 404 });
  });
});

describe('MCP=on', () => {
  it('MCP=on without trusted documents is a fault of the settings', () => {
    expect(() => readConfig({ MCP: 'on' }, [mcpTools])).toThrow(
      'MCP: on makes tools of the trusted documents, so TRUSTED_DOCUMENTS must name the file that they stand in',
    );
  });

  it.for([
    ['no document is described', ['query A { health { status } }'], 'there is none'],
    ['one asks for what is not there', ['# B\nquery A { nothing }'], 'Cannot query field "nothing"'],
    ['one is no document', ['# B\nquery A {'], 'Syntax Error'],
  ] as const)('MCP=on is a fault of the settings where %s', async ([, texts, words]) => {
    const other = trustedFile(texts);
    try {
      const opening = openProgram({ env: { MCP: 'on', TRUSTED_DOCUMENTS: other.path } });
      await expect(opening).rejects.toThrow(ConfigError);
      await expect(opening).rejects.toThrow(words);
    } finally {
      other.remove();
    }
  });

  it('MCP=on tells operations of one name apart', async () => {
    const texts = [
      '# One.\nquery A { health { status } }',
      '# Two.\nquery A { platformVersion { version } }',
    ];
    const other = trustedFile(texts);
    await using program = await openTools({ env: { TRUSTED_DOCUMENTS: other.path } });
    await using client = await connected(program);
    const { tools } = await client.listTools();
    other.remove();
    expect(tools.map(({ name }) => name)).toEqual(['A', expect.stringMatching(/^A_[0-9a-f]{8}$/), ...OWN]);
    expect((await call(client, tools[1]?.name ?? '')).data).toHaveProperty('platformVersion');
    expect(program.requests()).toHaveLength(1);
  });
});
