import { createHash } from 'node:crypto';
import fresh from 'fresh';
import type { GraphQLFormattedError } from 'graphql';
import type { ErrorBehavior } from '../execution/field-errors.ts';
import type { StringPieces } from '../execution/json-pieces.ts';
import { METHODS } from './requests.ts';
import type { GatewayResponse } from './responses.ts';

/** Names an answer by its data. The tag is weak, since bodies of one name differ in `extensions.upstream`. */
export function entityTag(data: StringPieces | Buffer, onError: ErrorBehavior = 'PROPAGATE'): string {
  const hash = createHash('sha256');
  if (onError !== 'PROPAGATE') hash.update(onError);
  for (const piece of Buffer.isBuffer(data) ? [data] : data) hash.update(piece);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/**
 * Tags an answer if a client can make use of that: to a GET or a QUERY, and to an operation that was asked for by its
 * hash. A client that has got it already gets 304 instead, if it asked with one of these methods.
 */
export function tagged(
  { method, headers: asked }: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  isPersisted: boolean,
  response: GatewayResponse,
  errors: readonly GraphQLFormattedError[] | null,
  tag: () => string,
): GatewayResponse {
  const isSafe = METHODS.get(method)?.isSafe ?? false;
  if (errors?.length !== 0 || (!isSafe && !isPersisted)) return response;
  const headers = new Map(response.headers).set('etag', tag());
  if (isSafe && hasCopy(asked['if-none-match'], headers.get('etag')))
    return { status: 304, headers, body: '' };
  return { ...response, headers };
}

/**
 * True if a client has the answer that a tag names, by the tag alone. `fetch` adds `Cache-Control: no-cache` to each
 * request that has an `If-None-Match`, so that no cache in between answers it, and means nothing else by that.
 */
export function hasCopy(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  return etag !== undefined && fresh({ 'if-none-match': ifNoneMatch }, { etag });
}
