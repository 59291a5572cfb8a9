import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  TokenKind,
  validate,
} from 'graphql';
import { ConfigError } from '../config.ts';
import type { TrustedDocument } from '../operations/persisted.ts';
import { type InputSchema, inputSchemaOf, sampleVariables } from './input-schema.ts';

/** An operation of a trusted document that may be called as a tool. */
export interface OperationTool {
  /** Name of the operation; if several have it, with the beginning of the document's identifier. */
  readonly name: string;
  /** Description of the operation. */
  readonly description: string;
  readonly documentId: string;
  readonly operationName: string;
  readonly inputSchema: InputSchema;
  /** Values of the variables that have to be given, to price the operation with. */
  readonly sample: Readonly<Record<string, unknown>>;
}

/** Characters of an identifier that tell operations of one name apart. */
const ID_LENGTH = 8;

const EMPTY =
  'TRUSTED_DOCUMENTS: MCP=on makes a tool of each query that has a name and a description, and there is none. Describe a query by a text before it, or by a comment.';

/**
 * Makes tools of operations: queries with a name and a description, which is a text or a comment before them.
 * @throws ConfigError if there is none, or an operation asks for a field that the schema doesn't know
 */
export function operationTools(
  schema: GraphQLSchema,
  trusted: readonly TrustedDocument[],
): ReadonlyMap<string, OperationTool> {
  const faults: string[] = [];
  const tools = new Map<string, OperationTool>();
  for (const { id, text } of trusted) {
    const document = readDocument(schema, text, (fault) => faults.push(`${id}: ${fault}`));
    for (const definition of document?.definitions ?? []) {
      if (document === null || definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const tool = toolOf(schema, document, definition, id);
      if (tool === null) continue;
      const name = tools.has(tool.name) ? `${tool.name}_${id.slice(0, ID_LENGTH)}` : tool.name;
      if (tools.has(name)) faults.push(`${id}: another operation is called ${name}, too.`);
      tools.set(name, { ...tool, name });
    }
  }
  if (faults.length > 0) {
    const lines = faults.map((fault) => `  ${fault}`).join('\n');
    throw new ConfigError(`TRUSTED_DOCUMENTS: these can't be made tools, as MCP=on asks for:\n${lines}`);
  }
  if (tools.size === 0) throw new ConfigError(EMPTY);
  return tools;
}

function readDocument(
  schema: GraphQLSchema,
  text: string,
  onFault: (message: string) => void,
): DocumentNode | null {
  try {
    const document = parse(text);
    const [error] = validate(schema, document);
    if (error === undefined) return document;
    onFault(error.message);
  } catch (error) {
    onFault(error instanceof Error ? error.message : String(error));
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
  return {
    name,
    description,
    documentId,
    operationName: name,
    inputSchema: inputSchemaOf(schema, document, operation),
    sample: sampleVariables(schema, operation),
  };
}

/** Returns the text before an operation, or else the comment that ends on the line before it. */
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
