import { GraphQLError, parse } from 'graphql';
import { readConfig } from '../config/config.ts';
import { TooManyFields, tablesInAnswer } from '../graphql/request/answer-tables.ts';
import { ownRequest } from '../graphql/request/own-requests.ts';
import { wholeBody } from '../graphql/request/responses.ts';
import { plugins } from '../plugins.ts';
import { BYTE_ORDER_MARK } from '../shared/cells.ts';
import { parseExactly } from '../shared/exact-json.ts';
import { CommandError, formatted, type questionFrom, reasonOf } from './formats.ts';

async function openQuietly(upstreamUrl: string, settings: Parameters<typeof readConfig>[0] = {}) {
  const { createGateway } = await import('../gateway/gateway.ts');
  const config = readConfig({ CACHE_URL: 'none', ...settings }, plugins);
  const observer = { operation() {}, attempt() {}, problem() {} };
  return createGateway({ config, plugins, upstreamUrl, observer });
}

/** Nothing is sent there. */
const NOWHERE = 'http://127.0.0.1';

export async function sdlFor(whom: string, env: NodeJS.ProcessEnv): Promise<string> {
  const ofSdl = Object.entries(env).filter(([name]) => name.startsWith('SUBGRAPH_'));
  const gateway = await openQuietly(NOWHERE, Object.fromEntries(ofSdl));
  const { printClientSdl } = await import('../graphql/schema/sdl.ts');
  const sdl = whom === 'clients' ? printClientSdl(gateway.schema) : gateway.sdl;
  await gateway.stop();
  return sdl;
}

/**
 * Asks a gateway that is opened for this question.
 * @returns the body of its answer
 */
async function askQuietly(
  upstreamUrl: string,
  question: object,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const gateway = await openQuietly(upstreamUrl);
  try {
    return await wholeBody((await gateway.handle(ownRequest(question, { headers }))).body);
  } finally {
    await gateway.stop();
  }
}

interface Explained {
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: {
    readonly explain?: {
      readonly calls: number;
      readonly least: number;
      readonly most: number;
      readonly naive: number;
      readonly byRoute: Readonly<Record<string, number>>;
      readonly plan: readonly { readonly route: string; readonly target: string }[];
    };
  };
}

/** Nothing is sent with it. */
const NO_KEY = 'Bearer explain';

/**
 * Writes the calls of an operation as a table, for a gateway with nothing cached.
 * @throws CommandError if the operation would be refused
 */
export async function explain(question: object): Promise<string> {
  const body = await askQuietly(NOWHERE, question, { authorization: NO_KEY, 'x-explain': '1' });
  const { errors = [], extensions } = JSON.parse(body) as Explained;
  const plan = extensions?.explain;
  if (plan === undefined || errors.length > 0)
    throw new CommandError(errors.map(({ message }) => message).join('\n'));
  const width = Math.max(5, ...Object.keys(plan.byRoute).map((route) => route.length));
  const row = (calls: number | string, route: string, request: string) =>
    `${String(calls).padStart(5)}  ${route.padEnd(width)}  ${request}`.trimEnd();
  const requests = (route: string) =>
    plan.plan.filter((call) => call.route === route).map(({ target }) => target);
  return [
    row('calls', 'route', 'requests'),
    ...Object.entries(plan.byRoute).flatMap(([route, calls]) =>
      requests(route).map((target, i) => row(i === 0 ? calls : '', i === 0 ? route : '', `GET ${target}`)),
    ),
    row(
      plan.calls,
      'in all',
      `(at least ${plan.least}, at most ${plan.most}; ${plan.naive} if each field fetched for itself)`,
    ),
  ].join('\n');
}

type Question = Awaited<ReturnType<typeof questionFrom>>;

interface GivenAnswer {
  readonly data?: unknown;
  readonly errors: readonly ReplyError[];
  readonly extensions?: {
    readonly upstream?: ReplyBill;
    readonly warnings?: readonly {
      readonly code: string;
      readonly message: string;
      readonly path?: readonly (string | number)[];
    }[];
  };
}

interface ReplyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
}

interface ReplyBill {
  readonly calls: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly shared: number;
  readonly cached: number;
  readonly naive: number;
  readonly stale?: readonly unknown[];
}

/** Longer than any operation of a gateway with default settings. */
const TIMEOUT_MS = 120_000;

/**
 * Asks a running gateway.
 * @param address its GraphQL address, or that of its host
 * @throws CommandError if it can't be reached, or its answer is no GraphQL
 */
async function askGateway(
  question: Question,
  address: string,
  key: string | undefined,
): Promise<GivenAnswer> {
  const url = graphqlAddress(address);
  const response = await fetch(url, {
    method: 'POST',
    // The key must go to no other address.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(question),
  }).catch((error: unknown) => {
    throw new CommandError(`${url} can't be reached: ${reasonOf(error)}.`);
  });
  const body = await response.text().catch((error: unknown) => {
    throw new CommandError(`The answer of ${url} broke off: ${reasonOf(error)}.`);
  });
  return replyIn(body, `${url} answered with status ${response.status}`);
}

async function askSandbox(question: Question, givenKey: string | undefined): Promise<GivenAnswer> {
  const { openSandbox } = await import('./serve.ts');
  const sandbox = await openSandbox();
  try {
    const authorization = `Bearer ${givenKey ?? sandbox.keys.team}`;
    return replyIn(await askQuietly(sandbox.url, question, { authorization }), 'The gateway answered');
  } finally {
    await sandbox.close();
  }
}

function graphqlAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(`--url must be an http:// or https:// address.`);
  if (url.username !== '' || url.password !== '') throw new CommandError('--url must hold no password.');
  if (url.pathname === '/') url.pathname = '/graphql';
  return url.href;
}

function replyIn(text: string, what: string): GivenAnswer {
  let reply: unknown;
  try {
    reply = parseExactly(text);
  } catch {
    reply = null;
  }
  if (!isReply(reply)) throw new CommandError(`${what}, which is no answer of GraphQL.`);
  return { ...reply, errors: reply.errors ?? [] };
}

function isReply(value: unknown): value is Partial<GivenAnswer> {
  if (typeof value !== 'object' || value === null) return false;
  const isListed = !('errors' in value) || Array.isArray(value.errors);
  return isListed && ('data' in value || 'errors' in value);
}

interface QueryOptions {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly format: 'json' | Parameters<typeof formatted>[1];
  readonly bom?: boolean;
}

/**
 * Runs one operation.
 * @returns texts for standard output and standard error
 * @throws CommandError if nothing could be asked, or nothing was answered
 */
export async function query(question: Question, { url, key, format, bom = false }: QueryOptions) {
  const document = withOperation(() => parse(question.query));
  if (bom && format !== 'csv') throw new CommandError('--bom is for --format csv.');
  const reply = await (url === undefined ? askSandbox(question, key) : askGateway(question, url, key));
  const answer =
    format === 'json'
      ? `${JSON.stringify(reply.data ?? null, null, 2)}\n`
      : formatted(
          withOperation(() => tablesInAnswer(document, question.operationName, reply.data)),
          format,
        );
  const isWhole = reply.errors.length === 0 && !isEmptyForANameIn(reply);
  const mark = bom ? BYTE_ORDER_MARK : '';
  return { answer: mark + answer, remarks: remarksOn(reply, url === undefined), exitCode: isWhole ? 0 : 1 };
}

const UNKNOWN_NAMES = new Set(['UNKNOWN_INDICATOR', 'UNKNOWN_COUNTRY']);

/** True if a root field is empty and a name in it may be misspelt, which a script must not take for success. */
function isEmptyForANameIn({ data, extensions: { warnings = [] } = {} }: GivenAnswer): boolean {
  const emptied = new Map<string, Set<string>>();
  for (const { code, path = [] } of warnings) {
    if (!UNKNOWN_NAMES.has(code)) continue;
    const [root] = path;
    const field = path.findLast((step) => typeof step === 'string');
    if (root === undefined || field === undefined) continue;
    const fields = emptied.get(String(root)) ?? new Set();
    emptied.set(String(root), fields.add(String(field)));
  }
  return [...emptied].some(([root, fields]) => !showsAnything((data as Table | null)?.[root], fields));
}

type Table = Readonly<Record<string, unknown>>;

/** Values beside an emptied field don't count: they only say whose value it would be. */
function showsAnything(value: unknown, emptied: ReadonlySet<string>): boolean {
  if (Array.isArray(value)) return value.some((item) => showsAnything(item, emptied));
  if (typeof value !== 'object' || value === null) return value != null;
  const below = Object.values(value).filter((member) => typeof member === 'object' && member !== null);
  if (below.length > 0) return below.some((item) => showsAnything(item, emptied));
  const isBesideEmpty = Object.keys(value).some((key) => emptied.has(key));
  return (
    !isBesideEmpty && Object.entries(value).some(([key, member]) => key !== '__typename' && member != null)
  );
}

/** Turns errors of the operation into errors of the command. */
function withOperation<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof GraphQLError)
      throw new CommandError(`The operation can't be read: ${error.message}`);
    if (error instanceof TooManyFields) throw new CommandError(error.message);
    throw error;
  }
}

function remarksOn({ errors, extensions }: GivenAnswer, isSandbox: boolean): string {
  const { upstream, warnings = [] } = extensions ?? {};
  return [
    ...errors.map(lineOf),
    ...warnings.map(({ code, message }) => `warning ${code}: ${message}`),
    ...(upstream === undefined ? [] : [billLine(upstream)]),
    ...(isSandbox
      ? ['The figures are synthetic: no --url was given, so the embedded sandbox has answered.']
      : []),
  ]
    .map((line) => `${line.replace(/\p{Cc}+/gu, ' ')}\n`)
    .join('');
}

function lineOf({ message, path, extensions: { code, retryAfterSeconds } = {} }: ReplyError): string {
  const where = path === undefined ? '' : ` at ${path.join('.')}`;
  const again = retryAfterSeconds === undefined ? '' : ` Ask again in ${retryAfterSeconds} s.`;
  return `error ${code ?? ''}${where}: ${message}${again}`.replace(/^error (?=:| at)/, 'error');
}

function billLine({ calls, byRoute, shared, cached, naive, stale }: ReplyBill): string {
  const routes = Object.entries(byRoute).map(([route, count]) => `${count} ${route}`);
  const of = routes.length === 0 ? '' : ` (${routes.join(', ')})`;
  const old = stale === undefined ? '' : `, ${stale.length} past their time`;
  return `${calls === 1 ? '1 call' : `${calls} calls`}${of}, ${shared} shared, ${cached} cached${old}; ${naive} if each field fetched for itself`;
}
