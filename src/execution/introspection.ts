import { type GraphQLField, type GraphQLObjectType, SchemaMetaFieldDef, TypeMetaFieldDef } from 'graphql';

/**
 * Counts introspection. It takes no call and no key, and a document may ask for any text of the schema under as many
 * names as it has room for. So it is counted by its characters, beside the items of its lists, while it is resolved.
 */

/** Characters of introspection that count as one item of a list. */
const CHARACTERS_PER_ITEM = 128;

/** Characters that JSON has around a field and its value. */
const JSON_LENGTH = 8;

/** The field of the query's root that describes the schema, or a type of it; undefined for any other name. */
export function metaFieldOf(name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  return name === TypeMetaFieldDef.name ? TypeMetaFieldDef : undefined;
}

/** True for the types by which GraphQL itself describes schemas. */
export function isOfSchema({ name }: GraphQLObjectType): boolean {
  return name.startsWith('__');
}

interface SelectedField {
  /** Name in the answer. */
  readonly key: string;
  readonly by: string;
}

/** Characters of each object of a selection, values apart, if they are counted; else 0. */
export function countedLength(type: GraphQLObjectType, fields: readonly SelectedField[]): number {
  if (!isOfSchema(type)) return 0;
  let length = 0;
  for (const { key, by } of fields)
    length += key.length + JSON_LENGTH + (by === 'typename' ? type.name.length : 0);
  return length;
}

/** Number of list items that the values of a field count as. */
export function itemsInTexts(values: readonly unknown[]): number {
  let length = 0;
  for (const value of values) if (typeof value === 'string') length += value.length;
  return itemsIn(length);
}

/** Number of list items that so many characters count as. */
export function itemsIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_ITEM);
}
