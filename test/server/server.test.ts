import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { buildSchema } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { openLookups } from '../../src/cache/lru.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { GatewayRequest } from '../../src/graphql/request/requests.ts';
import type { GatewayResponse } from '../../src/graphql/request/responses.ts';
import { plugins } from '../../src/plugins.ts';
import { createLog } from '../../src/server/log.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer } from '../../src/server/server.ts';
import { heldTimers } from '../support/held-timers.ts';
import { openAlone } from '../support/plugin-host.ts';

/** The server over a gateway that the test answers for: it proves the transport alone. */
async function open(
  handle: (request: GatewayRequest) => Promise<GatewayResponse>,
  env: Record<string, string> = {},
) {
  const lines: string[] = [];
  const stopped: string[] = [];
  const config = readConfig({ PORT: '0', ...env }, plugins);
  const gateway: Gateway = {
    sdl: 'type Query { word: String }\n',
    schema: buildSchema('type Query { word: String }'),
    trusted: null,
    handle,
    plugins: await openAlone(plugins, { PORT: '0', ...env }),
    refuseUnread: () => null,
    load: {
      underWay: 0,
      waiting: 0,
      begun: 0,
      delayed: 0,
      refused: { full: 0, late: 0 },
    },
    state: { lookups: openLookups(), recentLimits: () => [], openCircuits: () => [] },
    shrink() {},
    beforeStop: async () => {},
    stop: async () => void stopped.push('gateway'),
  };
  const metrics = createMetrics();
  const timers = heldTimers(0);
  const server = createServer({
    config,
    gateway,
    metrics,
    log: createLog('info', { write: (line) => void lines.push(line) }),
    demoKeys: null,
    clock: timers,
  });
  const { url, adminUrl } = await server.listen();
  const { drain } = server;
  cleanups.push(() => drain());
  return { url, adminUrl, origin: new URL(url).origin, drain, lines, stopped, metrics, timers };
}

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const answer = (body: GatewayResponse['body'], headers: Record<string, string> = {}): GatewayResponse => ({
  status: 200,
  headers: new Map(
    Object.entries({ 'content-type': 'application/json; charset=utf-8', vary: 'Authorization', ...headers }),
  ),
  body,
});
const word = async () => answer('{"data":{"word":"hi"}}');
const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

/** An answer that the test lets go when it likes. */
function held() {
  const { promise, resolve } = Promise.withResolvers<GatewayResponse>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<GatewayRequest>();
  return {
    arrived,
    handle: (request: GatewayRequest) => {
      arrive(request);
      return promise;
    },
    release: () => resolve(answer('{"data":{"word":"late"}}')),
  };
}

describe('/graphql', () => {
  it('/graphql hands a POST to the gateway as it came', async () => {
    const seen: GatewayRequest[] = [];
    const { url } = await open(async (request) => {
      seen.push(request);
      return answer('{"data":null}', { 'cache-control': 'private', 'retry-after': '7' });
    });
    const response = await post(`${url}?a=1`, '{"query":"{ word }"}', {
      Authorization: 'Bearer k',
      'X-Explain': '1',
    });
    expect(await response.json()).toEqual({ data: null });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'private',
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '7',
      vary: 'Authorization',
    });
    expect(seen).toMatchObject([
      {
        method: 'POST',
        search: '?a=1',
        body: { query: '{ word }' },
        headers: { authorization: 'Bearer k', 'x-explain': '1' },
      },
    ]);
  });

  it('/graphql hands a GET over with its raw query string', async () => {
    const seen: GatewayRequest[] = [];
    const { url } = await open(async (request) => {
      seen.push(request);
      return word();
    });
    await fetch(`${url}?query=%7Bword%7D`);
    expect(seen).toMatchObject([{ method: 'GET', search: '?query=%7Bword%7D', body: '' }]);
  });

  it.for(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    '/graphql leaves %s to the gateway, which says 405',
    async (method) => {
      const { url } = await open(async () => ({ ...answer(''), status: 405 }));
      expect((await fetch(url, { method })).status).toBe(405);
    },
  );

  it('/graphql passes on status and a body in parts', async () => {
    async function* parts() {
      yield '{"data":';
      yield '1}';
    }
    const { url } = await open(async () => ({ ...answer(parts()), status: 401 }));
    const response = await post(url, '{}');
    expect([response.status, await response.text()]).toEqual([401, '{"data":1}']);
  });

  const LIMIT = 100;
  it.for([
    { name: 'malformed JSON', body: '{ "not a JSON', status: 400 },
    { name: 'no body', body: '', status: 400 },
    { name: 'a poisoned prototype', body: '{"__proto__":{"query":"x"}}', status: 400 },
    { name: 'a body over the limit', body: JSON.stringify({ query: 'x'.repeat(LIMIT) }), status: 413 },
    { name: 'another content type', body: '{"query":"x"}', type: 'text/plain', status: 415 },
    { name: 'a form', body: 'query=x', type: 'application/x-www-form-urlencoded', status: 415 },
  ])('/graphql refuses $name with $status', async ({ body, status, type = 'application/json' }) => {
    const { url } = await open(word, { MAX_BODY_BYTES: String(LIMIT) });
    const response = await post(url, body, { 'content-type': type });
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      vary: 'Authorization',
    });
    expect(await response.json()).toEqual({
      errors: [
        {
          message: expect.any(String),
          extensions: {
            code: 'BAD_REQUEST',
            retryable: false,
            requestId: response.headers.get('x-request-id'),
          },
        },
      ],
      extensions: { upstream: { calls: 0, byRoute: {}, shared: 0, cached: 0, naive: 0 } },
    });
  });

  it('/graphql names the content type that it reads where it refuses another', async () => {
    const { url } = await open(word);
    const response = await post(url, '{"query":"x"}', { 'content-type': 'text/plain' });
    expect(await response.text()).toContain('`content-type: application/json`');
  });

  it('/graphql takes a body of just the limit', async () => {
    const body = JSON.stringify({ query: '' });
    const { url } = await open(word, { MAX_BODY_BYTES: String(body.length) });
    expect((await post(url, body)).status).toBe(200);
  });

  it('/graphql refuses a body over the limit that does not tell its length', async () => {
    const { url } = await open(word, { MAX_BODY_BYTES: String(LIMIT) });
    const outgoing = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
    outgoing.on('error', () => {});
    outgoing.write('"');
    outgoing.end('x'.repeat(2 * LIMIT));
    const [response] = await once(outgoing, 'response');
    response.resume();
    expect(response.statusCode).toBe(413);
  });

  it('/graphql answers a refusal in the media type that the client asked for', async () => {
    const { url } = await open(word);
    const response = await post(url, '{', { accept: 'application/graphql-response+json, application/json' });
    expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
  });

  it('/graphql tells nothing of a fault of its own, and logs it whole', async () => {
    const { url, lines, metrics } = await open(async () => {
      throw new Error('secret of the house');
    });
    const response = await post(url, '{}');
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      errors: [
        {
          message: 'The gateway failed to answer.',
          extensions: {
            code: 'INTERNAL_SERVER_ERROR',
            retryable: false,
            requestId: response.headers.get('x-request-id'),
          },
        },
      ],
    });
    expect(lines.join('')).toContain('secret of the house');
    expect(await metrics.text()).toContain('country_graph_problems_total 1');
  });

  it('/graphql cuts the connection where an answer cannot be written, and goes on', async () => {
    const { url, origin, lines, metrics } = await open(async () => answer('{}', { 'x-odd': 'two\nlines' }));
    await expect(post(url, '{}')).rejects.toThrow();
    expect(lines.join('')).toContain('ERR_INVALID_CHAR');
    expect(await metrics.text()).toContain('country_graph_problems_total 1');
    expect((await fetch(`${origin}/health/live`)).status).toBe(200);
  });

  it('/graphql aborts when the client leaves, and not before', async () => {
    const { handle, arrived, release } = held();
    const { url } = await open(handle);
    const client = new AbortController();
    const response = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ word }"}',
      signal: client.signal,
    });
    const { signal } = await arrived;
    await new Promise(setImmediate);
    expect(signal.aborted).toBe(false);
    client.abort();
    await expect(response).rejects.toThrow();
    await aborted(signal);
    release();
  });
});

describe('slow readers', () => {
  /** A client that asks so often without reading an answer. */
  function asking(url: string, times: number) {
    const { hostname, port } = new URL(url);
    const client = connect(Number(port), hostname).pause();
    client.on('error', () => {});
    const body = '{"query":"{ word }"}';
    const head = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    client.write(`POST /graphql HTTP/1.1\r\n${head}\r\n\r\n${body}`.repeat(times));
    cleanups.unshift(async () => void client.destroy());
  }

  const MANY = 20;
  const LIMIT = 8 * 1_048_576;

  /** Answers that are each of their own. */
  function large() {
    let made = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = async () => {
      made += 1;
      if (made === MANY) resolve();
      return answer(Buffer.alloc(LIMIT, made));
    };
    return { handle, allMade: promise };
  }

  it.for([
    ['one connection', 1, MANY],
    ['many connections', MANY, 1],
  ] as const)('slow readers hold no more than a bound: %s', async ([, clients, times]) => {
    const { handle, allMade } = large();
    const { url, metrics } = await open(handle, { MAX_ANSWER_BYTES: String(LIMIT) });
    for (let i = 0; i < clients; i++) asking(url, times);
    await allMade;
    await (await fetch(`${new URL(url).origin}/health/live`)).text();
    const cut = Number(/cut_total\{reason="crowded"\} (\d+)/.exec(await metrics.text())?.[1]);
    // Of the last ones there are as many as the bound allows; one connection is over with its second.
    expect(cut).toBe(clients === 1 ? 1 : MANY - 4);
  });
});

describe('around it', () => {
  it('the server is alive and ready', async () => {
    const { origin } = await open(word);
    for (const path of ['/health/live', '/health/ready']) {
      const response = await fetch(origin + path);
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    }
  });

  it('the server shows the SDL', async () => {
    const { origin } = await open(word);
    const response = await fetch(`${origin}/schema.graphql`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe('type Query { word: String }\n');
  });

  it.for(['/schema.graphql', '/graphiql', '/graphiql/', 'a script of the page'])(
    'the server is not sent again to who has it, whatever fetch adds to that: %s',
    async (named) => {
      const { origin } = await open(word);
      const [, script = ''] =
        /src="\.(\/[^"]+)"/.exec(await (await fetch(`${origin}/graphiql`)).text()) ?? [];
      const address = origin + (named.startsWith('/') ? named : script);
      const etag = String((await fetch(address)).headers.get('etag'));
      for (const tags of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
        const again = await fetch(address, { headers: { 'if-none-match': tags } });
        expect([tags, again.status, await again.text(), again.headers.get('etag')]).toEqual([
          tags,
          304,
          '',
          etag,
        ]);
      }
      for (const headers of [{ 'if-none-match': '"other"' }, { 'cache-control': 'no-cache' }])
        expect((await fetch(address, { headers })).status).toBe(200);
    },
  );

  it('the server shows no SDL where the schema is closed', async () => {
    const { origin } = await open(word, { INTROSPECTION: 'off' });
    const response = await fetch(`${origin}/schema.graphql`);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('type Query');
  });

  it('the server has health and metrics at a port of their own alone, where there is one', async () => {
    const { origin, url, adminUrl = '' } = await open(word, { ADMIN_PORT: '0' });
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect([path, (await fetch(adminUrl + path)).status]).toEqual([path, 200]);
      expect([path, (await fetch(origin + path)).status]).toEqual([path, 404]);
    }
    for (const path of ['/graphql', '/graphiql', '/schema.graphql', '/']) {
      const there = await fetch(adminUrl + path, { redirect: 'manual' });
      expect([path, there.status]).toEqual([path, 404]);
    }
    expect(await (await post(url, '{}')).json()).toEqual({ data: { word: 'hi' } });
    expect((await open(word)).adminUrl).toBe(undefined);
  });

  it('the server listens nowhere where the port for health and metrics is taken', async () => {
    const { origin } = await open(word);
    const taken = new URL(origin).port;
    await expect(open(word, { ADMIN_PORT: taken })).rejects.toThrow('EADDRINUSE');
  });

  it('the server answers 404 in JSON elsewhere', async () => {
    const { origin } = await open(word);
    const response = await fetch(`${origin}/nowhere?key=1`);
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'Not Found', message: 'There is no GET /nowhere here.' },
    ]);
  });

  it('the server counts operations, errors, attempts and what was saved', async () => {
    const { origin, metrics } = await open(word);
    metrics.operation({
      name: 'A',
      type: 'query',
      durationMs: 20,
      calls: 1,
      shared: 2,
      cached: 3,
      stale: 4,
      repeated: true,
      errorCodes: ['FORBIDDEN'],
    });
    metrics.operation({
      name: null,
      type: null,
      durationMs: 1,
      calls: 0,
      shared: 0,
      cached: 0,
      stale: 0,
      repeated: false,
      errorCodes: [],
    });
    metrics.attempt({ route: '/v1/data', outcome: 'ok', durationMs: 300 });
    const response = await fetch(`${origin}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const lines = (await response.text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'country_graph_operations_total{type="query",outcome="error"} 1',
        'country_graph_operations_total{type="none",outcome="ok"} 1',
        'country_graph_operation_duration_seconds_sum{type="query",outcome="error"} 0.02',
        'country_graph_answers_repeated_total 1',
        'country_graph_errors_total{code="FORBIDDEN"} 1',
        'country_graph_upstream_attempts_total{route="/v1/data",outcome="ok"} 1',
        'country_graph_upstream_attempt_duration_seconds_sum{route="/v1/data",outcome="ok"} 0.3',
        'country_graph_upstream_calls_saved_total{by="shared"} 2',
        'country_graph_upstream_calls_saved_total{by="cached"} 3',
        'country_graph_stale_answers_total 4',
      ]),
    );
    expect(lines.some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true);
  });

  it.for([
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+\/graphql$/],
    ['localhost', /^http:\/\/localhost:\d+\/graphql$/],
    ['::1', /^http:\/\/\[::1\]:\d+\/graphql$/],
    ['[::1]', /^http:\/\/\[::1\]:\d+\/graphql$/],
  ] as const)('the server listens on %s', async ([HOST, address], { skip }) => {
    const opened = await open(word, { HOST }).catch((error: NodeJS.ErrnoException) => error);
    if ('code' in opened && opened.code === 'EADDRNOTAVAIL') skip('this machine has no IPv6');
    if (opened instanceof Error) throw opened;
    expect(opened.url).toMatch(address);
    expect((await post(opened.url, '{}')).status).toBe(200);
  });
});

describe('CORS', () => {
  const ours = 'https://app.example';
  const preflight = (url: string, origin: string, headers = 'authorization,content-type', method = 'POST') =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': headers,
      },
    });

  it('CORS lets a listed origin in', async () => {
    const { url } = await open(word, { CORS_ORIGINS: `https://other.example, ${ours}` });
    const before = await preflight(url, ours);
    expect(before.status).toBe(204);
    expect(Object.fromEntries(before.headers)).toMatchObject({
      'access-control-allow-origin': ours,
      'access-control-allow-methods': 'GET, POST, QUERY',
      'access-control-allow-headers': 'authorization,content-type',
      vary: 'Origin, Access-Control-Request-Headers',
    });
    expect(before.headers.has('access-control-allow-credentials')).toBe(false);

    const response = await post(url, '{}', { origin: ours });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': ours,
      'access-control-expose-headers':
        'retry-after, etag, accept-query, x-request-id, x-snapshot, ratelimit, ratelimit-policy, server-timing, x-attribution, x-upstream-bill, x-graphql-errors, x-graphql-warnings',
      vary: 'Origin, Authorization',
    });
  });

  it.for([
    [
      'Apollo Client 4 with clientAwareness',
      'apollographql-client-name,apollographql-client-version,authorization,content-type',
      'POST',
    ],
    ['OpenTelemetry for browsers', 'authorization,baggage,content-type,traceparent,tracestate', 'POST'],
    ['Sentry for browsers', 'authorization,baggage,content-type,sentry-trace', 'POST'],
    ['urql 6, a short query', 'authorization', 'GET'],
    ['a client that revalidates', 'authorization,if-none-match', 'GET'],
    ['a client that names its requests', 'authorization,content-type,x-request-id', 'POST'],
    ['one that explains', 'apollo-require-preflight,authorization,x-apollo-operation-name,x-explain', 'GET'],
  ] as const)('CORS takes the headers of %s', async ([, headers, method]) => {
    const { url } = await open(word, { CORS_ORIGINS: ours });
    const allowed = await preflight(url, ours, headers, method);
    expect([allowed.status, allowed.headers.get('access-control-allow-headers')]).toEqual([204, headers]);
    expect(allowed.headers.get('access-control-allow-methods')).toContain(method);
  });

  it('CORS lets a listed origin read a refusal', async () => {
    const { url } = await open(word, { CORS_ORIGINS: ours });
    const response = await post(url, '{', { origin: ours });
    expect(response.headers.get('access-control-allow-origin')).toBe(ours);
    expect(response.headers.get('vary')).toBe('Origin, Authorization');
  });

  it('CORS keeps another origin out', async () => {
    const { url } = await open(word, { CORS_ORIGINS: ours });
    const refused = await preflight(url, 'https://evil.example');
    expect(refused.headers.has('access-control-allow-origin')).toBe(false);
  });

  it.for([{}, { CORS_ORIGINS: ours }])('CORS says which setting lets an origin in, with %o', async (env) => {
    const { url, lines } = await open(word, env);
    const page = 'http://localhost:5173';
    const refused = await preflight(url, page);
    expect(refused.status).toBe(403);
    const message = `Pages of ${page} may not ask here: CORS_ORIGINS doesn't list that origin.`;
    expect((await refused.json()).errors).toMatchObject([{ message, extensions: { code: 'BAD_REQUEST' } }]);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([message]);
  });

  it('CORS lets everybody in for *', async () => {
    const { url } = await open(word, { CORS_ORIGINS: '*' });
    const response = await post(url, '{}', { origin: ours });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('vary')).toContain('Authorization');
  });

  it('CORS is off unless asked for', async () => {
    const { url } = await open(word);
    const response = await post(url, '{}', { origin: ours });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect(response.headers.get('vary')).toBe('Authorization');
  });
});

describe('drain', () => {
  const status = (url: string, agent: Agent) =>
    new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
      get(url, { agent }, (response) => {
        response.resume().on('end', () => resolve([response.statusCode, response.headers.connection]));
      }).on('error', reject);
    });

  it('a drain finishes what is in flight, takes nothing new, then stops the gateway', async () => {
    const { handle, arrived, release } = held();
    const { url, origin, drain, stopped } = await open(handle);
    cleanups.length = 0;
    const kept = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })] as const;
    for (const agent of kept)
      expect(await status(`${origin}/health/ready`, agent)).toEqual([200, 'keep-alive']);

    const inFlight = post(url, '{}');
    await arrived;
    const drained = drain();

    // Asks on connections that are open already.
    expect(await status(`${origin}/health/ready`, kept[0])).toEqual([503, 'close']);
    const [refused] = await once(get(`${url}?query={word}`, { agent: kept[1] }), 'response');
    expect([refused.statusCode, refused.headers.connection]).toEqual([503, 'close']);
    expect(refused.headers['retry-after']).toBe('1');
    expect(await json(refused)).toMatchObject({
      errors: [{ extensions: { code: 'OVERLOADED', retryable: true, retryAfterSeconds: 1 } }],
    });
    // Asks on new ones.
    await expect(fetch(`${origin}/health/ready`)).rejects.toThrow();
    expect(stopped).toEqual([]);

    release();
    const response = await inFlight;
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toEqual({ data: { word: 'late' } });
    expect(await drained).toBe(0);
    expect(stopped).toEqual(['gateway']);
  });

  it('a drain is told at the port for health and metrics until all is over', async () => {
    const { handle, arrived, release } = held();
    const { url, adminUrl, drain } = await open(handle, { ADMIN_PORT: '0' });
    cleanups.length = 0;
    const inFlight = post(url, '{}');
    await arrived;
    const drained = drain();
    await expect.poll(() => fetch(url).catch(() => 'refused')).toBe('refused');
    expect((await fetch(`${adminUrl}/health/ready`)).status).toBe(503);
    expect((await fetch(`${adminUrl}/health/live`)).status).toBe(200);
    expect((await fetch(`${adminUrl}/metrics`)).status).toBe(200);
    release();
    expect((await inFlight).status).toBe(200);
    expect(await drained).toBe(0);
    await expect(fetch(`${adminUrl}/health/live`)).rejects.toThrow();
  });

  it('a drain says that it is not ready before it stops taking requests', async () => {
    const { url, origin, drain, timers } = await open(word, { DRAIN_DELAY_MS: '500' });
    cleanups.length = 0;
    const drained = drain();
    for (const expected of [503, 503]) {
      const ready = await fetch(`${origin}/health/ready`);
      expect([ready.status, ready.headers.get('connection')]).toEqual([expected, 'close']);
      const response = await post(url, '{}');
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    }
    expect(timers.left()).toEqual([500]);
    timers.pass(500);
    expect(await drained).toBe(0);
    await expect(fetch(`${origin}/health/ready`)).rejects.toThrow();
  });

  it('a drain cuts what is not over when its time is, and stops the gateway', async () => {
    const { handle, arrived } = held();
    const { url, drain, stopped, timers } = await open(handle, { DRAIN_TIMEOUT_MS: '20' });
    cleanups.length = 0;
    const inFlight = post(url, '{}').then(
      () => 'answered',
      () => 'cut',
    );
    const { signal } = await arrived;
    const drained = drain();
    await expect.poll(timers.left).toEqual([20]);
    timers.pass(20);
    expect(await drained).toBe(1);
    expect(await inFlight).toBe('cut');
    if (!signal.aborted) await aborted(signal);
    expect(stopped).toEqual(['gateway']);
  });

  it('a drain does not wait for connections that ask nothing', async () => {
    const { url, drain } = await open(word);
    cleanups.length = 0;
    const { hostname, port } = new URL(url);
    const silent = connect(Number(port), hostname);
    const halfway = connect(Number(port), hostname);
    await Promise.all([once(silent, 'connect'), once(halfway, 'connect')]);
    halfway.write('POST /graphql HTTP/1.1\r\nhost:');
    await (await fetch(url)).text();
    const closed = Promise.all([once(silent.resume(), 'close'), once(halfway.resume(), 'close')]);
    silent.on('error', () => {});
    halfway.on('error', () => {});
    await drain();
    await closed;
  });

  it('a drain does not wait for a client that has left', async () => {
    const { handle, arrived } = held();
    const { url, drain } = await open(handle);
    cleanups.length = 0;
    const client = new AbortController();
    const response = fetch(url, { signal: client.signal });
    await arrived;
    const drained = drain();
    client.abort();
    await expect(response).rejects.toThrow();
    await drained;
  });
});

describe('GraphiQL', () => {
  const page = { accept: 'text/html,application/xhtml+xml' };
  const get = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { headers, redirect: 'manual' });

  it.for([
    ['/graphiql', /^\.\/graphiql\/assets\/index-[\w-]+\.js$/],
    ['/graphiql/', /^\.\/assets\/index-[\w-]+\.js$/],
  ] as const)(
    'GraphiQL is a page that lets nothing in from elsewhere, and is asked for anew each time: %s',
    async ([path, script]) => {
      const { origin } = await open(word);
      const response = await get(origin + path, page);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
      const html = await response.text();
      // Of the scripts in the page, its own alone runs.
      const own = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text = '']) => {
        const digest = createHash('sha256').update(text).digest('base64');
        return `'sha256-${digest}'`;
      });
      expect(own).toHaveLength(1);
      expect(policy).toContain(`script-src 'self' ${own[0]};`);
      expect(html).toContain('How have three countries fared since 1990?');
      expect([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)).toEqual(
        expect.arrayContaining([expect.stringMatching(script)]),
      );
      // A proxy may serve all of it below a path of its own.
      expect(html).not.toMatch(/(?:src|href)="(?:https?:|\/)/);
    },
  );

  it('GraphiQL has assets that are compressed beforehand and never asked for again', async () => {
    const { origin } = await open(word);
    const html = await (await get(`${origin}/graphiql`)).text();
    const [, script = ''] = /src="([^"]+)"/.exec(html) ?? [];
    const response = await get(new URL(script, `${origin}/graphiql`).href, { 'accept-encoding': 'br' });
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(response.headers.get('content-type')).toContain('javascript');
    expect((await get(`${origin}/graphiql/assets/nothing.js`)).status).toBe(404);
  });

  it('GraphiQL has assets for clients that take no Brotli, too', async () => {
    const { origin } = await open(word);
    const html = await (await get(`${origin}/graphiql`)).text();
    const [, script = ''] = /src="([^"]+)"/.exec(html) ?? [];
    const address = new URL(script, `${origin}/graphiql`).href;
    const whole = await (await get(address, { 'accept-encoding': 'br' })).text();
    for (const [accepted, encoding] of [
      ['gzip, deflate', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', null],
      ['', null],
      ['gzip,'.repeat(100), null],
    ] as const) {
      const reply = await get(address, { 'accept-encoding': accepted });
      const { status, headers } = reply;
      expect([status, headers.get('content-encoding')]).toEqual([200, encoding]);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-type')).toContain('javascript');
      expect(await reply.text()).toBe(whole);
    }
  });

  it.for(['/', '/graphql'])('GraphiQL is where a browser lands that opens %s', async (path) => {
    const { origin } = await open(word);
    const response = await get(origin + path, page);
    expect([response.status, response.headers.get('location')]).toEqual([302, 'graphiql']);
  });

  it('GraphiQL does not come between a browser and an operation', async () => {
    const { origin } = await open(word);
    const response = await get(`${origin}/graphql?query={word}`, page);
    expect([response.status, await response.text()]).toEqual([200, '{"data":{"word":"hi"}}']);
  });

  it('GraphiQL is not there with GRAPHIQL=off', async () => {
    const { origin } = await open(word, { GRAPHIQL: 'off' });
    for (const path of ['/', '/graphiql', '/graphiql/settings.json']) {
      expect((await get(origin + path, page)).status).toBe(404);
    }
    expect((await get(`${origin}/graphql`, page)).status).toBe(200);
  });

  it('GraphiQL names no demo keys where the service is real', async () => {
    const { origin } = await open(word);
    const response = await get(`${origin}/graphiql/settings.json`);
    expect([response.headers.get('cache-control'), await response.json()]).toEqual([
      'no-store',
      {
        attribution: { name: 'Country Data Service', url: null },
        canPublish: false,
        demoKeys: null,
        isTrustedOnly: false,
        isLive: false,
        hasOffline: false,
        publicDocuments: [],
        publicUrl: null,
        sourceNames: {},
      },
    ]);
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}
