import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { excerpt, FAILURES, type FailureCode, type FailureFields } from '../../errors.ts';
import { parseExactly } from '../../exact-json.ts';
import type { Gateway } from '../../gateway.ts';
import { wholeBody } from '../../operations/responses.ts';
import { type Bill, openBill } from '../../service/call.ts';
import { isObject } from '../../service/records/envelope.ts';
import { type OperationTool, operationTools } from './tools.ts';

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
  { handle }: Pick<Gateway, 'handle'>,
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
function isReply(reply: unknown): reply is Omit<GraphqlReply, 'errors'> & Partial<GraphqlReply> {
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

/** Prices tools, each once; null if its price can't be told without its arguments. */
function createToolPrices(
  gateway: Pick<Gateway, 'handle'>,
): (tool: OperationTool) => Promise<ToolPrice | null> {
  const known = new WeakMap<OperationTool, ToolPrice | null>();
  return async (tool) => {
    const found = known.get(tool);
    if (found !== undefined) return found;
    const { signal } = new AbortController();
    const headers = { authorization: NO_KEY, 'x-explain': '1' };
    const reply = replyOf(await asked(gateway, { tool, variables: tool.sample, headers, signal }));
    const price = priceIn(reply);
    // A price that can't be told for want of room is asked for again.
    if (price !== null || !reply.errors.some(({ extensions }) => extensions?.retryable === true))
      known.set(tool, price);
    return price;
  };
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

interface ToolServerParts {
  readonly gateway: Pick<Gateway, 'handle' | 'schema' | 'trusted'>;
  readonly version: string;
  /** Takes faults of ours. */
  readonly onFault: (fault: unknown, requestId?: string) => void;
}

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
 * @throws ConfigError if there is no such operation
 */
export function createToolServers({ gateway, version, onFault }: ToolServerParts): OpenToolServer {
  const tools = createCurrentTools(gateway, onFault);
  const priceOf = createToolPrices(gateway);

  async function listed(): Promise<Tool[]> {
    const all: Tool[] = [];
    for (const tool of tools().values()) {
      const price = await priceOf(tool);
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
  gateway: ToolServerParts['gateway'],
  onFault: ToolServerParts['onFault'],
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
