import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  gzipSync,
  type ZstdOptions,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import { LRUCache } from 'lru-cache';

/** Bytes below which a body travels in one packet as it is. */
const MIN_BYTES = 1_024;

/** Bytes up to which a body that is sent once is compressed in less time than it takes to have another thread do it. */
const MAX_HERE_BYTES = 16_384;

/** Kinds of `Accept-Encoding` headers whose choice is remembered. */
const MAX_HEADERS = 100;

interface Compressor {
  /** Compresses a body that is sent once: as fast as still pays. */
  readonly fast: (body: Buffer) => Promise<Buffer>;
  /** Does the same for a short body, in this thread. */
  readonly fastHere: (body: Buffer) => Buffer;
  /** Compresses a body that is kept and sent again. */
  readonly kept: (body: Buffer) => Promise<Buffer>;
  /** Compresses a body that is written while it is sent. */
  readonly stream: () => Transform;
}

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const zip = promisify(gzip);

const BROTLI_FAST: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const ZSTD_FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const GZIP_FAST = { level: 1 };

const brotliOptions = (quality: number, { length }: Buffer): BrotliOptions => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: length },
});

/** The compressors by encoding. Of several that a client likes equally, the first is taken. */
const COMPRESSORS: Readonly<Record<string, Compressor>> = {
  zstd: {
    fast: (body) => zstd(body, ZSTD_FAST),
    fastHere: (body) => zstdCompressSync(body, ZSTD_FAST),
    kept: (body) => zstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 9 } }),
    stream: () => createZstdCompress(ZSTD_FAST),
  },
  br: {
    fast: (body) => brotli(body, brotliOptions(1, body)),
    fastHere: (body) => brotliCompressSync(body, brotliOptions(1, body)),
    kept: (body) => brotli(body, brotliOptions(6, body)),
    stream: () => createBrotliCompress(BROTLI_FAST),
  },
  gzip: {
    fast: (body) => zip(body, GZIP_FAST),
    fastHere: (body) => gzipSync(body, GZIP_FAST),
    kept: (body) => zip(body, { level: 6 }),
    stream: () => createGzip(GZIP_FAST),
  },
};

const negotiator = new Negotiator({
  // `*` stands for the first, which is none of ours: a client may have refused ours by name.
  supportedValues: ['', ...Object.keys(COMPRESSORS), 'identity'],
  cache: new LRUCache<string, string>({ max: MAX_HEADERS }),
});

/** Tells if a body is worth compressing for clients that take that, so that its form depends on `Accept-Encoding`. */
export function isCompressible(body: string | Buffer): boolean {
  return body.length >= MIN_BYTES;
}

/** Returns the way to compress for an `Accept-Encoding` header; null if it asks for none of ours. */
export function compressionFor(accepted: string | undefined) {
  const encoding = accepted === undefined ? '' : (negotiator.negotiate(accepted) ?? '');
  const compressor = COMPRESSORS[encoding];
  if (compressor === undefined) return null;
  const { fast, fastHere, kept, stream } = compressor;
  return {
    encoding,
    stream,
    /** @param encoded forms that are kept with the body, if it is kept */
    async compress(body: string | Buffer, encoded: Map<string, Promise<Buffer>> | undefined) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (encoded === undefined) return bytes.length > MAX_HERE_BYTES ? fast(bytes) : fastHere(bytes);
      const known = encoded.get(encoding) ?? kept(bytes);
      encoded.set(encoding, known);
      return known;
    },
  };
}
