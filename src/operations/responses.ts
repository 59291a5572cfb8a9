import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fresh from 'fresh';
import { type GraphQLFormattedError, Kind, type OperationDefinitionNode } from 'graphql';
import { excerpt } from '../errors.ts';
import { lengthOf, type TextPieces } from '../execution/columns.ts';
import type { Bill } from '../service/call.ts';
import type { Warning } from '../warnings.ts';

/** Errors that one answer lists. */
const MAX_ERRORS = 1_000;

/**
 * Bounds the errors that an answer tells: not all of very many, and not all of a very long text of another's choice. If
 * some are left out, a last one says how many, by code. Each names the request, so that it is found in the log.
 */
export function toldErrors(
  errors: readonly GraphQLFormattedError[],
  requestId?: string,
): readonly GraphQLFormattedError[] {
  const told = errors.slice(0, MAX_ERRORS).map(shortened);
  const others = errors.slice(MAX_ERRORS);
  if (others.length > 0) told.push(summaryOf(others));
  if (requestId === undefined) return told;
  return told.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

function shortened(error: GraphQLFormattedError): GraphQLFormattedError {
  const message = excerpt(error.message);
  const { detail } = error.extensions ?? {};
  if (typeof detail !== 'string') return { ...error, message };
  return { ...error, message, extensions: { ...error.extensions, detail: excerpt(detail) } };
}

/** Sums up the others under the code of the first of them, so that a reader of codes finds one that is known. */
function summaryOf(others: readonly GraphQLFormattedError[]): GraphQLFormattedError {
  const [first] = others;
  return {
    message: `There are ${others.length} errors more than an answer lists.`,
    extensions: {
      code: first?.extensions?.code,
      retryable: first?.extensions?.retryable ?? false,
      leftOut: countsOf(others.map(({ extensions }) => String(extensions?.code))),
    },
  };
}

/** Counts how often each code occurs. */
export function countsOf(codes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** The request headers that the form of an answer depends on, if it may be kept. */
export const VARIES = 'Authorization, Accept, X-Explain';

export interface GatewayResponse {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Texts if it comes in parts; chunks of bytes if it is written while it is sent. */
  readonly body: string | Buffer | AsyncIterable<string> | WrittenBody;
  /** Compressed forms of the body by their `Content-Encoding`, if both are kept. */
  readonly encoded?: Map<string, Promise<Buffer>>;
}

/** A body that is written while it is sent, no faster than it is read: each chunk is made when it is asked for. */
export class WrittenBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  /** Bytes that are kept for it until it is sent, roughly. */
  readonly heldBytes: number;

  constructor(chunks: AsyncGenerator<Uint8Array>, heldBytes: number) {
    this.#chunks = chunks;
    this.heldBytes = heldBytes;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#chunks;
  }
}

/** Returns the whole of a body as text, for use in this process. */
export async function wholeBody(body: GatewayResponse['body']): Promise<string> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : text(Readable.from(body));
}

/**
 * Names an answer by its data, not by its cost. The tag is weak, since bodies of one name differ in
 * `extensions.upstream`.
 */
export function entityTag(data: TextPieces | Buffer): string {
  const hash = createHash('sha256');
  for (const piece of Buffer.isBuffer(data) ? [data] : data) hash.update(piece);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/** The facts that an answer states about itself. */
export interface Extensions {
  readonly upstream: Bill;
  /** Undefined, and not in the answer, if there are none. */
  readonly warnings: readonly Warning[] | undefined;
  /** The trace of its fields, as Apollo's routers name it; undefined if nobody asked for it. */
  readonly ftv1: string | undefined;
}

/** Characters of data beyond which a body is put together as bytes: to join long texts takes longer than to encode them. */
const LONG_DATA = 16_384;

/** Writes an answer's body around the data of a plan. */
export function writeBody(
  data: TextPieces,
  errors: readonly GraphQLFormattedError[],
  extensions: Extensions,
): string | Buffer {
  const told = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`;
  const start = `{${told}"data":`;
  const end = `,"extensions":${JSON.stringify(extensions)}}`;
  return lengthOf(data) > LONG_DATA ? bytesOf([start, ...data, end]) : start + data.join('') + end;
}

/**
 * Spare bytes for characters that take more than one: to measure a long text takes several times as long as to write
 * it.
 */
const SPARE_BYTES = 1_024;

/** Bytes that the longest character takes: a text that ends further from the end of its room was written whole. */
const LONGEST_CHARACTER = 4;

function bytesOf(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + length, SPARE_BYTES));
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    if (bytes.length - at < LONGEST_CHARACTER) return Buffer.from(texts.join(''));
  }
  return bytes.subarray(0, at);
}

/** Cuts the data out of the bytes of a body that tells no errors. */
export function dataIn(body: Buffer, dataBytes: number): Buffer {
  const start = '{"data":'.length;
  return body.subarray(start, start + dataBytes);
}

/** Tells if a client may take JSON, so that an answer is worth while. Apollo finds out which types exactly it takes. */
export function mayAccept(accepts: string): boolean {
  return accepts === '' || takes(accepts, /json|\/\*/i);
}

/** Tells if a client knows `application/graphql-response+json`, as its `Accept` header shows. */
export function isModern(accepts: string): boolean {
  return takes(accepts, /^ *application\/graphql-response\+json *(;|$)/i);
}

/** Tells if an `Accept` header has a range of types that fits, and doesn't rule it out by a weight of 0. */
function takes(accepts: string, type: RegExp): boolean {
  return accepts.split(',').some((range) => type.test(range) && !RULED_OUT.test(range));
}

/**
 * Tells if an `Accept` header has room for JSON. The narrowest range that fits decides; no range at all is room for
 * anything.
 */
export function acceptsJson(accepts: string | undefined): boolean {
  if (accepts === undefined || accepts.trim() === '') return true;
  const ranges = accepts.split(',');
  const fitting = JSON_RANGES.map((type) => ranges.filter((range) => type.test(range)));
  return fitting.find(({ length }) => length > 0)?.some((range) => !RULED_OUT.test(range)) ?? false;
}

/** The narrowest first. */
const JSON_RANGES = [
  /^\s*application\/json\s*(;|$)/i,
  /^\s*application\/\*\s*(;|$)/i,
  /^\s*\*(\/\*)?\s*(;|$)/,
] as const;

const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;

/**
 * Returns the status of an answer. Clients that accept `application/graphql-response+json` get 401 if nothing could run
 * for want of a valid key. Older ones get 200 for every answer to an operation, as they take any other status for a
 * failure of the network. Routers that ask for entities get 200 too, since most of them drop the errors of an answer
 * with another status.
 * @param status that the answer would be sent with otherwise
 */
export function statusOf<Status extends number | undefined>(
  {
    accepts,
    errors,
    data,
    operation,
    hadOperation,
  }: {
    /** The `Accept` header. */
    readonly accepts: string;
    readonly errors: readonly GraphQLFormattedError[];
    readonly data: () => unknown;
    /** Null if the request holds none that could be found. */
    readonly operation: OperationDefinitionNode | null;
    readonly hadOperation: boolean;
  },
  status: Status,
): Status | 200 | 401 {
  if (errors.length > 0 && operation !== null && asksForEntities(operation)) return 200;
  if (!isModern(accepts)) return status === 400 && hadOperation ? 200 : status;
  const isUnauthenticated =
    errors.length > 0 && errors.every(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return isUnauthenticated && isNothing(data()) ? 401 : status;
}

/** Tells if an operation asks for entities. Only routers do, and they ask at the root, under any alias. */
function asksForEntities({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === '_entities',
  );
}

/** Tells if an answer, at any depth, holds nothing but nulls. */
export function isNothing(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.values(value).every(isNothing));
}

/**
 * Tags an answer if a client can make use of that: to a GET, and to an operation that was asked for by its hash. A
 * client that has got it already gets 304 instead, if it asked with GET.
 */
export function tagged(
  { method, headers: asked }: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  isPersisted: boolean,
  response: GatewayResponse,
  errors: readonly GraphQLFormattedError[] | null,
  tag: () => string,
): GatewayResponse {
  if (errors?.length !== 0 || (method !== 'GET' && !isPersisted)) return response;
  const headers = new Map(response.headers).set('etag', tag());
  if (method === 'GET' && isHeld(asked['if-none-match'], headers.get('etag')))
    return { status: 304, headers, body: '' };
  return { ...response, headers };
}

/**
 * Tells if a client has the answer that a tag names, by the tag alone. `fetch` adds `Cache-Control: no-cache` to each
 * request that has an `If-None-Match`, so that no cache in between answers it, and means nothing else by that.
 */
export function isHeld(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  return etag !== undefined && fresh({ 'if-none-match': ifNoneMatch }, { etag });
}
