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
  printSchema,
  visit,
} from 'graphql';
import type { Subgraph } from './subgraph.ts';

const SDL_FOLDER = new URL('../../../schema/', import.meta.url);

export function readSdl(): string {
  return readdirSync(SDL_FOLDER)
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => readFileSync(new URL(name, SDL_FOLDER), 'utf8'))
    .join('\n');
}

/** Routers have their own directives of operations of these names, and pass none on. */
const EXECUTABLE: ReadonlySet<string> = new Set(['defer']);

/** Splits off the directives of operations. */
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

/** @param subgraph as routers see it, if that differs */
export function printSdl(schema: GraphQLSchema, subgraph: Subgraph | null = null): string {
  const config = schema.toConfig();
  const directives = config.directives.filter(({ name }) => !EXECUTABLE.has(name));
  const sdl = printSubgraphSchema(new GraphQLSchema({ ...config, description: null, directives }));
  if (subgraph === null) return sdl;
  const document = parse(sdl, { noLocation: true });
  const shownDocument = subgraph.documentFor(document, schema);
  return shownDocument === document ? sdl : print(shownDocument);
}

/** Added by federation, for routers alone. */
const OF_FEDERATION = /^_|^(?:link|federation)__/;

/** Directives that mean something to clients. */
const FOR_CLIENTS = new Set(['deprecated', 'oneOf', 'semanticNonNull', 'specifiedBy']);

/** Its own definition uses types of the federation. */
const LINK = 'directive @link(url: String!, import: [String!]) repeatable on SCHEMA';

/**
 * For clients and their code generators: no scalars but ours and the standard ones, since generators refuse unknown
 * ones.
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
  const directives = schema.getDirectives().filter(({ name }) => EXECUTABLE.has(name));
  const executable = printSchema(new GraphQLSchema({ directives }));
  return `${[LINK, executable, print(shownDocument)].join('\n\n')}\n`;
}
