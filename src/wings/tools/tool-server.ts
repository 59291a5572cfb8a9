import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
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
  OperationTypeNode,
  parse,
  TokenKind,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  validate,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { ConfigError } from '../../config.ts';
import { excerpt, FAILURES, type FailureCode, type FailureFields } from '../../errors.ts';
import { parseExactly } from '../../exact-json.ts';
import type { Gateway } from '../../gateway.ts';
import type { TrustedDocument } from '../../operations/documents.ts';
import { wholeBody } from '../../operations/messages.ts';
import { type Bill, openBill } from '../../service/call.ts';
import { isObject } from '../../service/records/envelope.ts';

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

/** Describes the variables of an operation as JSON Schema. */
function inputSchemaOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): InputSchema {
  const objects: Record<string, JsonSchema> = {};
  const words = argumentWords(schema, document);
  const described = variableDefinitions.map((definition) => {
    const name = definition.variable.name.value;
    const { description, defaultValue } = definition;
    const word = description?.value ?? words.get(name);
    return [
      name,
      {
        ...schemaOf(variableType(schema, definition), objects),
        ...(word === undefined ? {} : { description: word }),
        ...(defaultValue === undefined ? {} : { default: valueFromASTUntyped(defaultValue) }),
      },
    ] as const;
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
function sampleVariables(
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

/** @param objects input objects met so far, by name: one that holds itself is described once */
function schemaOf(type: GraphQLInputType, objects: Record<string, JsonSchema>): JsonSchema {
  if (!isNonNullType(type)) return nullable(valueSchemaOf(type, objects));
  return valueSchemaOf(type.ofType, objects);
}

function valueSchemaOf(type: GraphQLInputType, objects: Record<string, JsonSchema>): JsonSchema {
  if (isListType(type)) return { type: 'array', items: schemaOf(type.ofType, objects) };
  if (isNonNullType(type)) return valueSchemaOf(type.ofType, objects);
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
          { ...schemaOf(fieldType, objects), ...(description == null ? {} : { description }) },
        ]),
      ),
      required: fields.filter(isRequiredInputField).map(({ name }) => name),
      ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
      additionalProperties: false,
    };
  }
  return { $ref: `#/$defs/${type.name}` };
}

function nullable(schema: JsonSchema): JsonSchema {
  if ('$ref' in schema) return { anyOf: [schema, { type: 'null' }] };
  if (typeof schema.type !== 'string') return schema;
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...values };
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

/** An operation of a trusted document that may be called as a tool. */
interface OperationTool {
  /** Name of the operation; if several have it, with the beginning of the document's identifier. */
  readonly name: string;
  /** Description of the operation. */
  readonly description: string;
  readonly documentId: string;
  readonly operationName: string;
  readonly inputSchema: InputSchema;
  /** Values of the variables that have to be given, to price the operation with. */
  readonly sample: Readonly<Record<string, unknown>>;
  /** Set once it is known: null if it can't be told. */
  price?: ToolPrice | null;
}

/** Characters of an identifier that tell operations of one name apart. */
const ID_LENGTH = 8;

const EMPTY =
  'TRUSTED_DOCUMENTS: MCP=on makes a tool of each query that has a name and a description, and there is none. Describe a query by a text before it, or by a comment.';

/**
 * Makes tools of operations: queries with a name and a description, which is a text or a comment before them.
 * @throws ConfigError if there is none, or an operation asks for a field that the schema doesn't know
 */
function operationTools(
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

/** One question to the gateway. */
interface ToolQuestion {
  readonly tool: OperationTool;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Headers beside those that each question has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly requestId?: string | undefined;
}

/** An error of an answer, as a tool tells it. */
interface ReplyFault {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** An answer of the gateway. */
interface GraphqlReply {
  readonly data?: unknown;
  readonly errors: readonly ReplyFault[];
  readonly extensions?: {
    readonly upstream?: Bill;
    readonly warnings?: readonly unknown[];
    readonly explain?: {
      readonly least: number;
      readonly calls: number;
      readonly most: number;
      readonly limit: number;
    };
  };
}

/** Has the gateway run a tool's operation, as any client would. */
async function asked(
  { handle }: ToolGateway,
  { tool: { documentId, operationName }, variables, headers, signal, requestId }: ToolQuestion,
): Promise<string> {
  const { body } = await handle({
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    search: '',
    body: { documentId, operationName, variables },
    signal,
    requestId,
  });
  return wholeBody(body);
}

function replyOf(body: string): GraphqlReply {
  const reply = parseExactly(body);
  if (!isReply(reply)) throw new Error('The gateway has answered a tool with something else than an answer.');
  return { ...reply, errors: reply.errors ?? [] };
}

/** Reads the end of an answer that is too long to be read whole. */
function endOf(body: string): GraphqlReply {
  const name = '"extensions":';
  const at = body.lastIndexOf(name);
  const extensions: unknown = at < 0 ? {} : JSON.parse(body.slice(at + name.length, -1));
  return replyOf(JSON.stringify({ data: null, extensions }));
}

/** Takes the gateway's own words for an answer: their shape is not in question. */
function isReply(reply: unknown): reply is Partial<GraphqlReply> {
  return isObject(reply);
}

/** Returns the bill of an answer; an empty one if it has none. */
function billOf({ extensions }: GraphqlReply): Bill {
  return extensions?.upstream ?? openBill();
}

/** Price of a tool if nothing is held, in calls to the service. */
interface ToolPrice {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
  /** Calls beyond which an operation is refused. */
  readonly limit: number;
}

/** A made-up key: nothing is sent, and nothing is held for it, so that the price is the same for all. */
const NO_KEY = 'Bearer price-of-tools';

/** Prices a tool, once; null if its price can't be told without its arguments. */
async function priceOf(gateway: ToolGateway, tool: OperationTool): Promise<ToolPrice | null> {
  if (tool.price !== undefined) return tool.price;
  const { signal } = new AbortController();
  const headers = { authorization: NO_KEY, 'x-explain': '1' };
  const reply = replyOf(await asked(gateway, { tool, variables: tool.sample, headers, signal }));
  const price = priceIn(reply);
  // A price that can't be told for want of room is asked for again.
  if (price !== null || !reply.errors.some(({ extensions }) => extensions?.retryable === true))
    tool.price = price;
  return price;
}

function priceIn({ errors, extensions: { explain } = {} }: GraphqlReply): ToolPrice | null {
  if (explain === undefined || errors.length > 0) return null;
  const { least, calls, most, limit } = explain;
  return { least, expected: calls, most, limit };
}

/** Describes the work and the price of a tool, for a model that chooses among tools. */
function describedWithPrice({ description, sample }: OperationTool, price: ToolPrice | null): string {
  const refused = 'It is refused before any call where it would cost more than this gateway allows.';
  if (price === null)
    return `${description}\n\nWhat it costs in calls to the metered service depends on its arguments. ${refused}`;
  const { least, expected, most, limit } = price;
  const given = Object.keys(sample).length === 0 ? '' : ` for ${JSON.stringify(sample)}`;
  const costs = `Costs ${expected} call(s) to the metered service${given} where nothing is held: at least ${least}, at most ${most}.`;
  return `${description}\n\n${costs} ${refused.replace('than this gateway allows', `than ${limit}`)}`;
}

/** A caller of tools, as the gateway knows callers. */
interface ToolCaller {
  /** The `Authorization` header; undefined if there is none. */
  readonly authorization: string | undefined;
  readonly requestId?: string | undefined;
}

/** The gateway as tools use it. */
type ToolGateway = Pick<Gateway, 'handle' | 'schema' | 'trusted'>;

/** Opens a server of the protocol for one caller, not connected yet. */
type OpenToolServer = (caller: ToolCaller) => Server;

/** The longest answer that is handed to a model, in bytes: it would be read whole, and so would its every repetition. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Answer of every tool: the answer of the graph, and its bill. */
const OUTPUT_SCHEMA: Tool['outputSchema'] = {
  type: 'object',
  properties: {
    data: { type: ['object', 'null'], description: 'What the operation asks for; null where nothing came.' },
    upstream: {
      type: 'object',
      description: 'The bill: `calls` to the metered service, `byRoute`, and what was `shared` or `cached`.',
      properties: { calls: { type: 'integer' } },
      required: ['calls'],
    },
    warnings: { type: 'array', items: { type: 'object' }, description: 'What is right but not whole.' },
    errors: {
      type: 'array',
      description:
        'What failed, with `code`, whether asking again can help (`retryable`), and when (`retryAt`).',
      items: {
        type: 'object',
        properties: { message: { type: 'string' }, code: { type: 'string' } },
        required: ['message'],
      },
    },
  },
  required: ['data', 'upstream'],
};

/**
 * Serves the described operations of the trusted documents as tools. Everything goes through the gateway's `handle`, so
 * that bills, limits and admission are those of any other client.
 * @param onFault takes faults of ours
 * @throws ConfigError if there is no such operation
 */
export function createToolServers(
  gateway: ToolGateway,
  version: string,
  onFault: (fault: unknown, requestId?: string) => void,
): OpenToolServer {
  const tools = createCurrentTools(gateway, onFault);

  async function listed(): Promise<Tool[]> {
    const all: Tool[] = [];
    for (const tool of tools().values()) {
      const price = await priceOf(gateway, tool);
      all.push({
        name: tool.name,
        description: describedWithPrice(tool, price),
        inputSchema: { ...tool.inputSchema, properties: { ...tool.inputSchema.properties } },
        outputSchema: OUTPUT_SCHEMA,
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
        ...(price === null ? {} : { _meta: { 'country-graph/price': { ...price, variables: tool.sample } } }),
      });
    }
    return all;
  }

  return ({ authorization, requestId }) => {
    const server = new Server({ name: 'country-graph', version }, { capabilities: { tools: {} } });
    const headers: Readonly<Record<string, string>> = authorization === undefined ? {} : { authorization };
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await listed() }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      const tool = tools().get(params.name);
      if (tool === undefined)
        throw new McpError(ErrorCode.InvalidParams, `There is no tool ${excerpt(params.name)}.`);
      const variables = params.arguments ?? {};
      const refusal = unknownArguments(tool, variables);
      if (refusal !== null) return refusal;
      try {
        return resultOf(await asked(gateway, { tool, variables, headers, signal, requestId }));
      } catch (fault) {
        onFault(fault, requestId);
        const extensions = { code: 'INTERNAL_SERVER_ERROR', retryable: false, requestId };
        return failed([{ message: 'The gateway failed to answer.', extensions }]);
      }
    });
    return server;
  };
}

/**
 * Gives the tools of the documents that are trusted at the moment, made anew when these have been read again; the
 * former tools, if none of the new documents can be a tool.
 * @throws ConfigError if none of the first documents can
 */
function createCurrentTools(
  gateway: ToolGateway,
  onFault: (fault: unknown, requestId?: string) => void,
): () => ReadonlyMap<string, OperationTool> {
  let seen = gateway.trusted;
  let tools = operationTools(gateway.schema, seen ?? []);
  return () => {
    if (gateway.trusted === seen) return tools;
    seen = gateway.trusted;
    try {
      tools = operationTools(gateway.schema, seen ?? []);
    } catch (fault) {
      onFault(fault);
    }
    return tools;
  };
}

/** Refuses arguments that a tool doesn't have; null if it has all of them. Their values are for the graph to judge. */
function unknownArguments(
  { inputSchema: { properties } }: OperationTool,
  variables: Readonly<Record<string, unknown>>,
): CallToolResult | null {
  const unknown = Object.keys(variables).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return null;
  const names = Object.keys(properties);
  const message = `There is no argument ${excerpt(unknown.join(', '))}. ${names.length === 0 ? 'The tool takes none.' : `The tool takes ${names.join(', ')}.`}`;
  return refused('BAD_USER_INPUT', message);
}

function resultOf(body: string): CallToolResult {
  if (Buffer.byteLength(body) > MAX_ANSWER_BYTES) {
    const message = `The answer is longer than the ${MAX_ANSWER_BYTES} bytes that a tool may answer with. Ask for less at once.`;
    return refused('OPERATION_TOO_EXPENSIVE', message, { limit: MAX_ANSWER_BYTES }, billOf(endOf(body)));
  }
  const reply = replyOf(body);
  const { data = null, errors, extensions } = reply;
  const warnings = extensions?.warnings === undefined ? {} : { warnings: extensions.warnings };
  if (errors.length > 0) return failed(errors, { data, ...warnings, upstream: billOf(reply) });
  return told({ data, ...warnings, upstream: billOf(reply) });
}

function refused(
  code: FailureCode,
  message: string,
  fields: FailureFields = {},
  upstream: Bill = openBill(),
): CallToolResult {
  return failed([{ message, extensions: { code, ...FAILURES[code], ...fields } }], { data: null, upstream });
}

/** @param answer the data that came all the same */
function failed(
  errors: readonly ReplyFault[],
  answer: Readonly<Record<string, unknown>> = { data: null, upstream: openBill() },
): CallToolResult {
  const flat = errors.map(({ message, path, extensions }) => ({ message, path, ...extensions }));
  return { ...told({ errors: flat, ...answer }), isError: true };
}

/** Tells the same to programs and, as text, to models. */
function told(content: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content };
}
