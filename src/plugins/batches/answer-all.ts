import { acceptingInstead, formatLiked, withoutMultipart } from '../../graphql/request/accept.ts';
import { ChangedRequest, type GatewayRequest } from '../../graphql/request/requests.ts';
import type { GatewayResponse } from '../../graphql/request/responses.ts';
import type { HandleRequest } from '../../graphql/request/stages.ts';
import { openBill } from '../../service/bill.ts';
import { isObject } from '../../service/records/envelope.ts';
import { errorBody } from '../../shared/errors.ts';

function errorOf(count: number, most: number): string | null {
  if (most === 0)
    return 'This gateway takes no batches (MAX_BATCHED_OPERATIONS is 0). Send each operation as a request of its own.';
  if (count === 0) return 'The batch has no operations.';
  if (count <= most) return null;
  return `The batch has ${count} operations; this gateway takes up to ${most} in one request (MAX_BATCHED_OPERATIONS). Nothing was run. Send fewer at once: Apollo's BatchHttpLink has \`batchMax\` for that.`;
}

/** One operation of a batch. */
interface BatchedOperation {
  readonly body: unknown;
  /** Its place in the array, and that of its variables in their list; null if it came in none. */
  readonly requestIndex: number | null;
  readonly variableIndex: number | null;
}

/** Takes a body apart. An operation with a list of variables is one for each of them. */
function operationsIn(body: unknown): readonly BatchedOperation[] {
  if (!Array.isArray(body)) return withVariables(body, null);
  return body.flatMap((one: unknown, requestIndex) => withVariables(one, requestIndex));
}

function withVariables(body: unknown, requestIndex: number | null): readonly BatchedOperation[] {
  const variables = isObject(body) ? body.variables : undefined;
  if (!Array.isArray(variables)) return [{ body, requestIndex, variableIndex: null }];
  return variables.map((given: unknown, variableIndex) => ({
    body: { ...(body as object), variables: given },
    requestIndex,
    variableIndex,
  }));
}

/** Types of answers a line each: Fusion's name, and both that the draft of GraphQL over HTTP has. */
const LINES = /^application\/(jsonl|graphql-response\+jsonl|graphql\+jsonl)$/;

/** Returns the type of lines that a client likes best, of all that it takes; null for an array. */
const linesTypeIn = (accepts: string) => formatLiked(accepts, (type) => (LINES.test(type) ? type : null));

/**
 * Answers a request that brings several operations in an array, as Apollo's BatchHttpLink and routers send them, or one
 * operation with a list of variables, as Fusion does: with an array of their answers, or with a line for each. Each
 * operation is admitted, run and billed by itself, beside the others. So they share their calls as operations do that
 * come at the same time. A request of too many is refused before any is run.
 */
export async function answerAll(
  request: GatewayRequest,
  next: HandleRequest,
  { most, maxAnswerBytes }: { readonly most: number; readonly maxAnswerBytes: number },
): Promise<GatewayResponse> {
  const operations = operationsIn(request.body);
  const error = errorOf(operations.length, most);
  if (error !== null) return refused(error, request.requestId);
  const { headers: given } = request;
  const linesType = linesTypeIn(given.accept ?? '');
  // Each answer is a member of an array, or a line: none can come in parts.
  const accept = linesType === null ? withoutMultipart(given.accept ?? '') : 'application/json';
  const headers = acceptingInstead(given, accept);
  // Without places, an array tells by its order alone.
  const hasPlaces = linesType !== null || operations.some(({ variableIndex }) => variableIndex !== null);
  let leftBytes = maxAnswerBytes;
  const answers = await Promise.all(
    operations.map(async (operation) => {
      const answer = await next(
        // No answer of several has a tag of its own, as one to a QUERY would.
        new ChangedRequest(request, {
          method: 'POST',
          headers,
          body: operation.body,
          search: '',
          isBatched: operations.length > 1,
        }),
      );
      const text = textOf(answer.body);
      leftBytes -= text?.length ?? 0;
      const body = text === null || leftBytes < 0 ? tooLong(maxAnswerBytes, request) : text;
      return { ...answer, body: hasPlaces ? placed(body, operation) : body };
    }),
  );
  const bodies = answers.map(({ body }) => body);
  const headersOfAll = headersOf(answers);
  // A reader of lines takes any other status than 200 for a failure of all of them.
  if (linesType !== null) {
    headersOfAll.set('content-type', `${linesType}; charset=utf-8`);
    return { status: 200, headers: headersOfAll, body: bodies.map((body) => `${body.trim()}\n`).join('') };
  }
  const statuses = new Set(answers.map(({ status }) => status));
  const [common = 200] = statuses;
  return { status: statuses.size === 1 ? common : 200, headers: headersOfAll, body: `[${bodies.join(',')}]` };
}

/** Puts the places of an operation into its answer. */
function placed(body: string, { requestIndex, variableIndex }: BatchedOperation): string {
  const places = [
    ...(requestIndex === null ? [] : [`"requestIndex":${requestIndex},`]),
    ...(variableIndex === null ? [] : [`"variableIndex":${variableIndex},`]),
  ];
  return `{${places.join('')}${body.slice(1)}`;
}

/** Returns null if the body comes in parts. No answer of a batch does. */
function textOf(body: GatewayResponse['body']): string | null {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : null;
}

function headersOf(answers: readonly GatewayResponse[]): Map<string, string> {
  const headers = new Map(answers.flatMap((answer) => [...answer.headers]));
  const valuesOf = (name: string) => answers.flatMap((answer) => answer.headers.get(name) ?? []);
  // Tags are those of one answer.
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
    body: errorBody('BAD_REQUEST', message, { requestId }, { extensions: { upstream: openBill() } }),
  };
}
