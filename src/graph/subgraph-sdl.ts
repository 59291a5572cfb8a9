import { printSubgraphSchema } from '@apollo/subgraph';
import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';
import { ConfigError } from '../config.ts';
import { type PrefixedNames, withPrefixedNames } from './prefixed-names.ts';

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
