import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** The request headers that the form of an answer depends on, if it may be cached. */
export const VARIES = 'Authorization, Accept, X-Explain, X-Offline, X-Absences';

export interface GatewayResponse {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Texts if it comes in parts; chunks of bytes if it is written while it is sent. */
  readonly body: string | Buffer | AsyncIterable<string> | WrittenBody;
  /** Compressed forms of the body by their `Content-Encoding`, if both are cached. */
  readonly encoded?: Map<string, Promise<Buffer>>;
}

/** A body that is written while it is sent, no faster than it is read: each chunk is made when it is asked for. */
export class WrittenBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  /** Bytes that are reserved for it until it is sent, roughly. */
  readonly retainedBytes: number;

  constructor(chunks: AsyncGenerator<Uint8Array>, retainedBytes: number) {
    this.#chunks = chunks;
    this.retainedBytes = retainedBytes;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#chunks;
  }
}

/** Returns the whole of a body as text, for use in this process. */
export async function wholeBody(body: GatewayResponse['body']): Promise<string> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : text(Readable.from(body));
}
