import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

/** Encodings that a service is asked for: all that Node unpacks. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br, zstd';

/** Encodings that a body may have one within the other. */
const MAX_ENCODINGS = 4;

/** Bytes that are unpacked at once. */
const CHUNK_BYTES = 65_536;

/** Parameters of zstd: windows beyond 8 MiB are none that HTTP allows (RFC 9659). */
const ZSTD_WINDOW = { [constants.ZSTD_d_windowLogMax]: 23 };

type Open = (first: Buffer) => Transform;

const gunzip: Open = () => createGunzip({ chunkSize: CHUNK_BYTES });

const OPEN: Readonly<Record<string, Open>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some services send it without the header that the name stands for.
  deflate: ([byte = 0]) =>
    (byte & 0x0f) === 8
      ? createInflate({ chunkSize: CHUNK_BYTES })
      : createInflateRaw({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params: ZSTD_WINDOW }),
};

/** A fault of a body that can't be unpacked; the message says why. */
export class Unreadable extends Error {}

/**
 * Returns the steps that undo the encodings of a body, in their order; null if there are none.
 * @throws Unreadable if one of them is not known, or there are too many
 */
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

export interface UnpackingParts {
  readonly encodings: readonly Open[];
  /** Bytes that may come of each encoding. */
  readonly maxBytes: number;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  readonly onError: (reason: Unreadable) => void;
  /** Called when more may be written, after `write` has said that it has enough. */
  readonly onDrain: () => void;
}

/** Unpacks a body as it comes, within bounds: a body that would be too large is given up before it is. */
export class Unpacking {
  readonly #parts: UnpackingParts;
  readonly #streams: Transform[] = [];

  constructor(parts: UnpackingParts) {
    this.#parts = parts;
  }

  /** @returns true if more may be written at once */
  write(chunk: Buffer): boolean {
    return chunk.length === 0 || this.#write(0, chunk);
  }

  /** Ends the body; `onEnd` follows once all is unpacked. */
  end(): void {
    this.#end(0);
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  #write(level: number, chunk: Buffer): boolean {
    const open = this.#parts.encodings[level];
    if (open === undefined) {
      this.#parts.onData(chunk);
      return true;
    }
    this.#streams[level] ??= this.#opened(level, open(chunk));
    return (this.#streams[level] as Transform).write(chunk);
  }

  #end(level: number): void {
    if (level === this.#parts.encodings.length) this.#parts.onEnd();
    // Nothing at all has come: that is an empty body, in any encoding.
    else if (this.#streams[level] === undefined) this.#end(level + 1);
    else this.#streams[level].end();
  }

  #opened(level: number, stream: Transform): Transform {
    const { maxBytes, onError, onDrain } = this.#parts;
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) onError(new Unreadable('the body is too large'));
      else this.#write(level + 1, chunk);
    });
    stream.on('end', () => this.#end(level + 1));
    stream.on('error', () => onError(new Unreadable('the body is not encoded as it says')));
    if (level === 0) stream.on('drain', onDrain);
    return stream;
  }
}
