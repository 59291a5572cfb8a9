import {
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
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';

/** By name of the scalar. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  String: 'name',
  ID: 'id',
  Boolean: true,
  CountryCode: 'KE',
  DateTime: '2026-01-01T00:00:00Z',
};

/** Values for required variables, where an operation is looked at before anybody has provided them. */
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

export function isRequired({ type, defaultValue }: VariableDefinitionNode): boolean {
  return type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined;
}

export function variableType(schema: GraphQLSchema, { type: node, variable }: VariableDefinitionNode) {
  const type = typeFromAST(schema, node);
  if (!isInputType(type)) throw new Error(`$${variable.name.value} has a type that variables can't have.`);
  return type;
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
