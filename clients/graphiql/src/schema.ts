import { buildASTSchema, type IntrospectionQuery, introspectionFromSchema, parse } from 'graphql';
import { GATEWAY } from './addresses.ts';
import { endpoint } from './endpoint.ts';

/** Address of the schema for callers who may not ask for it by GraphQL, since only trusted documents run. */
const SDL = `${GATEWAY}schema.graphql`;

interface Introspected {
  readonly data?: unknown;
}

/**
 * Answer of an introspection, from the SDL if the gateway doesn't answer it, with fields for routers alone
 * behind the fields that people look for.
 */
export async function loadSchema(introspect: () => Promise<Introspected>): Promise<Introspected> {
  const answer = await introspect();
  if (isIntrospection(answer.data)) return { data: orderly(answer.data) };
  if (!endpoint().isOurs) return answer;
  const response = await fetch(SDL).catch(() => null);
  if (response?.ok !== true) return answer;
  const schema = buildASTSchema(parse(await response.text()), { assumeValidSDL: true });
  return { data: orderly(introspectionFromSchema(schema)) };
}

function isIntrospection(data: unknown): data is IntrospectionQuery {
  return typeof data === 'object' && data !== null && '__schema' in data;
}

/** Root fields that people come for. */
const FIRST = [
  'countries',
  'country',
  'observations',
  'indicators',
  'indicator',
  'tickers',
  'sources',
  'source',
];

/** Root fields that are about this gateway, or for programs. */
const LAST = ['ticker', 'quota', 'platformVersion', 'health', 'node', 'nodes'];

/** The place of a root field among the others: figures and lists first. */
function rankOf(name: string): number {
  const first = FIRST.indexOf(name);
  if (first >= 0) return first;
  const last = LAST.indexOf(name);
  return FIRST.length + (name.endsWith('Connection') ? LAST.length + 1 : last + 1);
}

/** Fields and types whose names begin with an underscore are for routers: they come last. */
function orderly(data: IntrospectionQuery): IntrospectionQuery {
  const sorted = <T extends { readonly name: string }>(all: readonly T[]) =>
    all.toSorted((a, b) => Number(a.name.startsWith('_')) - Number(b.name.startsWith('_')));
  const root = data.__schema.queryType.name;
  const types = data.__schema.types.map((type) => {
    if (type.kind !== 'OBJECT') return type;
    const fields =
      type.name === root ? type.fields.toSorted((a, b) => rankOf(a.name) - rankOf(b.name)) : type.fields;
    return { ...type, fields: sorted(fields) };
  });
  return { __schema: { ...data.__schema, types: sorted(types) } };
}
