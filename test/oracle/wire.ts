import * as zlib from 'node:zlib';
import type { Encoding, FailingEnvelope, Habits } from './habits.ts';

const WORDS = 'The database is away.';

/** A failure that comes with the status 200. */
export function failed(envelope: FailingEnvelope): unknown {
  switch (envelope) {
    case 'detail':
      return { detail: WORDS, data: [] };
    case 'error':
      return { error: { message: WORDS } };
    case 'errors':
      return { data: null, errors: [{ message: WORDS }] };
    case 'success':
      return { success: false, data: [] };
    case 'status':
      return { status: 'error', message: WORDS, data: [] };
    case 'message':
      return { message: WORDS };
  }
}

/** A body that says of itself that it is well, if it has an envelope to say so in. */
export function saidWell(body: unknown): unknown {
  const isWrapped = typeof body === 'object' && body !== null && ('data' in body || 'results' in body);
  return isWrapped ? { success: true, status: 'ok', error: null, detail: null, ...body } : body;
}

/** A body as bytes, and their encoding. */
export function encoded(text: string, { encoding, encodesUnasked }: Habits, asked: string) {
  const plain = Buffer.from(text);
  if (encoding === 'identity') return { bytes: plain, encoding: null };
  const name = encoding === 'raw deflate' ? 'deflate' : encoding;
  const isAsked = name.split(', ').every((one) => asked.includes(one.replace('x-', '')));
  if (!isAsked && !encodesUnasked) return { bytes: plain, encoding: null };
  return { bytes: ENCODERS[encoding](plain), encoding: name };
}

const quickly = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } };

const ENCODERS: Readonly<Record<Encoding, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => zlib.gzipSync(bytes, { level: 1 }),
  'x-gzip': (bytes) => zlib.gzipSync(bytes, { level: 1 }),
  deflate: (bytes) => zlib.deflateSync(bytes, { level: 1 }),
  'raw deflate': (bytes) => zlib.deflateRawSync(bytes, { level: 1 }),
  br: (bytes) => zlib.brotliCompressSync(bytes, quickly),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
  'gzip, br': (bytes) => zlib.brotliCompressSync(zlib.gzipSync(bytes, { level: 1 }), quickly),
};
