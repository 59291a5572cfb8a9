import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { createGateway, type GatewayRequest, type OperationEvent } from '../../src/server/library.ts';
import { ACCEPTS, askInParts, type Json } from '../defer/parts.ts';

const PROFILE = '/v1/countries/{code}/profile';
const DATA = '/v1/data';
const CARD =
  '{ country(code: "KE") { name ... @defer(label: "profile") { profile { indicators { name } } } } }';
const FIGURES =
  '{ countries(codes: ["KE", "NG"]) { name observations(metricKeys: ["life_expectancy"]) { year value } } }';
/** A table of some megabytes. */
const SERIES = `{ countries { name observations(metricKeys: ["life_expectancy", "population_total", "gdp_current_usd"]) {
  id indicator { key name } year value unit source { key } datasetVersion retrievedAt
} } }`;

/** A gateway of the package over a sandbox, and its messages. */
async function openLibrary(settings: Readonly<Record<string, string>> = {}) {
  const sandbox = createSandbox();
  const { url } = await sandbox.listen();
  const problems: unknown[] = [];
  const operations: OperationEvent[] = [];
  const gateway = await createGateway({
    settings: { COUNTRY_DATA_URL: url, CACHE_URL: 'none', ...settings },
    onOperation: (event) => void operations.push(event),
    onProblem: (error) => void problems.push(error),
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  return {
    sandbox,
    gateway,
    problems,
    operations,
    unhandled,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      process.off('unhandledRejection', note);
      await sandbox.close();
    },
  };
}

/** A host with hooks of its own, one of which compresses plain answers. */
async function openHost() {
  const library = await openLibrary();
  const app = fastify();
  const answered: string[] = [];
  const streams: Readable[] = [];
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-host', 'received');
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.header('x-sent', 'by the host');
    if (payload instanceof Readable) streams.push(payload);
    const isBare = payload instanceof Readable || Buffer.isBuffer(payload);
    if (!isBare || reply.hasHeader('content-encoding')) return payload;
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return pipeline(payload instanceof Readable ? payload : [payload], createGzip(), () => {});
  });
  app.addHook('onResponse', async ({ url }, { statusCode }) => void answered.push(`${url} ${statusCode}`));
  await app.register(library.gateway.plugin, { prefix: '/data' });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    ...library,
    url: `${origin}/data/graphql`,
    answered,
    streams,
    async [Symbol.asyncDispose]() {
      await app.close();
      await library[Symbol.asyncDispose]();
    },
  };
}

type Host = Awaited<ReturnType<typeof openHost>>;

const headersFor = ({ sandbox }: Pick<Host, 'sandbox'>, accept: string) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${sandbox.keys.team}`,
  accept,
});

/** The first bytes of an answer, of a client that leaves then. */
async function leave(host: Pick<Host, 'url' | 'sandbox'>, query: string, accept: string): Promise<string> {
  const outgoing = request(host.url, { method: 'POST', headers: headersFor(host, accept) });
  outgoing.end(JSON.stringify({ query }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const [chunk] = await once(response, 'data');
  response.on('error', () => {});
  outgoing.destroy();
  return String(chunk);
}

const abortedRoutes = ({ log }: Host['sandbox']) =>
  [...log].filter(({ aborted }) => aborted).map(({ route }) => route);

describe("a host's own Fastify", () => {
  it("a host's own Fastify hands on parts as they come, past hooks that would gather them", async () => {
    await using host = await openHost();
    // The service answers the profile once the client has the first part.
    const first = Promise.withResolvers<void>();
    host.sandbox.faults.set({ kind: 'paused', until: first.promise, route: PROFILE });
    const reply = await askInParts(host, CARD, {
      spec: 'draft2022',
      headers: { 'accept-encoding': 'gzip' },
      onPart: () => first.resolve(),
    });
    expect(reply.ended).toBe('whole');
    expect(reply.whole.data.country).toMatchObject({
      name: 'Kenya',
      profile: { indicators: expect.any(Array) },
    });
    expect(reply.headers).toMatchObject({ 'x-host': 'received', 'x-request-id': expect.any(String) });
    expect(reply.headers).not.toHaveProperty('content-encoding');
    // Its headers have left by the time that the host's last hook would run.
    expect(reply.headers).not.toHaveProperty('x-sent');
    await expect.poll(() => host.answered).toEqual(['/data/graphql 200']);
    expect([host.problems, host.unhandled]).toEqual([[], []]);
  });

  it.for(['identity', 'gzip', 'br'])(
    "a host's own Fastify sends tables by its hooks, compressed once: %s",
    async (encoding) => {
      await using host = await openHost();
      const ask = async (accept: string) =>
        fetch(host.url, {
          method: 'POST',
          headers: { ...headersFor(host, accept), 'accept-encoding': encoding },
          body: JSON.stringify({ query: FIGURES }),
        });
      const { data } = (await (await ask('application/json')).json()) as Json;
      const rows = data.countries.flatMap((country: Json) => country.observations);
      const reply = await ask('text/csv');
      const lines = (await reply.text()).trimEnd().split('\r\n');
      expect(lines).toHaveLength(rows.length + 1);
      expect(reply.headers.get('content-type')).toMatch(/^text\/csv/);
      expect(reply.headers.get('x-sent')).toBe('by the host');
      // Compresses in the host those answers alone that the gateway left plain.
      expect(reply.headers.get('content-encoding')).toBe(encoding === 'identity' ? 'gzip' : encoding);
      expect([host.problems, host.unhandled]).toEqual([[], []]);
    },
  );

  it("a host's own Fastify ends an operation whose client leaves between two parts", async () => {
    await using host = await openHost();
    const { sandbox } = host;
    sandbox.faults.set({ kind: 'hang', route: PROFILE });
    expect(await leave(host, CARD, ACCEPTS.v02)).toContain('"Kenya"');
    await expect.poll(() => host.operations).toHaveLength(1);
    await expect.poll(() => abortedRoutes(sandbox)).toEqual([PROFILE]);
    expect([host.problems, host.unhandled]).toEqual([[], []]);
  });

  it("a host's own Fastify ends a table whose client leaves in the middle of it", async () => {
    await using host = await openHost();
    expect(await leave(host, SERIES, 'text/csv')).not.toBe('');
    await expect.poll(() => host.streams.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(host.streams.map(({ readableEnded }) => readableEnded)).toEqual([false]);
    expect(host.operations).toHaveLength(1);
    expect([host.problems, host.unhandled]).toEqual([[], []]);
  });
});

/** Bare `handle` behind a server that knows nothing of the gateway. */
async function openBare() {
  const library = await openLibrary();
  const server = createServer(async (received, response) => {
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const { status, headers, body } = await library.gateway.handle({
      method: 'POST',
      headers: received.headers as Record<string, string>,
      search: '',
      body: JSON.parse(Buffer.concat(await received.toArray()).toString()),
      signal: leaving.signal,
    });
    response.writeHead(status, Object.fromEntries(headers));
    if (typeof body === 'string' || Buffer.isBuffer(body)) response.end(body);
    else await piped(Readable.from(body), response).catch(() => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    ...library,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await library[Symbol.asyncDispose]();
    },
  };
}

describe('the bare handler', () => {
  it('the bare handler runs an operation without a signal to its end, and names requests in errors', async () => {
    await using library = await openLibrary();
    const { analyst: key } = library.sandbox.keys;
    const ask = async (headers: Record<string, string>, requestId?: string) => {
      const { status, body } = await library.gateway.handle({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        search: '',
        body: { query: '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }' },
        requestId,
      });
      return { status, ...JSON.parse(String(body)) };
    };
    const answered = await ask({ authorization: `Bearer ${key}` });
    expect(answered).toMatchObject({
      status: 200,
      data: { country: { observation: { value: expect.any(Number) } } },
      extensions: { upstream: { calls: 1 } },
    });
    expect(answered.errors).toBeUndefined();
    const idOf = async (...asking: Parameters<typeof ask>) =>
      (await ask(...asking)).errors[0].extensions.requestId;
    expect(await idOf({})).toMatch(/^[\w-]{36}$/);
    expect(await idOf({ 'x-request-id': 'named-by-client' })).toBe('named-by-client');
    expect(await idOf({ 'x-request-id': 'named-by-client' }, 'named-by-host')).toBe('named-by-host');
    expect(library.problems).toEqual([]);
  });

  it('the bare handler gives parts as texts', async () => {
    await using bare = await openBare();
    const first = Promise.withResolvers<void>();
    bare.sandbox.faults.set({ kind: 'paused', until: first.promise, route: PROFILE });
    const reply = await askInParts(bare, CARD, { onPart: () => first.resolve() });
    expect([reply.ended, reply.whole.data.country.name]).toEqual(['whole', 'Kenya']);
    expect([bare.problems, bare.unhandled]).toEqual([[], []]);
  });

  it('the bare handler gives tables as bytes', async () => {
    await using bare = await openBare();
    const reply = await fetch(bare.url, {
      method: 'POST',
      headers: headersFor(bare, 'text/csv'),
      body: JSON.stringify({ query: FIGURES }),
    });
    expect((await reply.text()).split('\r\n')[0]).toBe('name,observations.year,observations.value');
    expect([bare.problems, bare.unhandled]).toEqual([[], []]);
  });

  it('the bare handler ends an operation by its signal, between two parts', async () => {
    await using bare = await openBare();
    bare.sandbox.faults.set({ kind: 'hang', route: PROFILE });
    expect(await leave(bare, CARD, ACCEPTS.v02)).toContain('"Kenya"');
    await expect.poll(() => bare.operations).toHaveLength(1);
    await expect.poll(() => abortedRoutes(bare.sandbox)).toEqual([PROFILE]);
    expect([bare.problems, bare.unhandled]).toEqual([[], []]);
  });

  it('the bare handler counts an operation whose client leaves as such, and as no fault', async () => {
    await using library = await openLibrary();
    library.sandbox.faults.set({ kind: 'hang', route: DATA });
    const leaving = new AbortController();
    const handled = library.gateway.handle({
      method: 'POST',
      headers: headersFor(library, 'application/json'),
      search: '',
      body: { query: FIGURES },
      signal: leaving.signal,
    });
    await expect.poll(() => [...library.sandbox.log].map(({ route }) => route)).toContain(DATA);
    leaving.abort();
    await handled;
    expect(library.operations).toHaveLength(1);
    expect(new Set(library.operations[0]?.errorCodes)).toEqual(new Set(['CLIENT_CLOSED_REQUEST']));
    expect([library.problems, library.unhandled]).toEqual([[], []]);
  });

  it('the bare handler leaves nothing with a signal that outlives its operations', async () => {
    await using library = await openLibrary();
    const { signal } = new AbortController();
    const ask = (query: string) =>
      library.gateway.handle({
        method: 'POST',
        headers: headersFor(library, 'application/json'),
        search: '',
        body: { query },
        signal,
      });
    // The first is read by Apollo Server, which runs it for itself.
    await ask(FIGURES);
    library.sandbox.log.clear();
    const bodies = await Promise.all([ask(FIGURES), ask(FIGURES), ask('{ nothing }')]);
    expect(bodies.map(({ body }) => String(body).includes('"errors"'))).toEqual([false, false, true]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    // Equal ones have shared their calls.
    expect([...library.sandbox.log].map(({ route }) => route).sort()).toEqual(['/v1/countries', DATA].sort());
  });

  it('the bare handler has its bounds follow from MEMORY_MB', async () => {
    const answered = async (memoryMb: string) => {
      await using library = await openLibrary({ MEMORY_MB: memoryMb, MAX_UPSTREAM_CALLS: '100' });
      const { status, body } = await library.gateway.handle({
        method: 'POST',
        headers: headersFor(library, 'application/json'),
        search: '',
        body: { query: SERIES },
        signal: new AbortController().signal,
      });
      return [status, /MAX_ANSWER_BYTES/.test(String(body).slice(0, 1_000))];
    };
    expect(await answered('1024')).toEqual([200, false]);
    expect(await answered('192')).toEqual([200, true]);
    const settings = { COUNTRY_DATA_URL: 'http://127.0.0.1:1', MEMORY_MB: '100' };
    await expect(createGateway({ settings, onProblem() {} })).rejects.toThrow('MEMORY_MB: must be 192 or');
  });

  it.for([
    ['parts', CARD, ACCEPTS.v02],
    ['rows of a table', SERIES, 'text/csv'],
  ] as const)('the bare handler leaves nothing open where %s are never read', async ([, query, accept]) => {
    await using library = await openLibrary();
    const given: GatewayRequest = {
      method: 'POST',
      headers: headersFor(library, accept),
      search: '',
      body: { query },
      signal: new AbortController().signal,
    };
    const { status, body } = await library.gateway.handle(given);
    expect([status, typeof body]).toEqual([200, 'object']);
    await expect.poll(() => library.operations).toHaveLength(1);
    const part = await (body as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.();
    expect(part).toEqual({ value: undefined, done: true });
    expect([library.problems, library.unhandled]).toEqual([[], []]);
  });
});
