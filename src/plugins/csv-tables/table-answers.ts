import {
  type AnswerTable,
  arrowWriter,
  BYTE_ORDER_MARK,
  csvLine,
  formatLiked,
  type GatewayResponse,
  isNothing,
  isObject,
  jsonLine,
  openBill,
  parseExactly,
  type Steps,
  statusOfError,
  type TableWriter,
  type Turns,
  VARIES,
  WrittenBody,
} from '../../plugin/index.ts';

const STEP_ROWS = 16;

/** A chunk is handed on once it has so many bytes. */
const CHUNK_BYTES = 65_536;

/** A table may be so many times as long as an answer, since every row repeats the cells of its outer items. */
const LONGER = 16;

/** @param table the list that becomes rows; without one, or without data, the answer stays JSON */
export async function writtenAs(
  format: TableFormat,
  table: AnswerTable | null,
  response: GatewayResponse,
  turns: Turns,
  maxAnswerBytes: number,
): Promise<GatewayResponse> {
  const { status, body } = response;
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (status !== 200 || !isWhole) return varied(response);
  const answer = await turns.sliced(parsedInSteps(String(body)));
  const { data, errors, extensions } = isObject(answer) ? answer : {};
  const errorList = Array.isArray(errors) ? errors : [];
  if (table === null || !isObject(data) || (errorList.length > 0 && isNothing(data)))
    return varied({ ...response, status: errorList.length > 0 ? statusOfError(errorList[0]) : status });
  const { wide } = table;
  const isTurned = format.isWide && typeof wide !== 'string';
  const { columns, rows } = isTurned
    ? await turns.sliced(wide(data, true))
    : { columns: table.columns, rows: table.rows(data, true) };
  const writer = await format.open(columns);
  const chunks = chunksOf(written(rows, writer), turns, LONGER * maxAnswerBytes);
  const headers = new Map(varied(response).headers).set('content-type', format.contentType);
  const sent = await beginning(chunks, body.length * PARSED_TIMES);
  return { status, headers: withFacts(headers, errorList.length, extensions), body: sent };
}

/** Rough size of parsed JSON in memory, per byte of its text. */
const PARSED_TIMES = 4;

/** Waits for the first chunk, so that an error in it still has a status of its own. */
async function beginning(
  chunks: AsyncGenerator<Uint8Array>,
  retainedBytes: number,
): Promise<Buffer | WrittenBody> {
  const first = await chunks.next();
  const bytes = first.done ? Buffer.alloc(0) : Buffer.from(first.value);
  const second = await chunks.next();
  if (second.done) return bytes;
  return new WrittenBody(continued([bytes, second.value], chunks), retainedBytes);
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

function* written(
  rows: Iterable<readonly unknown[]>,
  writer: TableWriter,
): Generator<Uint8Array | undefined> {
  let count = 0;
  for (const row of rows) {
    writer.add(row);
    count += 1;
    if (count % STEP_ROWS === 0) yield writer.waiting() >= CHUNK_BYTES ? writer.take() : undefined;
  }
  yield writer.finish();
}

/** @throws TooLong between two chunks */
async function* chunksOf(
  steps: Generator<Uint8Array | undefined>,
  turns: Turns,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (;;) {
    const chunk = await turns.sliced(nextChunk(steps));
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

export function varied(response: GatewayResponse): GatewayResponse {
  const headers = new Map(response.headers).set('vary', VARIES);
  headers.delete('etag');
  return { ...response, headers };
}

/** Adds headers for what has no place in a table: the bill, and the numbers of errors and warnings. */
function withFacts(
  headers: Map<string, string>,
  errorCount: number,
  extensions: unknown,
): Map<string, string> {
  const { upstream = openBill(), warnings } = isObject(extensions) ? extensions : {};
  headers.set('x-upstream-bill', JSON.stringify(upstream));
  if (errorCount > 0) headers.set('x-graphql-errors', String(errorCount));
  if (Array.isArray(warnings)) headers.set('x-graphql-warnings', String(warnings.length));
  return headers;
}

/** Characters that are parsed at once, in a millisecond or two. */
const SHORT_LENGTH = 262_144;

/** Tokens of a longer text that are read in one step, in a fraction of a millisecond. */
const STEP_TOKENS = 2_048;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^"[\]{},:]+/gy;

/** An open list or object. */
interface OpenValue {
  /** Null for a list. */
  readonly names: string[] | null;
  readonly values: unknown[];
}

/**
 * Parses JSON without blanks. A long text is parsed in steps, so that other work has its turns, and takes a few times as
 * long.
 * @throws SyntaxError
 */
export function* parsedInSteps(text: string): Steps<unknown> {
  if (text.length <= SHORT_LENGTH) return parseExactly(text);
  const around: OpenValue[] = [];
  let open: OpenValue = { names: null, values: [] };
  let [at, tokens] = [0, 0];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '[' || token === '{') {
      around.push(open);
      open = { names: token === '{' ? [] : null, values: [] };
    } else if (token === ']' || token === '}') {
      const { names, values } = open;
      open = around.pop() ?? { names: null, values: [] };
      open.values.push(
        names === null ? values : Object.fromEntries(names.map((name, i) => [name, values[i]])),
      );
    } else if (token === ':') open.names?.push(String(open.values.pop()));
    else if (token !== ',') open.values.push(parseExactly(token));
    at += token.length;
    tokens += 1;
    if (tokens % STEP_TOKENS === 0) yield;
  }
  if (at < text.length || around.length > 0 || open.values.length !== 1)
    throw new SyntaxError('The text is not one value.');
  return open.values[0];
}

interface TableFormat {
  readonly contentType: string;
  /** True for a column for each period. */
  readonly isWide?: boolean;
  /** Loads the modules that the format needs. */
  readonly open: (columns: AnswerTable['columns']) => Promise<TableWriter>;
}

/** By the type that a client asks for, some with a parameter. */
const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  'text/csv': csvFormat('text/csv; charset=utf-8; header=present', ''),
  'text/csv; bom=present': csvFormat('text/csv; charset=utf-8; header=present; bom=present', BYTE_ORDER_MARK),
  'application/x-ndjson': {
    contentType: 'application/x-ndjson; charset=utf-8',
    async open(columns) {
      const names = columns.map(({ name }) => name);
      return textWriter((row) => jsonLine(names, row));
    },
  },
  'application/vnd.apache.arrow.stream': {
    contentType: 'application/vnd.apache.arrow.stream',
    open: arrowWriter,
  },
};

function csvFormat(contentType: string, mark: string): TableFormat {
  return {
    contentType,
    async open(columns) {
      const writer = textWriter(csvLine, mark);
      writer.add(columns.map(({ name }) => name));
      return writer;
    },
  };
}

function textWriter(lineOf: (row: readonly unknown[]) => string, beginning = ''): TableWriter {
  let text = beginning;
  const take = () => {
    const chunk = Buffer.from(text);
    text = '';
    return chunk;
  };
  return {
    add(row) {
      text += lineOf(row);
    },
    waiting: () => text.length,
    take,
    finish: take,
  };
}

/** Null if the client accepts no table, or JSON as gladly. */
export function tableFormatFor(accepts: string | undefined): TableFormat | null {
  if (accepts === undefined) return null;
  return formatLiked(accepts, (name, parameters) => {
    const format = formatOf(parameters.includes(MARKED) ? `${name}; ${MARKED}` : name) ?? formatOf(name);
    if (format === null || !parameters.includes(WIDE)) return format;
    return { ...format, isWide: true, contentType: `${format.contentType}; ${WIDE}` };
  });
}

const MARKED = 'bom=present';
const WIDE = 'shape=wide';

function formatOf(name: string): TableFormat | null {
  return Object.hasOwn(TABLE_FORMATS, name) ? (TABLE_FORMATS[name] ?? null) : null;
}
