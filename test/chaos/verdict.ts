/** An answer as clients get it. */
export interface Reply {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: string };
  }[];
}

/** `right`: all of the truth. `told`: errors tell the missing parts. `wrong`: anything else. */
export type Verdict =
  | { readonly kind: 'right' | 'told'; readonly codes: readonly string[] }
  | { readonly kind: 'wrong'; readonly why: string };

/** Codes for acts of services and networks, and for the gateway's own bounds. */
const CODES: ReadonlySet<string> = new Set([
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'OPERATION_TOO_EXPENSIVE',
  'OPERATION_TIMEOUT',
  'OVERLOADED',
  'RATE_LIMITED',
  'BAD_USER_INPUT',
]);

/** Compares an answer with the truth: each value is the true one, or null with an error at its place or above or below. */
export function judged(truth: unknown, { data, errors = [] }: Reply): Verdict {
  const codes = errors.map(({ extensions }) => String(extensions?.code));
  const unknown = codes.find((code) => !CODES.has(code));
  if (unknown !== undefined) return { kind: 'wrong', why: `code ${unknown}: ${errors[0]?.message}` };
  if (data == null) {
    return errors.length > 0 ? { kind: 'told', codes } : { kind: 'wrong', why: 'neither data nor errors' };
  }
  const paths = errors.map(({ path = [] }) => path.map(String));
  const why = difference(truth, data, [], paths);
  if (why !== null) return { kind: 'wrong', why };
  return { kind: errors.length > 0 ? 'told' : 'right', codes };
}

function difference(
  truth: unknown,
  given: unknown,
  path: readonly string[],
  errors: readonly (readonly string[])[],
): string | null {
  if (given === null && truth !== null) {
    return isTold(path, errors) ? null : `null without an error at ${path.join('.')}`;
  }
  if (Array.isArray(truth) && Array.isArray(given)) {
    if (truth.length !== given.length) return `${given.length} of ${truth.length} items at ${path.join('.')}`;
    return firstOf(truth.map((item, i) => () => difference(item, given[i], [...path, String(i)], errors)));
  }
  if (isObject(truth) && isObject(given)) {
    return firstOf(
      Object.keys(truth).map((name) => () => difference(truth[name], given[name], [...path, name], errors)),
    );
  }
  return Object.is(truth, given) ? null : `${JSON.stringify(given)} at ${path.join('.')}`;
}

function firstOf(checks: readonly (() => string | null)[]): string | null {
  for (const check of checks) {
    const found = check();
    if (found !== null) return found;
  }
  return null;
}

function isTold(path: readonly string[], errors: readonly (readonly string[])[]): boolean {
  return errors.some((error) => {
    const length = Math.min(error.length, path.length);
    return error.slice(0, length).join('\n') === path.slice(0, length).join('\n');
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
