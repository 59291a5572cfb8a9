import { setImmediate } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressionFor } from '../../src/server/bodies.ts';
import { open } from '../operations/exchange.ts';

const COUNTRIES = '{ countries { code name } }';
const SMALL = '{ country(code: "KE") { name } }';

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

/** The program after the operation was asked so often that its answer is kept, and that answer as it is. */
async function openWith(query: string) {
  const program = await open();
  for (let i = 0; i < 2; i += 1) await program.send({ body: { query } });
  const plain = await program.send({ body: { query } });
  expect(program.repeats()).toEqual([false, false, true]);
  program.requests();
  return Object.assign(program, { plain });
}

describe.for(Object.entries(DECODERS))('%s', ([encoding, decoded]) => {
  it('a compressed answer holds just what is sent without it, whichever way the answer came', async () => {
    await using program = await open();
    const asked = { body: { query: COUNTRIES }, headers: { 'accept-encoding': encoding } };
    const [first, second, third, fourth] = [
      await program.send(asked),
      await program.send(asked),
      await program.send(asked),
      await program.send(asked),
    ];
    const plain = await program.send({ body: asked.body });
    for (const { status, headers } of [first, second, third, fourth]) {
      expect([status, headers['content-encoding']]).toEqual([200, encoding]);
      expect(headers.vary?.split(', ')).toEqual([
        'Authorization',
        'Accept',
        'X-Explain',
        'X-Offline',
        'X-Absences',
        'X-Snapshot',
        'Accept-Encoding',
      ]);
    }
    expect(JSON.parse(String(decoded(first.bytes))).data).toEqual(JSON.parse(plain.text).data);
    for (const { bytes } of [second, third, fourth]) expect(decoded(bytes).equals(plain.bytes)).toBe(true);
    // Kept bytes are made once, and smaller than those that are sent once.
    expect(fourth.bytes.equals(third.bytes)).toBe(true);
    expect(third.bytes.length).toBeLessThanOrEqual(second.bytes.length);
    expect(third.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(program.repeats()).toEqual([false, false, true, true, true]);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });

  it('a compressed answer holds a refusal too', async () => {
    await using program = await open();
    const query = `{ ${Array.from({ length: 30 }, (_, i) => `a${i}: nothing`).join(' ')} }`;
    const { bytes, headers, status } = await program.send({
      body: { query },
      headers: { 'accept-encoding': encoding },
    });
    expect([status, headers['content-encoding']]).toEqual([200, encoding]);
    expect(JSON.parse(String(decoded(bytes))).errors).toHaveLength(30);
  });
});

describe('of several encodings', () => {
  it.for([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['zstd;q=0.2, br;q=0.3, gzip;q=0.9', 'gzip'],
    ['zstd;q=0, br;q=0, gzip', 'gzip'],
    ['gzip;q=0.5, *;q=0.1', 'gzip'],
    ['zstd;q=0, *', undefined],
    ['*', undefined],
    ['identity', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['gzip;q=0', undefined],
    [`${'gzip;q=0.1, '.repeat(30)}br`, undefined],
    ['*;q=0', undefined],
    ['deflate', undefined],
    ['', undefined],
  ] as const)('of several encodings one is taken: %s is answered with %s', async ([accepted, encoding]) => {
    await using program = await openWith(COUNTRIES);
    const { headers, bytes } = await program.send({
      body: { query: COUNTRIES },
      headers: { 'accept-encoding': accepted },
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toContain('Accept-Encoding');
    const decoded = encoding === undefined ? bytes : DECODERS[encoding]?.(bytes);
    expect(decoded?.equals(program.plain.bytes)).toBe(true);
    expect(program.repeats()).toEqual([true]);
    expect(program.requests()).toEqual([]);
  });
});

it('compression leaves small answers as they are', async () => {
  await using program = await openWith(SMALL);
  const { headers, bytes } = await program.send({
    body: { query: SMALL },
    headers: { 'accept-encoding': 'gzip, br, zstd' },
  });
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.vary).toBe('Authorization, Accept, X-Explain, X-Offline, X-Absences, X-Snapshot');
  expect(bytes.equals(program.plain.bytes)).toBe(true);
});

it.for(Object.entries(DECODERS))('%s is made anew once making it has failed', async ([encoding, decoded]) => {
  const encoded = new Map<string, Promise<Buffer>>();
  const compress = (body: Buffer) => compressionFor(encoding)?.compress(body, encoded);
  // The compressors refuse what is no buffer, as they do when memory is short: by a promise that is rejected.
  const failing = [{ length: 3 }, Buffer.from('abc')].map((body) => compress(body as Buffer));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const bytes = await compress(Buffer.from('abc'));
  expect(String(decoded(bytes ?? Buffer.alloc(0)))).toBe('abc');
  expect(await encoded.get(encoding)).toBe(bytes);
});

it.for([
  [16_384, 'compressed', 'another turn'],
  [8_000_000, 'another turn', 'compressed'],
] as const)(
  'compression hands a body of %i bytes to another thread only where that pays',
  async ([length, ...expected]) => {
    for (const encoding of Object.keys(DECODERS)) {
      const order: string[] = [];
      const turn = setImmediate().then(() => order.push('another turn'));
      const bytes =
        (await compressionFor(encoding)?.compress('a'.repeat(length), undefined)) ?? Buffer.alloc(0);
      order.push('compressed');
      await turn;
      expect(DECODERS[encoding]?.(bytes)).toHaveLength(length);
      expect(order).toEqual(expected);
    }
  },
);
