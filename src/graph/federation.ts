import { printSubgraphSchema } from '@apollo/subgraph';
import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  GraphQLSchema,
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
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import { ConfigError } from '../config.ts';
import { Failure } from '../errors.ts';
import { isAskedAhead, marksAskedAhead } from './selection.ts';

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

/**
 * The subgraph's SDL for routers and other people's tools, without some root fields, and with prefixed names if there
 * are any.
 */
export function printSdl(
  schema: GraphQLSchema,
  omitted: readonly string[] = [],
  names: PrefixedNames | null = null,
): string {
  const config = schema.toConfig();
  const directives = config.directives.filter(({ name }) => !EXECUTABLE.has(name));
  const sdl = printSubgraphSchema(new GraphQLSchema({ ...config, directives }));
  if (omitted.length === 0 && names === null) return sdl;
  const whole = parse(sdl, { noLocation: true });
  const document = omitted.length === 0 ? whole : withoutRootFields(whole, omitted);
  return print(names === null ? document : withPrefixedNames(document, names));
}

/** Directives of operations. Routers have their own of these names, and hand none on. */
const EXECUTABLE: ReadonlySet<string> = new Set(['defer', 'stream']);

/** An SDL without the directives of operations, and those. */
export function executableApart(
  document: DocumentNode,
): Readonly<Record<'document' | 'executable', DocumentNode>> {
  const isExecutable = (definition: DefinitionNode) =>
    definition.kind === Kind.DIRECTIVE_DEFINITION && EXECUTABLE.has(definition.name.value);
  const { definitions } = document;
  return {
    document: { ...document, definitions: definitions.filter((definition) => !isExecutable(definition)) },
    executable: { ...document, definitions: definitions.filter(isExecutable) },
  };
}

/** A schema with the directives of an SDL besides its own. */
export function withDirectives(schema: GraphQLSchema, document: DocumentNode): GraphQLSchema {
  const config = schema.toConfig();
  const added = buildASTSchema(document, { assumeValid: true }).getDirectives();
  const known = new Set(config.directives.map(({ name }) => name));
  return new GraphQLSchema({
    ...config,
    directives: [...config.directives, ...added.filter(({ name }) => !known.has(name))],
  });
}

/** A type that may have keys. */
export type KeyableType = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

/** An SDL in which some types have another key, of a field that they have. Types that have the key keep it as it is. */
export function withKey(
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
 * An SDL without some fields of `Query`, and without the types that nothing else leads to: other subgraphs may have
 * fields and types of these names.
 * @throws ConfigError if there is no such field, or none is left
 */
export function withoutRootFields(document: DocumentNode, omitted: readonly string[]): DocumentNode {
  const fields = document.definitions.find(isQuery)?.fields ?? [];
  const names = fields.map(({ name }) => name.value).filter((name) => !name.startsWith('_'));
  const unknown = omitted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`SUBGRAPH_OMIT: there is no root field ${unknown}; there are ${names.join(', ')}.`);
  if (names.every((name) => omitted.includes(name)))
    throw new ConfigError('SUBGRAPH_OMIT: it leaves no root field; a subgraph needs one.');
  return withoutUnused(withoutFields(document, omitted));
}

const isQuery = (definition: DefinitionNode): definition is ObjectTypeDefinitionNode =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === 'Query';

function withoutFields(document: DocumentNode, omitted: readonly string[]): DocumentNode {
  return {
    ...document,
    definitions: document.definitions.map((definition) =>
      isQuery(definition)
        ? {
            ...definition,
            fields: definition.fields?.filter(({ name }) => !omitted.includes(name.value)) ?? [],
          }
        : definition,
    ),
  };
}

/** Leaves out the types that neither a root field nor an entity leads to. */
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

/** A router's stand-in for an object: its type and the fields of one of its keys. */
export type Representation = Readonly<Record<string, unknown>>;

/** Finds an entity by a representation of its type; null if there is none. */
type ResolveReference = (
  representation: never,
  context: never,
  info: GraphQLResolveInfo,
) => PromiseOrValue<object | null>;

/** Resolvers of references that other subgraphs hold, by type. */
export type Entities = Readonly<Record<string, { readonly __resolveReference: ResolveReference }>>;

/**
 * Resolves `Query._entities`. Each representation has an outcome of its own, and none of them is a promise that is left
 * alone: an error thrown at once stands in the list, so that nothing interrupts the walk over the others.
 */
export function entitiesResolver(entities: Entities): GraphQLFieldResolver<unknown, unknown> {
  const find = (representation: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const name = typeNameIn(representation, entities);
    const resolve = entities[name]?.__resolveReference as (
      ...args: unknown[]
    ) => PromiseOrValue<object | null>;
    // A copy, since other operations may share the entity. An entity found by an interface names its own type.
    const finding = resolve(representation, context, info);
    const copied = mapValue(finding, (entity) => (entity === null ? null : { __typename: name, ...entity }));
    return finding instanceof Promise && copied instanceof Promise && isAskedAhead(finding)
      ? marksAskedAhead(copied)
      : copied;
  };
  return (_, { representations }, context, info) =>
    (representations as readonly unknown[]).map((representation) => {
      try {
        return find(representation, context, info);
      } catch (error) {
        return error;
      }
    });
}

/** @throws Failure BAD_USER_INPUT if it names no type that others may refer to */
function typeNameIn(representation: unknown, entities: Entities): string {
  if (typeof representation !== 'object' || representation === null || Array.isArray(representation)) {
    throw new Failure('BAD_USER_INPUT', 'A representation is an object with `__typename` and a key.');
  }
  const { __typename: name } = representation as Representation;
  if (typeof name !== 'string') {
    throw new Failure('BAD_USER_INPUT', 'A representation needs `__typename` as a string.');
  }
  if (!Object.hasOwn(entities, name)) {
    const known = Object.keys(entities).join(', ');
    throw new Failure(
      'BAD_USER_INPUT',
      `There is no entity type ${JSON.stringify(name.slice(0, MAX_SHOWN))}; there are ${known}.`,
    );
  }
  return name;
}

/** Characters of a caller's text that are repeated to them. */
const MAX_SHOWN = 100;
