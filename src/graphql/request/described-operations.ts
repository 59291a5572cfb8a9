import {
  type DocumentNode,
  type GraphQLSchema,
  getNullableType,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  TokenKind,
  TypeInfo,
  type VariableDefinitionNode,
  validate,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isRequired, sampleVariables, variableType } from '../cost/samples.ts';
import { type JsonSchema, jsonSchemaOf, withWords } from '../schema/json-schema.ts';

/** An operation of a document, as one who doesn't know GraphQL can offer it. */
export interface DescribedOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | undefined;
  /** Its description, or else the comment that ends on the line before it; empty if it has neither. */
  readonly description: string;
  /** JSON Schema of its variables, with the graph's words for those that have none of their own. */
  readonly variables: VariablesSchema;
  readonly inputs: readonly DescribedVariable[];
  /** Values for the variables that must be given. */
  readonly sample: Readonly<Record<string, unknown>>;
  /** Says why values of its variables are refused; empty if they aren't. */
  errorsOf(values: Readonly<Record<string, unknown>>): readonly string[];
}

/** A variable, as one who writes its value as a text needs it. */
export interface DescribedVariable {
  readonly name: string;
  /** As SDL writes it, such as `[CountryCode!]!`. */
  readonly type: string;
  readonly isList: boolean;
  /** What it is, or each of its items: no single value for a list of lists, or an input object. */
  readonly value: { readonly kind: 'scalar' | 'enum' | 'other'; readonly name: string };
  readonly isRequired: boolean;
  readonly description: string | null;
  /** Null if it has none. */
  readonly usual: { readonly value: unknown; readonly text: string } | null;
  /** Without words. */
  readonly schema: JsonSchema;
}

interface VariablesSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: string[];
}

/**
 * Describes the operations of a document.
 * @throws Error that says why the graph doesn't take it
 */
export function describedOperations(schema: GraphQLSchema, text: string): readonly DescribedOperation[] {
  const document = parse(text);
  const [error] = validate(schema, document);
  if (error !== undefined) throw error;
  return document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? {
          kind: definition.operation,
          name: definition.name?.value,
          description: descriptionOf(definition),
          variables: variablesSchemaOf(schema, document, definition),
          inputs: (definition.variableDefinitions ?? []).map((variable) => inputOf(schema, variable)),
          sample: sampleVariables(schema, definition),
          errorsOf(values) {
            const { variableDefinitions = [] } = definition;
            const { errors = [] } = getVariableValues(schema, variableDefinitions, values, { maxErrors: 5 });
            return errors.map(({ message }) => message);
          },
        }
      : [],
  );
}

function inputOf(schema: GraphQLSchema, definition: VariableDefinitionNode): DescribedVariable {
  const { variable, description, defaultValue } = definition;
  const type = variableType(schema, definition);
  const whole = getNullableType(type);
  const items = isListType(whole) ? getNullableType(whole.ofType) : whole;
  const isOther = isListType(items) || isInputObjectType(items);
  return {
    name: variable.name.value,
    type: String(type),
    isList: isListType(whole),
    value: { kind: isOther ? 'other' : isEnumType(items) ? 'enum' : 'scalar', name: String(items) },
    isRequired: isRequired(definition),
    description: description?.value ?? null,
    usual: defaultValue ? { value: valueFromASTUntyped(defaultValue), text: print(defaultValue) } : null,
    schema: jsonSchemaOf(type),
  };
}

/** Returns the description of an operation, or else the comment that ends on the line before it. */
function descriptionOf({ description, loc }: OperationDefinitionNode): string {
  if (description !== undefined) return description.value.trim();
  const lines: string[] = [];
  let line = loc?.startToken.line ?? 0;
  for (let token = loc?.startToken.prev; token?.kind === TokenKind.COMMENT; token = token.prev) {
    if (token.line !== line - 1) break;
    line = token.line;
    lines.unshift(token.value.trim());
  }
  return lines.join('\n').trim();
}

/** Avoids lists of types and null, which strict clients refuse: a nullable variable may be left out instead. */
function variablesSchemaOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): VariablesSchema {
  const objects: Record<string, JsonSchema> = {};
  const words = argumentWords(schema, document);
  const described = variableDefinitions.map((definition) => {
    const name = definition.variable.name.value;
    const { description } = definition;
    const value = definition.defaultValue && valueFromASTUntyped(definition.defaultValue);
    const described = withWords(
      jsonSchemaOf(variableType(schema, definition), objects),
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

/** Returns the schema's descriptions of the arguments that variables are passed to, by variable. */
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
