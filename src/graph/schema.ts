import { readdirSync, readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { addResolversToSchema } from '@graphql-tools/schema';
import {
  type DocumentNode,
  defaultFieldResolver,
  type GraphQLSchema,
  GraphQLSpecifiedByDirective,
  getDirectiveValues,
  isObjectType,
  isScalarType,
  parse,
  print,
} from 'graphql';
import { Failure } from '../errors.ts';
import type { BatchResolver } from '../execution/plan.ts';
import { gateWhileLoading } from './batch-gating.ts';
import type { GraphContext } from './context.ts';
import { tagForContracts } from './contract-tags.ts';
import { countWork } from './counting.ts';
import { takeCosts, writeCosts } from './field-costs.ts';
import type { Resolvers } from './generated.ts';
import { prefixedNames, withPrefixedNames } from './prefixed-names.ts';
import { type Entities, entitiesResolver } from './references.ts';
import { CountryCode, DateTime, JSONValue } from './scalars.ts';
import {
  executableApart,
  type KeyableType,
  withDirectives,
  withKey,
  withoutRootFields,
} from './subgraph-sdl.ts';

const SDL_FOLDER = new URL('../../schema/', import.meta.url);

/** Fields of `Query` that need no key. `_service` tells a router our SDL. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(['health', 'platformVersion', '_service']);

/** The interface of all types that have a global identifier. */
const NODE = 'Node';

/** Types whose objects are records that are held for many operations, as the service sent them. */
const IMMUTABLE_TYPES: readonly string[] = ['Observation'];

/** Resolvers of the fields of a type for many parents at once. */
// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type Batches = Readonly<Record<string, BatchResolver<any, any, any, any>>>;

export interface SchemaParts {
  readonly resolvers: readonly Resolvers[];
  /** Resolvers of references that other subgraphs hold, by type. */
  readonly entities: Entities;
  /** Resolvers of fields for many parents at once, by type and field. */
  readonly batches?: readonly Readonly<Record<string, Batches>>[];
  /** Stands in for the SDL of `schema/`, without that of `schema/extra`. */
  readonly sdl?: string;
  /** True if alpha-3 codes are a key of countries, too. */
  readonly subgraphIso3?: boolean;
  /** True if the interface `Node`, and each type that has it, has its identifier for a key. */
  readonly subgraphNode?: boolean;
  /** Root fields that routers aren't told of. */
  readonly subgraphOmit?: readonly string[];
  /** Prefix of our types and root fields for routers. */
  readonly subgraphPrefix?: string | undefined;
}

/**
 * The executable schema: the SDL of `schema/` as a Federation 2 subgraph, with resolvers for its fields.
 * @throws TypeError naming a field that nothing provides
 */
export function createSchema({
  resolvers,
  entities,
  batches = [],
  sdl = readSdl(),
  subgraphOmit: omitted = [],
  subgraphIso3: hasIso3Key = false,
  subgraphNode: hasNodeKey = false,
  subgraphPrefix: prefix,
}: SchemaParts): GraphQLSchema {
  const { document, executable } = executableApart(tagForContracts(parse(sdl)));
  const withIso3 = hasIso3Key ? withKey(document, 'iso3', ({ name }) => name.value === 'Country') : document;
  const { typeDefs, said } = takeCosts(hasNodeKey ? withKey(withIso3, 'id', isNode) : withIso3);
  const subgraph = createSubgraph(typeDefs, {
    resolvers: [{ CountryCode, DateTime, JSON: JSONValue }, ...resolvers],
    entities: hasNodeKey ? entities : withoutInterface(entities),
  });
  const schema = withDirectives(subgraph, executable);
  describeScalars(schema);
  readPlainly(schema, resolvers);
  resolveTogether(schema, batches);
  requireResolvers(schema);
  sayImmutable(schema);
  writeCosts(schema, said);
  countWork(schema);
  gateWhileLoading(schema);
  requireKey(schema);
  const told = omitted.length > 0 ? withoutRootFields(typeDefs, omitted) : typeDefs;
  if (prefix !== undefined) tellRouters(schema, withPrefixedNames(told, prefixedNames(schema, prefix)));
  else if (told !== typeDefs) tellRouters(schema, told);
  return schema;
}

const isNode = ({ name, interfaces = [] }: KeyableType) =>
  name.value === NODE || interfaces.some((one) => one.name.value === NODE);

function withoutInterface({ [NODE]: _, ...others }: Entities): Entities {
  return others;
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

/** Has `_service` tell this SDL in place of the one that is executed. */
function tellRouters(schema: GraphQLSchema, document: DocumentNode): void {
  const field = schema.getQueryType()?.getFields()._service;
  const sdl = print(document);
  if (field !== undefined) field.resolve = () => ({ sdl });
}

/**
 * The SDL of `schema/`.
 * @param extra names of the parts of `schema/extra` to add
 */
export function readSdl(extra: readonly string[] = []): string {
  const files = readdirSync(SDL_FOLDER).filter((name) => name.endsWith('.graphql'));
  return [...files, ...extra.map((name) => `extra/${name}.graphql`)]
    .sort()
    .map((name) => readFileSync(new URL(name, SDL_FOLDER), 'utf8'))
    .join('\n');
}

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
 * Gives scalars back the SDL's words on them: `addResolversToSchema` puts those of the code in their place, which has
 * none.
 */
function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || type.astNode == null) continue;
    type.description ??= type.astNode.description?.value;
    type.specifiedByURL ??= getDirectiveValues(GraphQLSpecifiedByDirective, type.astNode)?.url as string;
  }
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

/** Lets the JSON of objects be kept. */
function sayImmutable(schema: GraphQLSchema): void {
  for (const name of IMMUTABLE_TYPES) {
    const type = schema.getType(name);
    if (isObjectType(type)) type.extensions = { ...type.extensions, isImmutable: true };
  }
}

/**
 * Requires a resolver for every field: graphql-js would take a field that nobody provides for a property, and for null
 * if there is none.
 * @throws TypeError naming the field
 */
function requireResolvers(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('_')) continue;
    for (const { name, resolve } of Object.values(type.getFields())) {
      if (resolve === undefined)
        throw new TypeError(`Nothing provides ${type.name}.${name}: neither a resolver nor its record.`);
    }
  }
}

/**
 * Refuses protected fields without a key, or under one that the service has just refused, before anything else happens:
 * such an operation costs no call. A field that takes no call would else be answered under any key.
 */
function requireKey(schema: GraphQLSchema): void {
  for (const [name, field] of Object.entries(schema.getQueryType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (PUBLIC_FIELDS.has(name) || resolve === undefined) continue;
    field.resolve = (source, args, context: GraphContext, info) => {
      checkKey(context);
      return resolve(source, args, context, info);
    };
  }
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    const { subscribe } = field;
    if (subscribe === undefined) continue;
    field.subscribe = (source, args, context: GraphContext, info) => {
      checkKey(context);
      return subscribe(source, args, context, info);
    };
  }
}

function checkKey({ caller, keyRefusal }: GraphContext): void {
  if (!hasBearerKey(caller.authorization)) {
    throw new Failure('UNAUTHENTICATED', 'This field needs a key: send `Authorization: Bearer <API_KEY>`.');
  }
  const refusal = keyRefusal?.() ?? null;
  if (refusal !== null) throw refusal.with({ route: undefined });
}

function hasBearerKey(authorization: string | null): boolean {
  return authorization !== null && /^Bearer +\S/i.test(authorization);
}
