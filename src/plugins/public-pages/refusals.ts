import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, type Failure, isNothing, isObject, statusOfError } from '../../plugin/index.ts';
import { pagePolicy, refusalPage, type ShownRefusal } from './page.ts';

export const HTML = 'text/html; charset=utf-8';
export const JSON_TEXT = 'application/json; charset=utf-8';

/** Longer answers certainly have data, and are not parsed for errors. */
const MOST_READ_BYTES = 4_000_000;

/** These concern the operator's key: visitors have none to send, and learn nothing of it. */
const OF_OPERATOR: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'KEY_EXPIRED']);

const NOT_PUBLIC = 'This is not public at present.';

interface PictureRefusal extends ShownRefusal {
  /** The errors in the shape of `/graphql`. */
  readonly body: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** Null if the answer has data. */
export function refusalIn(status: number, body: string): PictureRefusal | null {
  const answer: unknown = body.length > MOST_READ_BYTES ? null : JSON.parse(body);
  const { data, errors } = isObject(answer) ? answer : {};
  const [first] = Array.isArray(errors) ? errors : [];
  if (!isObject(first) || (status === 200 && !isNothing(data))) return null;
  const { code = 'INTERNAL_SERVER_ERROR' } = isObject(first.extensions) ? first.extensions : {};
  if (OF_OPERATOR.has(String(code))) return notPublic(code as Failure['code'], first.extensions);
  const fitting = status === 200 ? statusOfError(first) : status;
  return { status: fitting, code: String(code), message: String(first.message), body };
}

export function refusalOf({ code, message, fields, retryable }: Failure, requestId: string): PictureRefusal {
  if (OF_OPERATOR.has(code)) return notPublic(code, { requestId });
  const status = statusOfError({ extensions: { code } });
  const body = errorBody(code, message, { retryable, ...fields, requestId });
  return { status, code, message, body, retryAfterSeconds: fields.retryAfterSeconds };
}

function notPublic(code: Failure['code'], extensions: unknown): PictureRefusal {
  const { requestId } = extensions as { readonly requestId?: string };
  return { status: 403, code, message: NOT_PUBLIC, body: errorBody(code, NOT_PUBLIC, { requestId }) };
}

export function badRequest(
  status: number,
  message: string,
  requestId: string,
  code: 'BAD_REQUEST' | 'INTERNAL_SERVER_ERROR' = 'BAD_REQUEST',
): PictureRefusal {
  return { status, code, message, body: errorBody(code, message, { requestId }) };
}

/** Doesn't reveal whether a trusted document has the name. */
export function absent(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(request, reply, badRequest(404, 'There is no public document of this name.', request.id));
}

/** Answers with a page where one was asked for, and otherwise with JSON. */
export function refuse(request: FastifyRequest, reply: FastifyReply, refusal: PictureRefusal): FastifyReply {
  const { status, body, retryAfterSeconds } = refusal;
  const [path = ''] = request.url.split('?', 1);
  const isPage = /^\/c\/[^.]*$/.test(path);
  if (isPage && !reply.hasHeader('content-security-policy'))
    reply.header('content-security-policy', pagePolicy([]));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  reply.removeHeader('etag');
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type(isPage ? HTML : JSON_TEXT)
    .send(isPage ? refusalPage(refusal) : body);
}
