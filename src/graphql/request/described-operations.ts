import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  TokenKind,
  TypeInfo,
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
  /** Values for the variables that must be given. */
  readonly sample: Readonly<Record<string, unknown>>;
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
          sample: sampleVariables(schema, definition),
        }
      : [],
  );
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
