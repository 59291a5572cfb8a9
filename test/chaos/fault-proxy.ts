import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Gives numbers from 0 up to 1. */
export type Dice = () => number;

/** Harm that the proxy does to one request. */
interface Fault {
  readonly name: string;
  /** Weight of it in a draw, beside the others. */
  readonly weight: number;
  readonly act: (exchange: Exchange) => void | Promise<void>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The service's own answer. */
  readonly forward: () => Promise<Answer>;
  readonly dice: Dice;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const HTML = '<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>';

const FAULTS: readonly Fault[] = [
  { name: 'reset before the answer', weight: 3, act: ({ request }) => void request.socket.destroy() },
  {
    name: 'reset within the body',
    weight: 3,
    async act({ request, response, forward }) {
      const { status, headers, body } = await forward();
      response.writeHead(status, { ...headers, 'content-length': body.length });
      response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
    },
  },
  {
    name: 'body that ends early',
    weight: 2,
    async act({ response, forward }) {
      const { status, headers, body } = await forward();
      response.writeHead(status, headers).end(body.subarray(0, Math.max(1, body.length / 2)));
    },
  },
  {
    name: 'no answer',
    weight: 1,
    async act({ request }) {
      await pause(20_000, undefined, { ref: false });
      request.socket.destroy();
    },
  },
  {
    name: 'slow answer',
    weight: 6,
    async act({ response, forward, dice }) {
      await pause(dice() * 300);
      send(response, await forward());
    },
  },
  { name: '500', weight: 4, act: ({ response }) => plain(response, 500, 'oops') },
  { name: '502 of a proxy', weight: 2, act: ({ response }) => plain(response, 502, HTML) },
  {
    name: '503 with Retry-After',
    weight: 2,
    act: ({ response }) => plain(response, 503, '{"detail":"away"}', { 'retry-after': '1' }),
  },
  { name: '404 of a proxy', weight: 2, act: ({ response }) => plain(response, 404, HTML) },
  { name: '400 of a proxy', weight: 2, act: ({ response }) => plain(response, 400, HTML) },
  {
    name: 'redirect',
    weight: 1,
    act: ({ response }) => plain(response, 302, '', { location: '/elsewhere' }),
  },
  { name: 'empty body', weight: 1, act: ({ response }) => plain(response, 200, '') },
  { name: 'HTML in place of JSON', weight: 1, act: ({ response }) => plain(response, 200, HTML) },
];

export interface FaultProxy {
  readonly url: string;
  /** Faults that happened, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** Share of the requests that meet a fault. */
  rate: number;
  close(): Promise<void>;
}

/**
 * Stands before a service, and harms some of its answers as networks, proxies and services do on bad days.
 */
export async function openFaultProxy(serviceUrl: string, dice: Dice): Promise<FaultProxy> {
  const counts = new Map<string, number>();
  const proxy = { rate: 0 };
  const server = createServer((request, response) => {
    response.on('error', () => {});
    const forward = () => forwarded(serviceUrl, request);
    const fault = dice() < proxy.rate ? drawn(dice) : null;
    if (fault !== null) counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    const work =
      fault?.act({ request, response, forward, dice }) ?? forward().then((it) => send(response, it));
    Promise.resolve(work).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${port}`,
    counts,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}

function drawn(dice: Dice): Fault | null {
  let left = dice() * FAULTS.reduce((sum, { weight }) => sum + weight, 0);
  for (const fault of FAULTS) {
    left -= fault.weight;
    if (left < 0) return fault;
  }
  return null;
}

async function forwarded(serviceUrl: string, { url, headers }: IncomingMessage): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  httpRequest(serviceUrl + url, { headers: { ...headers, connection: 'close' } }, resolve)
    .on('error', reject)
    .end();
  const answer = await promise;
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part);
  const kept = Object.entries(answer.headers).filter(([name]) =>
    /^(content-type|etag|cache-control)$/.test(name),
  );
  return {
    status: answer.statusCode ?? 502,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    body: Buffer.concat(parts),
  };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

function plain(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': body.startsWith('<') ? 'text/html' : 'application/json',
    ...headers,
  });
  response.end(body);
}
