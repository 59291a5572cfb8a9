import { Readable } from 'node:stream';
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
import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, hasCopy } from '../graphql/request/entity-tags.ts';
import type { BodySending } from '../plugin/definition.ts';

/** Adds to `Vary`, and keeps what is there: CORS puts `Origin` there. */
export function addVary(reply: FastifyReply, value: string): void {
  const before = String(reply.getHeader('vary') ?? '');
  if (!before.split(', ').includes(value))
    reply.header('vary', before === '' ? value : `${before}, ${value}`);
}

/**
 * Sends 304 with the headers of the answer, except those of its body: caches copy the headers of a 304 to the answer that
 * they hold, and Fastify would name the type of an empty text.
 */
export function sendNotModified({ method }: FastifyRequest, reply: FastifyReply): void {
  // Fastify would tell a HEAD that the length of nothing is 0, but leaves out that of a stream.
  const nothing = method === 'HEAD' ? Readable.from([]) : undefined;
  reply.code(304).removeHeader('content-type').removeHeader('content-length').send(nothing);
}

/**
 * Tags an answer that is compressed for some.
 * @returns true if the client has it, and was sent a 304
 */
function isSentByTag(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  addVary(reply, 'Accept-Encoding');
  reply.header('etag', etag);
  if (!hasCopy(request.headers['if-none-match'], etag)) return false;
  sendNotModified(request, reply);
  return true;
}

/** Serves a text that never changes, with its tag. */
export function taggedText(
  read: () => string,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let text: string | undefined;
  let etag = '';
  const encoded = new Map<string, Promise<Buffer>>();
  return (request, reply) => {
    if (text === undefined) {
      text = read();
      etag = entityTag([text]);
    }
    reply.header('cache-control', 'no-cache');
    if (!isSentByTag(request, reply, etag)) sendBody(request, reply, text, encoded);
    return reply;
  };
}

/**
 * Sends a body, compressed if the client accepts that.
 * @param encoded forms that are cached with the body, if it is cached
 */
export function sendBody(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
  encoded?: Map<string, Promise<Buffer>>,
): void {
  const mayShrink = body.length >= MIN_BYTES;
  // A 304 says the same, whatever the length of the body.
  if (mayShrink || reply.hasHeader('etag')) addVary(reply, 'Accept-Encoding');
  const compression = mayShrink ? compressionFor(headers['accept-encoding']?.toString()) : null;
  // Fastify would measure a text first and encode it after.
  if (compression === null)
    reply.send(typeof body === 'string' && body.length > LONG_BODY ? Buffer.from(body) : body);
  else
    compression
      .compress(body, encoded)
      .then((bytes) => reply.header('content-encoding', compression.encoding).send(bytes))
      .catch((error: unknown) => reply.send(error));
}

/** Characters of a body from which it pays to encode it here, which saves Fastify a pass to measure it. */
const LONG_BODY = 16_384;

/** Bytes below which a body fits into one packet anyway. */
const MIN_BYTES = 1_024;

/** Bytes up to which a body is compressed in less time than it takes to hand it to another thread. */
const MAX_HERE_BYTES = 16_384;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const zip = promisify(gzip);

const BROTLI_FAST: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const ZSTD_FAST: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const GZIP_FAST = { level: 1 };

const brotliOptions = (quality: number, { length }: Buffer): BrotliOptions => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: length },
});

/**
 * Of several that a client likes equally, the first is taken. A body that is sent once is compressed as fast as still
 * pays, in this thread if it is short; one that is cached and sent again, better.
 */
const COMPRESSORS = [
  {
    encoding: 'zstd',
    fast: (body: Buffer) => zstd(body, ZSTD_FAST),
    fastHere: (body: Buffer) => zstdCompressSync(body, ZSTD_FAST),
    cacheable: (body: Buffer) => zstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 9 } }),
    stream: () => createZstdCompress(ZSTD_FAST),
  },
  {
    encoding: 'br',
    fast: (body: Buffer) => brotli(body, brotliOptions(1, body)),
    fastHere: (body: Buffer) => brotliCompressSync(body, brotliOptions(1, body)),
    cacheable: (body: Buffer) => brotli(body, brotliOptions(6, body)),
    stream: () => createBrotliCompress(BROTLI_FAST),
  },
  {
    encoding: 'gzip',
    fast: (body: Buffer) => zip(body, GZIP_FAST),
    fastHere: (body: Buffer) => gzipSync(body, GZIP_FAST),
    cacheable: (body: Buffer) => zip(body, { level: 6 }),
    stream: () => createGzip(GZIP_FAST),
  },
];

/** Characters of a header that is read: to parse one of 16 KB would take 10 ms. */
const MAX_ACCEPTED = 300;

const negotiator = new Negotiator({
  // `*` stands for the first: none of ours, since the client may have refused ours by name.
  supportedValues: ['', ...COMPRESSORS.map(({ encoding }) => encoding), 'identity'],
});

/** Null if an `Accept-Encoding` header asks for none of ours. */
export function compressionFor(accepted: string | undefined) {
  const isRead = accepted !== undefined && accepted.length <= MAX_ACCEPTED;
  const chosen = isRead ? negotiator.negotiate(accepted) : null;
  const compressor = COMPRESSORS.find(({ encoding }) => encoding === chosen);
  if (compressor === undefined) return null;
  const { encoding, fast, fastHere, cacheable, stream } = compressor;
  return {
    encoding,
    stream,
    /** @param encoded forms that are cached with the body, if it is cached */
    async compress(body: string | Buffer, encoded: Map<string, Promise<Buffer>> | undefined) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (encoded === undefined) return bytes.length > MAX_HERE_BYTES ? fast(bytes) : fastHere(bytes);
      const cachedBody = encoded.get(encoding);
      if (cachedBody !== undefined) return cachedBody;
      const making = cacheable(bytes);
      encoded.set(encoding, making);
      // The next to ask makes it anew.
      making.catch(() => encoded.delete(encoding));
      return making;
    },
  };
}

/** For routes of plugins. */
export const bodies: BodySending = { sendBody, isSentByTag, taggedText };
