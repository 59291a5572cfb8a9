import type { Answer, Asked, Core, Sent } from './core.ts';
import type { DocumentNode } from './nodes.ts';
import { orNull } from './understood.ts';

type Fetch = typeof globalThis.fetch;

/** Request headers that change nothing of an answer in JSON. */
const PLAIN_HEADERS =
  /^(accept(-language)?|apollo(-require-preflight|graphql-client-(name|version))|authorization|baggage|content-type|sentry-trace|trace(parent|state)|x-request-id)$/;
const JSON_TYPES = /^(\*\/\*|application\/(\*|(graphql(-response)?\+)?json))$/;
/** Named beside JSON by clients that take answers in parts, which only some documents have. */
const OTHER_TYPES = /^(multipart\/mixed|text\/event-stream)$/;
const MODERN = 'application/graphql-response+json';
const MAX_TEXTS = 500;

/** A request of which figures may be held. */
interface Read {
  readonly asked: Asked;
  readonly accept: string;
  readonly isReload: boolean;
  /** The same request for another operation; without a text for its own. */
  readonly instead: (text: string | null, variables: object) => Parameters<Fetch>;
}

interface Fetched extends Sent {
  readonly response: Response;
  readonly text: string;
}

/** A `fetch` that answers from what is held, and asks the gateway for the rest. */
export function holdingFetch(
  { answer, forget }: Core,
  address: string,
  parse: (text: string) => object,
  fetch: Fetch,
): Fetch {
  const documents = new Map<string, DocumentNode>();

  function documentOf(text: string): DocumentNode {
    const document = documents.get(text) ?? (parse(text) as DocumentNode);
    if (documents.size >= MAX_TEXTS) documents.clear();
    documents.set(text, document);
    return document;
  }

  return async (input, init = {}) => {
    const request = orNull(() => read(input, init, address, documentOf));
    if (request === null) return fetch(input, init);
    const { asked, instead, accept, isReload } = request;
    init.signal?.throwIfAborted();
    const send = async (_: DocumentNode, variables: object, made: string | null): Promise<Fetched> => {
      const response = await fetch(...instead(made, variables));
      const text = await response.text();
      const body = orNull(() => JSON.parse(text) as Fetched['body']) ?? {};
      return { body, text, response, cacheControl: response.headers.get('cache-control') };
    };
    const found = await answer(asked, send, !isReload);
    if (found !== null) return responseOf(found, accept);
    const response = await fetch(input, init);
    if (response.status === 401) await forget(asked.key);
    return response;
  };
}

/** Null for a request that isn't one of GraphQL's plain ones to the gateway. @throws if it can't be read */
function read(
  input: unknown,
  init: RequestInit,
  address: string,
  documentOf: (text: string) => DocumentNode,
): Read | null {
  if (typeof input !== 'string' && !(input instanceof URL)) return null;
  const base = globalThis.location?.href;
  const [url, gateway] = [new URL(String(input), base), new URL(address, base)];
  const method = (init.method ?? 'GET').toUpperCase();
  const headers = new Headers(init.headers);
  const [accept, key] = [headers.get('accept') ?? '*/*', headers.get('authorization')];
  if (url.origin + url.pathname !== gateway.origin + gateway.pathname || key === null) return null;
  if (![...headers.keys()].every((name) => PLAIN_HEADERS.test(name)) || !takesJson(accept)) return null;
  const params =
    method === 'GET' ? paramsIn(url) : method === 'POST' && url.search === '' ? bodyOf(init) : null;
  const { query, operationName, variables = null, extensions = null, ...others } = params ?? {};
  if (typeof query !== 'string' || Object.keys(others).length > 0) return null;
  if (typeof variables !== 'object' || Array.isArray(variables)) return null;
  // Clients put other things there too.
  if (typeof extensions !== 'object' || 'persistedQuery' in (extensions ?? {})) return null;
  return {
    asked: { document: documentOf(query), operationName, variables: variables ?? {}, key } as Asked,
    accept,
    isReload: ['no-store', 'reload', 'no-cache'].includes(init.cache ?? ''),
    instead(text, values) {
      const other = { ...params, query: text ?? query, variables: values };
      if (method === 'POST') return [input, { ...init, body: JSON.stringify(other) }];
      url.searchParams.set('query', other.query);
      url.searchParams.set('variables', JSON.stringify(values));
      // An answer that a browser has kept doesn't say for how long.
      return [url.href, { ...init, cache: 'no-store' }];
    },
  };
}

type Params = Readonly<Record<string, unknown>>;

function bodyOf({ body }: RequestInit): Params | null {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : null;
  return typeof value === 'object' && !Array.isArray(value) ? (value as Params | null) : null;
}

function paramsIn({ searchParams }: URL): Params | null {
  const params = [...searchParams];
  if (new Set(searchParams.keys()).size < params.length) return null;
  return Object.fromEntries(
    params.map(([name, value]) => [
      name,
      ['variables', 'extensions'].includes(name) ? JSON.parse(value) : value,
    ]),
  );
}

function takesJson(accept: string): boolean {
  const types = accept.split(',').map((type) => type.replace(/;.*/, '').trim().toLowerCase());
  return types.every((type, i) => JSON_TYPES.test(type) || (i > 0 && OTHER_TYPES.test(type)));
}

function responseOf({ body, sent, freshSeconds }: Answer<Fetched>, accept: string): Response {
  const { status = 200, statusText = '', headers: given } = sent?.response ?? {};
  const headers = new Headers(given);
  // Of the bytes that came.
  for (const name of ['content-encoding', 'content-length', 'etag']) headers.delete(name);
  if (body === sent?.body) return new Response(sent.text, { status, statusText, headers });
  if (sent === null) headers.set('content-type', accept.includes(MODERN) ? MODERN : 'application/json');
  if (freshSeconds > 0) headers.set('cache-control', `private, max-age=${freshSeconds}`);
  return new Response(JSON.stringify(body), { status, statusText, headers });
}
