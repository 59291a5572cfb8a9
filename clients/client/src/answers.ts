import type { ErrorCode } from './schema.ts';

/** `extensions.client` of an answer: what was done in the page. */
export interface ClientBill {
  /** Figures that were held. */
  readonly held: number;
  /** Figures that the gateway was asked for, and sent. */
  readonly asked: number;
  /** Requests that weren't sent: 1 if everything was held. */
  readonly spared: number;
  /** Age of the oldest figure in seconds, if the gateway can't be reached and some are past their time. */
  readonly staleSeconds?: number;
}

/** Cost of an operation: `extensions.upstream` of every answer. */
export interface UpstreamBill {
  /** Requests that were sent to the service for this operation, retries included. */
  readonly calls: number;
  /** The same by the route's template, such as `/v1/data`. */
  readonly byRoute: Readonly<Record<string, number>>;
  /** Answers that it shared with another operation in flight. */
  readonly shared: number;
  /** Answers that were held. */
  readonly cached: number;
  /** Requests that it would have taken had each field fetched for itself. */
  readonly naive: number;
  /** Answers past their time, served because the service gave none; absent if there were none. */
  readonly stale?: readonly StaleAnswers[];
}

/** Old answers of one route that were served for one reason. */
export interface StaleAnswers {
  readonly route: string;
  /** Code of the error that the operation would have failed with. */
  readonly code: ErrorCode;
  readonly answers: number;
  /** Time at which the service sent the oldest of them; ISO 8601, UTC. */
  readonly oldestFetchedAt: string;
  readonly ageSeconds: number;
  /** Time from which it is worth asking again, if that is known; ISO 8601, UTC. */
  readonly retryAt?: string;
}

export type WarningCode =
  | 'UNKNOWN_INDICATOR'
  | 'UNKNOWN_COUNTRY'
  | 'ROWS_LEFT_OUT'
  | 'NOT_COMPARABLE'
  | 'UNREADABLE_PERIOD'
  | 'UNREADABLE_TIME'
  | 'SEVERAL_FIGURES'
  | 'REVISED_SINCE'
  | 'SUBSCRIPTION_PAUSED';

/** Something right but not whole: an entry of `extensions.warnings`. */
export interface Warning {
  /** One of `WarningCode` today; further codes may come. */
  readonly code: WarningCode | (string & {});
  readonly message: string;
  readonly path: readonly (string | number)[];
  /** The key or code that nothing is known of. */
  readonly name?: string;
  /** Names that are known and spelt alike, the nearest first. */
  readonly didYouMean?: readonly string[];
  readonly route?: string;
  readonly count?: number;
  readonly detail?: string;
}

/** `extensions` of an answer. */
export interface AnswerExtensions {
  readonly upstream: UpstreamBill;
  /** Absent if there are none. */
  readonly warnings?: readonly Warning[];
  /** With figures held in the page (`@country-graph/client/figures`). */
  readonly client?: ClientBill;
}

/** `extensions` of an error. Which fields there are beside the first three hangs on the code. */
export interface ErrorExtensions {
  readonly code: ErrorCode;
  /** True if the same operation may do better later, without being changed. */
  readonly retryable: boolean;
  /** The `X-Request-Id` of the response: names it in the gateway's log. */
  readonly requestId: string;
  /** Template of the upstream route. */
  readonly route?: string;
  /** The service's own words. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
  /** ISO 8601, UTC. */
  readonly retryAt?: string;
  /** Time at which the month's requests come back; ISO 8601, UTC. */
  readonly resetsAt?: string;
  readonly plan?: string;
  readonly requestsPerMinute?: number;
  readonly monthlyRequests?: number;
  readonly attempts?: number;
  readonly received?: number;
  readonly total?: number;
  readonly planned?: number;
  readonly limit?: number;
  /** The earliest time of which a journal can tell what was asked, ISO 8601, UTC; null if there is none. */
  readonly recordedSince?: string | null;
}

/** An error of an answer, as GraphQL clients hand it on. */
export interface CountryGraphError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: ErrorExtensions;
}
