import { Kind, type NameNode, parse, visit } from 'graphql';
import { BoundedCache, OVERHEAD_BYTES } from '../../cache/lru.ts';
import { mapValue } from '../../shared/async/promises.ts';
import { isObject, parseExactly } from '../../shared/exact-json.ts';
import { inverted, type PrefixedNames } from '../schema/subgraph.ts';
import { sha256Of } from './persisted.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import type { HandleRequest } from './stages.ts';

/** Of texts with their translations: anybody can send long ones. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Marks aliases of `__typename`, whose values are names of types too. */
const ALIASED = '__typename_of_';

type Params = Readonly<Record<string, unknown>>;

/**
 * Translates operations that routers word with prefixed names, and prefixes type names in the answer. Others pass
 * unchanged.
 */
export function prefixed(next: HandleRequest, names: PrefixedNames, maxTokens: number): HandleRequest {
  /** Our texts by routers' texts, and our hashes by theirs. */
  const cache = new BoundedCache<{ readonly text: string }>(
    MAX_BYTES,
    ({ text }, name) => OVERHEAD_BYTES + 2 * (text.length + name.length),
  );
  const hashKey = (hash: string) => `sha256 ${hash}`;
  const named = inverted(names.types);

  function ours(text: string): string {
    const said = cache.get(text) ?? { text: inOurWords(text, names, maxTokens) };
    cache.set(text, said);
    return said.text;
  }

  /** Null if nothing is prefixed. */
  function translated(params: Params): Params | null {
    const { query, variables, extensions } = params;
    const asked =
      isObject(extensions) && isObject(extensions.persistedQuery) ? extensions.persistedQuery : null;
    const hash = typeof asked?.sha256Hash === 'string' ? asked.sha256Hash : null;
    const withHash = (sha256Hash: string) => ({
      ...(extensions as Params),
      persistedQuery: { ...asked, sha256Hash },
    });
    const translatedParams = {
      ...params,
      ...(isObject(variables) ? { variables: withOurTypes(variables, names) } : {}),
    };
    if (typeof query !== 'string' || query === '') {
      const cachedText = hash === null ? undefined : cache.get(hashKey(hash));
      return cachedText === undefined ? null : { ...translatedParams, extensions: withHash(cachedText.text) };
    }
    if (!hasPrefixed(query, names)) return null;
    const text = ours(query);
    if (hash === null || hash !== sha256Of(query)) return { ...translatedParams, query: text };
    const ownHash = sha256Of(text);
    cache.set(hashKey(hash), { text: ownHash });
    return { ...translatedParams, query: text, extensions: withHash(ownHash) };
  }

  return (request) => {
    const translatedRequest =
      request.method === 'GET' ? fromSearch(request, translated) : fromBody(request, translated);
    if (translatedRequest === null) return next(request);
    return mapValue(next(translatedRequest), (response) => withPrefixedTypes(response, named));
  };
}

function hasPrefixed(text: string, { marks }: PrefixedNames): boolean {
  return marks.some((mark) => text.includes(mark));
}

function fromBody(
  request: GatewayRequest,
  translated: (params: Params) => Params | null,
): GatewayRequest | null {
  const body = isObject(request.body) ? translated(request.body) : null;
  return body && new ChangedRequest(request, { body });
}

function fromSearch(
  request: GatewayRequest,
  translated: (params: Params) => Params | null,
): GatewayRequest | null {
  const search = new URLSearchParams(request.search);
  const params: Record<string, unknown> = Object.fromEntries(search);
  for (const name of ['variables', 'extensions']) {
    try {
      if (search.has(name)) params[name] = JSON.parse(search.get(name) ?? '');
    } catch {
      // The next stage reports the error.
      return null;
    }
  }
  const translatedParams = translated(params);
  if (translatedParams === null) return null;
  for (const [name, value] of Object.entries(translatedParams))
    search.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return new ChangedRequest(request, { search: `?${search}` });
}

/** Unreadable operations are left for Apollo to report. */
function inOurWords(text: string, { types, fields }: PrefixedNames, maxTokens: number): string {
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  const replace = ({ loc }: { readonly loc?: NameNode['loc'] }, by: string) => {
    if (loc !== undefined) edits.push({ start: loc.start, end: loc.end, text: by });
  };
  try {
    visit(parse(text, { maxTokens }), {
      NamedType({ name }) {
        const ownName = types.get(name.value);
        if (ownName !== undefined) replace(name, ownName);
      },
      Field({ name, alias }) {
        const ownName = fields.get(name.value);
        if (ownName !== undefined) replace(name, alias === undefined ? `${name.value}: ${ownName}` : ownName);
        else if (name.value === '__typename' && alias !== undefined)
          replace(alias, `${ALIASED}${alias.value}`);
      },
      ObjectField({ name, value }) {
        const ownName = value.kind === Kind.STRING ? types.get(value.value) : undefined;
        if (name.value === '__typename' && ownName !== undefined) replace(value, JSON.stringify(ownName));
      },
    });
  } catch {
    return text;
  }
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: by }) => `${text.slice(0, start)}${by}${text.slice(end)}`, text);
}

/** In representations, which are objects or lists of objects. */
function withOurTypes(variables: Params, { types }: PrefixedNames): Params {
  const renamed = (value: unknown): unknown => {
    const ownName = isObject(value) ? types.get(String(value.__typename)) : undefined;
    return ownName === undefined ? value : { ...(value as Params), __typename: ownName };
  };
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(renamed) : renamed(value),
    ]),
  );
}

function withPrefixedTypes(response: GatewayResponse, named: ReadonlyMap<string, string>): GatewayResponse {
  const { encoded: _, body, ...rest } = response;
  // Stages around this one make tables and parts.
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return response;
  return { ...rest, body: renamedIn(String(body), named) };
}

/** Within strings of JSON, quotes are escaped: only a key with its value looks like this. */
const TYPE_NAMED = new RegExp(`"(?:__typename|${ALIASED}(\\w+))":"(\\w+)"`, 'g');

function renamedIn(text: string, named: ReadonlyMap<string, string>): string {
  return text.replace(
    TYPE_NAMED,
    (_, alias: string | undefined, type: string) => `"${alias ?? '__typename'}":"${named.get(type) ?? type}"`,
  );
}

/** For those who answer operations in ways of their own. */
export interface Wording {
  /** Null if it is in our words already. */
  ours(text: string): string | null;
  theirs<Result>(result: Result): Result;
}

export function wordingOf(names: PrefixedNames, maxTokens: number): Wording {
  const named = inverted(names.types);
  return {
    ours: (text: string) => (hasPrefixed(text, names) ? inOurWords(text, names, maxTokens) : null),
    theirs: <Result>(result: Result) => parseExactly(renamedIn(JSON.stringify(result), named)) as Result,
  };
}
