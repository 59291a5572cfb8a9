import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { timeIn } from '../times.ts';

function countryCode(value: unknown, nodes?: ValueNode): string {
  if (typeof value === 'string' && /^[a-z]{2}$/i.test(value)) return value.toUpperCase();
  const message = `A country code is two letters, such as KE; this is ${JSON.stringify(value)}.`;
  throw new GraphQLError(message, nodes === undefined ? {} : { nodes });
}

function textOf(node: ValueNode): unknown {
  return node.kind === Kind.STRING ? node.value : valueFromASTUntyped(node);
}

export const CountryCode = new GraphQLScalarType<string, string>({
  name: 'CountryCode',
  parseValue: (value) => countryCode(value),
  parseLiteral: (node) => countryCode(textOf(node), node),
  serialize: (value) => String(value).toUpperCase(),
  extensions: { shortcut: { test: "typeof v === 'string'", value: 'v.toUpperCase()' } },
});

function instant(value: unknown, nodes?: ValueNode): string {
  const time = typeof value === 'string' ? timeIn(value) : null;
  if (time !== null) return time.text;
  const message = `An instant is ISO 8601, such as 2026-07-24T03:12:45Z; this is ${JSON.stringify(value)}.`;
  throw new GraphQLError(message, nodes === undefined ? {} : { nodes });
}

export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  parseValue: (value) => instant(value),
  parseLiteral: (node) => instant(textOf(node), node),
  // Texts of the service are read with their records: here, none leaves that isn't of this form.
  serialize: (value) => instant(value),
  extensions: { shortcut: { test: "typeof v === 'string' && v[10] === 'T' && v.endsWith('Z')", value: 'v' } },
});

export const JSONValue = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
  serialize: (value) => value,
  extensions: { shortcut: { test: 'v != null && !(v instanceof Error)', value: 'v' } },
});
