import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A schema of JSON Schema, or a part of one. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** The arguments of a tool: an object with a property for each variable of its operation. */
interface InputSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: string[];
}

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

/** Values of required variables that an operation is priced with, if nobody has given any. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  String: 'name',
  ID: 'id',
  Boolean: true,
  CountryCode: 'KE',
  DateTime: '2026-01-01T00:00:00Z',
};

/**
 * Describes the variables of an operation as JSON Schema, in the words that strict clients take: no lists of types, and
 * null nowhere. One that may be null may be left out instead.
 */
export function inputSchemaOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): InputSchema {
  const objects: Record<string, JsonSchema> = {};
  const words = argumentWords(schema, document);
  const described = variableDefinitions.map((definition) => {
    const name = definition.variable.name.value;
    const { description } = definition;
    const value = definition.defaultValue && valueFromASTUntyped(definition.defaultValue);
    const described = withWords(
      schemaOf(variableType(schema, definition), objects),
      description?.value ?? words.get(name),
    );
    return [name, { ...described, ...(value == null ? {} : { default: value }) }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(described),
    required: variableDefinitions.filter(isRequired).map(({ variable }) => variable.name.value),
    additionalProperties: false,
    ...(Object.keys(objects).length === 0 ? {} : { $defs: objects }),
  };
}

/** Returns one value for each variable that has to be given. */
export function sampleVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    variableDefinitions
      .filter(isRequired)
      .map((definition) => [definition.variable.name.value, sampleOf(variableType(schema, definition))]),
  );
}

function isRequired({ type, defaultValue }: VariableDefinitionNode): boolean {
  return type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined;
}

function variableType(schema: GraphQLSchema, { type: node, variable }: VariableDefinitionNode) {
  const type = typeFromAST(schema, node);
  if (!isInputType(type)) throw new Error(`$${variable.name.value} has a type that variables can't have.`);
  return type;
}

/** Adds words to a schema; one that refers to another has no place for them. */
function withWords(schema: JsonSchema, words: string | null | undefined): JsonSchema {
  return words == null || '$ref' in schema ? schema : { ...schema, description: words };
}

/** @param objects input objects met so far, by name: one that holds itself is described once */
function schemaOf(type: GraphQLInputType, objects: Record<string, JsonSchema>): JsonSchema {
  if (isListType(type)) return { type: 'array', items: schemaOf(type.ofType, objects) };
  if (isNonNullType(type)) return schemaOf(type.ofType, objects);
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
          withWords(schemaOf(fieldType, objects), description),
        ]),
      ),
      required: fields.filter(isRequiredInputField).map(({ name }) => name),
      ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
      additionalProperties: false,
    };
  }
  return { $ref: `#/$defs/${type.name}` };
}

function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [sampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return SAMPLES[type.name] ?? {};
  const fields = Object.values(type.getFields());
  const needed = fields.filter(isRequiredInputField);
  const given = type.isOneOf ? fields.slice(0, 1) : needed;
  return Object.fromEntries(given.map((field) => [field.name, sampleOf(field.type)]));
}

/** Returns the schema's words on the arguments that variables are given to, by the names of the variables. */
function argumentWords(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument({ value }) {
        const description = types.getArgument()?.description;
        for (const given of value.kind === Kind.LIST ? value.values : [value]) {
          if (given.kind !== Kind.VARIABLE || description == null || words.has(given.name.value)) continue;
          words.set(given.name.value, description);
        }
      },
    }),
  );
  return words;
}
