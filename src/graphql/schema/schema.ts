import { readdirSync, readFileSync } from 'node:fs';
import { buildSubgraphSchema, printSubgraphSchema } from '@apollo/subgraph';
import { addResolversToSchema } from '@graphql-tools/schema';
import {
  type ArgumentNode,
  BREAK,
  buildASTSchema,
  type ConstDirectiveNode,
  concatAST,
  type DefinitionNode,
  type DocumentNode,
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLSpecifiedByDirective,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isTypeDefinitionNode,
  Kind,
  type NameNode,
  parse,
  print,
  type TypeDefinitionNode,
  type TypeNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { isPromise } from 'graphql/jsutils/isPromise.js';
import { createObjectMemo } from '../../cache/lru.ts';
import type { Endpoint } from '../../service/call.ts';
import { checkRight, TAGS, type Tag } from '../../service/rights.ts';
import { Failure } from '../../shared/errors.ts';
import { timeIn } from '../../shared/periods.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from './context.ts';
import type { Resolvers } from './generated.ts';
import { asksForFigures, costOf, type FieldCost, gatesBatch, takeCosts } from './selection.ts';
import type { Subgraph } from './subgraph.ts';

/**
 * Fields of the schema, as `Type.field`, that no resolver map provides.
 * @typeParam Given the maps, as a union
 */
export type Unprovided<Given> = {
  [Type in keyof Resolvers]-?: NonNullable<Resolvers[Type]> extends GraphQLScalarType
    ? never
    : Exclude<Coordinates<Type, NonNullable<Resolvers[Type]>>, ProvidedBy<Given, Type>>;
}[keyof Resolvers];

type ProvidedBy<Given, Type extends string> = Given extends { readonly [Name in Type]: infer Fields }
  ? Coordinates<Type, Fields>
  : never;

type Coordinates<Type extends string, Fields> = `${Type}.${Exclude<keyof Fields & string, `__${string}`>}`;

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
  // Texts of the service are read with their records: here, none leaves that isn't of this form.
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

/** The tag of everything that no type's own tag is about. */
const BASE_TAG = 'base';

/**
 * Tags all of an SDL for contracts, of which only types are tagged by hand. A field, with its arguments, has the tag of
 * the type that it leads to, and all the rest has `base`. So a contract that leaves a tag out leaves nothing that leads
 * to it, and one that takes `base` and other tags in has all that belongs to them.
 */
function tagForContracts(document: DocumentNode): DocumentNode {
  const definitions = withoutExtensions(document.definitions);
  const tagged = new Map(
    definitions.filter(isTypeDefinitionNode).flatMap((type) => {
      const tag = tagOf(type);
      return tag === null ? [] : [[type.name.value, tag] as const];
    }),
  );
  return { ...document, definitions: definitions.map((definition) => spread(definition, tagged)) };
}

/**
 * Types with the fields that extensions add to them: a tag is for a type with all of its fields, or for each of them.
 */
function withoutExtensions(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const added = new Map<string, FieldDefinitionNode[]>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_EXTENSION) continue;
    const { name, fields = [] } = definition;
    added.set(name.value, [...(added.get(name.value) ?? []), ...fields]);
  }
  return definitions
    .filter(({ kind }) => kind !== Kind.OBJECT_TYPE_EXTENSION)
    .map((definition) => {
      if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return definition;
      const { name, fields = [] } = definition;
      return { ...definition, fields: [...fields, ...(added.get(name.value) ?? [])] };
    });
}

function spread(definition: DefinitionNode, tagged: ReadonlyMap<string, string>): DefinitionNode {
  if (!isTypeDefinitionNode(definition) || tagOf(definition) !== null) return definition;
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return withTag(definition, BASE_TAG);
  const leadingTo = (field: FieldDefinitionNode) => tagged.get(nameIn(field.type)) ?? BASE_TAG;
  const { fields = [] } = definition;
  if (fields.every((field) => leadingTo(field) === BASE_TAG)) return withTag(definition, BASE_TAG);
  return { ...definition, fields: fields.map((field) => tagField(field, leadingTo(field))) };
}

function tagField(field: FieldDefinitionNode, tag: string): FieldDefinitionNode {
  const { arguments: given = [] } = field;
  return { ...withTag(field, tag), arguments: given.map((argument) => withTag(argument, tag)) };
}

function tagOf({ directives = [] }: TypeDefinitionNode): string | null {
  const value = directives
    .find(({ name }) => name.value === 'tag')
    ?.arguments?.find(({ name }) => name.value === 'name')?.value;
  return value?.kind === Kind.STRING ? value.value : null;
}

function withTag<Node extends { readonly directives?: readonly ConstDirectiveNode[] | undefined }>(
  node: Node,
  tag: string,
): Node {
  const directive: ConstDirectiveNode = {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: 'tag' },
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: { kind: Kind.NAME, value: 'name' },
        value: { kind: Kind.STRING, value: tag },
      },
    ],
  };
  return { ...node, directives: [...(node.directives ?? []), directive] };
}

function nameIn(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameIn(type.type);
}

const SDL_FOLDER = new URL('../../../schema/', import.meta.url);

/** Fields of `Query` that need no key. `_service` tells a router our SDL. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(['health', 'platformVersion', '_service']);

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
    resolvers: [{ CountryCode, DateTime, JSON: JSONValue }, ...resolvers],
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

/** Directives of operations. Routers have their own of these names, and hand none on. */
const EXECUTABLE: ReadonlySet<string> = new Set(['defer']);

/** An SDL without the directives of operations, and those. */
function executableApart(document: DocumentNode): Readonly<Record<'document' | 'executable', DocumentNode>> {
  const isExecutable = (definition: DefinitionNode) =>
    definition.kind === Kind.DIRECTIVE_DEFINITION && EXECUTABLE.has(definition.name.value);
  const { definitions } = document;
  return {
    document: { ...document, definitions: definitions.filter((definition) => !isExecutable(definition)) },
    executable: { ...document, definitions: definitions.filter(isExecutable) },
  };
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

/** A router's stand-in for an object: its type and the fields of one of its keys. */
export type Representation = Readonly<Record<string, unknown>>;

/** Finds an entity by a representation of its type, at once or by a promise; null if there is none. */
type ResolveReference = (representation: never, context: never, info: GraphQLResolveInfo) => object | null;

/** Resolvers of references that other subgraphs hold, by type. */
type Entities = Readonly<Record<string, { readonly __resolveReference: ResolveReference }>>;

/**
 * Resolves `Query._entities`. Each representation has an outcome of its own, and none of them is a promise that is left
 * alone: an error thrown at once stands in the list, so that nothing interrupts the walk over the others.
 */
function entitiesResolver(entities: Entities): GraphQLFieldResolver<unknown, unknown> {
  const find = (representation: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const name = typeNameIn(representation, entities);
    const resolve = entities[name]?.__resolveReference as (...args: unknown[]) => object | null;
    // A copy, since other operations may share the entity. An entity found by an interface names its own type.
    const copy = (entity: object | null) => (entity === null ? null : { __typename: name, ...entity });
    const entity = resolve(representation, context, info);
    if (!(entity instanceof Promise)) return copy(entity);
    const copied = entity.then(copy);
    return isPrefetched(entity) ? markPrefetched(copied) : copied;
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
    const typeNames = Object.keys(entities).join(', ');
    throw new Failure(
      'BAD_USER_INPUT',
      `There is no entity type ${JSON.stringify(name.slice(0, MAX_SHOWN))}; there are ${typeNames}.`,
    );
  }
  return name;
}

/** Characters of a caller's text that are repeated to them. */
const MAX_SHOWN = 100;

/** Has `_service` tell this SDL in place of the one that is executed. */
function describeToRouters(schema: GraphQLSchema, document: DocumentNode): void {
  const field = schema.getQueryType()?.getFields()._service;
  const sdl = print(document);
  if (field !== undefined) field.resolve = () => ({ sdl });
}

const documentOf = ({ sdl }: SchemaPart) =>
  typeof sdl === 'string' ? parse(sdl, { noLocation: true }) : sdl;

/** Reads the SDL of a part, beside the file that brings it. The program is built with what this returns. */
export function readPart(file: URL): DocumentNode {
  return parse(readFileSync(file, 'utf8'), { noLocation: true });
}

/** The SDL of `schema/`. */
export function readSdl(): string {
  return readdirSync(SDL_FOLDER)
    .filter((name) => name.endsWith('.graphql'))
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

/** The object types of a schema, but for those by which GraphQL describes it. */
function objectTypesOf(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types.filter(({ name }) => !name.startsWith('__'));
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

/**
 * Refuses protected fields without a key, or under one that the service has just refused, before anything else happens:
 * such an operation costs no call. A field that takes no call would otherwise be answered under any key.
 */
function requireKey(schema: GraphQLSchema): void {
  const roots = { resolve: schema.getQueryType(), subscribe: schema.getSubscriptionType() };
  for (const way of ['resolve', 'subscribe'] as const) {
    for (const [name, field] of Object.entries(roots[way]?.getFields() ?? {})) {
      const next = field[way];
      if (PUBLIC_FIELDS.has(name) || next === undefined) continue;
      field[way] = (source, args, context: GraphContext, info) => {
        checkKey(context);
        if (takesNothingOld(info)) context.loaders.observations.settleTogether();
        return next(source, args, context, info);
      };
    }
  }
}

/** Types that contracts of routers leave in the base, but that are of figures to a key. */
const OF_FIGURES: ReadonlySet<string> = new Set(['CountryProfile', 'Signals']);

/** Returns the part of the graph that a type is of, as a key may read it. */
export function partOf({ name, astNode, extensions }: GraphQLNamedType): Tag | 'base' {
  // A part of a plugin says it of its own types.
  if (OF_FIGURES.has(name) || extensions.part === 'figures') return 'figures';
  const tag = astNode == null ? null : tagOf(astNode as TypeDefinitionNode);
  return TAGS.find((one) => one === tag) ?? 'base';
}

/** Has each object that is reached by an interface or a union judged by its own type, before any of it is read. */
function judgeObjects(schema: GraphQLSchema): void {
  const parts = new Map(objectTypesOf(schema).map((type) => [type.name, partOf(type)]));
  const judge = (name: string | undefined, { caller }: GraphContext) => {
    checkRight(caller, parts.get(name ?? '') ?? 'base');
    return name;
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isAbstractType(type)) continue;
    const resolveType = type.resolveType ?? defaultTypeResolver;
    type.resolveType = (value, context: GraphContext, info, abstract) => {
      const name = resolveType(value, context, info, abstract);
      if (context.caller.rights === undefined) return name;
      return name instanceof Promise
        ? name.then((objectName) => judge(objectName, context))
        : judge(name as string | undefined, context);
    };
  }
}

const nothingOld = createObjectMemo<boolean>('nothingOld');

/** True if some field of an operation bounds the age of its figures. */
function takesNothingOld({ operation, fragments }: GraphQLResolveInfo): boolean {
  const cachedResult = nothingOld.of(operation);
  if (cachedResult !== undefined) return cachedResult;
  let isFound = false;
  const look = ({ name }: ArgumentNode) => {
    if (name.value === 'maxAge') isFound = true;
    return isFound ? BREAK : undefined;
  };
  for (const one of [operation, ...Object.values(fragments)]) visit(one, { Argument: look });
  return nothingOld.put(operation, isFound);
}

function checkKey({ caller, gate }: GraphContext): void {
  if (!/^Bearer +\S/i.test(caller.authorization ?? '')) {
    throw new Failure('UNAUTHENTICATED', 'This field needs a key: send `Authorization: Bearer <API_KEY>`.');
  }
  const refusal = gate?.refusal(caller.tenant) ?? null;
  if (refusal !== null) throw refusal.with({ route: undefined });
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

/**
 * Writes its cost on each field of a schema, and on each type how its objects are found. Resolvers have to be there by
 * now.
 */
function writeCosts(schema: GraphQLSchema, said: ReturnType<typeof takeCosts>['said']): void {
  for (const type of objectTypesOf(schema))
    for (const field of Object.values(type.getFields()))
      write(field, said.get(`${type.name}.${field.name}`) ?? unsaidCost(field));
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isInterfaceType(type)) continue;
    const types = schema.getPossibleTypes(type);
    for (const field of Object.values(type.getFields()))
      write(field, inCommon(types.map((possible) => costOf(possible.getFields()[field.name]))));
  }
  const query = schema.getQueryType()?.getFields() ?? {};
  if (query._service !== undefined) write(query._service, 'NOTHING');
  if (query._entities !== undefined) write(query._entities, 'REFERENCED');
  writeTypes(schema);
}

function writeTypes(schema: GraphQLSchema): void {
  const union = schema.getType('_Entity');
  const entities = isAbstractType(union) ? schema.getPossibleTypes(union) : [];
  const lookups = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ astNode }) =>
    astNode?.directives?.some(({ name }) => name.value === 'lookup'),
  );
  const types = new Set<unknown>(lookups.map(({ type }) => getNamedType(type)));
  for (const type of objectTypesOf(schema)) {
    const rowType = rowTypeIn(type);
    const isFoundById = entities.includes(type) && !types.has(type);
    type.extensions = { ...type.extensions, isFoundById, ...(rowType && { rowType }) };
  }
}

function rowTypeIn(type: GraphQLObjectType): GraphQLObjectType | null {
  const rows = type.name.endsWith('Connection') ? type.getFields().nodes : undefined;
  const rowType = rows === undefined ? undefined : getNamedType(rows.type);
  return isObjectType(rowType) ? rowType : null;
}

function write(field: GraphQLField<unknown, unknown>, cost: FieldCost): void {
  field.extensions = { ...field.extensions, cost };
}

/**
 * The cost of a field that states none: a field read off an object asks for nothing; a resolver may ask for anything.
 */
function unsaidCost({ resolve, extensions }: GraphQLField<unknown, unknown>): FieldCost {
  const isRead = resolve === undefined || resolve === defaultFieldResolver;
  return isRead && extensions.batch === undefined ? 'NOTHING' : 'UNSAID';
}

function inCommon([first, ...rest]: readonly FieldCost[]): FieldCost {
  return first !== undefined && rest.every((cost) => cost === first) ? first : 'UNSAID';
}

/** Types below which a field can ask for figures, in some selection: no other type needs a look at its selection. */
function typesThatLead(schema: GraphQLSchema): ReadonlySet<string> {
  const leading = new Set<string>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const type of Object.values(schema.getTypeMap())) {
      if (leading.has(type.name) || type.name.startsWith('__')) continue;
      const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const below = fields.map((field) => getNamedType(field.type));
      const members = isCompositeType(type) && !isObjectType(type) ? schema.getPossibleTypes(type) : [];
      if (fields.some(asksForFigures) || [...below, ...members].some(({ name }) => leading.has(name))) {
        leading.add(type.name);
        grew = true;
      }
    }
  }
  return leading;
}

const OWN_CONCERN: ReadonlySet<FieldCost> = new Set<FieldCost>(['FIGURES', 'IDENTIFIED']);

/**
 * Makes every field that is still loading hold the batch of figures back, if the selection below it can add to that
 * batch. Fields that ask for figures themselves don't: the batch waits to answer them. Fields that find objects by
 * their identifiers may be either, and see to it themselves.
 */
function gateWhileLoading(schema: GraphQLSchema): void {
  const leading = typesThatLead(schema);
  for (const type of objectTypesOf(schema)) {
    for (const field of Object.values(type.getFields())) {
      const isOwnConcern = OWN_CONCERN.has(costOf(field));
      if (isOwnConcern || field.resolve === undefined || field.resolve === defaultFieldResolver) continue;
      if (leading.has(getNamedType(field.type).name)) field.resolve = gated(field.resolve);
    }
  }
}

function gated(
  resolve: GraphQLFieldResolver<unknown, GraphContext>,
): GraphQLFieldResolver<unknown, GraphContext> {
  return (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    const loading = Array.isArray(result) ? result.filter(isPromise) : isPromise(result) ? [result] : [];
    if (loading.length > 0 && gatesBatch(info)) {
      for (const promise of loading) if (!isPrefetched(promise)) context.batchGate.closeDuring(promise);
    }
    return result;
  };
}

const prefetchedMark = Symbol('asked ahead');

type Loading<Result> = Promise<Result> & { [prefetchedMark]?: true };

export const isPrefetched = (loading: Loading<unknown>): boolean => loading[prefetchedMark] === true;

/** Marks a loading result, so that the batch doesn't wait for it: everything below it has been asked for. */
export function markPrefetched<Result>(loading: Loading<Result>): Promise<Result> {
  loading[prefetchedMark] = true;
  return loading;
}
