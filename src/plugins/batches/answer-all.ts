import {
  acceptingInstead,
  ChangedRequest,
  errorBody,
  formatLiked,
  type GatewayRequest,
  type GatewayResponse,
  type HandleRequest,
  type HeldOperation,
  type HeldOperations,
  RequestBatch,
  refusalBody,
  withoutMultipart,
} from '../../plugin/index.ts';

function errorOf(count: number, most: number): string | null {
  if (most === 0)
    return 'This gateway takes no batches (MAX_BATCHED_OPERATIONS is 0). Send each operation as a request of its own.';
  if (count === 0) return 'The batch has no operations.';
  if (count <= most) return null;
  return `The batch has ${count} operations; this gateway takes up to ${most} in one request (MAX_BATCHED_OPERATIONS). Nothing was run. Send fewer at once: Apollo's BatchHttpLink has \`batchMax\` for that.`;
}

/** Types with one answer a line: Fusion's, and the two of the draft of GraphQL over HTTP. */
const LINES = /^application\/(jsonl|graphql-response\+jsonl|graphql\+jsonl)$/;

/**
 * Answers an array of operations, as Apollo's BatchHttpLink and routers send it, or an operation with a list of variables,
 * as Fusion does. Each operation is admitted, run and billed by itself, and shares calls with the others as any concurrent
 * operations do. Wide ones run one after the other: each may take memory as one that comes alone.
 */
export async function answerAll(
  request: GatewayRequest,
  held: HeldOperations,
  next: HandleRequest,
  { most, maxAnswerBytes }: { readonly most: number; readonly maxAnswerBytes: number },
): Promise<GatewayResponse> {
  const error = errorOf(held.count, most);
  if (error !== null) return refused(error, request.requestId);
  const operations = held.list();
  const { headers: given } = request;
  const linesType = formatLiked(given.accept ?? '', (type) => (LINES.test(type) ? type : null));
  // No answer of a batch can come in parts.
  const accept = linesType === null ? withoutMultipart(given.accept ?? '') : 'application/json';
  const headers = acceptingInstead(given, accept);
  // An array without lists of variables needs no indexes: its order tells.
  const hasPlaces = linesType !== null || operations.some(({ variableIndex }) => variableIndex !== null);
  const batch = operations.length > 1 ? new RequestBatch(operations.length) : undefined;
  let leftBytes = maxAnswerBytes;
  const answerOne = async (operation: HeldOperation) => {
    const place = batch?.place();
    // POST: the answer to a QUERY would have a tag of its own.
    const changes = { method: 'POST', headers, body: operation.body, search: '', place };
    const { status, headers: own, body } = await next(new ChangedRequest(request, changes));
    place?.come();
    const bytes = bytesOf(body);
    leftBytes -= bytes?.length ?? 0;
    const sent = bytes === null || leftBytes < 0 ? Buffer.from(tooLong(maxAnswerBytes, request)) : bytes;
    if (batch !== undefined) batch.keptBytes += sent.length;
    return { status, headers: own, body: hasPlaces ? placed(sent, operation) : [sent] };
  };
  try {
    const answers = await Promise.all(operations.map(answerOne));
    const headersOfAll = headersOf(answers);
    // Readers of lines take any status but 200 for a failure of them all.
    if (linesType !== null) {
      headersOfAll.set('content-type', `${linesType}; charset=utf-8`);
      const lines = answers.flatMap(({ body }) => [...body, NEW_LINE]);
      return { status: 200, headers: headersOfAll, body: Buffer.concat(lines) };
    }
    const statuses = new Set(answers.map(({ status }) => status));
    const [common = 200] = statuses;
    const list = answers.flatMap(({ body }, index) => [index === 0 ? OPEN_LIST : COMMA, ...body]);
    return {
      status: statuses.size === 1 ? common : 200,
      headers: headersOfAll,
      body: Buffer.concat([...list, CLOSE_LIST]),
    };
  } finally {
    if (batch !== undefined) batch.keptBytes = 0;
  }
}

const OPEN_LIST = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE_LIST = Buffer.from(']');
const NEW_LINE = Buffer.from('\n');

function placed(body: Buffer, { requestIndex, variableIndex }: HeldOperation): readonly Buffer[] {
  const places = [
    ...(requestIndex === null ? [] : [`"requestIndex":${requestIndex},`]),
    ...(variableIndex === null ? [] : [`"variableIndex":${variableIndex},`]),
  ];
  return [Buffer.from(`{${places.join('')}`), body.subarray(1)];
}

/** Without the line break that may end it. */
function bytesOf(body: GatewayResponse['body']): Buffer | null {
  if (typeof body === 'string') return Buffer.from(body.trim());
  return Buffer.isBuffer(body) ? body : null;
}

function headersOf(answers: readonly Pick<GatewayResponse, 'headers'>[]): Map<string, string> {
  const headers = new Map(answers.flatMap((answer) => [...answer.headers]));
  const valuesOf = (name: string) => answers.flatMap((answer) => answer.headers.get(name) ?? []);
  // These are of a single answer.
  for (const name of ['etag', 'cache-tag', 'surrogate-key']) headers.delete(name);
  headers.set('cache-control', valuesOf('cache-control').includes('no-store') ? 'no-store' : 'private');
  headers.set('vary', 'Authorization');
  const timings = valuesOf('server-timing');
  if (timings.length > 0) headers.set('server-timing', timings.join(', '));
  const waits = valuesOf('retry-after').map(Number);
  if (waits.length > 0) headers.set('retry-after', String(Math.max(...waits)));
  return headers;
}

function tooLong(limit: number, { requestId }: GatewayRequest): string {
  const message = `The answers of the batch would be longer together than the ${limit} bytes that this gateway sends at once (MAX_ANSWER_BYTES). Ask for less at once.`;
  return errorBody('OPERATION_TOO_EXPENSIVE', message, { limit, requestId }, { data: null });
}

function refused(message: string, requestId: string | undefined): GatewayResponse {
  return {
    status: 400,
    headers: new Map([
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['vary', 'Authorization'],
    ]),
    body: refusalBody('BAD_REQUEST', message, { requestId }),
  };
}
