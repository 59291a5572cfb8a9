import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { outgoingProxyIn, readConfig } from '../../src/config/config.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';

const START = Date.parse('2026-03-10T12:00:30Z');
const QUERY =
  '{ country(code: "KE") { observation(metricKey: "population_total") { value freshness { reason } } } }';
const NOWHERE = 'http://data.service.example';

/** A proxy that leads all that it is asked for to one port, or does as it is told. */
async function openProxy() {
  const told = { port: 0, status: 200, isSilent: false };
  const requests: string[] = [];
  const sockets = new Set<Duplex>();
  /** First bytes that came through each tunnel. */
  const tunnelled: Buffer[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    if (told.isSilent) return;
    if (told.status !== 200) {
      response.writeHead(told.status, { 'content-type': 'text/html' }).end('<h1>No way</h1>');
      return;
    }
    const { pathname, search } = new URL(request.url ?? '');
    const options = { host: '127.0.0.1', port: told.port, path: pathname + search, headers: request.headers };
    send(options, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on('connect', (request: IncomingMessage, near: Duplex) => {
    requests.push(`CONNECT ${request.url}`);
    headers.push(request.headers);
    near.on('error', () => {});
    if (told.status !== 200) {
      near.end(`HTTP/1.1 ${told.status} No\r\n\r\n`);
      return;
    }
    near.write('HTTP/1.1 200 OK\r\n\r\n');
    near.once('data', (bytes: Buffer) => {
      tunnelled.push(bytes);
      near.destroy();
    });
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    told,
    requests,
    tunnelled,
    headers,
    connections: () => sockets.size,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The program over a service at an address that leads nowhere, and a proxy that knows the way. */
async function open(env: Record<string, string> = {}, address = NOWHERE) {
  const proxy = await openProxy();
  const { clock, pass } = movingClock(START);
  const program = await openProgram({
    clock,
    sandbox: { now: clock.now },
    upstreamUrl: address,
    env: {
      COUNTRY_DATA_URL: address,
      HTTP_PROXY: `http://user:pass%20word@127.0.0.1:${proxy.port}`,
      CACHE_URL: 'memory:',
      CACHE_TTL_SECONDS: '1',
      CACHE_RENEWAL: 'off',
      UPSTREAM_RETRIES: '0',
      UPSTREAM_TIMEOUT_MS: '1000',
      ...env,
    },
  });
  proxy.told.port = Number(new URL(program.service.url).port);
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    proxy,
    pass,
    async [Symbol.asyncDispose]() {
      await close();
      await proxy[Symbol.asyncDispose]();
    },
  });
}

const codesOf = ({ errors }: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['ask']>>) =>
  errors.map(({ extensions }) => extensions.code);

describe('a proxy on the way to the service', () => {
  it('a proxy on the way to the service is asked, over connections that are kept', async () => {
    await using program = await open();
    const first = await program.ask(QUERY);
    expect([codesOf(first), first.upstream.calls]).toEqual([[], 1]);
    program.pass(60);
    expect((await program.ask(QUERY)).upstream.calls).toBe(1);
    expect(program.requests()).toHaveLength(2);
    expect(program.proxy.requests).toEqual(
      Array(2).fill(`GET ${NOWHERE}/v1/data?country_codes=KE&latest=true&metric_keys=population_total`),
    );
    expect(program.proxy.connections()).toBe(1);
    const [{ host, ...sent } = {}] = program.proxy.headers;
    expect([host, sent['proxy-authorization']]).toEqual([
      'data.service.example',
      `Basic ${Buffer.from('user:pass word').toString('base64')}`,
    ]);
  });

  it.each([407, 502, 503, 403])(
    'a proxy on the way to the service that refuses (%d) is an outage, at which what is held answers',
    async (status) => {
      await using program = await open();
      await program.ask(QUERY);
      program.pass(60);
      program.proxy.told.status = status;
      const held = await program.ask(QUERY);
      expect(codesOf(held)).toEqual([]);
      expect(held.data.country.observation.freshness.reason).toBe('UPSTREAM_UNAVAILABLE');
      expect(codesOf(await program.ask(QUERY.replace('KE', 'NG')))).toEqual(['UPSTREAM_UNAVAILABLE']);
    },
  );

  it('a proxy on the way to the service that is silent is waited for no longer than the service', async () => {
    await using program = await open({ UPSTREAM_TIMEOUT_MS: '150' });
    program.proxy.told.isSilent = true;
    expect(codesOf(await program.ask(QUERY))).toEqual(['UPSTREAM_TIMEOUT']);
  });

  it('a proxy on the way to the service is passed by for hosts of NO_PROXY, and for the sandbox of the program', async () => {
    await using sandbox = await openProgram();
    await using program = await open({ NO_PROXY: 'other.example, 127.0.0.1' }, sandbox.service.url);
    expect(codesOf(await program.ask(QUERY, { key: sandbox.sandbox.keys.team }))).toEqual([]);
    expect(program.proxy.requests).toEqual([]);
    expect(outgoingProxyIn(readConfig({ HTTP_PROXY: 'http://127.0.0.1:1' }))).toBeNull();
  });

  it.each([
    [200, 'UPSTREAM_UNAVAILABLE'],
    [407, 'UPSTREAM_UNAVAILABLE'],
    [502, 'UPSTREAM_UNAVAILABLE'],
  ])(
    'a proxy on the way to the service sees no key on the way to an address of https: its answer to CONNECT is %d',
    async (status, code) => {
      await using program = await open({}, 'https://data.service.example');
      program.proxy.told.status = status;
      expect(codesOf(await program.ask(QUERY))).toEqual([code]);
      expect(program.proxy.requests).toEqual(['CONNECT data.service.example:443']);
      expect(JSON.stringify(program.proxy.headers)).not.toContain(program.sandbox.keys.team);
      // All that comes through the tunnel is a handshake of TLS, which begins with this byte.
      expect(program.proxy.tunnelled.map(([first]) => first)).toEqual(status === 200 ? [0x16] : []);
    },
  );
});

describe('the settings of proxies', () => {
  const proxyOf = (env: Record<string, string>) =>
    outgoingProxyIn(readConfig({ COUNTRY_DATA_URL: 'https://data.example', ...env }));

  it.each([
    [{}, null],
    [{ NO_PROXY: '*' }, null],
    [{ HTTP_PROXY: '' }, null],
    [
      { HTTPS_PROXY: 'proxy.example:3128' },
      { httpProxy: '', httpsProxy: 'http://proxy.example:3128', noProxy: '' },
    ],
    [
      { HTTP_PROXY: 'http://a.example', http_proxy: 'https://b.example', no_proxy: 'c.example' },
      { httpProxy: 'https://b.example', httpsProxy: '', noProxy: 'c.example' },
    ],
  ])('the settings of proxies are read: %j', (env, expected) => {
    expect(proxyOf(env)).toEqual(expected);
  });

  it('the settings of proxies are faults at start if they name none, and are not repeated', () => {
    expect(() => proxyOf({ HTTPS_PROXY: 'socks5://me:secret@proxy.example' })).toThrow(
      /HTTPS_PROXY: must be the http:\/\/ or https:\/\/ address of a proxy \(got an address\)$/,
    );
  });
});
