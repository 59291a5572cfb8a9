import { connect } from 'node:net';
import * as zlib from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { openFolder, openIssuing } from '../issued/issuing.ts';
import { freePort } from '../support/free-port.ts';
import { openProgram, type Program } from '../support/program.ts';
import { CARD, trustedFile } from '../tools/documents.ts';

const MAX_BODY_BYTES = 20_000;
const ENCODINGS = 'gzip, deflate, br, zstd';
const QUERY = '{ country(code: "KE") { name } }';
const BODY = JSON.stringify({ query: QUERY });

const file = trustedFile([CARD, QUERY]);
afterAll(() => file.remove());

const open = () =>
  openProgram({
    env: {
      CACHE_URL: 'memory:',
      MAX_BODY_BYTES: String(MAX_BODY_BYTES),
      MCP: 'on',
      TRUSTED_DOCUMENTS: file.path,
      SUBSCRIPTIONS: 'on',
    },
  });

async function post(
  { url, sandbox }: Pick<Program, 'url' | 'sandbox'>,
  encoding: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      authorization: `Bearer ${sandbox.keys.team}`,
      'content-encoding': encoding,
      ...headers,
    },
    body: new Uint8Array(Buffer.from(body)),
  });
  const takes = response.headers.get('accept-encoding');
  return { status: response.status, takes, body: JSON.parse(await response.text()) };
}

/** The body of an operation, of so many bytes. */
const padded = (bytes: number) => `${BODY.slice(0, -1)}${' '.repeat(bytes - BODY.length)}}`;

describe('a compressed request', () => {
  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
  ])('a compressed request that goes on behind its end is refused: %s', async (encoding, pack) => {
    await using program = await open();
    for (const rest of ['x', '{"query":"{ platformVersion { version } }"}', pack(Buffer.from('x'))]) {
      const body = Buffer.concat([pack(Buffer.from(BODY)), Buffer.from(rest)]);
      expect(await post(program, encoding, body)).toMatchObject({
        status: 400,
        body: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] },
      });
    }
    expect(program.requests()).toEqual([]);
  });

  it.each([
    ['gzip', zlib.gzipSync],
    ['x-gzip', zlib.gzipSync],
    ['GZIP', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['gzip, br', (text: string) => zlib.brotliCompressSync(zlib.gzipSync(text))],
    ['identity', (text: string) => text],
  ])('a compressed request in %s is read', async (encoding, pack) => {
    await using program = await open();
    const { status, body } = await post(program, encoding, pack(BODY));
    expect([status, body.data]).toEqual([200, { country: { name: 'Kenya' } }]);
    expect([body.extensions.upstream.calls, program.requests().length]).toEqual([1, 1]);
    // As long as it may be, and one byte longer.
    expect((await post(program, encoding, pack(padded(MAX_BODY_BYTES)))).status).toBe(200);
    const beyond = await post(program, encoding, pack(padded(MAX_BODY_BYTES + 1)));
    expect(beyond).toMatchObject({
      status: 413,
      body: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] },
    });
    expect([program.requests(), program.problems]).toEqual([[], []]);
  });

  it('a compressed request that would be far too long is given up before it is unpacked', async () => {
    await using program = await open();
    const bomb = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')));
    expect(bomb.length).toBeLessThan(MAX_BODY_BYTES);
    expect((await post(program, 'gzip, gzip', bomb)).status).toBe(413);
    expect([program.problems, program.requests()]).toEqual([[], []]);
  });

  it('a compressed request in an encoding that is not known is told those that are', async () => {
    await using program = await open();
    for (const encoding of ['snappy', 'gzip, snappy', 'none', 'gzip,gzip,gzip,gzip,gzip', 'constructor']) {
      const { status, takes, body } = await post(program, encoding, BODY);
      expect([status, takes]).toEqual([415, ENCODINGS]);
      expect(body.errors[0]).toMatchObject({
        message: `Send bodies as they are, or in one of ${ENCODINGS}.`,
        extensions: { code: 'BAD_REQUEST', retryable: false },
      });
    }
    expect([program.problems, program.requests()]).toEqual([[], []]);
  });

  it('a compressed request that is not encoded as it says is refused', async () => {
    await using program = await open();
    const damaged = [BODY, zlib.gzipSync(BODY).subarray(0, -9), '', zlib.brotliCompressSync(BODY)];
    for (const body of damaged) expect((await post(program, 'gzip', body)).status).toBe(400);
    expect([program.problems, program.requests()]).toEqual([[], []]);
  });

  it('a compressed request is nobody’s fault if its client leaves', async () => {
    await using program = await open();
    const { hostname, port } = new URL(program.url);
    const packed = zlib.gzipSync(BODY);
    const head = `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) =>
      socket.write(Buffer.concat([Buffer.from(head), packed.subarray(0, 20)]), resolve),
    );
    socket.resetAndDestroy();
    expect((await post(program, 'gzip', packed)).status).toBe(200);
    expect(program.problems).toEqual([]);
  });

  it('a compressed request is read at every door', async () => {
    await using program = await open();
    const url = program.url.replace('/graphql', '/mcp');
    const listing = zlib.gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
    const listed = await post({ ...program, url }, 'gzip', listing, { accept: 'application/json' });
    expect([listed.status, listed.body.result.tools.length]).toEqual([200, 3]);
    expect(await post({ ...program, url }, 'snappy', listing)).toMatchObject({
      status: 415,
      takes: ENCODINGS,
    });
    const streamed = await post({ ...program, url: `${program.url}/stream` }, 'snappy', zlib.gzipSync(BODY), {
      accept: 'text/event-stream',
    });
    expect(streamed).toMatchObject({ status: 415, takes: ENCODINGS });
  });

  it('a compressed request is read from operators', async () => {
    using folder = openFolder();
    const [OPERATOR_KEY, port] = ['operator-key-0123456789', await freePort()];
    const env = { OPERATOR_KEY, ADMIN_PORT: String(port) };
    await using program = await openIssuing({ ...folder, env });
    const url = `http://localhost:${port}/keys`;
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
    const terms = zlib.gzipSync(JSON.stringify({ name: 'packed' }));
    expect(await post({ ...program, url }, 'gzip', terms, headers)).toMatchObject({
      status: 201,
      body: { terms: { name: 'packed' } },
    });
    expect((await post({ ...program, url }, 'snappy', terms, headers)).takes).toBe(ENCODINGS);
  });
});
