import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { drawn } from '../support/draws.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type ProgramOptions } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

/*
 * Answers of services are read rightly in any bytes and envelope: a number that isn't one, rows that nobody
 * asked for, failures under a 200, encodings, connections that are closed.
 */

interface Sent {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer | object;
}

type Answering = (request: IncomingMessage, url: URL) => Sent | null;

/** The whole program over a service that sends the test's answers; null is left to the test. */
async function open(
  answering: Answering,
  env: Record<string, string> = {},
  options: Pick<ProgramOptions, 'clock'> = {},
) {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const sent = answering(request, new URL(request.url ?? '', 'http://service'));
    if (sent === null) return;
    const { status = 200, headers = {}, body } = sent;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  server.keepAliveTimeout = 60_000;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const upstreamUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = await openProgram({
    ...options,
    upstreamUrl,
    env: { CACHE_URL: 'memory:', UPSTREAM_RETRIES: '0', ...env },
  });
  return {
    requests,
    ask: program.ask,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const row = (country: string, metric: string, more: object = {}) => ({
  ...SENT_ROW,
  country_code: country,
  metric_key: metric,
  location_name: null,
  value: 7,
  ...more,
});

const asked = (url: URL, name: string) => (url.searchParams.get(name) ?? '').split(',').filter(Boolean);

const FIGURES = `{ ke: country(code: "KE") { a: observation(metricKey: "m0") { value } b: observation(metricKey: "m1") { value } }
  ug: country(code: "UG") { a: observation(metricKey: "m0") { value } b: observation(metricKey: "m1") { value } } }`;
const ALL = [row('ke', 'm0'), row('ke', 'm1'), row('ug', 'm0'), row('ug', 'm1')];

describe('half a surrogate pair', () => {
  it.each([
    ['a short body', 0],
    ['a long one', 2_000],
  ])(
    'half a surrogate pair becomes a replacement character, and a whole one stays, in %s',
    async (_, padding) => {
      const spelt = [
        String.raw`\ud800`,
        String.raw`a\uDFFFb\uD83D`,
        String.raw`\ud83d\uDE00 \\ud800 \"\ud800\ud83d\ude00`,
      ];
      const right = ['\uFFFD', 'a\uFFFDb\uFFFD', '\u{1F600} \\ud800 "\uFFFD\u{1F600}'];
      const countries = Array.from({ length: padding }, (_, i) => `{"id":"za","name":"${i}","note":"${i}"}`);
      const named = spelt.map(
        (name, i) => `{"id":"${['ke', 'ug', 'tz'][i]}","name":"${name}","a":{"${name}":"${name}"}}`,
      );
      await using service = await open(() => ({ body: `{"data": [${[...named, ...countries].join(',')}]}` }));
      const { data, upstream } = await service.ask(
        '{ countries(codes: ["KE", "UG", "TZ"]) { name record } }',
      );
      expect(data.countries.slice(0, 3)).toMatchObject(
        right.map((name) => ({ name, record: { a: { [name]: name } } })),
      );
      expect(upstream.calls).toBe(1);
    },
  );
});

describe('a number that is none', () => {
  it.each([
    ['a short body', 0],
    ['a long one', 400],
  ])('a number that is none, spelt as JSON, fails its own figure and no other, in %s', async (_, padding) => {
    const others = Array.from({ length: padding }, (_, i) =>
      JSON.stringify(row('ke', 'm1', { year: 1_600 + i, location_name: `place ${i}` })),
    );
    const text = ALL.map((one) => JSON.stringify(one));
    let body = '';
    await using service = await open(() => ({ body }));
    for (const [i, spelling] of ['"7"', '1e999', '9'.repeat(400), 'true', '[7]', '{}'].entries()) {
      const spoilt = text[2]?.replace('"value":7', `"value":${spelling}`);
      body = `{"data": [${[...text.slice(0, 2), spoilt, ...others, text[3]].join(',')}]}`;
      const { data, errors, upstream } = await service.ask(FIGURES, { key: `key-${i}` });
      expect([spelling, data]).toEqual([
        spelling,
        { ke: { a: { value: 7 }, b: { value: 7 } }, ug: { a: null, b: { value: 7 } } },
      ]);
      expect(errors).toMatchObject([
        { path: ['ug', 'a'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE', route: '/v1/data' } },
      ]);
      expect([upstream.calls, service.requests.length]).toEqual([1, 2 * i + 1]);
      // The figure that failed is asked for again, and nothing else.
      await service.ask(FIGURES, { key: `key-${i}` });
      const url = new URL(service.requests[2 * i + 1] ?? '', 'http://service');
      expect(['country_codes', 'metric_keys'].map((name) => asked(url, name))).toEqual([['UG'], ['m0']]);
    }
  });

  it('a word that JSON has not fails the call that it came in, of any list, and nothing is kept of it', async () => {
    let isSound = false;
    await using service = await open(() => ({
      body: `[{"id":"ke","name":"Kenya","area_km2":${isSound ? 1 : 'NaN'}}]`,
    }));
    const { data, errors, upstream } = await service.ask('{ countries { code } }');
    expect([data, upstream.calls]).toEqual([{ countries: null }, 1]);
    expect(errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_INVALID_RESPONSE', detail: 'the body is not JSON' } },
    ]);
    isSound = true;
    expect((await service.ask('{ countries { code } }')).data).toEqual({ countries: [{ code: 'KE' }] });
  });

  it('a word that JSON has not leaves what is held in its place', async () => {
    let value = '7';
    const { clock, pass } = movingClock(Date.now());
    await using service = await open(
      () => ({ body: `[${JSON.stringify(row('ke', 'm0')).replace('"value":7', `"value":${value}`)}]` }),
      { CACHE_TTL_SECONDS: '1' },
      { clock },
    );
    const figure = '{ country(code: "KE") { observation(metricKey: "m0") { value freshness { stale } } } }';
    await service.ask(figure);
    value = 'NaN';
    pass(2);
    const { data, errors } = await service.ask(figure);
    expect([data.country.observation, errors]).toEqual([{ value: 7, freshness: { stale: true } }, []]);
  });

  const SOUND = JSON.stringify(ALL[0]);

  it.each([
    ...[
      'NaN',
      '-Infinity',
      'None',
      '1.',
      '.5',
      '+5',
      '01',
      '1e',
      '0x10',
      '1_000',
      "'7'",
      '[NaN]',
      '1,5',
      '',
    ].map((word) => [`a value that is ${word}`, `{"data": [${SOUND}, {"value": ${word}}]}`]),
    ['a body that ends in the middle', `{"data": [${SOUND}, {"value": 1`],
    ['a quote that is left open', `{"data": [${SOUND}, {"unit": "a"b", "value": 1}]}`],
    ['a comma before an end', `{"data": [${SOUND},]}`],
    ['a count that is none', `{"data": [${ALL.map((one) => JSON.stringify(one))}], "meta": {"total": NaN}}`],
    ['no JSON at all', 'NaN'],
    ['a long body with one such word', `{"data": [${`${SOUND},`.repeat(800)}{"value": NaN}]}`],
  ])('a number that is none is no answer to anything: %s', async (_, body) => {
    await using service = await open(() => ({ body }));
    const { data, errors } = await service.ask(FIGURES);
    expect(data).toEqual({ ke: { a: null, b: null }, ug: { a: null, b: null } });
    expect(errors.map(({ extensions }) => extensions.detail)).toEqual(Array(4).fill('the body is not JSON'));
  });
});

describe('rows that nobody asked for', () => {
  const FIGURE = '{ country(code: "KE") { observation(metricKey: "m0") { value } } }';
  const SERIES = '{ observations(countryCodes: ["KE"], metricKeys: ["m0"]) { value } }';

  it.each([
    ['of another country', [row('ug', 'm0')]],
    ['of another metric', [row('ke', 'm1')]],
    ['without a value', [row('ug', 'm0', { value: null })]],
    ['that break the specification', [row('ug', 'm0', { value: 'x' })]],
  ])(
    'rows that nobody asked for are no proof that there are none of these, and are not remembered as such: %s',
    async (_, data) => {
      let body: object = { data };
      await using service = await open(() => ({ body }));
      for (const query of [FIGURE, SERIES]) {
        const { errors, extensions } = await service.ask(query);
        expect(errors).toMatchObject([
          { extensions: { code: 'UPSTREAM_INVALID_RESPONSE', route: '/v1/data' } },
        ]);
        expect(extensions.upstream).toMatchObject({ calls: 1 });
      }
      body = { data: [row('ke', 'm0')] };
      expect((await service.ask(FIGURE)).data).toEqual({ country: { observation: { value: 7 } } });
    },
  );

  it('rows that nobody asked for fail only what did not come: what did is used and kept', async () => {
    await using service = await open(() => ({ body: { data: [...ALL.slice(0, 3), row('tz', 'm9')] } }));
    for (const calls of [1, 1]) {
      const { data, errors, upstream } = await service.ask(FIGURES);
      expect(data).toEqual({ ke: { a: { value: 7 }, b: { value: 7 } }, ug: { a: { value: 7 }, b: null } });
      expect(errors).toMatchObject([
        { path: ['ug', 'b'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
      ]);
      expect(upstream.calls).toBe(calls);
    }
    expect(asked(new URL(service.requests[1] ?? '', 'http://x'), 'metric_keys')).toEqual(['m1']);
  });

  it('rows that nobody asked for are not those of a code of three letters, or a key in another case', async () => {
    await using service = await open(() => ({ body: { data: [row('KEN', 'M0')] } }));
    const { data, errors } = await service.ask(
      '{ country(code: "KE") { a: observation(metricKey: "m0") { value } b: observation(metricKey: "m1") { value } } }',
    );
    expect([data, errors]).toEqual([{ country: { a: { value: 7 }, b: null } }, []]);
  });

  it.each([
    ['profile { record }', { country: { code: 'ug' }, indicators: [] }],
    ['signals { record }', { country: { code: 'ug' }, observations: [] }],
    ['offices { name }', { country: { code: 'ug' }, offices: [] }],
    ['offices { name }', [{ country_code: 'ug', office_name: 'President', leader_name: 'A' }]],
  ])('the record of another country is not that of this one: %s', async (field, data) => {
    await using service = await open(() => ({ body: { data } }));
    const reply = await service.ask(`{ country(code: "KE") { ${field} } }`);
    expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});

/** An operation for each route that a failure may hide behind. */
const OPERATIONS = [
  '{ country(code: "KE") { observation(metricKey: "m0") { value } } }',
  '{ observations(countryCodes: ["KE"], metricKeys: ["m0"]) { value } }',
  '{ countries { code } }',
  '{ indicators { key } }',
  '{ sources { key } }',
  '{ tickers { symbol } }',
  '{ country(code: "KE") { profile { record } } }',
  '{ country(code: "KE") { signals { record } } }',
  '{ country(code: "KE") { offices { name } } }',
  '{ platformVersion { record } }',
];

describe('a 200 that says that it failed', () => {
  it.each([
    [{ detail: 'database is down', data: [] }, 'database is down'],
    [{ detail: [{ loc: ['db'], msg: 'gone' }], data: [] }, 'db: gone'],
    [{ error: 'boom' }, 'boom'],
    [{ error: { code: 'E1', message: 'boom' }, data: null }, 'boom'],
    [{ error: true, data: [] }, undefined],
    [{ errors: [{ message: 'boom' }], data: [] }, 'boom'],
    [{ success: false, data: [] }, undefined],
    [{ ok: false, data: {} }, undefined],
    [{ status: 'error', message: 'boom', data: {} }, 'boom'],
    [{ status: 503, data: [] }, undefined],
    [{ message: 'boom' }, 'boom'],
    [{ code: 500, msg: 'boom', request_id: 'x' }, 'boom'],
    [{ title: 'Bad Gateway', status: 502, type: 'about:blank' }, 'Bad Gateway'],
    [{ data: [], meta: { error: 'timed out' } }, 'timed out'],
    [{ data: { detail: 'boom' } }, 'boom'],
    [{ data: { error: 'boom' } }, 'boom'],
  ])(
    'a 200 that says that it failed is a failure on every route, and never held: %j',
    async (body, detail) => {
      await using service = await open(() => ({ body }));
      for (const query of OPERATIONS) {
        for (const calls of [1, 1]) {
          const { errors, upstream } = await service.ask(query);
          expect([query, errors.map(({ extensions }) => extensions.code)]).toEqual([
            query,
            ['UPSTREAM_INVALID_RESPONSE'],
          ]);
          expect([query, errors[0]?.extensions.detail]).toEqual([query, detail]);
          expect([query, upstream.calls]).toEqual([query, calls]);
        }
      }
    },
  );

  it('a 200 that says that it failed of a limit is one of a limit', async () => {
    const detail = 'Rate limit exceeded for plan free: 5 requests per minute';
    await using service = await open(() => ({ body: { detail, data: [] } }));
    const { errors } = await service.ask('{ countries { code } }');
    expect(errors).toMatchObject([
      { extensions: { code: 'RATE_LIMITED', plan: 'free', requestsPerMinute: 5 } },
    ]);
  });

  it.each([
    { data: [], error: null },
    { data: [], errors: [], success: true },
    { data: [], detail: null, message: 'OK' },
    { data: [], status: 'ok', code: 0 },
    { data: [], status: 200, message: 'no rows' },
    { success: true, data: [], meta: { total: 0, error: '' } },
  ])('a 200 that says that it failed is none of those that say that all is well: %j', async (body) => {
    await using service = await open(() => ({ body }));
    for (const query of ['{ countries { code } }', OPERATIONS[0] ?? '']) {
      expect((await service.ask(query)).errors).toEqual([]);
      expect((await service.ask(query)).upstream.calls).toBe(0);
    }
  });

  it('a 200 that says that it failed is passed on as it is by the health of the service', async () => {
    const body = { status: 'error', error: 'database', message: 'down' };
    await using service = await open(() => ({ body }));
    const { data, errors } = await service.ask('{ health { status record } }');
    expect([data, errors]).toEqual([{ health: { status: 'error', record: body } }, []]);
  });
});

describe('a 404', () => {
  const PATHS = OPERATIONS.filter((query) => /observation|profile|signals|offices/.test(query));

  it.each([
    [{ detail: 'Not Found' }],
    [{ detail: 'not found' }],
    [{ detail: 'Cannot GET /v1/countries/KE/profile' }],
    [{ detail: 'no such page' }],
    [{ message: 'Resource not found' }],
    [{ error: 'Not Found' }],
    [{}],
    [[]],
    ['<h1>country not found: ke</h1>'],
  ])('a 404 that names nothing that was asked for is no word on it, and never held: %j', async (body) => {
    await using service = await open(() => ({ status: 404, body }));
    for (const query of PATHS) {
      for (const calls of [1, 1]) {
        const { errors, upstream } = await service.ask(query);
        expect([query, errors.map(({ extensions }) => extensions.code)]).toEqual([
          query,
          ['UPSTREAM_INVALID_RESPONSE'],
        ]);
        expect(upstream.calls).toBe(calls);
      }
    }
  });

  it.each([
    ['country not found: ke', PATHS],
    ['Country KE is not known', PATHS],
    ['no record for "ke"', PATHS],
    ['metric not found: m0', PATHS.slice(0, 2)],
    ['unknown indicator m0', PATHS.slice(0, 2)],
    ['no observations found', PATHS.slice(0, 2)],
    ['profile not found: ke', PATHS.filter((query) => query.includes('profile'))],
    ['No signals', PATHS.filter((query) => query.includes('signals'))],
    ['government structure not found', PATHS.filter((query) => query.includes('offices'))],
  ])('a 404 that names it is the word of the service: %s', async (detail, queries) => {
    await using service = await open(() => ({ status: 404, body: { detail } }));
    for (const query of queries) {
      const { errors } = await service.ask(query);
      expect([query, errors]).toEqual([query, []]);
    }
  });

  it('a 404 that names nothing is about a name where the rest of a call is answered without it', async () => {
    await using service = await open((_, url) =>
      asked(url, 'metric_keys').includes('m1')
        ? { status: 404, body: { detail: 'Not Found' } }
        : { body: { data: ALL.filter(({ metric_key }) => metric_key === 'm0') } },
    );
    const { data, errors } = await service.ask(FIGURES);
    expect(data).toEqual({ ke: { a: { value: 7 }, b: null }, ug: { a: { value: 7 }, b: null } });
    expect(errors).toEqual([]);
  });

  it('a 404 that names nothing does not show that a key is accepted', async () => {
    let sent: Sent = { body: { data: [{ id: 'ke', name: 'Kenya' }] } };
    const { clock, pass } = movingClock(Date.now());
    await using service = await open(() => sent, { AUTH_TTL_SECONDS: '1' }, { clock });
    await service.ask('{ countries { code } }');
    pass(1.1);
    sent = { status: 404, body: { detail: 'Not Found' } };
    await service.ask('{ country(code: "KE") { profile { record } } }');
    expect((await service.ask('{ countries { code } }')).upstream.calls).toBe(1);
  });
});

describe('a body that is encoded', () => {
  const text = JSON.stringify({ data: [{ id: 'ke', name: 'Kenya' }] });
  const QUERY = '{ countries { code } }';
  const ENCODED: [encoding: string, bytes: Buffer][] = [
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
    ['', Buffer.from(text)],
    ['deflate, gzip', gzipSync(deflateSync(text))],
    ['identity, br, zstd', zstdCompressSync(brotliCompressSync(text))],
  ];

  it('an encoded body is asked for in all encodings that can be read', async () => {
    let accepted: unknown;
    await using service = await open(({ headers }) => {
      accepted = headers['accept-encoding'];
      return { body: text };
    });
    await service.ask(QUERY);
    expect(accepted).toBe('gzip, deflate, br, zstd');
  });

  it.each(ENCODED)('an encoded body is read: %s', async (encoding, bytes) => {
    await using service = await open(() => ({ headers: { 'content-encoding': encoding }, body: bytes }));
    const { data, errors } = await service.ask(QUERY);
    expect([data, errors]).toEqual([{ countries: [{ code: 'KE' }] }, []]);
  });

  it('an encoded body is read where it is long, or the words of an error', async () => {
    const data = Array.from({ length: 600 }, (_, i) => row('ke', 'm0', { year: 1_000 + i, value: i }));
    await using service = await open((_, { pathname }) =>
      pathname === '/v1/data'
        ? { headers: { 'content-encoding': 'zstd' }, body: zstdCompressSync(JSON.stringify({ data })) }
        : {
            status: 500,
            headers: { 'content-encoding': 'gzip' },
            body: gzipSync('{"detail":"under repair"}'),
          },
    );
    const { data: figures } = await service.ask(
      '{ observations(countryCodes: ["KE"], metricKeys: ["m0"]) { value } }',
    );
    expect(figures.observations).toHaveLength(600);
    const { errors } = await service.ask(QUERY);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', detail: 'under repair' } }]);
  });

  it('an encoded body keeps its entity tag', async () => {
    await using service = await open(
      ({ headers }) =>
        headers['if-none-match'] === '"x"'
          ? { status: 304, headers: { etag: '"x"', 'content-encoding': 'gzip' }, body: '' }
          : { headers: { etag: '"x"', 'content-encoding': 'gzip' }, body: gzipSync(text) },
      { CACHE_TTL_SECONDS: '0' },
    );
    for (const _ of [1, 2]) expect((await service.ask(QUERY)).data).toEqual({ countries: [{ code: 'KE' }] });
    expect(service.requests).toHaveLength(2);
  });

  it.each<[why: string, encoding: string, body: Buffer]>([
    ['an encoding that nobody knows', 'snappy', Buffer.from(text)],
    ['a name that every object has', 'constructor', Buffer.from(text)],
    ['another encoding than it says', 'gzip', Buffer.from(text)],
    ['an end that is missing', 'gzip', gzipSync(text).subarray(0, -9)],
    ['an end that is missing', 'br', brotliCompressSync(text).subarray(0, -2)],
    ['an end that is missing', 'zstd', zstdCompressSync(text).subarray(0, -2)],
    ['one encoding upon the other without end', Array(20).fill('gzip').join(','), gzipSync(text)],
    ['nothing', 'gzip', Buffer.alloc(0)],
  ])('an encoded body is invalid with %s: %s', async (_, encoding, body) => {
    await using service = await open(() => ({ headers: { 'content-encoding': encoding }, body }));
    const { errors, upstream } = await service.ask(QUERY);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect(upstream.calls).toBe(1);
  });

  it.each(
    drawn<[string, () => Buffer]>(
      [
        ['gzip', () => gzipSync(Buffer.alloc(80 * 1024 ** 2, ' '))],
        ['gzip, gzip', () => gzipSync(gzipSync(Buffer.alloc(80 * 1024 ** 2, ' ')))],
        ['br', () => brotliCompressSync(Buffer.alloc(80 * 1024 ** 2, ' '), { params: { 1: 1 } })],
        ['zstd', () => zstdCompressSync(Buffer.alloc(80 * 1024 ** 2, ' '))],
      ],
      2,
    ),
  )('an encoded body that would be too large is refused before it is: %s', async (encoding, bomb) => {
    const body = bomb();
    let status = 200;
    await using service = await open(() => ({ status, headers: { 'content-encoding': encoding }, body }));
    const before = process.memoryUsage().rss;
    const { errors } = await service.ask(QUERY);
    expect(errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_INVALID_RESPONSE', detail: 'the body is too large' } },
    ]);
    // Of an error the status is enough.
    status = 500;
    const failed = await service.ask(QUERY);
    expect(failed.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  });

  it('an encoded body is late where it comes too slowly', async () => {
    await using service = await open(
      ({ socket }) => {
        const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n';
        socket.write(Buffer.concat([Buffer.from(head), gzipSync(text).subarray(0, 20)]));
        return null;
      },
      { UPSTREAM_TIMEOUT_MS: '200' },
    );
    const { errors } = await service.ask(QUERY);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_TIMEOUT']);
  });
});

describe('a connection that the service has closed', () => {
  const figure = (i: number) => `{ country(code: "KE") { observation(metricKey: "m${i}") { value } } }`;
  const answer = (url: URL): Sent => ({
    body: { data: asked(url, 'metric_keys').map((key) => row('ke', key)) },
  });

  /** Resets requests over a connection that was used before. */
  function forgetful(isForgotten: (used: number) => boolean): Answering {
    const used = new WeakMap<Socket, number>();
    return ({ socket }, url) => {
      const times = used.get(socket) ?? 0;
      used.set(socket, times + 1);
      if (!isForgotten(times)) return answer(url);
      socket.resetAndDestroy();
      return null;
    };
  }

  it.each(['0', '2'])(
    'a connection that the service has closed has a call sent once more, and is no retry (%s of them allowed)',
    async (retries) => {
      await using service = await open(
        forgetful((used) => used > 0),
        {
          CACHE_URL: 'none',
          UPSTREAM_RETRIES: retries,
        },
      );
      let calls = 0;
      for (let i = 0; i < 40; i += 1) {
        const { data, errors, upstream } = await service.ask(figure(i));
        expect([data, errors]).toEqual([{ country: { observation: { value: 7 } } }, []]);
        calls += upstream.calls;
      }
      // All that the service has received may count there: so it stands on the bill.
      expect(calls).toBe(service.requests.length);
    },
  );

  it('a connection that the service has closed says nothing of the service, however many there are at once', async () => {
    let isForgetting = false;
    await using service = await open(
      forgetful((used) => isForgetting && used > 0),
      { CACHE_URL: 'none', BATCH_WINDOW_MS: '0' },
    );
    const all = () =>
      Promise.all(Array.from({ length: 30 }, (_, i) => service.ask(figure(i), { key: `key-${i}` })));
    await all();
    isForgetting = true;
    const replies = await all();
    expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
    expect(30 + replies.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(service.requests.length);
  });

  it('a connection that the service has closed takes others along that have lain idle for as long', async () => {
    const seen = new Set<Socket>();
    const gone = new Set<Socket>();
    await using service = await open(
      ({ socket }, url) => {
        seen.add(socket);
        if (!gone.has(socket)) return answer(url);
        socket.resetAndDestroy();
        return null;
      },
      { CACHE_URL: 'none', BATCH_WINDOW_MS: '0' },
    );
    await Promise.all(Array.from({ length: 6 }, (_, i) => service.ask(figure(i), { key: `key-${i}` })));
    for (const socket of seen) gone.add(socket);
    const bills: number[] = [];
    for (let i = 0; i < 6; i += 1) bills.push((await service.ask(figure(i))).upstream.calls);
    expect([seen.size > 1, bills]).toEqual([true, [2, 1, 1, 1, 1, 1]]);
  });

  it('a connection that the service has closed is unavailable where new ones are closed as well, after so many attempts', async () => {
    let isAway = false;
    await using service = await open(
      forgetful(() => isAway),
      { CACHE_URL: 'none', UPSTREAM_RETRIES: '1' },
    );
    await service.ask(figure(0));
    isAway = true;
    const { errors, upstream } = await service.ask(figure(1));
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', attempts: 3 } }]);
    expect([upstream.calls, service.requests.length]).toEqual([3, 4]);
  });

  it('a connection that the service has closed has nothing sent beyond the limit of calls', async () => {
    await using service = await open(
      forgetful((used) => used > 0),
      { CACHE_URL: 'none', MAX_UPSTREAM_CALLS: '1' },
    );
    await service.ask(figure(0));
    const { errors, upstream } = await service.ask(figure(1));
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
    expect([upstream.calls, service.requests.length]).toEqual([1, 2]);
  });
});

describe('a request that never left', () => {
  const query = '{ country(code: "KE") { profile { record } } }';

  it('a request that never left for want of a connection is none that was sent, on the bill and in the quota', async () => {
    await using gone = await openProgram();
    const { url } = gone.service;
    await gone.sandbox.close();
    await using program = await openProgram({ upstreamUrl: url });
    const { errors, upstream } = await program.ask(query);
    expect(errors.map(({ extensions }) => [extensions.code, extensions.attempts])).toEqual([
      ['UPSTREAM_UNAVAILABLE', 3],
    ]);
    expect([upstream.calls, upstream.byRoute]).toEqual([0, {}]);
    const { data } = await program.ask('{ quota { callsThisMinute callsThisMonth } }');
    expect(data.quota).toEqual({ callsThisMinute: 0, callsThisMonth: 0 });
  });
});
