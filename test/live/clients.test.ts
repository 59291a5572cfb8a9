import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  begin,
  CHANGED,
  type Live,
  LOOK,
  open,
  openLive,
  POPULATION,
  subscriptionsOf,
  TRANSPORTS,
} from './live.ts';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function stream(program: Live, method: string, headers: Record<string, string>) {
  const response = await fetch(`${program.url}/stream`, { method, headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Status that a WebSocket is refused with, and the header that names a scheme of keys. */
async function refusalOf(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  socket.terminate();
  return [response.statusCode, response.headers['www-authenticate']];
}

it('no coding is named on a stream of events that has none', async () => {
  await using program = await openLive();
  const asked = `${program.url}/stream?${new URLSearchParams({ query: 'subscription { sourceRefreshed { key } }' })}`;
  const headers = { accept: 'text/event-stream', ...bearer(program.sandbox.keys.team) };
  const leaving = new AbortController();
  const response = await fetch(asked, { headers, signal: leaving.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  expect(response.headers.get('content-encoding')).toBe(null);
  expect(response.headers.get('cache-control')).toBe('no-cache');
  leaving.abort();
});

describe.each(TRANSPORTS)('a client over %s', (transport) => {
  it('a subscriber that leaves is no longer looked for', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    await begin(program, () => client.subscribe({ query: CHANGED, variables: POPULATION }));
    client.dispose();
    await expect.poll(() => subscriptionsOf(program)).toBe(0);
    program.requests();
    program.sandbox.refresh('world_bank_wdi');
    program.pass(600);
    await new Promise((resolve) => setImmediate(resolve));
    expect(program.requests()).toEqual([]);
    // Begins anew for a client that comes again.
    const next = open(program, transport);
    await begin(program, () => next.subscribe({ query: CHANGED, variables: POPULATION }));
    expect(program.requests()).toContain(LOOK);
  });

  it('a subscriber is told when the service refuses its key, which ends the subscription', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    const [told] = await begin(program, () => client.subscribe({ query: CHANGED, variables: POPULATION }));
    program.sandbox.faults.set({ kind: 'status', status: 401 });
    program.pass(60);
    await expect.poll(() => told?.isOver).toBe(true);
    expect(told?.results).toMatchObject([
      { data: null, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
    expect(await subscriptionsOf(program)).toBe(0);
  });

  it('a subscriber shares looks with nobody of another key', async () => {
    await using program = await openLive();
    await begin(
      program,
      () => open(program, transport).subscribe({ query: CHANGED, variables: POPULATION }),
      () =>
        open(program, transport, { key: 'demo-analyst' }).subscribe({
          query: CHANGED,
          variables: POPULATION,
        }),
    );
    const lookers = program.sandbox.log.filter(({ path }) => LOOK.endsWith(path)).map(({ key }) => key);
    expect(lookers.sort()).toEqual(['analyst', 'team']);
  });
});

describe("a client that asks by Apollo's multipart protocol", () => {
  it("a client that asks by Apollo's multipart protocol is told by what to subscribe instead, at no call", async () => {
    await using program = await openLive();
    program.requests();
    const accept = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json';
    const headers = { ...bearer('demo-team'), 'content-type': 'application/json', accept };
    const body = JSON.stringify({ query: CHANGED, variables: POPULATION });
    const response = await fetch(program.url, { method: 'POST', headers, body });
    const { errors } = (await response.json()) as { errors: { message: string; extensions: object }[] };
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST', retryable: false } }]);
    expect(errors[0]?.message).toMatch(/graphql-sse.*graphql-transport-ws/);
    expect(program.requests()).toEqual([]);
  });
});

describe('a stream for several subscriptions', () => {
  it('a stream for several subscriptions is for the key alone that has reserved it', async () => {
    await using program = await openLive();
    const { status, text: token } = await stream(program, 'PUT', bearer('demo-team'));
    expect(status).toBe(201);
    const reading = { accept: 'text/event-stream', 'x-graphql-event-stream-token': token };
    expect((await stream(program, 'GET', { ...reading, ...bearer('demo-analyst') })).status).toBe(404);
    expect((await stream(program, 'GET', reading)).status).toBe(401);
    const stray = { ...reading, 'x-graphql-event-stream-token': 'constructor', ...bearer('demo-team') };
    expect((await stream(program, 'GET', stray)).status).toBe(404);
  });

  it('a stream for several subscriptions is there for others however many one key has made reserve, or all keys that may be made up', async () => {
    await using program = await openLive();
    await program.ask('{ sources { key } }');
    const reserve = async (key: string) => (await stream(program, 'PUT', bearer(key))).status;
    const many = async (count: number, keyOf: (i: number) => string) => {
      const statuses = await Promise.all(Array.from({ length: count }, (_, i) => reserve(keyOf(i))));
      return statuses.filter((status) => status === 201).length;
    };
    expect(await many(1_000, () => 'made-up')).toBe(8);
    const refused = await fetch(`${program.url}/stream`, { method: 'PUT', headers: bearer('made-up') });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await refused.json()).errors).toMatchObject([
      { extensions: { code: 'OVERLOADED', retryable: true, retryAfterSeconds: 2 } },
    ]);
    expect(await many(1_000, (i) => `made-up-${i}`)).toBe(1_000);
    // Reads as anybody else whose key the service has not seen yet, and who comes to read at once.
    const { status, text: token } = await stream(program, 'PUT', bearer('demo-analyst'));
    expect(status).toBe(201);
    const reading = { accept: 'text/event-stream', 'x-graphql-event-stream-token': token };
    const leave = new AbortController();
    const read = await fetch(`${program.url}/stream`, {
      headers: { ...reading, ...bearer('demo-analyst') },
      signal: leave.signal,
    });
    expect(read.status).toBe(200);
    leave.abort();
    expect(await many(150, () => 'demo-team')).toBe(100);
    expect(await reserve('made-up-again')).toBe(201);
    expect(program.problems).toEqual([]);
  });

  it.each<[number, string, Record<string, string>]>([
    [401, 'PUT', {}],
    [401, 'GET', { accept: 'text/event-stream' }],
    [404, 'GET', { 'x-graphql-event-stream-token': 'none', ...bearer('demo-team') }],
    [406, 'GET', bearer('demo-team')],
  ])(
    'a stream for several subscriptions is refused with %i as all else is: named, not to be kept, at no call',
    async (status, method, given) => {
      await using program = await openLive();
      const refused = await stream(program, method, { ...given, 'x-request-id': 'mine' });
      expect([refused.status, refused.headers.get('cache-control')]).toEqual([status, 'no-store']);
      expect(refused.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
      expect(JSON.parse(refused.text).errors).toMatchObject([{ extensions: { requestId: 'mine' } }]);
      expect(program.requests()).toEqual([]);
    },
  );

  it('a stream for several subscriptions is told of to those that take no events', async () => {
    await using program = await openLive();
    const { status, text } = await stream(program, 'GET', {
      accept: 'application/json',
      ...bearer('demo-team'),
    });
    expect(status).toBe(406);
    expect(JSON.parse(text).errors).toMatchObject([
      { extensions: { code: 'BAD_REQUEST', retryable: false } },
    ]);
  });
});

describe('a WebSocket', () => {
  it('a WebSocket is made at /graphql alone, and with a key that may be one', async () => {
    await using program = await openLive();
    expect(await refusalOf(program.url.replace('/graphql', '/metrics'))).toEqual([404, undefined]);
    expect(await refusalOf(program.url, { authorization: 'Bearer two words' })).toEqual([401, 'Bearer']);
  });

  it.each(['//', 'http://[', '//graphql:port/graphql', '*'])(
    'a WebSocket is refused where %s is no address, and the program goes on',
    async (address) => {
      await using program = await openLive();
      const { hostname, port } = new URL(program.url);
      const raw = connectTcp(Number(port), hostname);
      raw.write(
        `GET ${address} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      const [head] = await once(raw, 'data');
      expect(String(head)).toMatch(/^HTTP\/1\.1 40[04] /);
      expect((await program.ask('{ sources { key } }')).upstream.calls).toBe(1);
      expect(program.problems).toEqual([]);
    },
  );

  it('a WebSocket that gives two subscriptions one name is told so, however long the name', async () => {
    await using program = await openLive();
    const headers = bearer('demo-team');
    const socket = new WebSocket(program.url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    const subscribe = { id: '😀'.repeat(100), type: 'subscribe', payload: { query: '{ __typename }' } };
    for (let i = 0; i < 2; i += 1) socket.send(JSON.stringify(subscribe));
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).toEqual([4409, expect.stringMatching(/^Subscriber for 😀+$/u)]);
    expect(program.problems).toEqual([]);
    expect(program.requests()).toEqual([]);
  });

  it('a WebSocket that speaks nonsense is closed, and nobody else notices', async () => {
    await using program = await openLive();
    const socket = new WebSocket(program.url.replace('http', 'ws'), 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send('{');
    const [code] = await once(socket, 'close');
    expect(code).toBe(4400);
    const { hostname, port } = new URL(program.url);
    const raw = connectTcp(Number(port), hostname);
    raw.write(
      'GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
    );
    await once(raw, 'data');
    // A frame that no client may send: it isn't masked.
    raw.write(Buffer.from([0x81, 0x01, 0x61]));
    await once(raw, 'close');
    expect(program.problems).toEqual([]);
    expect((await program.ask('{ sources { key } }')).errors).toEqual([]);
  });
});
