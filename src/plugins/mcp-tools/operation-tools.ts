import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  TokenKind,
  TypeInfo,
  validate,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { ConfigError } from '../../config/config.ts';
import { isRequired, sampleVariables, variableType } from '../../graphql/cost/samples.ts';
import type { TrustedDocument } from '../../graphql/request/persisted.ts';
import { type JsonSchema, jsonSchemaOf, withWords } from '../../graphql/schema/json-schema.ts';
import { boundedName, MAX_NAME, withSuffix } from '../../shared/bounded-names.ts';
import { messageOf } from '../../shared/errors.ts';
import { PAGE_SCHEMA } from './tool-answer.ts';

export interface OperationTool {
  /** Name of the operation, with a suffix if it isn't unique or longer than clients take. */
  readonly name: string;
  readonly description: string;
  readonly documentId: string;
  readonly operationName: string;
  readonly inputSchema: ReturnType<typeof inputSchemaOf>;
  /** Name of the argument that gives the rest of a long answer, which no variable has. */
  readonly pageName: string;
  readonly sample: Readonly<Record<string, unknown>>;
}

const EMPTY =
  'TRUSTED_DOCUMENTS: MCP=on makes a tool of each query that has a name and a description, and there is none. Describe a query by a text before it, or by a comment.';

/**
 * Makes a tool of each query with a name and a description (or a comment before it).
 * @param isOwn true for the names of the gateway's own tools
 * @throws ConfigError if there is none, or a document is not valid
 */
export function operationTools(
  schema: GraphQLSchema,
  trusted: readonly TrustedDocument[],
  isOwn: (name: string) => boolean,
): ReadonlyMap<string, OperationTool> {
  const errors: string[] = [];
  const tools = new Map<string, OperationTool>();
  const isTaken = (name: string) => tools.has(name) || isOwn(name);
  for (const { id, text } of trusted) {
    const document = readDocument(schema, text, (error) => errors.push(`${id}: ${error}`));
    for (const definition of document?.definitions ?? []) {
      if (document === null || definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const tool = toolOf(schema, document, definition, id);
      if (tool === null) continue;
      const shortName = boundedName(tool.name, id);
      const name = isTaken(shortName) ? withSuffix(shortName, id) : shortName;
      for (const argument of Object.keys(tool.inputSchema.properties))
        if (argument.length > MAX_NAME)
          errors.push(`${id}: ${tool.name} has the variable ${argument}; tools take ${MAX_NAME} characters.`);
      if (tools.has(name)) errors.push(`${id}: another operation is called ${name}, too.`);
      tools.set(name, { ...tool, name });
    }
  }
  if (errors.length > 0) {
    const lines = errors.map((error) => `  ${error}`).join('\n');
    throw new ConfigError(`TRUSTED_DOCUMENTS: these can't be made tools, as MCP=on asks for:\n${lines}`);
  }
  if (tools.size === 0) throw new ConfigError(EMPTY);
  return tools;
}

function readDocument(
  schema: GraphQLSchema,
  text: string,
  onError: (message: string) => void,
): DocumentNode | null {
  try {
    const document = parse(text);
    const [error] = validate(schema, document);
    if (error === undefined) return document;
    onError(error.message);
  } catch (error) {
    onError(messageOf(error));
  }
  return null;
}

function toolOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  documentId: string,
): OperationTool | null {
  const description = descriptionOf(operation);
  const name = operation.name?.value;
  if (operation.operation !== OperationTypeNode.QUERY || name === undefined || description === '')
    return null;
  const inputSchema = inputSchemaOf(schema, document, operation);
  const pageName = 'page' in inputSchema.properties ? 'answer_page' : 'page';
  return {
    name,
    description,
    documentId,
    operationName: name,
    inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, [pageName]: PAGE_SCHEMA } },
    pageName,
    sample: sampleVariables(schema, operation),
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

interface InputSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: string[];
}

/** Avoids lists of types and null, which strict clients refuse: a nullable variable may be left out instead. */
function inputSchemaOf(
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
