import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { Unreadable } from './bodies.ts';

/** All that Node knows. */
export const ENCODINGS = 'gzip, deflate, br, zstd';

/** Nested encodings of a body. */
const MAX_ENCODINGS = 4;

const CHUNK_BYTES = 65_536;

/** HTTP allows windows up to 8 MiB (RFC 9659). */
const ZSTD_WINDOW = { [constants.ZSTD_d_windowLogMax]: 23 };

/** `bytesWritten` counts what it has read. */
type Unpacker = Transform & { readonly bytesWritten: number };

type Open = (first: Buffer) => Unpacker;

const gunzip: Open = () => createGunzip({ chunkSize: CHUNK_BYTES });

const OPEN: Readonly<Record<string, Open>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some services send it without zlib's header.
  deflate: ([byte = 0]) =>
    (byte & 0x0f) === 8
      ? createInflate({ chunkSize: CHUNK_BYTES })
      : createInflateRaw({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params: ZSTD_WINDOW }),
};

/** Null if the body has no encodings. Throws Unreadable. */
export function encodingsIn(header: string | string[] | undefined): readonly Open[] | null {
  if (header === undefined) return null;
  const names = String(header)
    .split(',', MAX_ENCODINGS * 4)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0) return null;
  if (names.length > MAX_ENCODINGS) throw new Unreadable('the body has too many encodings');
  return names.reverse().map((name) => {
    if (!Object.hasOwn(OPEN, name))
      throw new Unreadable(`the body has an encoding that is not known: ${name.slice(0, 40)}`);
    return OPEN[name] as Open;
  });
}

export class TooLarge extends Unreadable {
  constructor() {
    super('the body is too large');
  }
}

const notEncoded = () => new Unreadable('the body is not encoded as it says');

export interface Unpacked {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(reason: Unreadable): void;
  /** Called when more may be written, after `write` has returned false. */
  onDrain(): void;
}

/**
 * Unpacks a body as it comes, and gives it up before it is too large.
 * @param maxBytes bound for the output of each encoding
 */
export function openUnpacking(encodings: readonly Open[], maxBytes: number, to: Unpacked) {
  const streams: Unpacker[] = [];
  /** Bytes that each stream was given. */
  const given: number[] = [];

  /** @returns true if more may be written at once */
  function write(chunk: Buffer, level = 0): boolean {
    if (chunk.length === 0) return true;
    const open = encodings[level];
    if (open === undefined) {
      to.onData(chunk);
      return true;
    }
    streams[level] ??= opened(level, open(chunk));
    given[level] = (given[level] ?? 0) + chunk.length;
    return streams[level].write(chunk);
  }

  /** Ends the body; `onEnd` follows once all is unpacked. */
  function end(level = 0): void {
    if (level === encodings.length) to.onEnd();
    // An empty body has no encoding.
    else if (streams[level] === undefined) end(level + 1);
    else streams[level].end();
  }

  function opened(level: number, stream: Unpacker): Unpacker {
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) to.onError(new TooLarge());
      else write(chunk, level + 1);
    });
    stream.on('end', () => {
      // What follows the end of the encoding is left: it is no part of the body, or a second body that would be lost.
      if (stream.bytesWritten === given[level]) end(level + 1);
      else to.onError(notEncoded());
    });
    stream.on('error', () => to.onError(notEncoded()));
    if (level === 0) stream.on('drain', () => to.onDrain());
    return stream;
  }

  return {
    write,
    end,
    close() {
      for (const stream of streams) stream.destroy();
    },
  };
}
