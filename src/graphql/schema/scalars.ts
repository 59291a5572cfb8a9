import {
  GraphQLError,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLSpecifiedByDirective,
  getDirectiveValues,
  isScalarType,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { timeIn } from '../../shared/periods.ts';

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

const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  parseValue: (value) => instant(value),
  parseLiteral: (node) => instant(textOf(node), node),
  // Times from the service are parsed with their records; any other form is refused here.
  serialize: (value) => instant(value),
  extensions: { shortcut: { test: "typeof v === 'string' && v[10] === 'T' && v.endsWith('Z')", value: 'v' } },
});

const JSONValue = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
  serialize: (value) => value,
  extensions: { shortcut: { test: 'v != null && !(v instanceof Error)', value: 'v' } },
});

export const SCALARS = { CountryCode, DateTime, JSON: JSONValue };

/** Restores the SDL's descriptions, which `addResolversToSchema` replaces by the code's missing ones. */
export function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || type.astNode == null) continue;
    type.description ??= type.astNode.description?.value;
    type.specifiedByURL ??= getDirectiveValues(GraphQLSpecifiedByDirective, type.astNode)?.url as string;
  }
}
