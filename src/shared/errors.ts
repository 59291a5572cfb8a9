/**
 * The table of codes: a code is retryable if asking again can help. Everything below the graph throws {@link Failure};
 * `graphql/schema/errors.ts` alone turns it into a GraphQL error.
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
  NOT_RECORDED: { retryable: false },
  OPERATION_TOO_EXPENSIVE: { retryable: false },
  OPERATION_TIMEOUT: { retryable: true },
  OVERLOADED: { retryable: true },
  DOCUMENT_NOT_ALLOWED: { retryable: false },
  KEY_EXPIRED: { retryable: false },
  KEY_BUDGET_SPENT: { retryable: false },
  ORIGIN_NOT_ALLOWED: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type FailureCode = keyof typeof FAILURES;

/** As the caller sees them in `extensions`. Times are ISO 8601, UTC. */
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
  /** Null if the service doesn't say. */
  readonly total?: number | null | undefined;
  readonly planned?: number | undefined;
  readonly limit?: number | undefined;
  /** Overrides that of the code. */
  readonly retryable?: boolean | undefined;
  /** A command that would fetch what isn't cached. */
  readonly command?: string | undefined;
  /** The path to the most expensive field of an operation, such as `countries.observations`. */
  readonly field?: string | undefined;
}

const FAILURE: unique symbol = Symbol.for('country-graph.Failure') as never;

/** It has no stack, since it is about the request or the service. */
export class Failure extends Error {
  /** Marks failures of all copies of this module: plugins from elsewhere bring one of their own. */
  readonly [FAILURE] = true;

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

  static override [Symbol.hasInstance](value: unknown): value is Failure {
    return typeof value === 'object' && value !== null && FAILURE in value;
  }

  get retryable(): boolean {
    return this.fields.retryable ?? FAILURES[this.code].retryable;
  }

  /** The same failure with more fields, which win over its own. */
  with(fields: FailureFields): Failure {
    return new Failure(this.code, this.message, { ...this.fields, ...fields }, { cause: this.cause });
  }
}

interface FailureExtensions extends FailureFields {
  readonly requestId?: string | undefined;
}

/**
 * The body of an answer that is only an error: no operation was run.
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

/** The words are for what isn't an Error, such as the reason of an abort. */
export function asError(thrown: unknown, words: string): Error {
  return thrown instanceof Error ? thrown : new Error(words, { cause: thrown });
}

/** What a thrown value says: the message of an error, or else the value as a text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Characters that are repeated of texts of others. */
const EXCERPT_LENGTH = 500;

/** The beginning of a text, without half a surrogate pair at its end, for which clients would refuse an answer. */
export function excerpt(text: string, length = EXCERPT_LENGTH): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
