import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { shortName } from '../../clients/graphiql/src/save-file.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/server/log.ts';
import { billStale, openBill } from '../../src/service/bill.ts';
import * as endpoints from '../../src/service/endpoints.ts';
import { Failure } from '../../src/shared/errors.ts';
import { FIGURE, openPublishing } from '../address/publishing.ts';
import { startNginx } from '../support/nginx.ts';
import { openProgram } from '../support/program.ts';
import { hasProgram } from '../support/programs.ts';

/*
 * What the gateway emits at its longest, within its own limits, and what programs that read it take. Names of tools
 * are in test/tools/bounds.test.ts, links in test/graphiql/share.test.ts, names in Redis in
 * test/contract/longest-texts.test.ts, contexts of traces in test/plugins/tracing/tracing.test.ts, types of Arrow in
 * test/tables/exports.test.ts. Limits that no test can reach are sentences of the documents: rows, cells and names of a
 * sheet (docs/tables-and-tools.md), headers of nginx (docs/operating.md), variables of Linux (docs/settings.md), links
 * in chats (docs/pictures.md).
 */

/** Apache and Varnish take a line of 8,190 bytes; Node, HAProxy and load balancers some 16,000 for all. */
const [LINE_BYTES, HEAD_BYTES] = [8_190, 12_000];
/** Docker's logs split lines at 16 kB. */
const LOG_BYTES = 16_384;
/** RFC 6455. */
const REASON_BYTES = 123;
/** Of a file name, on every file system. */
const NAME_BYTES = 255;
/** Values of one label beyond which Prometheus should not be used for it, and characters of each. */
const [LABEL_VALUES, LABEL_LENGTH] = [250, 128];

/** The lines of a response's head. */
async function headOf(url: string, body?: object, key = 'demo-team'): Promise<readonly string[]> {
  const sending = request(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, accept: '*/*' },
  }).end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  const { rawHeaders } = response;
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []));
}

/** Each of its indicators has a tag of a hundred characters. */
function taggedQuery(count: number) {
  const metricKeys = Array.from({ length: count }, (_, i) => `${'k'.repeat(90)}_${count}_${i}`);
  const figures = 'observations(countryCodes: ["KE"], metricKeys: $metricKeys, latest: true) { value }';
  return { query: `query ($metricKeys: [String!]!) { ${figures} }`, variables: { metricKeys } };
}

function expectReadable(what: string, lines: readonly string[]): void {
  const sizes = lines.map((line) => Buffer.byteLength(line) + 2);
  expect([
    what,
    Math.max(...sizes) <= LINE_BYTES,
    sizes.reduce((sum, size) => sum + size) <= HEAD_BYTES,
  ]).toEqual([what, true, true]);
  expect(lines.filter((line) => /^set-cookie:/i.test(line))).toEqual([]);
  // Some proxies refuse anything else.
  expect([what, lines.filter((line) => /[^\t\x20-\x7e]/.test(line))]).toEqual([what, []]);
}

describe('what others read', () => {
  it('what others read of a head fits, however many tags an answer has', async () => {
    await using program = await openProgram({
      env: { CACHE_TAGS: 'Cache-Tag,Surrogate-Key', SUBGRAPH: 'on', CACHE_URL: 'memory:' },
    });
    for (const count of [1, 30, 35, 40, 70, 75, 80, 200]) {
      const lines = await headOf(program.url, taggedQuery(count));
      expect(lines.filter((line) => /^(cache-tag|surrogate-key): ./i.test(line))).toHaveLength(2);
      expectReadable(`${count} indicators`, lines);
    }
    expect(program.problems).toEqual([]);
  });

  it.skipIf(!hasProgram('nginx', '-v'))(
    'what others read of a head passes an nginx that is set up as the documents say',
    async () => {
      const [settings = ''] = /proxy_buffer_size [^`]*/.exec(readFileSync('docs/operating.md', 'utf8')) ?? [];
      await using program = await openProgram({
        env: { CACHE_TAGS: 'Cache-Tag,Surrogate-Key', CACHE_URL: 'memory:' },
      });
      await using nginx = await startNginx(Number(new URL(program.url).port), settings);
      for (const count of [1, 35, 80]) {
        const head = await headOf(`${nginx.url}/graphql`, taggedQuery(count));
        expect([count, head.filter((line) => /^surrogate-key: ./i.test(line))]).toEqual([
          count,
          [expect.any(String)],
        ]);
      }
      // The last takes two, as an address has room for.
      expect(program.requests()).toHaveLength(4);
    },
  );

  it('what others read of a head fits, however long the origins of a page and the name of the service', async () => {
    await using program = await openPublishing({
      env: {
        ATTRIBUTION_NAME: '🌍'.repeat(200),
        ATTRIBUTION_URL: `https://data.example/${'a'.repeat(1_970)}`,
      },
    });
    const origins = (length: number) =>
      Array.from({ length: 100 }, (_, i) => `https://${'o'.repeat(length)}${i}.example`);
    await expect(program.issue({ name: 'page', origins: origins(60) })).rejects.toThrow(
      'must have at most 4000 characters together',
    );
    await program.issue({ name: 'page', origins: origins(20) });
    for (const form of ['', '.json', '.csv', '.arrow', '.svg', '.png', '.metadata.json'])
      expectReadable(form, await headOf(`${program.origin}/c/lines${form}`));
    expect(program.requests().length).toBeLessThanOrEqual(2);
    expect(program.problems).toEqual([]);
    expect(() => readConfig({ ATTRIBUTION_URL: `https://data.example/${'a'.repeat(2_000)}` })).toThrow(
      /^ {2}ATTRIBUTION_URL: must have at most 2,000 characters/m,
    );
  });

  it.skipIf(!hasProgram('nginx', '-v'))(
    'what others read of addresses passes an nginx, however long the parameters that a page is asked with',
    async () => {
      await using program = await openPublishing({
        documents: {
          bars: `query Bars($codes: [CountryCode!] = ["KE", "NG"], $name: String) {
  observations(countryCodes: $codes, metricKeys: ["gdp_current_usd"], latest: true) { ${FIGURE} }
  indicators(search: $name) { key }
}`,
        },
        published: { bars: { document: 'Bars', key: 'page', title: 'Of $name' } },
      });
      await program.issue({ name: 'page' });
      await using nginx = await startNginx(
        Number(new URL(program.url).port),
        'proxy_set_header Host $http_host;',
      );
      // Each is three characters in an address, and five in that of oEmbed.
      const page = (length: number) =>
        `${nginx.url}/c/bars?name=${'%01'.repeat(3)}&picture.highlight=${'('.repeat(length)}`;
      const answer = await fetch(page(1_475));
      const text = await answer.text();
      const linked = Array.from(
        text.matchAll(/\b(?:href|src|srcset|content)="([^"]*[?][^"]*)"/g),
        ([, address = '']) => new URL(address.replaceAll('&amp;', '&'), page(0)).href,
      );
      expect([
        answer.status,
        linked.length > 10,
        linked.filter((address) => address.length > LINE_BYTES - 100),
      ]).toEqual([200, true, []]);
      const oembed = linked.find((address) => address.includes('/oembed?'));
      expect(oembed?.length).toBeGreaterThan(7_400);
      for (const address of linked) {
        const { status } = await fetch(address);
        expect([address.slice(0, 60), status]).toEqual([address.slice(0, 60), 200]);
      }
      const embed = (await (await fetch(oembed ?? '')).json()) as { title: string; html: string };
      expect([embed.title, /\p{Cc}/u.test(text.replaceAll('\n', '')), /\p{Cc}/u.test(embed.html)]).toEqual([
        'Of  ',
        false,
        false,
      ]);
      const calls = program.requests().length;
      // As many as a list may have.
      const listed = `${nginx.url}/c/bars?codes=${'KE,'.repeat(1_000)}`;
      expect((await fetch(`${nginx.url}/oembed?url=${encodeURIComponent(listed)}`)).status).toBe(200);
      for (const address of [page(1_510), `${nginx.url}/oembed?url=${encodeURIComponent(page(1_510))}`]) {
        const refused = await fetch(address, { headers: { accept: 'application/json' } });
        expect([refused.status, await refused.text()]).toEqual([
          400,
          expect.stringContaining('may have 7,500.'),
        ]);
      }
      expect([calls, program.requests().length]).toEqual([2, 0]);
    },
  );

  it('what others read of a head fits, however many routes a bill has', () => {
    const bill = openBill();
    const retryAt = '2026-01-01T00:00:00.000Z';
    for (const { route } of Object.values(endpoints)) {
      bill.byRoute[route] = 1_000_000;
      for (const code of ['UPSTREAM_TIMEOUT', 'MONTHLY_QUOTA_EXCEEDED'] as const)
        billStale(bill, route, new Failure(code, 'No.', { retryAt }), 0, 1e12);
    }
    const routes = Object.keys(bill.byRoute).length;
    expect(routes).toBeGreaterThan(9);
    expect(bill.stale).toHaveLength(2 * routes);
    expectReadable('the bill', [`x-upstream-bill: ${JSON.stringify(bill)}`]);
  });

  it('what others read of the log are whole lines, however long an error or a name', () => {
    const many = (length: number) =>
      Array.from({ length }, (_, i) => new Error(`${i} ${'é"\n'.repeat(2_000)}`));
    const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`member ${i}`, i]));
    const loop: Record<string, unknown> = { big: 1n };
    loop.loop = loop;
    const problems = [
      new Error('x'.repeat(1_000_000)),
      Object.assign(new Error('\u0000'.repeat(20_000)), { body: '\ud800'.repeat(20_000) }),
      new AggregateError(many(300), '🌍'.repeat(20_000), { cause: many(1)[0] }),
      Object.assign(new Error('wide'), { wide }),
      Object.assign(new Error('bytes'), { bytes: Buffer.alloc(100_000) }),
      loop,
    ];
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    for (const problem of problems) log.problem(problem, 'upstream', 'r'.repeat(128));
    log.operation({
      name: '🌍'.repeat(100_000),
      type: 'query',
      durationMs: 1,
      calls: 1,
      shared: 0,
      cached: 0,
      stale: 0,
      repeated: false,
      errorCodes: [],
    });
    expect(lines).toHaveLength(problems.length + 1);
    for (const [i, line] of lines.entries()) {
      expect([i, Buffer.byteLength(line) <= LOG_BYTES]).toEqual([i, true]);
      expect(JSON.parse(line).err?.message ?? '').not.toBe(undefined);
    }
    expect(JSON.parse(lines[0] ?? '').err.stack).toContain('x'.repeat(1_000));
  });

  it('what others read of a closed WebSocket is the beginning of the reason, whole characters', async () => {
    await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on' } });
    const socket = new WebSocket(program.url.replace('http', 'ws'), 'graphql-transport-ws');
    await once(socket, 'open');
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'connection_init', payload: { authorization: 'Bearer demo-team' } });
    await once(socket, 'message');
    const id = '€'.repeat(1_000);
    for (const _ of [1, 2]) {
      send({ id, type: 'subscribe', payload: { query: 'subscription { sourceRefreshed { key } }' } });
    }
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    expect([code, reason.byteLength <= REASON_BYTES]).toEqual([4409, true]);
    expect(String(reason)).toMatch(/^Subscriber for €+$/);
  });

  it('what others read of a stream of events is its own lines alone, whatever clients put into it', async () => {
    await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on' } });
    const stream = `${program.url}/stream`;
    const key = { authorization: 'Bearer demo-team' };
    const headers = { ...key, 'content-type': 'application/json' };
    const injected = 'x\r\n\r\nevent: complete\rdata: {}\n\n\u2028\u0085\u0000id: 1';
    const params = {
      query: 'subscription ($keys: [String!]) { sourceRefreshed(keys: $keys) { key } }',
      variables: { keys: [injected.repeat(20)] },
    };
    const token = await (await fetch(stream, { method: 'PUT', headers: key })).text();
    const reading = await fetch(`${stream}?token=${token}`, {
      headers: { ...key, accept: 'text/event-stream' },
    });
    const asked = { ...params, extensions: { operationId: injected } };
    const named = { ...headers, 'x-graphql-event-stream-token': token };
    const { status } = await fetch(stream, { method: 'POST', headers: named, body: JSON.stringify(asked) });
    expect(status).toBe(202);
    let shared = '';
    for await (const part of reading.body as unknown as AsyncIterable<Uint8Array>) {
      shared += Buffer.from(part);
      if (shared.includes('event: complete')) break;
    }
    const own = await fetch(stream, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body: JSON.stringify(params),
    });
    for (const text of [shared, await own.text()]) {
      const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== '' && line !== ':');
      expect(lines).toEqual([
        'event: next',
        expect.stringMatching(/^data: \{.*BAD_USER_INPUT/s),
        'event: complete',
        expect.stringMatching(/^data:/),
      ]);
    }
    const [, data = ''] = /^data: ([^\n]*)/m.exec(shared) ?? [];
    expect(JSON.parse(data).id).toBe(injected);
    expect(program.requests()).toEqual([]);
  });

  it('what others read of metrics has few values of each label, and short ones, whatever names clients make up', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    // Only names under a key that the service has accepted are told apart.
    await program.ask('{ sources { key } }');
    for (let i = 0; i < 150; i += 1)
      await program.ask(`query ${i % 2 === 0 ? `N${i}` : 'L'.repeat(2_000) + i} { __typename }`);
    const text = await (await fetch(program.url.replace('graphql', 'metrics'))).text();
    const values = new Map<string, Set<string>>();
    for (const [, name = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      values.set(name, (values.get(name) ?? new Set()).add(value));
    expect(values.get('operation')?.size).toBeGreaterThan(1);
    for (const [name, all] of values) {
      expect([name, all.size <= LABEL_VALUES]).toEqual([name, true]);
      expect([name, Math.max(...[...all].map(({ length }) => length)) <= LABEL_LENGTH]).toEqual([name, true]);
    }
    expect(program.requests()).toHaveLength(1);
  });

  it('what others read of a file to save is a name with its ending', () => {
    expect(shortName('figures.csv')).toBe('figures.csv');
    const name = shortName(`${'a'.repeat(4_000)}.svg`);
    expect(name).toMatch(/^a+\.svg$/);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(NAME_BYTES);
  });
});
