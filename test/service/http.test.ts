import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openBill } from '../../src/service/bill.ts';
import type { Call } from '../../src/service/call.ts';
import { createHttp } from '../../src/service/http.ts';
import { payerOf } from '../../src/service/payer.ts';
import type { Sending } from '../../src/service/sending.ts';
import { freePort } from '../support/free-port.ts';
import { heldTimers } from '../support/held-timers.ts';
import { callerOf } from '../support/tenants.ts';
import { stageOver } from './sending.ts';

const CALL: Call = { route: '/v1/data', isPublic: false, target: '/v1/data?country_codes=KE,NG' };
const NOW_MS = 1_795_000_000_000;
const TIMEOUT_MS = 5_000;

/** The innermost ring before a service that does as it is told. */
async function open(respond: RequestListener, { prefix = '' } = {}) {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const timers = heldTimers();
  const http = createHttp({
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    timeoutMs: TIMEOUT_MS,
    clock: { now: () => NOW_MS, after: timers.after },
    bodies: { cachedBytes: 4_000_000, issuesKeys: true },
  });
  return {
    requests,
    timers,
    connections: () => sockets.size,
    send: (call: Call = CALL, further: Partial<Sending> = {}, charge = () => {}) =>
      stageOver(http.transport, charge)(call, {
        caller: callerOf('one', 'Bearer secret'),
        signal: new AbortController().signal,
        bill: openBill(),
        payer: payerOf(openBill()),
        waitDeadlineMs: 0,
        ...further,
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await http.close();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const saying =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

describe('what is sent at once', () => {
  it('what is sent at once goes over a bounded number of connections', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    await using service = await open((request, response) => {
      const respond = () => saying(200, [])(request, response);
      if (isHeld) held.push(respond);
      else respond();
    });
    const all = Promise.all(Array.from({ length: 200 }, () => service.send()));
    await expect.poll(() => held.length).toBe(64);
    isHeld = false;
    for (const respond of held) respond();
    expect(await all).toHaveLength(200);
    expect([service.requests.length, service.connections()]).toEqual([200, 64]);
  });
});

describe('what a service says that is away', () => {
  const at = (ms: number) => new Date(ms).toISOString();
  it.each([
    ['7', { retryAfterSeconds: 7, retryAt: at(NOW_MS + 7_000) }],
    [new Date(NOW_MS + 90_000).toUTCString(), { retryAfterSeconds: 90, retryAt: at(NOW_MS + 90_000) }],
    ['99999999999999999999', { retryAfterSeconds: 3_600, retryAt: at(NOW_MS + 3_600_000) }],
  ])(
    'what a service says that is away is taken from Retry-After, within bounds: %s',
    async (header, fields) => {
      await using service = await open(saying(503, {}, { 'retry-after': header }));
      await expect(service.send()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', fields });
    },
  );

  it.each(['0', '-5', 'soon', new Date(NOW_MS - 90_000).toUTCString()])(
    'what a service says that is away is nothing: %s',
    async (header) => {
      await using service = await open(saying(503, {}, { 'retry-after': header }));
      const failure = await service.send().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expect(failure).not.toHaveProperty('fields.retryAfterSeconds');
    },
  );

  it('what a service says that is away is no more than is read', async () => {
    const faults = Array.from({ length: 100_000 }, () => ({ loc: ['query', 'x'], msg: 'y'.repeat(10) }));
    for (const detail of ['x'.repeat(900_000), faults.slice(0, 10_000)]) {
      await using service = await open(saying(422, { detail }));
      await expect(service.send()).rejects.toMatchObject({
        fields: { detail: expect.toSatisfy((words: string) => words.length <= 20_000) },
      });
    }
    await using service = await open(saying(422, { detail: faults }));
    await expect(service.send()).rejects.toMatchObject({ fields: { detail: undefined } });
  });
});

describe('what is sent', () => {
  it('what is sent is one GET of the target, under the path of the base address', async () => {
    await using service = await open(saying(200, []), { prefix: '/gate/country' });
    await service.send();
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /gate/country/v1/data?country_codes=KE,NG',
    ]);
  });

  it.each([
    {
      whose: 'a protected route with the key',
      isPublic: false,
      authorization: 'Bearer secret',
      sent: 'Bearer secret',
    },
    { whose: 'a public route without it', isPublic: true, authorization: 'Bearer secret', sent: undefined },
    { whose: 'nobody’s call without one', isPublic: false, authorization: null, sent: undefined },
  ])('what is sent asks $whose', async ({ isPublic, authorization, sent }) => {
    await using service = await open(saying(200, []));
    await service.send({ ...CALL, isPublic }, { caller: callerOf('one', authorization) });
    expect(service.requests[0]?.headers.authorization).toBe(sent);
  });

  it('what is sent takes further headers along', async () => {
    await using service = await open(saying(304, ''));
    await service.send({ ...CALL, headers: { 'if-none-match': '"x"' } });
    expect(service.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      'if-none-match': '"x"',
    });
  });

  it('what is sent goes over one connection, call after call, whatever the answers', async () => {
    let status = 200;
    await using service = await open((request, response) => saying(status, {})(request, response));
    for (status of [200, 404, 200, 422, 500, 200]) {
      await service.send().catch(() => {});
      // The connection is free once the loop has turned.
      await new Promise((turned) => setImmediate(turned));
    }
    expect(service.requests).toHaveLength(6);
    expect(service.connections()).toBe(1);
  });
});

describe('what is an answer', () => {
  it('a 200 is an answer: the body parsed, and when it came', async () => {
    await using service = await open(saying(200, { data: [1, 'é'] }, { etag: '"x"' }));
    const answer = await service.send();
    expect(answer).toMatchObject({ status: 200, body: { data: [1, 'é'] }, receivedAt: NOW_MS });
    expect(answer.headers.etag).toBe('"x"');
  });

  it('a 304 is an answer: no body', async () => {
    await using service = await open(saying(304, ''));
    expect(await service.send()).toMatchObject({ status: 304, body: undefined });
  });

  it.each([
    ['its words', { detail: 'country not found: xx' }, { detail: 'country not found: xx' }],
    ['none where it is not worded by the service', '<h1>Not found</h1>', undefined],
  ])('a 404 is an answer: %s', async (_, body, expected) => {
    await using service = await open(saying(404, body));
    expect(await service.send()).toMatchObject({ status: 404, body: expected });
  });

  it.each([
    ['the country', 'country not found: ke', true],
    ['the kind of record', 'trade overview not found: ke', true],
    ['nothing', 'Not Found', false],
    ['the address alone', 'No route /v1/trade/overview/KE', false],
  ])(
    'a 404 is a word on what the service holds if it names what was asked for: %s',
    async (_, detail, isNamed) => {
      await using service = await open(saying(404, { detail }));
      const answer = await service.send({
        route: '/v1/trade/overview/{code}',
        target: '/v1/trade/overview/KE?top_limit=2',
        isPublic: false,
      });
      expect(answer.body).toEqual({ detail });
      expect(answer.stray?.message).toBe(
        isNamed
          ? undefined
          : 'The service answered 404 without naming what was asked for, so it is not known if it has it.',
      );
    },
  );
});

describe('the same bytes again', () => {
  it('the same bytes again are read once for each target, whoever asks; other bytes are read', async () => {
    let body: unknown = [{ id: 'KE' }];
    await using service = await open((request, response) => saying(200, body)(request, response));
    const other = { caller: callerOf('other') };
    const first = await service.send();
    const again = await service.send(CALL, other);
    expect(again.body).toBe(first.body);
    const elsewhere = await service.send({ ...CALL, target: '/v1/data?country_codes=KE' });
    expect(elsewhere.body).not.toBe(first.body);
    body = [{ id: 'NG' }];
    expect((await service.send()).body).toEqual([{ id: 'NG' }]);
    expect(service.requests).toHaveLength(4);
  });

  it('the same bytes again are not taken for what was refused', async () => {
    await using service = await open(saying(200, '{"data": ['));
    for (const _ of [1, 2])
      await expect(service.send()).rejects.toMatchObject({ code: 'UPSTREAM_INVALID_RESPONSE' });
  });
});

describe('a body that nests deeper than any answer', () => {
  const deep = (bytes: number, opening: string) => opening.repeat(bytes / opening.length);
  const NESTED = 'the body is nested more than 500 levels deep';

  it.each([
    ['of lists', deep(1_000_000, '[')],
    ['of objects', deep(1_000_000, '{"a":')],
    ['of many megabytes', deep(16_000_000, '[')],
    ['that is whole', deep(500_000, '[') + deep(500_000, ']')],
    ['after texts with brackets', `{"a":"]]]\\"]]","data":${deep(1_000_000, '[')}`],
    ['behind rows', `[${'{"a":1234567890},'.repeat(24_000)}${deep(1_000_000, '[')}`],
  ])('a body that nests deeper than any answer is refused unread: %s', async (_, body) => {
    await using service = await open(saying(200, body));
    const began = process.threadCpuUsage();
    await expect(service.send()).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID_RESPONSE',
      fields: { detail: NESTED },
    });
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it('a body that nests deeper than any answer is none if the brackets stand in a text', async () => {
    const body = { data: deep(1_000_000, '[') };
    await using service = await open(saying(200, body));
    expect((await service.send()).body).toEqual(body);
  });

  it.each([404, 422, 500])(
    'a body that nests deeper than any answer has no words, with the status %i',
    async (status) => {
      await using service = await open(saying(status, deep(900_000, '[')));
      const outcome = await service.send().catch((error) => error);
      expect(outcome.fields?.detail).toBeUndefined();
    },
  );
});

describe('what is a failure', () => {
  const faults = { detail: [{ loc: ['query', 'limit'], msg: 'too high', type: 'x' }, { msg: 'and more' }] };

  it.each([
    [401, { detail: 'Not authenticated' }, 'UNAUTHENTICATED', 'Not authenticated'],
    [403, { detail: 'Not yours' }, 'FORBIDDEN', 'Not yours'],
    [429, { detail: 'slow down' }, 'RATE_LIMITED', 'slow down'],
    [400, { detail: 'year with a range' }, 'BAD_USER_INPUT', 'year with a range'],
    [422, faults, 'BAD_USER_INPUT', 'query.limit: too high; and more'],
    [400, '<!doctype html>', 'UPSTREAM_UNAVAILABLE', undefined],
    [401, '', 'UPSTREAM_UNAVAILABLE', undefined],
    [403, { detail: null }, 'UPSTREAM_UNAVAILABLE', undefined],
    [429, { error: 'rate limited' }, 'UPSTREAM_UNAVAILABLE', undefined],
    [422, { detail: { odd: true } }, 'BAD_USER_INPUT', undefined],
    [422, { detail: [null, 7] }, 'BAD_USER_INPUT', 'refused; refused'],
    [500, '<h1>Oops</h1>', 'UPSTREAM_UNAVAILABLE', undefined],
    [502, { detail: 'upstream' }, 'UPSTREAM_UNAVAILABLE', 'upstream'],
    [503, 'null', 'UPSTREAM_UNAVAILABLE', undefined],
    [204, '', 'UPSTREAM_INVALID_RESPONSE', 'unexpected status 204'],
    [206, [], 'UPSTREAM_INVALID_RESPONSE', 'unexpected status 206'],
    [418, { detail: 'teapot' }, 'UPSTREAM_INVALID_RESPONSE', 'teapot'],
    [200, '<!doctype html>', 'UPSTREAM_INVALID_RESPONSE', 'the body is not JSON'],
    [200, '', 'UPSTREAM_INVALID_RESPONSE', 'the body is not JSON'],
    [200, '{"data": [', 'UPSTREAM_INVALID_RESPONSE', 'the body is not JSON'],
  ])('a status that is no answer is a failure: %i %j, %s', async (status, body, code, detail) => {
    await using service = await open(saying(status, body));
    await expect(service.send()).rejects.toMatchObject({ code, fields: { route: '/v1/data', detail } });
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect is a failure: %i, the key goes to no other address',
    async (status) => {
      await using elsewhere = await open(saying(200, []));
      await elsewhere.send();
      const location = `http://127.0.0.1:${elsewhere.requests[0]?.socket.localPort}/v1/data`;
      await using service = await open(saying(status, '', { location }));
      await expect(service.send()).rejects.toMatchObject({ code: 'UPSTREAM_INVALID_RESPONSE' });
      expect(elsewhere.requests).toHaveLength(1);
      expect(service.requests).toHaveLength(1);
    },
  );

  it('a connection that breaks before the answer is a failure', async () => {
    await using service = await open(({ socket }) => socket.resetAndDestroy());
    await expect(service.send()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(service.requests).toHaveLength(1);
  });

  it('a body that breaks off is a failure', async () => {
    await using service = await open(({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"data": []', () => socket.destroy());
    });
    await expect(service.send()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  it('an address where nobody listens is a failure', async () => {
    const http = createHttp({
      baseUrl: `http://127.0.0.1:${await freePort()}`,
      timeoutMs: TIMEOUT_MS,
      bodies: { cachedBytes: 4_000_000, issuesKeys: true },
    });
    const sending = {
      caller: callerOf('one', null),
      bill: openBill(),
      payer: payerOf(openBill()),
      waitDeadlineMs: 0,
    };
    await expect(
      stageOver(http.transport)(CALL, { ...sending, signal: new AbortController().signal }),
    ).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await http.close();
  });

  it('no answer in time is a failure', async () => {
    const asked = Promise.withResolvers<void>();
    await using service = await open(() => asked.resolve());
    const sent = service.send();
    await asked.promise;
    service.timers.pass(TIMEOUT_MS - 1);
    expect(service.timers.left().length).toBe(1);
    service.timers.pass(1);
    await expect(sent).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', fields: { route: '/v1/data' } });
  });

  it('headers in time, and a body that goes on and on, are a failure', async () => {
    const dripped = Promise.withResolvers<void>();
    let drops = 0;
    await using service = await open((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => {
        response.write(' ');
        drops += 1;
        if (drops === 3) dripped.resolve();
      }, 2);
      response.on('close', () => clearInterval(drip));
    });
    const sent = service.send();
    await dripped.promise;
    service.timers.pass(TIMEOUT_MS);
    await expect(sent).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  it('a body beyond all measure is a failure, and not read to its end', async () => {
    let sentBytes = 0;
    await using service = await open((_, response) => {
      const chunk = Buffer.alloc(4 * 1024 * 1024, ' ');
      const more = () => {
        sentBytes += chunk.length;
        if (!response.destroyed && sentBytes < 1024 ** 3) response.write(chunk, more);
      };
      response.writeHead(200);
      more();
    });
    await expect(service.send()).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID_RESPONSE',
      fields: { detail: 'the body is too large' },
    });
    expect(sentBytes).toBeLessThan(128 * 1024 ** 2);
  });
});

describe('a caller who leaves', () => {
  it('a caller who leaves takes the request along, and gets no failure of the service', async () => {
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const leaving = new AbortController();
    await using service = await open((_, response) => {
      response.on('close', isClosed);
      leaving.abort(new Error('left'));
    });
    await expect(service.send(CALL, { signal: leaving.signal })).rejects.toThrow('left');
    await closed;
  });

  it('a caller who leaves before the request sends none', async () => {
    await using service = await open(saying(200, []));
    await expect(service.send(CALL, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow(
      'left',
    );
    expect(service.requests).toHaveLength(0);
  });

  it('a caller who leaves before a connection is there has not let the request leave', async () => {
    await using service = await open(saying(200, []));
    const leaving = new AbortController();
    let left = 0;
    const charge = () => {
      left += 1;
    };
    const sent = service.send(CALL, { signal: leaving.signal }, charge);
    leaving.abort(new Error('left'));
    await expect(sent).rejects.toThrow('left');
    await service.send(CALL, {}, charge);
    expect(left).toBe(1);
    expect(service.requests).toHaveLength(1);
  });

  it('a caller who leaves may be why a request is held back when it is about to leave', async () => {
    await using service = await open(saying(200, []));
    const refusal = new Error('nobody pays');
    const charge = () => {
      throw refusal;
    };
    await expect(service.send(CALL, {}, charge)).rejects.toBe(refusal);
    expect(service.requests).toHaveLength(0);
  });
});
