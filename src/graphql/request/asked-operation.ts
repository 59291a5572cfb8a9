import { isObject } from '../../shared/exact-json.ts';
import { type AskedText, bareHash, type PersistedTexts } from './persisted.ts';
import type { OperationParts } from './requests.ts';

/** By these, clients name an operation instead of sending it; the last two are Relay's. */
export const DOCUMENT_IDS = ['documentId', 'doc_id', 'id'] as const;

/** From the body or the address; of repeated ones in the address the first counts. */
export function givenIn({ body, search }: OperationParts): Readonly<Record<string, unknown>> {
  return isObject(body) ? body : Object.fromEntries([...new URLSearchParams(search)].reverse());
}

export function documentIdOf(params: Readonly<Record<string, unknown>>): string | null {
  const id = DOCUMENT_IDS.map((name) => params[name]).find((value) => typeof value === 'string');
  return typeof id === 'string' ? bareHash(id) : null;
}

/** By text, or by a known name; null for neither. */
export function textIn(request: OperationParts, persisted: PersistedTexts): AskedText | null {
  const params = givenIn(request);
  const { query, operationName, extensions } = params;
  const hash = hashIn(isObject(request.body) ? params : { ...params, extensions: jsonIn(extensions) });
  const named = hash === null ? undefined : persisted.get(hash);
  const text = typeof query === 'string' && query !== '' ? query : named;
  if (text === undefined) return null;
  return { text, operationName: typeof operationName === 'string' ? operationName : undefined };
}

/** Undefined if it isn't JSON. */
export function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Null if the request names no operation, or not in a known way. */
export function hashIn(params: Readonly<Record<string, unknown>>): string | null {
  const documentId = documentIdOf(params);
  if (documentId !== null) return documentId;
  const { extensions } = params;
  const named = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (!isObject(named) || named.version !== 1 || typeof named.sha256Hash !== 'string') return null;
  return named.sha256Hash;
}
