import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Dice } from '../execution/dice.ts';
import { CODES, type Fuzzed, openFuzzed, posted } from './asking.ts';
import { CAMPAIGN, campaign, seed } from './campaign.ts';

/**
 * Bytes that are almost HTTP: the server refuses, answers or closes, never with a 5xx, and then answers the
 * next request. One that neither answers nor closes has lost the connection.
 */
const HUNG_MS = 5_000;

const QUERY = '{ quota { state } country(code: "KE") { code } }';
const BODY = JSON.stringify({ query: QUERY });
const COMMON = ['Host: localhost', 'Authorization: Bearer demo-team'];

let fuzzed: Fuzzed;
beforeAll(async () => {
  fuzzed = await openFuzzed();
});
afterAll(() => fuzzed[Symbol.asyncDispose]());

/** A request in parts, so that each of them can be broken by itself. */
interface Draft {
  line: string;
  headers: string[];
  body: string;
}

function soundDraft(dice: Dice): Draft {
  const json = 'Content-Type: application/json';
  switch (dice.below(5)) {
    case 0:
      return {
        line: `GET /graphql?query=${encodeURIComponent(QUERY)} HTTP/1.1`,
        headers: [...COMMON],
        body: '',
      };
    case 1:
      return {
        line: 'POST /graphql HTTP/1.1',
        headers: [...COMMON, json, 'Transfer-Encoding: chunked'],
        body: chunked(dice, BODY),
      };
    case 2:
      return {
        line: `${dice.pick(['GET', 'HEAD', 'OPTIONS'])} ${dice.pick(PATHS)} HTTP/1.1`,
        headers: [...COMMON],
        body: '',
      };
    default:
      return {
        line: 'POST /graphql HTTP/1.1',
        headers: [...COMMON, json, `Content-Length: ${BODY.length}`],
        body: BODY,
      };
  }
}

const PATHS = ['/health/live', '/metrics', '/schema.graphql', '/graphiql', '/', '/graphql', '/none', '*'];

function chunked(dice: Dice, text: string): string {
  let chunks = '';
  for (let at = 0; at < text.length; ) {
    const size = 1 + dice.below(text.length);
    const piece = text.slice(at, at + size);
    chunks += `${piece.length.toString(16)}${dice.chance(0.1) ? ';a=b' : ''}\r\n${piece}\r\n`;
    at += size;
  }
  return `${chunks}0\r\n${dice.chance(0.1) ? 'Trailer: x\r\n' : ''}\r\n`;
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'HEAD',
  'CONNECT',
  'TRACE',
  'PRI',
  'get',
  'P\u0000ST',
  '',
  'QUERY',
  'X'.repeat(9_000),
];
const TARGETS = [
  '/graphql',
  '//graphql',
  '/graphql/../metrics',
  '/%zz',
  '/graphql?query=%',
  '/graphql?query=%ff&query=%00',
  'http://elsewhere/graphql',
  '/graphql#x',
  'graphql',
  '*',
  '',
  ' ',
  '/\u0000',
  `/${'x'.repeat(20_000)}`,
  `/graphql?${'a=b&'.repeat(3_000)}`,
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', 'HTTP/1.1 x', ''];
const HEADERS = [
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: +10',
  'Content-Length: 0x10',
  'Content-Length: 10, 10',
  'Content-Length: 99999999999999999999',
  'Content-Length: 4000000000',
  'Content-Length: 12',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'Content-Encoding: gzip',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: ;;;',
  'Content-Type: multipart/form-data',
  'Expect: 100-continue',
  'Expect: nothing',
  'Connection: close',
  'Connection: upgrade',
  'Upgrade: h2c',
  'Upgrade: websocket',
  'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
  'Accept: */*;q=x',
  'Accept: text/html',
  'Accept-Encoding: gzip;q=, br;q=2, *;q=-1',
  'If-None-Match: *',
  'If-None-Match: "',
  'Origin: null',
  'Authorization: Bearer other',
  'Authorization: \u00ff',
  `Authorization: Bearer ${'k'.repeat(9_000)}`,
  'Host: elsewhere',
  'Host:',
  ' folded: line',
  'no colon',
  ': no name',
  'n\u0000l: 1',
  'v: \u0000',
  'a b: c',
  `x: ${'y'.repeat(20_000)}`,
  '__proto__: 1',
  'constructor: 1',
  ...Array.from({ length: 3 }, (_, i) => `x${i}: ${i}`),
];
const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', ''];

/** One thing that is wrong with a draft. */
const DAMAGES: readonly ((draft: Draft, dice: Dice) => void)[] = [
  (draft, dice) => {
    draft.line = draft.line.replace(/^\S*/, dice.pick(METHODS));
  },
  (draft, dice) => {
    draft.line = draft.line.replace(/ \S* /, ` ${dice.pick(TARGETS)} `);
  },
  (draft, dice) => {
    draft.line = draft.line.replace(/HTTP\S*$/, dice.pick(VERSIONS));
  },
  (draft, dice) => {
    for (let i = dice.below(3); i >= 0; i -= 1) {
      draft.headers.splice(dice.below(draft.headers.length + 1), 0, dice.pick(HEADERS));
    }
  },
  (draft, dice) => {
    draft.headers.splice(dice.below(draft.headers.length), 1);
  },
  (draft, dice) => {
    const many = dice.pick([50, 1_000, 3_000]);
    draft.headers.push(...Array.from({ length: many }, (_, i) => `x${i}: ${i}`));
  },
  (draft, dice) => {
    const length = Math.max(0, draft.body.length + dice.below(21) - 10);
    draft.headers = draft.headers.map((header) =>
      header.startsWith('Content-Length') ? `Content-Length: ${length}` : header,
    );
  },
  (draft, dice) => {
    const size = dice.pick(['ffffffffffffffff', 'FFFFFFFF', '-1', 'g', '', '0', '1'.repeat(40), '0x5', ' 5']);
    draft.body = draft.body.replace(/^[0-9a-f]*/, size);
  },
  (draft, dice) => {
    draft.body = draft.body.replace('\r\n', dice.pick(LINE_ENDS));
  },
  (draft, dice) => {
    draft.body += dice.pick(['x', '\r\n', '\u0000', 'GET / HTTP/1.1\r\n\r\n', '0\r\n\r\n', BODY]);
  },
];

/** Several requests on one connection, some of which are broken, and then the bytes of all of them. */
function drawBytes(dice: Dice): Buffer {
  const requests = Array.from({ length: 1 + dice.below(4) }, () => {
    const draft = soundDraft(dice);
    for (let i = dice.below(4); i > 0; i -= 1) dice.pick(DAMAGES)(draft, dice);
    const end = dice.chance(0.05) ? dice.pick(LINE_ENDS) : '\r\n';
    return `${[draft.line, ...draft.headers].join(end)}${end}${end}${draft.body}`;
  });
  let bytes = Buffer.from(requests.join(dice.chance(0.05) ? '\r\n' : ''), 'latin1');
  for (let i = dice.chance(0.3) ? 1 + dice.below(4) : 0; i > 0; i -= 1) {
    bytes[dice.below(bytes.length)] = dice.below(256);
  }
  if (dice.chance(0.2)) bytes = bytes.subarray(0, dice.below(bytes.length));
  return bytes;
}

/** Sends bytes in some pieces and closes this side, or all of it at once; returns the answer. */
async function exchange(bytes: Buffer, dice: Dice): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const parts: Buffer[] = [];
  const { hostname, port } = new URL(fuzzed.program.url);
  const isLeaving = dice.chance(0.1);
  const cut = dice.chance(0.5) ? bytes.length : dice.below(bytes.length + 1);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true }, () => {
    socket.write(bytes.subarray(0, cut), () => {
      if (isLeaving) socket.destroy();
      else socket.end(bytes.subarray(cut));
    });
  });
  const hung = setTimeout(() => {
    reject(new Error(`No end within ${HUNG_MS} ms: ${Buffer.concat(parts).toString('latin1')}`));
    socket.destroy();
  }, HUNG_MS);
  socket.on('data', (part) => void parts.push(part));
  // A server that closes while bytes are still coming resets the connection.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    clearTimeout(hung);
    resolve(Buffer.concat(parts).toString('latin1'));
  });
  return promise;
}

it('the gateway answers, refuses or closes whatever comes over a socket', CAMPAIGN, async () => {
  const statuses = new Map<string, number>();
  await campaign(
    'raw HTTP',
    fc.record({ seed }),
    async ({ seed }) => {
      const dice = new Dice(seed);
      const bytes = drawBytes(dice);
      const shown = JSON.stringify(bytes.toString('latin1').slice(0, 3_000));
      const answer = await exchange(bytes, dice).catch((error: Error) =>
        expect.fail(`${error.message}\n${shown}`),
      );
      for (const [, status = ''] of answer.matchAll(/^HTTP\/1\.1 (\d+) /gm)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(Number(status), `${shown}\n${answer.slice(0, 2_000)}`).toBeLessThan(500);
      }
      for (const [, code] of answer.matchAll(/"extensions":\{"code":"(\w+)"/g)) {
        if (!CODES.has(code)) expect.fail(`${shown}\n${answer.slice(0, 2_000)}`);
      }
      const { body, status } = await fuzzed.send('', posted(BODY), shown);
      expect([status, body.data], shown).toEqual([200, { quota: { state: 'OK' }, country: { code: 'KE' } }]);
    },
    () => `, ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
  );
});
