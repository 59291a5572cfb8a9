import { type GraphQLSchema, parse } from 'graphql';
import { type Job, type Steps, timeSliced } from '../../async/turns.ts';
import { errorBody } from '../../errors.ts';
import type { PersistedTexts } from '../../operations/documents.ts';
import {
  acceptingInstead,
  ChangedRequest,
  type GatewayRequest,
  type GatewayResponse,
  type HandleRequest,
  isExplained,
  isNothing,
  textIn,
  VARIES,
  WrittenBody,
} from '../../operations/messages.ts';
import { openBill } from '../../service/call.ts';
import { type AnswerTable, isJsonObject, TooManyFields, tablesBySchema } from './answer-tables.ts';
import { parsedInSteps, type TableFormat, type TableWriter, tableFormatFor } from './writers.ts';

interface TabledParts {
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedTexts;
  readonly maxTokens: number;
  readonly maxAnswerBytes: number;
  /** Returns the job whose turns the making of a table takes. */
  readonly callerOf: (headers: GatewayRequest['headers'], exchanged: GatewayRequest['exchanged']) => Job;
}

/** The type that a table asks the other stages for: their statuses tell how the operation went. */
const JSON_ANSWER = 'application/graphql-response+json';

/** Rows that are written in one step. */
const STEP_ROWS = 16;

/** Bytes that are handed on at once, without those that a step adds. */
const CHUNK_BYTES = 65_536;

/**
 * Length of the longest table, as a multiple of the longest answer: cells of outer items stand in each of their rows.
 */
const LONGER = 16;

/**
 * Answers with the list of an operation as a table, if the client asks for one by `Accept`. The operation runs like any
 * other; if it has no single list, it is refused before it does. Answers that make no table, such as errors without
 * data, are JSON.
 */
export function tabled(next: HandleRequest, parts: TabledParts): HandleRequest {
  return (request) => {
    const format = tableFormatFor(request.headers.accept);
    return format === null ? next(request) : answered(request, format, next, parts);
  };
}

async function answered(
  request: GatewayRequest,
  format: TableFormat,
  next: HandleRequest,
  parts: TabledParts,
): Promise<GatewayResponse> {
  const table = tableFor(request, parts);
  if (typeof table === 'string') return refused(406, table, request);
  const response = await next(
    new ChangedRequest(request, { headers: acceptingInstead(request.headers, JSON_ANSWER) }),
  );
  const { status, body } = response;
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (status !== 200 || !isWhole || isExplained(request)) return varied(response);
  const job = parts.callerOf(request.headers, request.exchanged);
  const answer = await timeSliced(job, parsedInSteps(String(body)));
  const { data, errors, extensions } = isJsonObject(answer) ? answer : {};
  const faults = Array.isArray(errors) ? errors : [];
  // Errors without data are no rows.
  if (table === null || !isJsonObject(data) || (faults.length > 0 && isNothing(data)))
    return varied({ ...response, status: faults.length > 0 ? statusOfFault(faults[0]) : status });
  const writer = await format.open(table.columns);
  const chunks = chunksOf(written(table, data, writer), job, LONGER * parts.maxAnswerBytes);
  const headers = new Map(varied(response).headers).set('content-type', format.contentType);
  const sent = await beginning(chunks, body.length * HELD_TIMES);
  return { status, headers: told(headers, faults.length, extensions), body: sent };
}

/** Bytes of memory that parsed JSON takes, roughly, for each byte of its text. */
const HELD_TIMES = 4;

/** Makes the beginning of a body once the first chunk is there, so that a fault in that has a status of its own. */
async function beginning(
  chunks: AsyncGenerator<Uint8Array>,
  heldBytes: number,
): Promise<Buffer | WrittenBody> {
  const first = await chunks.next();
  const bytes = first.done ? Buffer.alloc(0) : Buffer.from(first.value);
  const second = await chunks.next();
  if (second.done) return bytes;
  return new WrittenBody(continued([bytes, second.value], chunks), heldBytes);
}

async function* continued(
  made: Uint8Array[],
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = made.shift(); chunk !== undefined; chunk = made.shift()) yield chunk;
    yield* chunks;
  } finally {
    await chunks.return(undefined);
  }
}

/**
 * Finds the table that an operation makes. A text says why it makes none; null leaves it to other stages to word the
 * fault.
 */
function tableFor(
  request: GatewayRequest,
  { schema, persisted, maxTokens }: TabledParts,
): AnswerTable | string | null {
  if (Array.isArray(request.body))
    return 'A table is made of one operation. Send them one by one, or ask for JSON.';
  const asked = textIn(request, persisted);
  if (asked === null) return null;
  try {
    const document = parse(asked.text, { maxTokens, noLocation: true });
    const [table, ...others] = tablesBySchema(schema, document, asked.operationName) ?? [];
    if (table === undefined || others.length === 0) return table ?? null;
    const paths = [table, ...others].map(({ path }) => path);
    return `A table is made of one list, and the operation has ${paths.length}: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}. Ask for one of them at a time, or for JSON.`;
  } catch (error) {
    return error instanceof TooManyFields ? error.message : null;
  }
}

/** Writes the table in steps, with a chunk after those that complete one. */
function* written(
  { rows }: AnswerTable,
  data: Parameters<AnswerTable['rows']>[0],
  writer: TableWriter,
): Generator<Uint8Array | undefined> {
  let count = 0;
  for (const row of rows(data, true)) {
    writer.add(row);
    count += 1;
    if (count % STEP_ROWS === 0) yield writer.waiting() >= CHUNK_BYTES ? writer.take() : undefined;
  }
  yield writer.finish();
}

/**
 * Makes each chunk on demand, in slices.
 * @throws TooLong, between two of them, if there is more than may be sent
 */
async function* chunksOf(
  steps: Generator<Uint8Array | undefined>,
  job: Job,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (;;) {
    const chunk = await timeSliced(job, nextChunk(steps));
    if (chunk === null) return;
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLong(maxBytes);
    yield chunk;
  }
}

/** @returns null after the last one */
function* nextChunk(steps: Generator<Uint8Array | undefined>): Steps<Uint8Array | null> {
  for (let step = steps.next(); !step.done; step = steps.next()) {
    if (step.value !== undefined) return step.value;
    yield;
  }
  return null;
}

class TooLong extends Error {
  constructor(limit: number) {
    super(`The table is longer than ${limit} bytes, ${LONGER} times MAX_ANSWER_BYTES, and was cut.`);
  }
}

function varied(response: GatewayResponse): GatewayResponse {
  const headers = new Map(response.headers).set('vary', VARIES);
  headers.delete('etag');
  return { ...response, headers };
}

/** Adds headers for the facts that have no place in a table: the numbers of errors and warnings, and the bill. */
function told(headers: Map<string, string>, errorCount: number, extensions: unknown): Map<string, string> {
  const { upstream = openBill(), warnings } = isJsonObject(extensions) ? extensions : {};
  headers.set('x-upstream-bill', JSON.stringify(upstream));
  if (errorCount > 0) headers.set('x-graphql-errors', String(errorCount));
  if (Array.isArray(warnings)) headers.set('x-graphql-warnings', String(warnings.length));
  return headers;
}

/** Statuses by code, for tables. An answer of JSON would be sent with 200 though nothing came. */
const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  MONTHLY_QUOTA_EXCEEDED: 429,
  KEY_BUDGET_SPENT: 429,
  BAD_USER_INPUT: 400,
  OPERATION_TOO_EXPENSIVE: 400,
  DOCUMENT_NOT_ALLOWED: 403,
  PERSISTED_QUERY_NOT_FOUND: 404,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_INVALID_RESPONSE: 502,
  UPSTREAM_INCOMPLETE: 502,
  UPSTREAM_ROUTE_ABSENT: 502,
  UPSTREAM_TIMEOUT: 504,
  OPERATION_TIMEOUT: 504,
};

function statusOfFault(fault: unknown): number {
  const extensions = isJsonObject(fault) ? fault.extensions : undefined;
  return (isJsonObject(extensions) ? STATUSES[String(extensions.code)] : undefined) ?? 500;
}

function refused(status: 406, message: string, { requestId }: GatewayRequest): GatewayResponse {
  return {
    status,
    headers: new Map([
      ['content-type', `${JSON_ANSWER}; charset=utf-8`],
      ['cache-control', 'no-store'],
      ['vary', VARIES],
    ]),
    body: errorBody('BAD_REQUEST', message, { requestId }, { extensions: { upstream: openBill() } }),
  };
}
