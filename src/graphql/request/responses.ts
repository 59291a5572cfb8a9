import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openBill } from '../../service/bill.ts';
import { errorBody } from '../../shared/errors.ts';

/** Request headers on which a cacheable answer depends. */
export const VARIES = 'Authorization, Accept, X-Explain, X-Offline, X-Absences, X-Snapshot';

/** The answer to one request of GraphQL over HTTP. */
export interface GatewayResponse {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Strings if it comes in parts; chunks of bytes if written while sent. */
  readonly body: string | Buffer | AsyncIterable<string> | WrittenBody;
  /** Compressed forms by `Content-Encoding`, if cached. */
  readonly encoded?: Map<string, Promise<Buffer>>;
}

/** The body of a refusal before anything is run: an error, and a bill without calls. */
export function refusalBody(...[code, message, fields]: Parameters<typeof errorBody>): string {
  return errorBody(code, message, fields, { extensions: { upstream: openBill() } });
}

/** Written no faster than it is read: each chunk is made on demand. */
export class WrittenBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  /** Roughly, until it is sent. */
  readonly retainedBytes: number;

  constructor(chunks: AsyncGenerator<Uint8Array>, retainedBytes: number) {
    this.#chunks = chunks;
    this.retainedBytes = retainedBytes;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#chunks;
  }
}

export async function wholeBody(body: GatewayResponse['body']): Promise<string> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : text(Readable.from(body));
}
