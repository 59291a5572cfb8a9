import type { PersistedTexts } from './persisted.ts';

/** One GraphQL-over-HTTP request, its body parsed. */
export interface GatewayRequest {
  /** In upper case. */
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw query string with its `?`, or empty. */
  readonly search: string;
  /** The parsed JSON body; empty for GET. */
  readonly body: unknown;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** What a request asks for. */
export interface Asked {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether the client named the operation instead of sending its text. */
  readonly isPersisted: boolean;
}

const NO_VARIABLES: Asked['variables'] = Object.freeze({});

/**
 * What a request asks for, where it is of the plain kind that most are; null where Apollo Server has to look at it: odd
 * forms, whatever is wrong, operations to be persisted, and what a browser could be tricked into sending.
 */
export function askedIn(
  { method, headers, search, body }: GatewayRequest,
  persisted: PersistedTexts,
): Asked | null {
  if (method === 'POST') {
    const isJson = headers['content-type']?.startsWith('application/json');
    return isJson && search === '' && isObject(body) ? askedBy(body, persisted) : null;
  }
  if (method !== 'GET' || !isPreflighted(headers)) return null;
  const params = new URLSearchParams(search);
  try {
    const json = (name: string) => JSON.parse(params.get(name) ?? 'null') ?? undefined;
    const text = params.get('query') ?? undefined;
    const operationName = params.get('operationName') ?? undefined;
    const [variables, extensions] = [json('variables'), json('extensions')];
    const documentId = params.get('documentId') ?? undefined;
    return askedBy({ query: text, operationName, variables, extensions, documentId }, persisted);
  } catch {
    return null;
  }
}

/** Whether a page of another origin could send the request only with this gateway's leave. */
function isPreflighted(headers: GatewayRequest['headers']): boolean {
  return (
    Boolean(headers['x-apollo-operation-name']) ||
    Boolean(headers['apollo-require-preflight']) ||
    Boolean(headers['content-type']?.startsWith('application/json'))
  );
}

function askedBy(params: Readonly<Record<string, unknown>>, persisted: PersistedTexts): Asked | null {
  const { query, operationName = undefined, variables = undefined, extensions = undefined } = params;
  if (operationName !== null && operationName !== undefined && typeof operationName !== 'string') return null;
  if (variables !== null && variables !== undefined && !isObject(variables)) return null;
  const common = { operationName: operationName ?? undefined, variables: variables ?? NO_VARIABLES };
  const hash = hashIn(params);
  if (typeof query === 'string' && query !== '') {
    // A text that comes with its hash is to be checked, and kept.
    const isPlain = (extensions === undefined || extensions === null) && hash === null;
    return isPlain ? { ...common, text: query, isPersisted: false } : null;
  }
  const text = hash === null || query != null ? undefined : persisted.get(hash);
  return text === undefined ? null : { ...common, text, isPersisted: true };
}

/** The hash by which a request names an operation; null where it names none, or not in a known way. */
export function hashIn({ documentId, extensions }: Readonly<Record<string, unknown>>): string | null {
  if (typeof documentId === 'string') return documentId.replace(/^sha256:/, '');
  const named = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (!isObject(named) || named.version !== 1 || typeof named.sha256Hash !== 'string') return null;
  return named.sha256Hash;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
