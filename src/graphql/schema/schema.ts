import { buildSubgraphSchema } from '@apollo/subgraph';
import { addResolversToSchema } from '@graphql-tools/schema';
import {
  buildASTSchema,
  concatAST,
  type DocumentNode,
  defaultFieldResolver,
  type GraphQLFieldResolver,
  GraphQLSchema,
  isObjectType,
  parse,
  print,
} from 'graphql';
import type { Endpoint } from '../../service/call.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from './context.ts';
import { tagForContracts } from './contract-tags.ts';
import { writeCosts } from './costs.ts';
import { type Entities, entitiesResolver } from './entities.ts';
import type { Resolvers } from './generated.ts';
import { judgeObjects, requireKey } from './key-checks.ts';
import { gateWhileLoading } from './loading.ts';
import { objectTypesOf } from './object-types.ts';
import { describeScalars, SCALARS } from './scalars.ts';
import { executableApart, readSdl } from './sdl.ts';
import { takeCosts } from './selection.ts';
import type { Subgraph } from './subgraph.ts';

// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type Batches = Readonly<Record<string, BatchResolver<any, any, any, any>>>;

/** A plugin's part of the graph. */
export interface SchemaPart {
  /** Types, and extensions of others; `@upstream` states what a field takes of the service. */
  readonly sdl: DocumentNode | string;
  readonly resolvers: PartResolvers;
  /** Priced by what each is assumed to answer. */
  readonly endpoints?: readonly Endpoint[];
  /** Called once fields have their resolvers, before the kernel wraps them. */
  finish?(schema: GraphQLSchema): void;
}

type PartResolvers = Readonly<
  Record<string, Readonly<Record<string, AnyResolver | { subscribe: AnyResolver; resolve: AnyResolver }>>>
>;

// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type AnyResolver = GraphQLFieldResolver<any, GraphContext, any>;

interface SchemaParts {
  readonly resolvers: readonly Resolvers[];
  /** References that other subgraphs hold, by type. */
  readonly entities: Entities;
  /** For many parents at once, by type and field. */
  readonly batches?: readonly Readonly<Record<string, Batches>>[];
  readonly parts?: readonly SchemaPart[];
  /** Instead of the SDL of `schema/`. */
  readonly sdl?: DocumentNode;
  /** Null if routers see what clients see. */
  readonly subgraph?: Subgraph | null;
}

/**
 * The SDL as a Federation 2 subgraph, with resolvers.
 * @throws TypeError naming a field that nothing provides
 */
export function createSchema({
  resolvers: ofKernel,
  entities,
  batches = [],
  parts = [],
  sdl = concatAST([parse(readSdl()), ...parts.map((part) => documentOf(part))]),
  subgraph = null,
}: SchemaParts): GraphQLSchema {
  // The types of each part are its own.
  const resolvers = [...ofKernel, ...(parts.map((part) => part.resolvers) as readonly Resolvers[])];
  const { document, executable } = executableApart(tagForContracts(sdl));
  const { typeDefs, said } = takeCosts(subgraph === null ? document : subgraph.keyed(document));
  const { Node: _, ...ofObjects } = entities;
  const schemaOf = createSubgraph(typeDefs, {
    resolvers: [SCALARS, ...resolvers],
    entities: subgraph?.hasNodeKey ? entities : ofObjects,
  });
  const schema = withDirectives(schemaOf, executable);
  describeScalars(schema);
  readPlainly(schema, resolvers);
  resolveTogether(schema, batches);
  requireResolvers(schema);
  writeCosts(schema, said);
  for (const part of parts) part.finish?.(schema);
  judgeObjects(schema);
  gateWhileLoading(schema);
  requireKey(schema);
  const shownDocument = subgraph === null ? typeDefs : subgraph.documentFor(typeDefs, schema);
  if (shownDocument !== typeDefs) describeToRouters(schema, shownDocument);
  return schema;
}

export function createSubgraph(typeDefs: DocumentNode, { resolvers, entities }: SchemaParts): GraphQLSchema {
  const schema = buildSubgraphSchema([{ typeDefs, resolvers: entities as never }]);
  const field = schema.getQueryType()?.getFields()._entities;
  if (field !== undefined) field.resolve = entitiesResolver(entities);
  return addResolversToSchema({
    schema,
    resolvers: mergeByType(resolvers) as never,
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
    updateResolversInPlace: true,
  });
}

function withDirectives(schema: GraphQLSchema, document: DocumentNode): GraphQLSchema {
  const config = schema.toConfig();
  const added = buildASTSchema(document, { assumeValid: true }).getDirectives();
  const directiveNames = new Set(config.directives.map(({ name }) => name));
  return new GraphQLSchema({
    ...config,
    // An extension of a schema has no place for a description.
    description: config.query?.description,
    directives: [...config.directives, ...added.filter(({ name }) => !directiveNames.has(name))],
  });
}

function describeToRouters(schema: GraphQLSchema, document: DocumentNode): void {
  const field = schema.getQueryType()?.getFields()._service;
  const sdl = print(document);
  if (field !== undefined) field.resolve = () => ({ sdl });
}

const documentOf = ({ sdl }: SchemaPart) =>
  typeof sdl === 'string' ? parse(sdl, { noLocation: true }) : sdl;

function mergeByType<Fields extends object>(
  resolvers: readonly Readonly<Record<string, Fields>>[],
): Record<string, Fields> {
  const merged: Record<string, Fields> = {};
  for (const domain of resolvers) {
    for (const [type, fields] of Object.entries(domain)) {
      const before = merged[type];
      // A scalar stands once.
      merged[type] = before === undefined ? fields : { ...before, ...fields };
    }
  }
  return merged;
}

/** Restores default resolvers: `addResolversToSchema` binds every function, which makes reads slower. */
function readPlainly(schema: GraphQLSchema, resolvers: readonly Resolvers[]): void {
  for (const [typeName, resolverByField] of Object.entries(mergeByType(resolvers))) {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) continue;
    for (const [name, resolve] of Object.entries(resolverByField)) {
      const field = type.getFields()[name];
      if (field !== undefined && resolve === defaultFieldResolver) field.resolve = defaultFieldResolver;
    }
  }
}

/** A single parent still works, for graphql-js. */
function resolveTogether(schema: GraphQLSchema, batches: NonNullable<SchemaParts['batches']>): void {
  for (const [typeName, fields] of Object.entries(mergeByType(batches))) {
    const type = schema.getType(typeName);
    for (const [name, batch] of Object.entries(fields)) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined;
      if (field === undefined) throw new TypeError(`There is no field ${typeName}.${name}.`);
      field.extensions = { ...field.extensions, batch };
      field.resolve = async (source, args, context, info) =>
        (await batch([source], args, context, { ...info, pathOf: () => info.path }))[0];
    }
  }
}

/**
 * graphql-js would read a field without a resolver as a property, and as null if there is none.
 * @throws TypeError naming the field
 */
function requireResolvers(schema: GraphQLSchema): void {
  for (const type of objectTypesOf(schema)) {
    if (type.name.startsWith('_')) continue;
    for (const { name, resolve } of Object.values(type.getFields())) {
      if (resolve === undefined)
        throw new TypeError(`Nothing provides ${type.name}.${name}: neither a resolver nor its record.`);
    }
  }
}
