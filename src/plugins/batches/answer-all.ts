import { acceptingInstead, withoutMultipart } from '../../graphql/request/accept.ts';
import {
  ChangedRequest,
  type GatewayRequest,
  type GatewayResponse,
  type HandleRequest,
} from '../../graphql/request/messages.ts';
import { openBill } from '../../service/bill.ts';
import { errorBody } from '../../shared/errors.ts';

function errorOf(count: number, most: number): string | null {
  if (most === 0)
    return 'This gateway takes no batches (MAX_BATCHED_OPERATIONS is 0). Send each operation as a request of its own.';
  if (count === 0) return 'The batch has no operations.';
  if (count <= most) return null;
  return `The batch has ${count} operations; this gateway takes up to ${most} in one request (MAX_BATCHED_OPERATIONS). Nothing was run. Send fewer at once: Apollo's BatchHttpLink has \`batchMax\` for that.`;
}

/**
 * Answers a request that brings several operations in an array, as Apollo's BatchHttpLink and routers send them, with an
 * array of their answers. Each operation is admitted, run and billed by itself, beside the others. So they share their
 * calls as operations do that come at the same time. A request of too many is refused before any is run.
 */
export async function answerAll(
  request: GatewayRequest,
  operations: readonly unknown[],
  next: HandleRequest,
  { most, maxAnswerBytes }: { readonly most: number; readonly maxAnswerBytes: number },
): Promise<GatewayResponse> {
  const error = errorOf(operations.length, most);
  if (error !== null) return refused(error, request.requestId);
  const { headers: given } = request;
  // Each answer is a member of an array: none can come in parts.
  const headers = acceptingInstead(given, withoutMultipart(given.accept ?? ''));
  let leftBytes = maxAnswerBytes;
  const answers = await Promise.all(
    operations.map(async (body) => {
      const answer = await next(
        // No answer of several has a tag of its own, as one to a QUERY would.
        new ChangedRequest(request, {
          method: 'POST',
          headers,
          body,
          search: '',
          isBatched: operations.length > 1,
        }),
      );
      const text = textOf(answer.body);
      leftBytes -= text?.length ?? 0;
      return { ...answer, body: text === null || leftBytes < 0 ? tooLong(maxAnswerBytes, request) : text };
    }),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  const [common = 200] = statuses;
  return {
    status: statuses.size === 1 ? common : 200,
    headers: headersOf(answers),
    body: `[${answers.map(({ body }) => body).join(',')}]`,
  };
}

/** Returns null if the body comes in parts. No answer of a batch does. */
function textOf(body: GatewayResponse['body']): string | null {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : null;
}

function headersOf(answers: readonly GatewayResponse[]): ReadonlyMap<string, string> {
  const headers = new Map(answers.flatMap((answer) => [...answer.headers]));
  const valuesOf = (name: string) => answers.flatMap((answer) => answer.headers.get(name) ?? []);
  headers.delete('etag');
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
