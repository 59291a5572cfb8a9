import { parseExactly } from '../exact-json.ts';
import { CommandError } from './command-error.ts';

/** An operation as it is sent. */
export interface AskedOperation {
  readonly query: string;
  readonly variables: unknown;
  readonly operationName?: string;
}

/** An answer of GraphQL, as far as it is printed. */
export interface GivenAnswer {
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

export interface ReplyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
}

export interface ReplyBill {
  readonly calls: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly shared: number;
  readonly cached: number;
  readonly naive: number;
  readonly stale?: readonly unknown[];
}

export type AskGateway = (question: AskedOperation) => Promise<GivenAnswer>;

/** Milliseconds that an answer may take: longer than any operation takes that a gateway runs with its own settings. */
const TIMEOUT_MS = 120_000;

/**
 * Asks a gateway that runs.
 * @param address its GraphQL address, or that of its host
 * @throws CommandError if it can't be reached, or its answer is no GraphQL
 */
export function askingAt(address: string, key: string | undefined): AskGateway {
  const url = graphqlAddress(address);
  return async (question) => {
    const response = await fetch(url, {
      method: 'POST',
      // The key goes to no other address.
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
  };
}

/** Asks a gateway over the embedded sandbox, both of which end with the question. */
export async function askSandbox(
  question: AskedOperation,
  givenKey: string | undefined,
): Promise<GivenAnswer> {
  const [{ askQuietly }, { openSandbox }] = await Promise.all([
    import('./quiet-gateway.ts'),
    import('./serve.ts'),
  ]);
  const sandbox = await openSandbox();
  try {
    const { url } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
    const authorization = `Bearer ${givenKey ?? sandbox.keys.team}`;
    return replyIn(await askQuietly(url, question, { authorization }), 'The gateway answered');
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

function isReply(
  value: unknown,
): value is Omit<GivenAnswer, 'errors'> & Partial<Pick<GivenAnswer, 'errors'>> {
  if (typeof value !== 'object' || value === null) return false;
  const isListed = !('errors' in value) || Array.isArray(value.errors);
  return isListed && ('data' in value || 'errors' in value);
}

/** Tells in a few words why a host could not be reached. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}
