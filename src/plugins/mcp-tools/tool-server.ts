import { createHash } from 'node:crypto';
import {
  type JsonSchemaType,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import {
  createObjectMemo,
  excerpt,
  Failure,
  type GatewayRequest,
  isDeepJson,
  isObject,
  type JsonObject,
  openBill,
  parseExactly,
  type StartedServices,
} from '../../plugin/index.ts';
import type { ToolBudgets } from './budgets.ts';
import { createFieldSearch } from './field-search.ts';
import { type OperationTool, operationTools } from './operation-tools.ts';
import { CATALOGUE_SEARCH } from './own-tools.ts';
import { PAGE_SCHEMA, refusal, refusalBy, resultOf, type ToolAnswer } from './tool-answer.ts';

/** Characters of the arguments of the gateway's own tools. */
const MAX_LENGTHS = { words: 200, tool: 200, arguments: 100_000 };

const textSchema = (maxLength: number, description: string) => ({ type: 'string', maxLength, description });

/** The tools beside those of documents. */
const OWN_TOOLS = {
  search: {
    name: 'search',
    description:
      'Finds fields of the graph, and indicators of the catalogue, that have all of some words. Fields cost nothing; indicators take one call to the metered service where the catalogue is not cached.',
    inputSchema: {
      type: 'object',
      properties: {
        words: textSchema(MAX_LENGTHS.words, 'Words, such as `child mortality`.'),
        in: {
          type: 'string',
          enum: ['FIELDS', 'INDICATORS'],
          description: 'One of both; left out for both.',
        },
        page: PAGE_SCHEMA,
      },
      required: ['words'],
      additionalProperties: false,
    },
  },
  price: {
    name: 'price',
    description:
      'Tells what another tool would cost with some arguments, in calls to the metered service, as things are cached at the moment. Costs nothing.',
    inputSchema: {
      type: 'object',
      properties: {
        tool: textSchema(MAX_LENGTHS.tool, 'Name of the tool.'),
        arguments: textSchema(
          MAX_LENGTHS.arguments,
          'Its arguments, as the text of a JSON object; left out for none.',
        ),
      },
      required: ['tool'],
      additionalProperties: false,
    },
  },
} as const satisfies Record<string, Omit<Tool, 'outputSchema'>>;

function beyondRequest(planned: number, maxCalls: number): Failure {
  const message = `This takes ${planned} more call(s) than the ${maxCalls} that the request allows (${MAX_CALLS_KEY}).`;
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit: maxCalls });
}

/** Key of `_meta` with the calls that a client allows for a request. */
const MAX_CALLS_KEY = 'country-graph/maxCalls';

type Bill = ReturnType<typeof openBill>;
type Asking = NonNullable<Parameters<StartedServices['ask']>[1]>;
type Reply = Awaited<ReturnType<StartedServices['explain']>>;
type OperationPrice = Awaited<ReturnType<StartedServices['price']>>;

const bodyOf = ({ documentId, operationName }: OperationTool, { variables }: ToolCall) => ({
  documentId,
  operationName,
  variables,
});

function billOf(extensions: Reply['extensions']): Bill {
  return (extensions.upstream as Bill | undefined) ?? openBill();
}

/** Reads the bill of an answer that is too long to be parsed. */
function billAtEnd(body: string): Bill {
  const name = '"extensions":';
  const at = body.lastIndexOf(name);
  return billOf(at < 0 ? {} : JSON.parse(body.slice(at + name.length, -1)));
}

/** Characters of a text about a tool that all models' interfaces take. */
const MAX_TOOL_WORDS = 1_024;

function describedWithPrice({ description, sample }: OperationTool, price: OperationPrice): string {
  const costs = priceInWords(sample, price);
  const room = MAX_TOOL_WORDS - costs.length - 2;
  return `${description.length > room ? `${description.slice(0, room - 1)}…` : description}\n\n${costs}`;
}

function priceInWords(sample: OperationTool['sample'], price: OperationPrice): string {
  const refused = 'It is refused before any call where it would cost more than this gateway allows.';
  if (price === null)
    return `What it costs in calls to the metered service depends on its arguments. ${refused}`;
  const { least, expected, most, limit } = price;
  const given = Object.keys(sample).length === 0 ? '' : ` for ${excerpt(JSON.stringify(sample))}`;
  const costs = `Costs ${expected} call(s) to the metered service${given} where nothing is cached: at least ${least}, at most ${most}.`;
  return `${costs} ${refused.replace('than this gateway allows', `than ${limit}`)}`;
}

type ToolGateway = Pick<
  StartedServices,
  'ask' | 'documents' | 'explain' | 'fields' | 'openBound' | 'price' | 'settingsError' | 'site'
>;

/** Bytes of the longest answer that is cut into pages. */
const MAX_READ_BYTES = 2_097_152;

/** Milliseconds for which clients may cache the list of tools, which follows the documents, and the server's description. */
const CACHE_MS = { tools: 60_000, server: 600_000 };

const OUTPUT_SCHEMA: Tool['outputSchema'] = {
  type: 'object',
  properties: {
    data: {
      anyOf: [{ type: 'object' }, { type: 'null' }],
      description: 'What the operation asks for; null where nothing came.',
    },
    upstream: {
      type: 'object',
      description: 'The bill: `calls` to the metered service, `byRoute`, and what was `shared` or `cached`.',
      properties: { calls: { type: 'integer' } },
      required: ['calls'],
    },
    warnings: { type: 'array', items: { type: 'object' }, description: 'What is right but not whole.' },
    page: {
      type: 'object',
      description:
        'The part of a long answer that `data` is: its `number`, how many there are (`of`), and the `next` to ask for.',
      properties: {
        number: { type: 'integer' },
        of: { type: 'integer' },
        next: { type: 'integer' },
      },
      required: ['number', 'of'],
    },
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

const ANNOTATIONS: Tool['annotations'] = { readOnlyHint: true, idempotentHint: true, openWorldHint: true };

const OWN_PAGE = 'page';

const CATALOGUE_TOOL: OperationTool = {
  name: OWN_TOOLS.search.name,
  description: '',
  documentId: createHash('sha256').update(CATALOGUE_SEARCH).digest('hex'),
  operationName: 'CatalogueSearch',
  inputSchema: { type: 'object', properties: {}, required: [] },
  pageName: OWN_PAGE,
  sample: {},
};

interface ToolCall {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly client: Pick<GatewayRequest, 'headers' | 'signal' | 'requestId' | 'address'>;
  readonly maxCalls: number | undefined;
}

interface ToolWork {
  readonly tool: WithArguments;
  work(call: ToolCall): Promise<ToolAnswer>;
  /** Words a refusal better than the schema of the arguments does. */
  refusalOf?(call: ToolCall): Promise<ToolAnswer | null>;
}

interface WithArguments {
  readonly inputSchema: JsonObject & { readonly properties: Readonly<Record<string, unknown>> };
  /** Name of the argument that gives the rest of a long answer; `page` if left out. */
  readonly pageName?: string;
}

/** The tools of the trusted documents and the gateway's own. */
function createTools(
  gateway: ToolGateway,
  onError: (error: unknown, requestId?: string) => void,
  budgets: ToolBudgets | null,
) {
  const currentTools = createCurrentTools(gateway, onError);
  const fieldsWith = createFieldSearch(gateway.fields);

  async function listed(): Promise<Tool[]> {
    const all: Tool[] = [];
    for (const tool of currentTools().values()) {
      const price = await gateway.price(tool);
      all.push({
        name: tool.name,
        description: describedWithPrice(tool, price),
        inputSchema: tool.inputSchema as Tool['inputSchema'],
        outputSchema: OUTPUT_SCHEMA,
        annotations: ANNOTATIONS,
        ...(price === null ? {} : { _meta: { 'country-graph/price': { ...price, variables: tool.sample } } }),
      });
    }
    const builtInTools = Object.values(OWN_TOOLS).map((tool) => ({
      ...tool,
      inputSchema: { ...tool.inputSchema, required: [...tool.inputSchema.required] },
      outputSchema: OUTPUT_SCHEMA,
      annotations: ANNOTATIONS,
    }));
    return [...all, ...builtInTools];
  }

  function workOf(name: string): ToolWork | null {
    if (name === OWN_TOOLS.search.name) return { tool: OWN_TOOLS.search, work: search };
    if (name === OWN_TOOLS.price.name) return { tool: OWN_TOOLS.price, work: price };
    const tool = currentTools().get(name);
    return tool === undefined
      ? null
      : { tool, work: (call) => run(tool, call), refusalOf: (call) => refusalOf(tool, call) };
  }

  /** The graph's own refusal of arguments, at no call; null if it takes them. */
  async function refusalOf(tool: OperationTool, call: ToolCall): Promise<ToolAnswer | null> {
    const { errors, extensions } = await explainedFor(tool, call);
    const isOfArguments = errors.every((error) => error.extensions?.code === 'BAD_USER_INPUT');
    return extensions.explain === undefined && isOfArguments ? failed(errors) : null;
  }

  const explainedFor = (tool: OperationTool, call: ToolCall) =>
    gateway.explain(bodyOf(tool, call), call.client);

  const answerTo = async (
    tool: OperationTool,
    call: ToolCall,
    spending: Pick<Asking, 'budget' | 'isCounted'> = {},
  ) => answerIn(await gateway.ask(bodyOf(tool, call), { ...call.client, ...spending }));

  /** Refuses an operation before any call if its budgets have no room for it. */
  async function run(tool: OperationTool, call: ToolCall): Promise<ToolAnswer> {
    const { maxCalls } = call;
    if (budgets === null && maxCalls === undefined) return answerTo(tool, call);
    const { errors, extensions } = await explainedFor(tool, call);
    const calls = extensions.explain?.calls;
    if (calls === undefined) return failed(errors);
    try {
      const budget = (await budgets?.budgetOf(call.client.headers.authorization)) ?? null;
      const usage = (await budget?.usage()) ?? null;
      const meta = (now: typeof usage) => (now === null ? {} : { _meta: { 'country-graph/budget': now } });
      if (maxCalls !== undefined && calls > maxCalls)
        return { ...refusalBy(beyondRequest(calls, maxCalls)), ...meta(usage) };
      const beyond = budget === null || usage === null ? null : budget.refusalOf(usage, calls);
      if (beyond !== null) return { ...refusalBy(beyond), ...meta(usage) };
      const own = budget?.calls;
      const beyondCalls = () => beyondRequest(1, maxCalls ?? 0);
      const bounded = maxCalls === undefined ? own : gateway.openBound(maxCalls, beyondCalls, own);
      const answer = await answerTo(tool, call, { budget: bounded, isCounted: true });
      return { ...answer, ...meta((await budget?.usage()) ?? null) };
    } catch (error) {
      if (error instanceof Failure) return refusalBy(error);
      throw error;
    }
  }

  async function search(call: ToolCall): Promise<ToolAnswer> {
    const { words, in: place } = call.variables;
    const fieldMatches = place === 'INDICATORS' ? {} : { fields: fieldsWith(String(words)) };
    if (place === 'FIELDS') return { data: fieldMatches, upstream: openBill() };
    const answer = await run(CATALOGUE_TOOL, { ...call, variables: { words } });
    return { ...answer, data: { ...fieldMatches, ...(answer.data as object | null) } };
  }

  async function price(call: ToolCall): Promise<ToolAnswer> {
    const { tool: name, arguments: given } = call.variables;
    const tool = currentTools().get(String(name));
    if (tool === undefined)
      return refusal('BAD_USER_INPUT', `There is no tool ${excerpt(String(name))} with a price.`);
    const variables = given == null ? {} : objectIn(String(given));
    if (!isObject(variables))
      return refusal('BAD_USER_INPUT', '`arguments` has to be the text of a JSON object.');
    const invalid = unknownArguments(tool, variables) ?? invalidArguments(tool, variables);
    if (invalid !== null) return invalid;
    const { page: _, variables: priced } = paged(tool, variables);
    const { errors, extensions } = await explainedFor(tool, { ...call, variables: priced });
    if (extensions.explain === undefined) return failed(errors);
    const { least, calls, most, limit, byRoute, cached } = extensions.explain;
    return { data: { calls, least, most, limit, byRoute, cached }, upstream: openBill() };
  }

  return { listed, workOf };
}

interface ToolCaller {
  readonly authorization: string | undefined;
  readonly requestId?: string | undefined;
  readonly address?: string | undefined;
}

/**
 * Serves the tools. Everything goes through the gateway's `handle`, so that bills, limits and admission are those of any
 * other client.
 * @param budgets null if tools may send any number of calls
 * @throws Error of the settings if no trusted document can be a tool
 */
export function createToolServers(
  gateway: ToolGateway,
  version: string,
  onError: (error: unknown, requestId?: string) => void,
  budgets: ToolBudgets | null = null,
) {
  const { listed, workOf } = createTools(gateway, onError, budgets);

  /** Opens a server of the protocol for one caller, not connected yet. */
  function open({ authorization, requestId, address }: ToolCaller): Server {
    const server = new Server(
      { name: 'country-graph', version },
      {
        capabilities: { tools: {} },
        instructions: instructionsOf(budgets, gateway.site.attribution),
        // The list is the same for all keys.
        cacheHints: {
          'tools/list': { ttlMs: CACHE_MS.tools, cacheScope: 'public' },
          'server/discover': { ttlMs: CACHE_MS.server, cacheScope: 'public' },
        },
      },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: await listed() }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
      const handler = workOf(params.name);
      if (handler === null)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${excerpt(params.name)}.`);
      const given = params.arguments ?? {};
      const unknown = unknownArguments(handler.tool, given);
      if (unknown !== null) return resultOf(unknown, 1);
      const { page, variables } = paged(handler.tool, given);
      const headers = {
        'apollographql-client-name': excerpt(`mcp ${server.getClientVersion()?.name ?? ''}`.trim()),
        ...(authorization === undefined ? {} : { authorization }),
      };
      // Aborting with the protocol's own reason would be reported as an error.
      const left = new AbortController();
      signal.addEventListener('abort', () => left.abort(), { once: true });
      const maxCalls = params._meta?.[MAX_CALLS_KEY];
      if (maxCalls !== undefined && !isCount(maxCalls))
        return resultOf(refusal('BAD_USER_INPUT', `${MAX_CALLS_KEY} has to be a whole number of calls.`), 1);
      try {
        const call = { variables, maxCalls, client: { headers, signal: left.signal, requestId, address } };
        const invalid = invalidArguments(handler.tool, given);
        if (invalid === null) return resultOf(await handler.work(call), page);
        return resultOf((await handler.refusalOf?.(call)) ?? invalid, 1);
      } catch (error) {
        onError(error, requestId);
        const extensions = { code: 'INTERNAL_SERVER_ERROR', retryable: false, requestId };
        return resultOf(failed([{ message: 'The gateway failed to answer.', extensions }]), 1);
      }
    });
    return server;
  }

  return { open, listed };
}

type Attribution = StartedServices['site']['attribution'];

function instructionsOf(budgets: ToolBudgets | null, { name, url }: Attribution): string {
  const limit =
    budgets === null ? '' : ` Tools may send ${budgets.limit} calls under a key in an hour, or in a session.`;
  return `Figures of African countries from a metered service. Each tool tells its price in calls, and each answer its bill in \`upstream\`. \`search\` finds fields and indicators, \`price\` prices a tool with its arguments.${limit} A request with \`${MAX_CALLS_KEY}\` in its \`_meta\` takes no more. Data: ${url === null ? name : `${name} (${url})`}; name it beside the figures.`;
}

/** Drops nulls, by which some serializers write what is absent. In the arguments of a tool, null is a value. */
export function withoutNulls(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, id, ...rest } = message;
  const isNotice = typeof rest.method === 'string' && rest.method.startsWith('notifications/');
  return {
    ...rest,
    ...(id === undefined || (id === null && isNotice) ? {} : { id }),
    ...(params == null ? {} : { params: isObject(params) ? paramsWithoutNulls(params) : params }),
  };
}

function paramsWithoutNulls({ arguments: given, ...params }: JsonObject): unknown {
  return { ...(bare(params) as JsonObject), ...(given == null ? {} : { arguments: given }) };
}

function bare(value: unknown): unknown {
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(present.map(([name, member]) => [name, bare(member)]));
}

function objectIn(text: string): unknown {
  try {
    return isDeepJson(text) ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Makes the tools anew whenever the trusted documents have changed; keeps the former ones if none of the new can be a tool.
 * @throws Error of the settings if none of the first documents can
 */
function createCurrentTools(
  gateway: ToolGateway,
  onError: (error: unknown, requestId?: string) => void,
): () => ReadonlyMap<string, OperationTool> {
  const isOwn = (name: string) => Object.hasOwn(OWN_TOOLS, name);
  let seen = gateway.documents.trusted();
  let tools = operationTools(gateway, seen ?? [], isOwn);
  return () => {
    const trusted = gateway.documents.trusted();
    if (trusted === seen) return tools;
    seen = trusted;
    try {
      tools = operationTools(gateway, seen ?? [], isOwn);
    } catch (error) {
      onError(error);
    }
    return tools;
  };
}

const validators = new CfWorkerJsonSchemaValidator();

const validatorOf = createObjectMemo<ReturnType<typeof validators.getValidator>>('validator of arguments');

/**
 * Refuses what the published schema of a tool excludes: the graph reads more (one value for a list of it, say), and would
 * pay for it. Null stands for what is left out.
 */
function invalidArguments(
  { inputSchema }: WithArguments,
  given: Readonly<Record<string, unknown>>,
): ToolAnswer | null {
  const validate =
    validatorOf.of(inputSchema) ??
    validatorOf.put(inputSchema, validators.getValidator(inputSchema as JsonSchemaType));
  const { valid, errorMessage = '' } = validate(bare(given));
  return valid
    ? null
    : refusal('BAD_USER_INPUT', `The arguments don't fit the schema of the tool. ${excerpt(errorMessage)}`);
}

function unknownArguments(
  { inputSchema: { properties } }: WithArguments,
  variables: Readonly<Record<string, unknown>>,
): ToolAnswer | null {
  const unknown = Object.keys(variables).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return null;
  const names = Object.keys(properties);
  const message = `There is no argument ${excerpt(unknown.join(', '))}. ${names.length === 0 ? 'The tool takes none.' : `The tool takes ${names.join(', ')}.`}`;
  return refusal('BAD_USER_INPUT', message);
}

/** Separates the page from the variables of the operation. */
function paged({ pageName }: WithArguments, given: Readonly<Record<string, unknown>>) {
  const { [pageName ?? OWN_PAGE]: page, ...variables } = given;
  return { page: Number(page ?? 1), variables };
}

function answerIn(body: string): ToolAnswer {
  if (Buffer.byteLength(body) > MAX_READ_BYTES) {
    const message = `The answer is longer than the ${MAX_READ_BYTES} bytes that are read for a tool. Ask for fewer countries, indicators, years or fields.`;
    const fields = { limit: MAX_READ_BYTES };
    return { ...refusal('OPERATION_TOO_EXPENSIVE', message, fields), upstream: billAtEnd(body) };
  }
  const { data = null, errors = [], extensions = {} } = parseExactly(body) as Partial<Reply>;
  const warnings = extensions.warnings as readonly unknown[] | undefined;
  return {
    ...(errors.length > 0 ? { errors: flat(errors) } : {}),
    data,
    ...(warnings === undefined ? {} : { warnings }),
    upstream: billOf(extensions),
  };
}

function failed(errors: Reply['errors']): ToolAnswer {
  return { errors: flat(errors), data: null, upstream: openBill() };
}

function flat(errors: Reply['errors']) {
  return errors.map(({ message, path, extensions }) => ({
    message,
    ...(path === undefined ? {} : { path }),
    ...extensions,
  }));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
