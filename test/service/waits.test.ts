import dns from 'node:dns';
import { createServer as createProxy, type IncomingMessage } from 'node:http';
import { createServer as createTlsProxy } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { CERTIFICATE, TEST_KEY, trust } from '../support/certificates.ts';
import { openProgram } from '../support/program.ts';

trust(CERTIFICATE);

const SECURE = { key: TEST_KEY, cert: CERTIFICATE };

/** Hangs what it is asked for first, for good; lets everything after it through. */
function createHang(isUsed: boolean) {
  const { promise: met, resolve: meet } = Promise.withResolvers<void>();
  let isLeft = isUsed;
  return {
    met,
    isHanging(): boolean {
      const hangs = isLeft;
      isLeft = false;
      if (hangs) meet();
      return hangs;
    },
  };
}

const HANGS = ['tunnel', 'proxy', 'service', 'answer', 'rest', 'address'] as const;
type Hang = (typeof HANGS)[number];

const HOST = 'data.service.example';

type Lookup = [
  host: string,
  options: object,
  found: (error: null, addresses: readonly { readonly address: string; readonly family: 4 }[]) => void,
];

/** The program, a proxy, and the service by https; one of the waits on the way hangs once. */
async function openWay(hang: Hang, way: 'direct' | 'tunnel' | 'secure proxy') {
  const hangs = Object.fromEntries(HANGS.map((name) => [name, createHang(name === hang)])) as Record<
    Hang,
    ReturnType<typeof createHang>
  >;
  const open: Server[] = [];
  const sockets = new Set<Duplex>();
  async function portOf(server: Server): Promise<number> {
    open.push(server);
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return (server.address() as AddressInfo).port;
  }
  const lead = (near: Duplex, port: number) => {
    const far = connect(port, '127.0.0.1').on('error', () => {});
    sockets.add(near.on('error', () => {})).add(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  };
  /** Accepts connections; the first hangs if it is told to. */
  const before = (port: number, name: Hang) =>
    portOf(createServer((near) => hangs[name].isHanging() || lead(near, port)));

  const sandbox = await openProgram();
  const plain = Number(new URL(sandbox.service.url).port);
  const answers = await portOf(
    createServer((near) => {
      if (hangs.answer.isHanging()) return;
      if (!hangs.rest.isHanging()) return lead(near, plain);
      near.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
    }),
  );
  const secure = await portOf(createTlsServer(SECURE, (near) => lead(near, answers)));
  const service = await before(secure, 'service');

  const onConnect = (_: IncomingMessage, near: Duplex) => {
    if (hangs.tunnel.isHanging()) return;
    near.write('HTTP/1.1 200 OK\r\n\r\n');
    lead(near, service);
  };
  const proxy = await portOf(createProxy().on('connect', onConnect));
  const tlsProxy = await before(await portOf(createTlsProxy(SECURE).on('connect', onConnect)), 'proxy');

  const { lookup: find } = dns;
  const lookups: unknown[] = [];
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((...[host, options, found]: Lookup) => {
    // This machine looks up its own addresses, too.
    if (host !== HOST) return find(host, options as never, found as never);
    // Node's own lookup also keeps what waits for it from being collected.
    lookups.push(found);
    if (!hangs.address.isHanging()) found(null, [{ address: '127.0.0.1', family: 4 }]);
  }) as never);
  const port = way === 'direct' ? service : 443;
  const address = `https://${HOST}:${port}`;
  const https = way === 'tunnel' ? `http://127.0.0.1:${proxy}` : `https://127.0.0.1:${tlsProxy}`;
  const program = await openProgram({
    upstreamUrl: address,
    env: {
      COUNTRY_DATA_URL: address,
      UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
      ...(way === 'direct' ? {} : { HTTPS_PROXY: https }),
    },
  });
  return {
    ask: (query: string) => program.ask(query, { key: sandbox.sandbox.keys.team }),
    met: hangs[hang].met,
    timers: program.timers,
    requests: sandbox.requests,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      lookup.mockRestore();
      for (const socket of sockets) socket.destroy();
      await Promise.all(open.map((server) => new Promise((closed) => server.close(closed))));
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

/** Longer than a busy machine takes for another call. */
const TIMEOUT_MS = 20_000;

describe('what calls wait for together', () => {
  it.each([
    ['the tunnel of a proxy', 'tunnel', 'tunnel'],
    ['the handshake with a proxy', 'proxy', 'secure proxy'],
    ['the handshake within a tunnel', 'service', 'tunnel'],
    ['the handshake with the service', 'service', 'direct'],
    ['the address of the service', 'address', 'direct'],
    ['an answer', 'answer', 'direct'],
    ['an answer through a tunnel', 'answer', 'tunnel'],
    ['the rest of an answer', 'rest', 'direct'],
  ] as const)(
    '%s hangs once: its own call fails in time, and no other waits for it',
    async (_, hang, way) => {
      await using program = await openWay(hang, way);
      const hung = program.ask('{ sources { key } }');
      await program.met;
      const besides = await program.ask('{ countries { code } }');
      expect([besides.errors, besides.upstream.calls]).toEqual([[], 1]);
      program.timers.pass(TIMEOUT_MS);
      const { errors } = await hung;
      expect(errors.map(({ extensions }) => [extensions.code, extensions.attempts])).toEqual([
        ['UPSTREAM_TIMEOUT', 1],
      ]);
      const again = await program.ask('{ sources { key } }');
      expect([again.errors, again.upstream.calls]).toEqual([[], 1]);
      expect(program.requests()).toEqual(['GET /v1/countries', 'GET /v1/platform/etl-status']);
    },
  );
});
