import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Config } from '../../config/config.ts';
import { Failure } from '../../shared/errors.ts';
import { limitRules } from './limit-rules.ts';
import type { AskedText } from './persisted.ts';

/** graphql-js stops coercing variables after so many errors, as its executor does. */
const MAX_VARIABLE_ERRORS = 50;

/** What is wrong with a text or its variables: the operation never runs. */
export interface Unreadable {
  readonly errors: readonly GraphQLError[];
  /** The operation of a text that parses. */
  readonly operation?: OperationDefinitionNode | null;
}

export interface ReadText {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Refuses fields that tell the schema of a gateway that keeps it to itself. */
const closedSchemaRule: ValidationRule = (context) => ({
  Field(node) {
    const name = node.name.value;
    const isOfQuery = context.getParentType() === context.getSchema().getQueryType();
    if (!isOfQuery || (name !== '__schema' && name !== '__type' && name !== '_service')) return;
    const message = `The schema of this gateway is closed, so it does not answer \`${name}\`.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** All rules that a document has to pass. */
export function rulesOf(config: Config): readonly ValidationRule[] {
  return [...specifiedRules, ...rulesBesideSpecified(config)];
}

export function rulesBesideSpecified(config: Config): ValidationRule[] {
  return [...limitRules(config), ...(config.introspection ? [] : [closedSchemaRule])];
}

/**
 * Parses and validates a text, and finds the operation that the request names. A text that nests deeper than the stack
 * allows has to be refused before (`nesting.ts`).
 * @param rules as of {@link rulesOf}, which are many: they are made once
 */
export function readText(
  { text, operationName }: AskedText,
  schema: GraphQLSchema,
  { maxTokens, introspection }: Config,
  rules: readonly ValidationRule[],
): ReadText | Unreadable {
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens });
  } catch (error) {
    return { errors: [coded(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')] };
  }
  const operation = getOperationAST(document, operationName) ?? null;
  // Suggestions name types and fields.
  const errors = validate(schema, document, rules, { hideSuggestions: !introspection });
  if (errors.length > 0)
    return { errors: errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')), operation };
  if (operation !== null) return { document, operation };
  const message =
    operationName === undefined
      ? 'The document has several operations, and the request names none of them (operationName).'
      : `The document has no operation named "${operationName}".`;
  return { errors: [new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })] };
}

/** Why variables don't fit, after they were found not to. */
export function variableErrors(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  schema: GraphQLSchema,
  { introspection }: Config,
): readonly GraphQLError[] {
  const { errors = [] } = getVariableValues(schema, variableDefinitions, given, {
    maxErrors: MAX_VARIABLE_ERRORS,
  });
  return errors.map((error) =>
    coded(error, 'BAD_USER_INPUT', introspection ? error.message : withoutSuggestion(error.message)),
  );
}

/** Suggestions name values of enums. */
function withoutSuggestion(message: string): string {
  return message.startsWith('Variable "$') ? message.replace(/ ?Did you mean (.+?)\?$/, '') : message;
}

function coded(error: GraphQLError, code: string, message = error.message): GraphQLError {
  // Refusals by a limit have a code of their own.
  if (error.originalError instanceof Failure) return error;
  const { nodes = null, source = null, positions = null } = error;
  return new GraphQLError(message, { nodes, source, positions, extensions: { code } });
}
