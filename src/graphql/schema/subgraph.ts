import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isScalarType,
  isTypeDefinitionNode,
  Kind,
  type NameNode,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';
import { type Config, ConfigError } from '../../config/config.ts';

export type Subgraph = ReturnType<typeof openSubgraph>;

/** The graph as routers see it, where settings make it differ from the clients'. */
export function openSubgraph({ subgraphIso3, subgraphNode, subgraphOmit, subgraphPrefix }: Config) {
  const names = (schema: GraphQLSchema) =>
    subgraphPrefix === undefined ? null : prefixedNames(schema, subgraphPrefix);
  return {
    /** True if global identifiers are keys. */
    hasNodeKey: subgraphNode,
    /** Adds keys by which routers may refer to types. */
    keyed(document: DocumentNode) {
      const withIso3 = subgraphIso3
        ? withKey(document, 'iso3', ({ name }) => name.value === 'Country')
        : document;
      return subgraphNode ? withKey(withIso3, 'id', isNode) : withIso3;
    },
    /** The same document if nothing differs. */
    documentFor(document: DocumentNode, schema: GraphQLSchema) {
      const left = subgraphOmit.length > 0 ? withoutRootFields(document, subgraphOmit) : document;
      const prefixed = names(schema);
      return prefixed === null ? left : withPrefixedNames(left, prefixed);
    },
    /** Null if routers use our names. */
    names,
  };
}

/** Routers' names for ours, with one prefix such as `CG_`. */
export interface PrefixedNames {
  /** Our types by their prefixed names: `CG_Country` is `Country`. */
  readonly types: ReadonlyMap<string, string>;
  /** Our root fields likewise, in lower case: `cg_countries` is `countries`. */
  readonly fields: ReadonlyMap<string, string>;
  readonly marks: readonly [type: string, field: string];
}

/** Shared by all subgraphs with Relay's pages. */
const SHARED: ReadonlySet<string> = new Set(['PageInfo']);

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

/** Scalars keep their names: equal ones are one. */
function prefixedNames(schema: GraphQLSchema, prefix: string): PrefixedNames {
  const typePrefix = `${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}`;
  const fieldPrefix = prefix.toLowerCase();
  const types = new Map<string, string>();
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    const isOurs = !isScalarType(type) && !name.startsWith('_') && !ROOTS.has(name) && !SHARED.has(name);
    // Federation's own types have two underscores within.
    if (isOurs && !name.includes('__')) types.set(`${typePrefix}${name}`, name);
  }
  const fields = new Map<string, string>();
  for (const root of [schema.getQueryType(), schema.getSubscriptionType()]) {
    for (const name of Object.keys(root?.getFields() ?? {}))
      if (!name.startsWith('_')) fields.set(`${fieldPrefix}${name}`, name);
  }
  return { types, fields, marks: [typePrefix, fieldPrefix] };
}

function withPrefixedNames(document: DocumentNode, { types, fields }: PrefixedNames): DocumentNode {
  const prefixedType = inverted(types);
  const prefixedField = inverted(fields);
  const rename = <Node extends { readonly name: NameNode }>(
    node: Node,
    names: ReadonlyMap<string, string>,
  ): Node => {
    const value = names.get(node.name.value);
    return value === undefined ? node : { ...node, name: { ...node.name, value } };
  };
  const document_: DocumentNode = visit(document, { NamedType: (node) => rename(node, prefixedType) });
  return {
    ...document_,
    definitions: document_.definitions.map((definition) => {
      const isRoot = 'name' in definition && ROOTS.has(definition.name?.value ?? '');
      if (
        isRoot &&
        (definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION)
      )
        return {
          ...definition,
          fields: definition.fields?.map((field) => rename(field, prefixedField)) ?? [],
        };
      return isTypeDefinitionNode(definition) || definition.kind === Kind.OBJECT_TYPE_EXTENSION
        ? rename(definition, prefixedType)
        : definition;
    }),
  };
}

export function inverted(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...names].map(([prefixed, ours]) => [ours, prefixed]));
}

type KeyableType = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

const NODE = 'Node';

const isNode = ({ name, interfaces = [] }: KeyableType) =>
  name.value === NODE || interfaces.some((one) => one.name.value === NODE);

/** Types that have the key already stay as they are. */
function withKey(
  document: DocumentNode,
  field: string,
  isWanted: (type: KeyableType) => boolean,
): DocumentNode {
  const [key] = parse(`type T @key(fields: "${field}")`, { noLocation: true }).definitions;
  const added = key?.kind === Kind.OBJECT_TYPE_DEFINITION ? (key.directives ?? []) : [];
  const text = added.map(print).join();
  const keyed = <Type extends KeyableType>(type: Type): Type => {
    const { directives = [] } = type;
    const isDue = isWanted(type) && !directives.some((directive) => print(directive) === text);
    return isDue ? { ...type, directives: [...directives, ...added] } : type;
  };
  return visit(document, { ObjectTypeDefinition: keyed, InterfaceTypeDefinition: keyed });
}

/**
 * Leaves out root fields and the types that only they lead to: other subgraphs may have these names.
 * @throws ConfigError if there is no such field, or none is left
 */
function withoutRootFields(document: DocumentNode, omitted: readonly string[]): DocumentNode {
  const fields = document.definitions.find(isQuery)?.fields ?? [];
  const names = fields.map(({ name }) => name.value).filter((name) => !name.startsWith('_'));
  const unknown = omitted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`SUBGRAPH_OMIT: there is no root field ${unknown}; there are ${names.join(', ')}.`);
  if (names.every((name) => omitted.includes(name)))
    throw new ConfigError('SUBGRAPH_OMIT: it leaves no root field; a subgraph needs one.');
  return withoutUnused({
    ...document,
    definitions: document.definitions.map((definition) =>
      isQuery(definition)
        ? { ...definition, fields: fields.filter(({ name }) => !omitted.includes(name.value)) }
        : definition,
    ),
  });
}

const isQuery = (definition: DefinitionNode): definition is ObjectTypeDefinitionNode =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === 'Query';

/** Keeps what a root field or an entity leads to. */
function withoutUnused(document: DocumentNode): DocumentNode {
  const types = document.definitions.filter(isTypeDefinitionNode);
  const used = new Set<string>();
  const pending = document.definitions.filter(
    (definition) =>
      !isTypeDefinitionNode(definition) ||
      isQuery(definition) ||
      definition.directives?.some(({ name }) => name.value === 'key'),
  );
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (isTypeDefinitionNode(next)) used.add(next.name.value);
    const named = namesIn(next);
    pending.push(...types.filter(({ name }) => named.has(name.value) && !used.has(name.value)));
    for (const name of named) used.add(name);
  }
  return {
    ...document,
    definitions: document.definitions.filter(
      (definition) => !isTypeDefinitionNode(definition) || used.has(definition.name.value),
    ),
  };
}

function namesIn(definition: DefinitionNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(definition, {
    NamedType({ name }) {
      names.add(name.value);
    },
  });
  return names;
}
