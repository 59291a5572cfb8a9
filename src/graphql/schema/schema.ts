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

/** Resolvers of the fields of a type for many parents at once. */
// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type Batches = Readonly<Record<string, BatchResolver<any, any, any, any>>>;

/** A part of the graph that a plugin brings. */
export interface SchemaPart {
  /** Types of its own, and extensions of others; what a field takes of the service stands in `@upstream`. */
  readonly sdl: DocumentNode | string;
  readonly resolvers: PartResolvers;
  /** Routes that its fields ask, to be priced by what each is assumed to answer. */
  readonly endpoints?: readonly Endpoint[];
  /** Called with the schema once its fields have their resolvers, and before the kernel wraps them. */
  finish?(schema: GraphQLSchema): void;
}

/** Resolvers by type and field, as the types of a schema of its own would have them. */
type PartResolvers = Readonly<
  Record<string, Readonly<Record<string, AnyResolver | { subscribe: AnyResolver; resolve: AnyResolver }>>>
>;

// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type AnyResolver = GraphQLFieldResolver<any, GraphContext, any>;

interface SchemaParts {
  readonly resolvers: readonly Resolvers[];
  /** Resolvers of references that other subgraphs hold, by type. */
  readonly entities: Entities;
  /** Resolvers of fields for many parents at once, by type and field. */
  readonly batches?: readonly Readonly<Record<string, Batches>>[];
  readonly parts?: readonly SchemaPart[];
  /** Stands in for the SDL of `schema/`. */
  readonly sdl?: DocumentNode;
  /** Null, or left out, if routers see what clients see. */
  readonly subgraph?: Subgraph | null;
}

/**
 * The executable schema: the SDL of `schema/` as a Federation 2 subgraph, with resolvers for its fields.
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
  // Takes those of parts as they come: the types of each are its own.
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

/** An executable Federation 2 subgraph of any SDL. */
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
    directives: [...config.directives, ...added.filter(({ name }) => !directiveNames.has(name))],
  });
}

/** Has `_service` tell this SDL in place of the one that is executed. */
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
      // A scalar is no list of fields, and stands once.
      merged[type] = before === undefined ? fields : { ...before, ...fields };
    }
  }
  return merged;
}

/**
 * Lets fields that a record has be read without a detour: `addResolversToSchema` binds every function that it is given.
 */
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

/** Has fields resolved for many parents at once, and for one alone if graphql-js asks. */
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
 * Requires a resolver for every field: graphql-js would take a field that nobody provides for a property, and for null
 * if there is none.
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
