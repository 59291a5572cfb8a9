/**
 * The table of codes: a code is retryable if asking again can help, and its status is that of a refusal or a table. Everything
 * below the graph throws {@link Failure}; `graphql/schema/errors.ts` alone turns it into a GraphQL error.
 */
export const FAILURES = {
  UNAUTHENTICATED: { retryable: false, status: 401 },
  FORBIDDEN: { retryable: false, status: 403 },
  RATE_LIMITED: { retryable: true, status: 429 },
  MONTHLY_QUOTA_EXCEEDED: { retryable: false, status: 429 },
  BAD_USER_INPUT: { retryable: false, status: 400 },
  UPSTREAM_UNAVAILABLE: { retryable: true, status: 503 },
  UPSTREAM_TIMEOUT: { retryable: true, status: 504 },
  UPSTREAM_INVALID_RESPONSE: { retryable: false, status: 502 },
  UPSTREAM_INCOMPLETE: { retryable: false, status: 502 },
  UPSTREAM_ROUTE_ABSENT: { retryable: false, status: 502 },
  NOT_HELD: { retryable: false, status: 404 },
  NOT_RECORDED: { retryable: false, status: 404 },
  OPERATION_TOO_EXPENSIVE: { retryable: false, status: 400 },
  OPERATION_TIMEOUT: { retryable: true, status: 504 },
  OVERLOADED: { retryable: true, status: 503 },
  DOCUMENT_NOT_ALLOWED: { retryable: false, status: 403 },
  KEY_EXPIRED: { retryable: false, status: 401 },
  KEY_BUDGET_SPENT: { retryable: false, status: 429 },
  ORIGIN_NOT_ALLOWED: { retryable: false, status: 403 },
} as const satisfies Record<string, { retryable: boolean; status: number }>;

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
  /** The earliest time of which a journal can tell what was asked; null if there is none. */
  readonly recordedSince?: string | null | undefined;
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
