import {
  type DocumentNode,
  type GraphQLSchema,
  isScalarType,
  isTypeDefinitionNode,
  Kind,
  type NameNode,
  visit,
} from 'graphql';

/** Names that routers know ours by, if other subgraphs have the same. Both kinds are of one prefix, such as `CG_`. */
export interface PrefixedNames {
  /** Our types by their prefixed names: `CG_Country` is `Country`. */
  readonly types: ReadonlyMap<string, string>;
  /** Our root fields likewise, in lower case: `cg_countries` is `countries`. */
  readonly fields: ReadonlyMap<string, string>;
  /** The beginnings of prefixed names: that of types and that of root fields. */
  readonly marks: readonly [type: string, field: string];
}

/** Shared by all subgraphs that have pages after Relay's specification. */
const SHARED: ReadonlySet<string> = new Set(['PageInfo']);

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

/** The prefixed names of a schema. Scalars keep theirs, since those of one name are one. */
export function prefixedNames(schema: GraphQLSchema, prefix: string): PrefixedNames {
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

/** An SDL with prefixed names in place of ours. */
export function withPrefixedNames(document: DocumentNode, { types, fields }: PrefixedNames): DocumentNode {
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
