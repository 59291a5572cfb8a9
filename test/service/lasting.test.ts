import dns from 'node:dns';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CERTIFICATE, EXPIRED_CERTIFICATE, TEST_KEY, trust } from '../support/certificates.ts';
import { openProgram } from '../support/program.ts';

const QUERY = '{ sources { key } }';

/** Listens on a free port, until the test is over; counts its connections. */
async function listening(server: Server) {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})));
  server.on('tlsClientError', () => {});
  await new Promise<void>((opened) => server.listen(0, '127.0.0.1', opened));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.length };
}

const http = (listener: RequestListener) => listening(createHttpServer(listener));
const saying = (status: number, headers = {}) =>
  http((_, response) => response.writeHead(status, headers).end());
const tunnelling = (status: number) =>
  listening(createHttpServer().on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)));
const secured = (cert: string) => listening(createTlsServer({ key: TEST_KEY, cert }, () => {}));
const talking = (words: string) =>
  listening(
    createServer((socket) => {
      socket.once('data', () => socket.end(words));
    }),
  );

function lookingUp(code: string): void {
  const { lookup: find } = dns;
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((host: string, options: never, found: never) => {
    if (host !== 'data.service.example') return find(host, options, found);
    (found as (error: Error) => void)(Object.assign(new Error(`getaddrinfo ${code}`), { code }));
  }) as never);
  onTestFinished(() => lookup.mockRestore());
}

type Way = Awaited<ReturnType<typeof listening>>;

const open = (address: string, env: Record<string, string> = {}) =>
  openProgram({ upstreamUrl: address, env: { COUNTRY_DATA_URL: address, UPSTREAM_RETRIES: '2', ...env } });

/** What the same call meets again, with the words that say so. */
const LASTING: Record<string, { way: () => Promise<Way>; address?: string; env?: string; words: RegExp }> = {
  'a certificate that has expired': {
    way: () => secured(EXPIRED_CERTIFICATE),
    address: 'https://127.0.0.1',
    words: /certificate is not accepted: .*NODE_EXTRA_CA_CERTS.* \(\w+\)\.$/,
  },
  'a certificate for another host': {
    way: () => secured(CERTIFICATE),
    address: 'https://localhost',
    words: /certificate is not accepted: .* \(ERR_TLS_CERT_ALTNAME_INVALID\)\.$/,
  },
  'https where http is spoken': {
    way: () => saying(200),
    address: 'https://127.0.0.1',
    words: /No encrypted connection can be agreed on: check COUNTRY_DATA_URL/,
  },
  'another protocol': { way: () => talking('SSH-2.0-OpenSSH_9.2\r\n'), words: /does not speak HTTP/ },
  'headers beyond all measure': {
    way: () => saying(200, { 'x-long': 'x'.repeat(40_000) }),
    words: /longer headers than are read/,
  },
  'a proxy that wants a password': {
    way: () => saying(407),
    address: 'http://data.service.example',
    env: 'HTTP_PROXY',
    words: /proxy refuses the way to it \(status 407\): check HTTPS_PROXY or HTTP_PROXY/,
  },
  'a proxy that refuses a tunnel': {
    way: () => tunnelling(403),
    address: 'https://data.service.example',
    env: 'HTTPS_PROXY',
    words: /proxy refuses the way to it \(status 403\)/,
  },
  'a method that is not implemented': { way: () => saying(501), words: /status 501, .*COUNTRY_DATA_URL/ },
  'a version of HTTP that is not supported': { way: () => saying(505), words: /status 505/ },
  'a loop': { way: () => saying(508), words: /status 508/ },
  'a network that wants a login': { way: () => saying(511), words: /status 511/ },
};

/** What may be over by the next attempt. */
const PASSING: Record<string, { way: () => Promise<Way>; address?: string; env?: string }> = {
  'a failure of the service': { way: () => saying(500) },
  'a gateway without its service': { way: () => saying(502) },
  'a service under repair': { way: () => saying(503) },
  'a connection that breaks': { way: () => http(({ socket }) => socket.resetAndDestroy()) },
  'an answer that breaks off': {
    way: () => talking('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n['),
  },
  'a tunnel that leads nowhere': {
    way: () => tunnelling(502),
    address: 'https://data.service.example',
    env: 'HTTPS_PROXY',
  },
};

async function openOver({ way, address, env }: (typeof PASSING)[string]) {
  const { port, connections } = await way();
  const near = `http://127.0.0.1:${port}`;
  const program =
    env === undefined
      ? await open(`${address ?? 'http://127.0.0.1'}:${port}`)
      : await open(address ?? near, { [env]: near });
  return { program, connections };
}

describe('what the same call would meet again', () => {
  it.each(Object.entries(LASTING))('%s is met once, and told of', async (_, { words, ...over }) => {
    trust(CERTIFICATE);
    const { program: opened, connections } = await openOver(over);
    await using program = opened;
    const { errors, upstream } = await program.ask(QUERY);
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(words),
        extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: false, attempts: 1 },
      },
    ]);
    expect([connections(), upstream.calls <= 1]).toEqual([1, true]);
  });

  it('a host that nobody knows is looked up once, and told of', async () => {
    lookingUp('ENOTFOUND');
    await using program = await open('http://data.service.example');
    expect((await program.ask(QUERY)).errors).toMatchObject([
      { message: expect.stringMatching(/no such host: check COUNTRY_DATA_URL/), extensions: { attempts: 1 } },
    ]);
    expect(vi.mocked(dns.lookup).mock.calls.filter(([host]) => host === 'data.service.example')).toHaveLength(
      1,
    );
  });

  it('a redirect is met once, and its error says what to set', async () => {
    const { port, connections } = await saying(308, { location: 'https://data.service.example/' });
    await using program = await open(`http://127.0.0.1:${port}`);
    expect((await program.ask(QUERY)).errors).toMatchObject([
      {
        extensions: {
          code: 'UPSTREAM_INVALID_RESPONSE',
          retryable: false,
          detail: expect.stringMatching(/redirect \(status 308\).*COUNTRY_DATA_URL/),
        },
      },
    ]);
    expect(connections()).toBe(1);
  });

  it('calls that are held back after it say the reason, too', async () => {
    const { port } = await talking('SSH-2.0-OpenSSH_9.2\r\n');
    await using program = await open(`http://127.0.0.1:${port}`);
    for (let failed = 0; failed < 10; failed += 1) await program.ask(QUERY);
    expect((await program.ask(QUERY)).errors).toMatchObject([
      {
        message: expect.stringMatching(/nothing was sent\. .*does not speak HTTP/),
        extensions: { attempts: 0, retryable: false },
      },
    ]);
  });
});

describe('what may be over by the next attempt', () => {
  it.each(Object.entries(PASSING))('%s is met again by each attempt', async (_, over) => {
    const { program: opened, connections } = await openOver(over);
    await using program = opened;
    expect((await program.ask(QUERY)).errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 3 } },
    ]);
    expect(connections()).toBeGreaterThanOrEqual(1);
  });

  it('a lookup that fails for the moment is made again by each attempt', async () => {
    lookingUp('EAI_AGAIN');
    await using program = await open('http://data.service.example');
    expect((await program.ask(QUERY)).errors).toMatchObject([
      { extensions: { retryable: true, attempts: 3 } },
    ]);
  });
});
