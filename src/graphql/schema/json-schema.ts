import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

/** A schema of JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON's type for each scalar; any value if nothing else is known. */
const SCALARS: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
  Float: { type: 'number' },
  String: { type: 'string' },
  ID: { type: 'string' },
  Boolean: { type: 'boolean' },
  CountryCode: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  DateTime: { type: 'string', format: 'date-time' },
};

/** Adds words to a schema; one that refers to another has no place for them. */
export function withWords(schema: JsonSchema, words: string | null | undefined): JsonSchema {
  return words == null || '$ref' in schema ? schema : { ...schema, description: words };
}

/**
 * Describes the values of an input type, in the words that strict clients take: no lists of types, and null nowhere.
 * @param objects input objects met so far, by name: one that holds itself is described once
 */
export function jsonSchemaOf(type: GraphQLInputType, objects: Record<string, JsonSchema> = {}): JsonSchema {
  if (isListType(type)) return { type: 'array', items: jsonSchemaOf(type.ofType, objects) };
  if (isNonNullType(type)) return jsonSchemaOf(type.ofType, objects);
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (!isInputObjectType(type)) return SCALARS[type.name] ?? {};
  if (!(type.name in objects)) {
    objects[type.name] = {};
    const fields = Object.values(type.getFields());
    objects[type.name] = {
      type: 'object',
      ...(type.description == null ? {} : { description: type.description }),
      properties: Object.fromEntries(
        fields.map(({ name, type: fieldType, description }) => [
          name,
          withWords(jsonSchemaOf(fieldType, objects), description),
        ]),
      ),
      required: fields.filter(isRequiredInputField).map(({ name }) => name),
      ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
      additionalProperties: false,
    };
  }
  return { $ref: `#/$defs/${type.name}` };
}
