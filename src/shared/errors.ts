/**
 * The failures of the gateway, and their words for the caller.
 *
 * `FAILURES` is the one table of codes: a code is retryable if asking again can help. Everything below the graph throws
 * {@link Failure}; `graph/errors.ts` alone turns it into a GraphQL error.
 */
export const FAILURES = {
  UNAUTHENTICATED: { retryable: false },
  FORBIDDEN: { retryable: false },
  RATE_LIMITED: { retryable: true },
  MONTHLY_QUOTA_EXCEEDED: { retryable: false },
  BAD_USER_INPUT: { retryable: false },
  UPSTREAM_UNAVAILABLE: { retryable: true },
  UPSTREAM_TIMEOUT: { retryable: true },
  UPSTREAM_INVALID_RESPONSE: { retryable: false },
  UPSTREAM_INCOMPLETE: { retryable: false },
  UPSTREAM_ROUTE_ABSENT: { retryable: false },
  NOT_HELD: { retryable: false },
  OPERATION_TOO_EXPENSIVE: { retryable: false },
  OPERATION_TIMEOUT: { retryable: true },
  OVERLOADED: { retryable: true },
  DOCUMENT_NOT_ALLOWED: { retryable: false },
  KEY_EXPIRED: { retryable: false },
  KEY_BUDGET_SPENT: { retryable: false },
  ORIGIN_NOT_ALLOWED: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type FailureCode = keyof typeof FAILURES;

/** Further fields of a failure, as the caller sees them in `extensions`. Times are ISO 8601, UTC. */
export interface FailureFields {
  /** Template of the upstream route, such as `/v1/data`. */
  readonly route?: string | undefined;
  /** The service's own words. */
  readonly detail?: string | undefined;
  readonly plan?: string | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly monthlyRequests?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly retryAt?: string | undefined;
  readonly resetsAt?: string | undefined;
  readonly attempts?: number | undefined;
  readonly received?: number | undefined;
  /** Null if the service did not say how many there are. */
  readonly total?: number | null | undefined;
  readonly planned?: number | undefined;
  readonly limit?: number | undefined;
  /** Whether asking again can help, where that isn't as its code has it. */
  readonly retryable?: boolean | undefined;
  /** The command that would fetch what isn't cached. */
  readonly command?: string | undefined;
  /** Response names down to the field that makes an operation dear, such as `countries.observations`. */
  readonly field?: string | undefined;
}

/** A failure as the caller is told of it. It has no stack: its words are about the request or the service. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly fields: FailureFields;

  constructor(code: FailureCode, message: string, fields: FailureFields = {}, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Failure';
    this.code = code;
    this.fields = fields;
  }

  get retryable(): boolean {
    return this.fields.retryable ?? FAILURES[this.code].retryable;
  }

  /** Makes the same failure with more fields; those given win. */
  with(fields: FailureFields): Failure {
    return new Failure(this.code, this.message, { ...this.fields, ...fields }, { cause: this.cause });
  }
}

/** Fields of an error's `extensions`, beside those that its code implies. */
interface FailureExtensions extends FailureFields {
  readonly requestId?: string | undefined;
}

/**
 * Writes the body of an answer that is an error and nothing else: no operation was run.
 * @param rest further members of the body
 */
export function errorBody(
  code: FailureCode | 'BAD_REQUEST' | 'INTERNAL_SERVER_ERROR',
  message: string,
  fields: FailureExtensions,
  rest: object = {},
): string {
  const retryable = code in FAILURES && FAILURES[code as FailureCode].retryable;
  return JSON.stringify({ errors: [{ message, extensions: { code, retryable, ...fields } }], ...rest });
}

/** Returns what was thrown as an Error. The words stand for anything else, such as the reason of an abort. */
export function asError(thrown: unknown, words: string): Error {
  return thrown instanceof Error ? thrown : new Error(words, { cause: thrown });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Most characters that are repeated of a text of another's choice. */
const EXCERPT_LENGTH = 500;

/** Returns the beginning of a text of another's: half a character isn't left, for which readers refuse an answer. */
export function excerpt(text: string, length = EXCERPT_LENGTH): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
