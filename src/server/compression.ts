import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import { LRUCache } from 'lru-cache';

/** Bodies below this travel in one packet as they are. */
const MIN_BYTES = 1_024;

/** Kinds of `Accept-Encoding` headers of which it is remembered what they ask for. */
const MAX_HEADERS = 100;

interface Compressor {
  /** For a body that is sent once: as fast as still pays. */
  readonly once: (body: Buffer) => Promise<Buffer>;
  /** For a body that is kept and sent again. */
  readonly kept: (body: Buffer) => Promise<Buffer>;
  /** For a body that is written while it is sent. */
  readonly stream: () => Transform;
}

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const zip = promisify(gzip);

const brotliAt = (quality: number) => (body: Buffer) =>
  brotli(body, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
  });
const zstdAt = (level: number) => (body: Buffer) =>
  zstd(body, { params: { [constants.ZSTD_c_compressionLevel]: level } });
const gzipAt = (level: number) => (body: Buffer) => zip(body, { level });

/** Of several encodings that a client likes equally, the first is taken. */
const COMPRESSORS: Readonly<Record<string, Compressor>> = {
  zstd: {
    once: zstdAt(1),
    kept: zstdAt(9),
    stream: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  },
  br: {
    once: brotliAt(1),
    kept: brotliAt(6),
    stream: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  },
  gzip: { once: gzipAt(1), kept: gzipAt(6), stream: () => createGzip({ level: 1 }) },
};

const negotiator = new Negotiator({
  // What `*` stands for is the first: none of ours, since a client may have refused that one by name.
  supportedValues: ['', ...Object.keys(COMPRESSORS), 'identity'],
  cache: new LRUCache<string, string>({ max: MAX_HEADERS }),
});

/** Whether a body is worth compressing for those who take that, so that what is sent depends on `Accept-Encoding`. */
export function isCompressible(body: string | Buffer): boolean {
  return body.length >= MIN_BYTES;
}

/** The encoding to send in; null where the client asks for none of ours. */
export function encodingFor(accepted: string | undefined): string | null {
  const encoding = accepted === undefined ? null : negotiator.negotiate(accepted);
  return encoding === '' || encoding === 'identity' ? null : encoding;
}

/** @param encoded forms that are kept with the body, where it is kept */
export function compress(
  body: string | Buffer,
  encoding: string,
  encoded: Map<string, Promise<Buffer>> | undefined,
): Promise<Buffer> {
  const { once, kept } = COMPRESSORS[encoding] as Compressor;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (encoded === undefined) return once(bytes);
  const known = encoded.get(encoding) ?? kept(bytes);
  encoded.set(encoding, known);
  return known;
}

export function compressing(encoding: string): Transform {
  return (COMPRESSORS[encoding] as Compressor).stream();
}
