import type { Caller } from '../../service/caller.ts';
import { isDeep, isObject } from '../../shared/exact-json.ts';
import type { ErrorBehavior } from '../execution/field-errors.ts';
import { contentTypeFor } from './accept.ts';
import { hashIn } from './asked-operation.ts';
import { UNPROVEN } from './callers.ts';
import { errorBehaviorOf } from './on-error.ts';
import type { AskedText, PersistedTexts } from './persisted.ts';
import { isPreflighted } from './preflight.ts';
import { type GatewayRequest, METHODS } from './requests.ts';
import { mayReadSchema } from './schema-reads.ts';

interface OperationParams extends AskedText {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly onError: ErrorBehavior;
  readonly isPersisted: boolean;
}

/**
 * Reads a request of the plain kind that most are. Null leaves it to Apollo Server: odd forms, errors, operations to
 * be persisted, and requests that a browser could be tricked into sending.
 */
function paramsIn(
  { method, headers, search, body }: GatewayRequest,
  persisted: PersistedTexts,
  isProven: boolean,
): OperationParams | null {
  if (METHODS.get(method)?.hasBody) {
    const isJson = headers['content-type']?.startsWith('application/json');
    return isJson && search === '' && isObject(body) ? paramsOf(body, persisted, isProven) : null;
  }
  if (method !== 'GET' || !isPreflighted(headers)) return null;
  const params = new URLSearchParams(search);
  if (new Set(params.keys()).size < params.size) return null;
  try {
    const json = (name: string) => (params.has(name) ? objectIn(params.get(name) ?? '') : undefined);
    const [variables, extensions] = [json('variables'), json('extensions')];
    return paramsOf({ ...Object.fromEntries(params), variables, extensions }, persisted, isProven);
  } catch {
    return null;
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('It is no object.');
  return value;
}

function paramsOf(
  params: Readonly<Record<string, unknown>>,
  persisted: PersistedTexts,
  isProven: boolean,
): OperationParams | null {
  const { query, operationName = undefined, variables = undefined, extensions = undefined } = params;
  if (operationName != null && (typeof operationName !== 'string' || !/^\w+$/.test(operationName)))
    return null;
  if (variables != null && (!isObject(variables) || isDeep(variables))) return null;
  const onError = errorBehaviorOf(params.onError);
  if (onError === undefined) return null;
  const common = { operationName: operationName ?? undefined, variables: variables ?? {}, onError };
  const hash = hashIn(params);
  if (typeof query === 'string' && query !== '') {
    // A text sent with its hash has to be checked and cached. Clients put other things in extensions, too.
    const isPlain = hash === null && (extensions == null || namesNoDocument(extensions));
    const isAllowed = persisted.trusted === null || persisted.allows(query);
    return isPlain && isAllowed ? { ...common, text: query, isPersisted: false } : null;
  }
  const text = hash === null || query != null ? undefined : persisted.get(hash, isProven);
  return text === undefined ? null : { ...common, text, isPersisted: true };
}

function namesNoDocument(extensions: unknown): boolean {
  return isObject(extensions) && extensions.persistedQuery === undefined && !isDeep(extensions);
}

/** JSON can spell numbers such as 1e999, but not write them. */
function hasInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinite);
}

/** True if a request asks for its price alone. */
export function isExplained({ headers }: GatewayRequest): boolean {
  return headers['x-explain'] === '1';
}

export interface PlainRequest {
  readonly params: OperationParams;
  /** Equal for requests of one operation with equal variables. */
  readonly question: string;
  readonly mayReadSchema: boolean;
  readonly contentType: string;
}

export class PlainRequests {
  readonly #persisted: PersistedTexts;

  constructor(persisted: PersistedTexts) {
    this.#persisted = persisted;
  }

  /** Null if Apollo has to look at the request. */
  read(request: GatewayRequest, { flow }: Caller): PlainRequest | null {
    if (isExplained(request)) return null;
    const params = paramsIn(request, this.#persisted, flow !== UNPROVEN);
    if (params === null) return null;
    const { text, operationName = '', variables, onError } = params;
    const given = JSON.stringify(variables);
    // It would be named like null.
    if (given.includes('null') && hasInfinite(variables)) return null;
    const contentType = contentTypeFor(request.headers.accept ?? '');
    if (contentType === null) return null;
    const question = `${onError} ${operationName}\n${given}\n${text}`;
    return { params, question, mayReadSchema: mayReadSchema(text), contentType };
  }
}
