import { once } from 'node:events';
import { connect } from 'node:net';
import fastify from 'fastify';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { createGateway } from '../../src/server/library.ts';
import { openProgram, type Program } from '../support/program.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';

type Sent = Readonly<{ method?: string; body?: unknown; headers?: Readonly<Record<string, string>> }>;

async function send({ url, sandbox }: Pick<Program, 'url' | 'sandbox'>, sent: Sent = {}) {
  const { method = 'QUERY', body = { query: FIGURE }, headers = {} } = sent;
  const reply = await request(url, {
    method: method as 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      authorization: `Bearer ${sandbox.keys.team}`,
      ...headers,
    },
    ...(method === 'GET' || method === 'OPTIONS' ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  return { status: reply.statusCode, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
}

const open = () => openProgram({ env: { CACHE_URL: 'memory:', CORS_ORIGINS: 'https://app.example' } });

describe('a QUERY', () => {
  it('a QUERY answers as a POST does, with a tag, and 304 the second time', async () => {
    await using program = await open();
    const first = await send(program);
    expect(first).toMatchObject({ status: 200, body: { extensions: { upstream: { calls: 1 } } } });
    expect(first.headers).toMatchObject({
      etag: expect.stringMatching(/^W\//),
      'accept-query': 'application/json',
    });
    const post = await send(program, { method: 'POST' });
    expect(post.body.data).toEqual(first.body.data);
    expect(post.headers).not.toHaveProperty('etag');
    const conditional = { headers: { 'if-none-match': String(first.headers.etag) } };
    for (let times = 0; times < 3; times += 1) {
      const again = await send(program, conditional);
      expect(again).toMatchObject({ status: 304, body: null, headers: { etag: first.headers.etag } });
    }
    expect(program.requests()).toHaveLength(1);
  });

  it('a QUERY in lower case is told so', async () => {
    await using program = await open();
    const { status, headers, body } = await send(program, { method: 'query' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST, QUERY']);
    expect(body.errors).toMatchObject([
      {
        message: 'Methods are in upper case: send QUERY in place of query.',
        extensions: { code: 'BAD_REQUEST', retryable: false },
      },
    ]);
    expect((await send(program, { method: 'querx' })).status).toBe(400);
    expect([program.problems, program.requests()]).toEqual([[], []]);
  });

  it('a HEAD has the headers of a GET, for the same calls, and no body', async () => {
    await using program = await open();
    for (const search of ['', '?query=%7Bhealth%7Bstatus%7D%7D', '?query=%7Bcountries%7Bname%7D%7D']) {
      const headers = {
        authorization: `Bearer ${program.sandbox.keys.team}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
      };
      const [head, get, again] = [
        await fetch(program.url + search, { method: 'HEAD', headers }),
        await fetch(program.url + search, { headers }),
        await fetch(program.url + search, { method: 'HEAD', headers }),
      ];
      expect([head.status, await head.text()]).toEqual([get.status, '']);
      for (const name of ['content-type', 'etag', 'vary', 'x-upstream-bill'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      const length = Buffer.byteLength(await get.text());
      if (get.status === 200 && search.includes('countries'))
        expect(again.headers.get('content-length')).toBe(String(length));
    }
    expect(program.requests()).toEqual(['GET /health', 'GET /health', 'GET /health', 'GET /v1/countries']);
  });

  it('a QUERY is for queries alone', async () => {
    await using program = await open();
    for (const query of ['mutation { a }', 'subscription { sourceRefreshed { key } }']) {
      const { status, body } = await send(program, { body: { query } });
      expect([status, body.data]).toEqual([400, undefined]);
      expect(body.errors).toHaveLength(1);
    }
    expect(program.requests()).toEqual([]);
  });

  it('a QUERY takes several operations as a POST does, without a tag', async () => {
    await using program = await open();
    const one = await send(program);
    const { status, headers, body } = await send(program, {
      body: [{ query: FIGURE }, { query: '{ __typename }' }],
      headers: { 'if-none-match': String(one.headers.etag) },
    });
    expect([status, body[0].data, body[1].data]).toEqual([200, one.body.data, { __typename: 'Query' }]);
    expect(headers).not.toHaveProperty('etag');
    expect(program.requests()).toHaveLength(1);
  });

  it('a QUERY is refused without a type, or with another, and says which it takes', async () => {
    await using program = await open();
    const other = await send(program, { headers: { 'content-type': 'text/plain' } });
    expect([other.status, other.headers['accept-query']]).toEqual([415, 'application/json']);
    const { hostname, port } = new URL(program.url);
    const socket = connect(Number(port), hostname);
    socket.write('QUERY /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    expect(program.requests()).toEqual([]);
  });

  it('a QUERY may be sent by pages of listed origins', async () => {
    await using program = await open();
    const { headers } = await send(program, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'QUERY' },
    });
    expect(headers['access-control-allow-methods']).toContain('QUERY');
  });

  it('a QUERY is answered in a Fastify of a host of its own', async () => {
    const sandbox = createSandbox();
    const service = await sandbox.listen();
    const gateway = await createGateway({
      settings: { COUNTRY_DATA_URL: service.url, CACHE_URL: 'memory:' },
      onProblem() {},
    });
    const app = fastify();
    await app.register(gateway.plugin);
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
    const first = await send({ url, sandbox });
    const second = await send({ url, sandbox }, { headers: { 'if-none-match': String(first.headers.etag) } });
    expect([first.status, second.status, sandbox.log.length]).toEqual([200, 304, 1]);
    await app.close();
    await gateway.stop();
    await sandbox.close();
  });
});

it.for(['PUT', 'DELETE', 'PATCH'])('a %s is refused in our own words', async (method) => {
  await using program = await open();
  const { status, headers, body } = await send(program, { method });
  expect(status).toBe(405);
  expect(headers).toMatchObject({ allow: 'GET, HEAD, POST, QUERY', 'accept-query': 'application/json' });
  expect(body.errors).toMatchObject([
    {
      message: `${method} brings no operation. Send it by GET, POST or QUERY.`,
      extensions: { code: 'BAD_REQUEST', retryable: false },
    },
  ]);
  expect(body.extensions.upstream.calls).toBe(0);
  expect(program.requests()).toEqual([]);
});
