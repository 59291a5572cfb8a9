import { isDeep, TOO_DEEP } from '../../shared/exact-json.ts';
import { DOCUMENT_IDS, documentIdOf, givenIn, jsonIn } from './asked-operation.ts';
import { isDeepOperation } from './nesting.ts';
import { errorBehaviorIn, unknownOnError } from './on-error.ts';
import { type PersistedTexts, unlisted } from './persisted.ts';
import type { GatewayRequest } from './requests.ts';

/**
 * Translates a request for Apollo Server, or refuses it. An operation that is named by an identifier becomes one that is
 * named by a hash. Apollo doesn't know QUERY, whose body is that of a POST.
 */
export function forApollo(given: GatewayRequest, { allows }: PersistedTexts) {
  const { method, headers, search, body } = given;
  const params = givenIn(given);
  const { query } = params;
  // An object is its own parameters.
  const values = params === body ? [body] : [jsonIn(params.variables), jsonIn(params.extensions)];
  if (isDeepOperation(query) || values.some((value) => isDeep(value)))
    return { refusal: { code: 'BAD_REQUEST', message: TOO_DEEP } } as const;
  const hasText = typeof query === 'string' && query !== '';
  if (hasText && !allows(query)) return { refusal: unlisted() };
  const onError = errorBehaviorIn(given);
  if (onError === undefined) return { refusal: unknownOnError() };
  const request = { method: method === 'QUERY' ? 'POST' : method, headers, search, body };
  const id = hasText ? null : documentIdOf(params);
  return {
    onError,
    isNamed: !query,
    request: id === null ? request : { ...request, ...namedBy(id, given, params) },
  };
}

/** Returns the address and the body of a request with the hash of its operation in place of other names. */
function namedBy(sha256Hash: string, { search, body }: GatewayRequest, given: ReturnType<typeof givenIn>) {
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  if (given === body) {
    const { query: _, documentId: __, doc_id: ___, id: ____, ...rest } = given;
    return { search, body: { ...rest, extensions } };
  }
  const params = new URLSearchParams(search);
  for (const name of ['query', ...DOCUMENT_IDS]) params.delete(name);
  params.set('extensions', JSON.stringify(extensions));
  return { search: `?${params}`, body };
}
