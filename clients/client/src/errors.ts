import type { CountryGraphError } from './answers.ts';
import { ErrorCode } from './schema.ts';

const CODES: ReadonlySet<unknown> = new Set(Object.values(ErrorCode));

/** True if a text is a code of this version of the graph: a gateway that is newer may have further ones. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return CODES.has(code);
}

/**
 * The errors of the graph in anything that a client library hands on or throws, those with a code that is newer than this
 * package among them: an error, a list of them, an
 * answer, or a thrown object of Apollo Client (`CombinedGraphQLErrors`), urql (`CombinedError`),
 * graphql-request (`ClientError`) or Relay. Empty if there are none, for a network that failed as well.
 */
export function errorsOf(failure: unknown): readonly CountryGraphError[] {
  return found(failure, 0);
}

/** Depth of the list of errors in a library's own object, at the most. */
const MAX_NESTING = 4;
/** Members in which libraries keep errors within the objects that they throw. */
const HOLDERS = ['errors', 'graphQLErrors', 'response', 'source', 'cause', 'originalError'] as const;

function found(value: unknown, nesting: number): readonly CountryGraphError[] {
  if (nesting > MAX_NESTING || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => found(item, nesting + 1));
  if (isOfGraph(value)) return [value];
  for (const holder of HOLDERS) {
    const inner = found((value as Readonly<Record<string, unknown>>)[holder], nesting + 1);
    if (inner.length > 0) return inner;
  }
  return [];
}

function isOfGraph(value: object): value is CountryGraphError {
  const { message, extensions } = value as Partial<CountryGraphError>;
  return (
    typeof message === 'string' &&
    typeof extensions === 'object' &&
    extensions !== null &&
    (isErrorCode(extensions.code) || typeof extensions.retryable === 'boolean')
  );
}

/**
 * The code of the first error in anything that a client library hands on or throws; undefined if there is
 * none of the graph's. It is one that `ErrorCode` lacks if the gateway is newer than this package.
 */
export function codeOf(failure: unknown): ErrorCode | undefined {
  return errorsOf(failure)[0]?.extensions.code;
}

/**
 * True if the same operation may do better later: there are errors of the graph, and each of them says so.
 */
export function isRetryable(failure: unknown): boolean {
  const errors = errorsOf(failure);
  return errors.length > 0 && errors.every(({ extensions }) => extensions.retryable);
}

/**
 * Time from which it is worth asking again: the latest time that an error names, so that then none of them is
 * left. Null if none names any.
 */
export function retryAtOf(failure: unknown, now: number = Date.now()): Date | null {
  const times = errorsOf(failure).flatMap(({ extensions: { retryAt, resetsAt, retryAfterSeconds } }) => {
    const at = retryAt ?? resetsAt;
    if (at !== undefined) return [Date.parse(at)];
    return retryAfterSeconds === undefined ? [] : [now + retryAfterSeconds * 1000];
  });
  const latest = Math.max(...times);
  return Number.isFinite(latest) ? new Date(latest) : null;
}

/** The longest that a browser's timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves when it is worth asking again; at once if no error names a time. Rejects with the signal's reason
 * when that aborts first.
 */
export async function untilRetry(
  failure: unknown,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  signal?.throwIfAborted();
  const atMs = retryAtOf(failure)?.getTime() ?? 0;
  for (let leftMs = atMs - Date.now(); leftMs > 0; leftMs = atMs - Date.now()) {
    await pause(Math.min(leftMs, MAX_TIMER_MS), signal);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    }, ms);
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}
