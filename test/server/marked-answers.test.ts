import { once } from 'node:events';
import { connect } from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { refuseUnread } from '../../src/server/unread-requests.ts';
import { openProgram } from '../support/program.ts';

/** An answer of each kind, by method and address. */
const ADDRESSES = [
  'GET /',
  'GET /graphql?query={health{status}}',
  'POST /graphql',
  'QUERY /graphql',
  'PUT /graphql',
  'OPTIONS /graphql',
  'GET /graphql/stream',
  'POST /mcp',
  'GET /graphiql',
  'GET /graphiql/',
  'GET /graphiql/none.js',
  'GET /schema.graphql',
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
  'GET /none',
  'GET /%zz',
] as const;

it.each(ADDRESSES)('an answer is taken for nothing but its type: %s', async (asked) => {
  await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on' } });
  const [method = 'GET', path = ''] = asked.split(' ');
  const answer = await fetch(new URL(path, program.url), { method, redirect: 'manual' });
  await answer.text();
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

it('an answer of the port of operators is taken for nothing but its type', async () => {
  await using program = await openProgram({ env: { ADMIN_PORT: '0' } });
  for (const path of ['/metrics', '/health/live', '/none']) {
    const answer = await fetch(new URL(path, program.adminUrl));
    await answer.text();
    expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
  }
});

const SOCKET =
  'GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** Requests that are refused before a route or a hook sees them. */
it.each([
  ['that is not HTTP', 400, 'GET\r\n\r\n'],
  ['with a method in lower case', 405, 'query /graphql HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['that names no host', 400, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['that expects what nobody does', 417, 'GET /health/live HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n'],
  ['with long headers', 431, `GET / HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
  ['for a socket of an old version', 400, `${SOCKET}${KEY}Sec-WebSocket-Version: 7\r\n\r\n`],
  ['for a socket without its key', 400, `${SOCKET}Sec-WebSocket-Version: 13\r\n\r\n`],
  [
    'for a socket with two keys',
    401,
    `${SOCKET}${KEY}Sec-WebSocket-Version: 13\r\nAuthorization: Bearer two words\r\n\r\n`,
  ],
])('the answer to a request %s is taken for nothing but its type', async (_, status, request) => {
  await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on', ADMIN_PORT: '0' } });
  const isUpgrade = request.startsWith(SOCKET);
  for (const url of isUpgrade ? [program.url] : [program.url, program.adminUrl ?? '']) {
    const answer = await answerTo(url, request);
    expect(answer.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n');
  }
  expect([program.problems, program.requests()]).toEqual([[], []]);
});

it('a request of HTTP/1.0 needs to name no host', async () => {
  await using program = await openProgram();
  const answer = await answerTo(program.url, 'GET /health/live HTTP/1.0\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"status":"ok"\}$/s);
});

/** Some read the answer before the server has read the whole request, so a reset may follow it. */
async function answerTo(url: string, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(request);
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  await once(socket, 'close');
  return answer;
}

it('the answer to a request that never ends is taken for nothing but its type', async () => {
  const [near, far] = duplexPair();
  refuseUnread(
    Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
    near.on('error', () => {}),
  );
  const [answer] = await once(far, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 408 Request Timeout\r\nX-Content-Type-Options: nosniff\r\n/);
});
