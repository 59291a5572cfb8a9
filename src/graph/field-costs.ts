import {
  BREAK,
  type DirectiveNode,
  type DocumentNode,
  defaultFieldResolver,
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { UpstreamTake } from './generated.ts';

/**
 * Calls that a field may make, for any selection below it, as `@upstream` of the SDL says (`schema/upstream.graphql`).
 * `UNSAID`: it has a resolver of its own and no such line, so that it may ask for anything. `REFERENCED`: each
 * reference is found as a lookup of its type finds it, or by its identifier.
 */
export type FieldCost = UpstreamTake | 'REFERENCED' | 'UNSAID';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Calls that the field may make. */
    cost?: FieldCost;
  }
}

const DIRECTIVE = 'upstream';
const ENUM = 'UpstreamTake';

const TAKES: ReadonlySet<string> = new Set([
  'NOTHING',
  'ONCE',
  'EACH',
  'FIGURES',
  'IDENTIFIED',
] satisfies UpstreamTake[]);

const isTake = (name: string): name is UpstreamTake => TAKES.has(name);

/** Costs that the SDL states, by `Type.field`. */
export type SaidCosts = ReadonlyMap<string, FieldCost>;

/**
 * Parts an SDL from the costs that its fields state.
 * @throws TypeError if a field states no known cost
 */
export function takeCosts(sdl: DocumentNode): { readonly typeDefs: DocumentNode; readonly said: SaidCosts } {
  const said = new Map<string, FieldCost>();
  let typeName = '';
  const enter = ({ name }: { readonly name: { readonly value: string } }) => {
    typeName = name.value;
  };
  const typeDefs = visit(sdl, {
    ObjectTypeDefinition: enter,
    ObjectTypeExtension: enter,
    FieldDefinition(field): FieldDefinitionNode | undefined {
      const line = field.directives?.find(({ name }) => name.value === DIRECTIVE);
      if (line === undefined) return undefined;
      const coordinate = `${typeName}.${field.name.value}`;
      said.set(coordinate, takeIn(line, coordinate));
      return { ...field, directives: field.directives?.filter((other) => other !== line) ?? [] };
    },
    DirectiveDefinition: ({ name }) => (name.value === DIRECTIVE ? null : undefined),
    EnumTypeDefinition: ({ name }) => (name.value === ENUM ? null : undefined),
  });
  return { typeDefs, said };
}

function takeIn({ arguments: given = [] }: DirectiveNode, coordinate: string): UpstreamTake {
  const value = given.find(({ name }) => name.value === 'takes')?.value;
  if (value?.kind === Kind.ENUM && isTake(value.value)) return value.value;
  throw new TypeError(`${coordinate} says what is no cost: @${DIRECTIVE}(takes:) is one of ${[...TAKES]}.`);
}

/** Writes its cost on each field of a schema. Resolvers have to be there by now. */
export function writeCosts(schema: GraphQLSchema, said: SaidCosts): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()))
      write(field, said.get(`${type.name}.${field.name}`) ?? unsaidCost(field));
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isInterfaceType(type)) continue;
    const types = schema.getPossibleTypes(type);
    for (const field of Object.values(type.getFields()))
      write(field, inCommon(types.map((possible) => costOf(possible.getFields()[field.name]))));
  }
  const query = schema.getQueryType()?.getFields() ?? {};
  if (query._service !== undefined) write(query._service, 'NOTHING');
  if (query._entities !== undefined) write(query._entities, 'REFERENCED');
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

/**
 * Entities that no lookup of `Query` finds by key: a reference is found by the object of its global identifier.
 * @param schema schema with the costs of its fields
 */
export function entitiesById(schema: GraphQLSchema): ReadonlySet<string> {
  let names = byId.get(schema);
  if (names === undefined) {
    const union = schema.getType('_Entity');
    const lookups = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ astNode }) =>
      astNode?.directives?.some(({ name }) => name.value === 'lookup'),
    );
    const found = new Set(lookups.map(({ type }) => getNamedType(type).name));
    const entities = isAbstractType(union) ? schema.getPossibleTypes(union) : [];
    names = new Set(entities.map(({ name }) => name).filter((name) => !found.has(name)));
    byId.set(schema, names);
  }
  return names;
}

const byId = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

function inCommon([first, ...others]: readonly FieldCost[]): FieldCost {
  return first !== undefined && others.every((cost) => cost === first) ? first : 'UNSAID';
}

/** The cost of a field. A field without a known cost may ask for anything. */
export function costOf(field: Pick<GraphQLField<unknown, unknown>, 'extensions'> | undefined): FieldCost {
  return field?.extensions.cost ?? 'UNSAID';
}

/** True if a field can turn into demands for figures by itself. */
export function asksForFigures(field: GraphQLField<unknown, unknown>): boolean {
  const cost = costOf(field);
  return cost === 'FIGURES' || cost === 'UNSAID';
}

/** True if a document selects a field for which only the service's answers tell the calls that it makes. */
export function isOpenEnded(document: DocumentNode, schema: GraphQLSchema): boolean {
  return (
    selects(document, schema, (cost) => cost === 'IDENTIFIED' || cost === 'UNSAID') ||
    (selects(document, schema, (cost) => cost === 'REFERENCED') && namesAny(document, entitiesById(schema)))
  );
}

/**
 * True if a document selects fields derived of figures: the figures to compare with may depend on the service's
 * answers.
 */
export function derivesFigures(document: DocumentNode, schema: GraphQLSchema): boolean {
  return selects(document, schema, (cost, type) => cost === 'FIGURES' && type === 'Observation');
}

function selects(
  document: DocumentNode,
  schema: GraphQLSchema,
  isMeant: (cost: FieldCost, type: string | undefined) => boolean,
): boolean {
  const types = new TypeInfo(schema);
  let isFound = false;
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ name }) {
        if (name.value.startsWith('__')) return false;
        isFound = isMeant(costOf(types.getFieldDef() ?? undefined), types.getParentType()?.name);
        return isFound ? BREAK : undefined;
      },
    }),
  );
  return isFound;
}

/** True if a document names one of some types, as fragments on a type do. */
function namesAny(document: DocumentNode, types: ReadonlySet<string>): boolean {
  let isNamed = false;
  visit(document, {
    NamedType({ name }) {
      isNamed ||= types.has(name.value);
    },
  });
  return isNamed;
}
