import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { objectTypesOf } from './object-types.ts';
import { costOf, type FieldCost, rowTypeOf, type takeCosts } from './selection.ts';

/** Writes costs and types of items on fields, and on types how their objects are found. Call once resolvers are attached. */
export function writeCosts(schema: GraphQLSchema, said: ReturnType<typeof takeCosts>['said']): void {
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
  for (const type of objectTypesOf(schema))
    for (const field of Object.values(type.getFields()))
      field.extensions = { ...field.extensions, itemType: rowTypeOf(type) ? undefined : itemTypeOf(field) };
}

function itemTypeOf({ type }: GraphQLField<unknown, unknown>): GraphQLNamedType | undefined {
  const named = getNamedType(type);
  return rowTypeOf(named) ?? (isListType(getNullableType(type)) ? named : undefined);
}

function rowTypeIn(type: GraphQLObjectType): GraphQLObjectType | null {
  const rows = type.name.endsWith('Connection') ? type.getFields().nodes : undefined;
  const rowType = rows === undefined ? undefined : getNamedType(rows.type);
  return isObjectType(rowType) ? rowType : null;
}

function write(field: GraphQLField<unknown, unknown>, cost: FieldCost): void {
  field.extensions = { ...field.extensions, cost };
}

/** Reading a property costs nothing; a resolver may ask for anything. */
function unsaidCost({ resolve, extensions }: GraphQLField<unknown, unknown>): FieldCost {
  const isRead = resolve === undefined || resolve === defaultFieldResolver;
  return isRead && extensions.batch === undefined ? 'NOTHING' : 'UNSAID';
}

function inCommon([first, ...rest]: readonly FieldCost[]): FieldCost {
  return first !== undefined && rest.every((cost) => cost === first) ? first : 'UNSAID';
}
