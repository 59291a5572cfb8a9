import { readdirSync, readFileSync } from 'node:fs';
import { printSubgraphSchema } from '@apollo/subgraph';
import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLSchema,
  Kind,
  type NameNode,
  parse,
  print,
  visit,
} from 'graphql';
import type { Subgraph } from './subgraph.ts';

const SDL_FOLDER = new URL('../../../schema/', import.meta.url);

/** The SDL of `schema/`. */
export function readSdl(): string {
  return readdirSync(SDL_FOLDER)
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => readFileSync(new URL(name, SDL_FOLDER), 'utf8'))
    .join('\n');
}

/** Reads the SDL of a part, beside the file that brings it. The program is built with what this returns. */
export function readPart(file: URL): DocumentNode {
  return parse(readFileSync(file, 'utf8'), { noLocation: true });
}

/** Directives of operations. Routers have their own of these names, and hand none on. */
const EXECUTABLE: ReadonlySet<string> = new Set(['defer']);

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

/**
 * Prints the subgraph's SDL for clients and other people's tools.
 * @param subgraph for routers, if that is another
 */
export function printSdl(schema: GraphQLSchema, subgraph: Subgraph | null = null): string {
  const config = schema.toConfig();
  const directives = config.directives.filter(({ name }) => !EXECUTABLE.has(name));
  const sdl = printSubgraphSchema(new GraphQLSchema({ ...config, directives }));
  if (subgraph === null) return sdl;
  const document = parse(sdl, { noLocation: true });
  const shownDocument = subgraph.documentFor(document, schema);
  return shownDocument === document ? sdl : print(shownDocument);
}

/** Names that the federation gives to what it adds, for routers alone. */
const OF_FEDERATION = /^_|^(?:link|federation)__/;

/** Directives that say something to clients: the standard ones, and the fields that are null only with an error. */
const FOR_CLIENTS = new Set(['deprecated', 'oneOf', 'semanticNonNull', 'specifiedBy']);

/** Its own definition has types of the federation. */
const LINK = 'directive @link(url: String!, import: [String!]) repeatable on SCHEMA';

/**
 * Prints the SDL for clients of the gateway and generators of their types: it has no scalar but ours and the standard
 * ones, for generators that refuse those which nobody has told them of.
 */
export function printClientSdl(schema: GraphQLSchema): string {
  const unlessOfFederation = ({ name }: { readonly name: NameNode }) =>
    OF_FEDERATION.test(name.value) ? null : undefined;
  const shownDocument = visit(parse(printSdl(schema), { noLocation: true }), {
    Directive: (node) =>
      FOR_CLIENTS.has(node.name.value) || print(node).includes('@semanticNonNull') ? undefined : null,
    DirectiveDefinition: ({ name }) => (FOR_CLIENTS.has(name.value) ? undefined : null),
    EnumTypeDefinition: unlessOfFederation,
    FieldDefinition: unlessOfFederation,
    ObjectTypeDefinition: unlessOfFederation,
    ScalarTypeDefinition: unlessOfFederation,
    UnionTypeDefinition: unlessOfFederation,
  });
  return `${LINK}\n\n${print(shownDocument)}\n`;
}
