import type { GraphQLFormattedError } from 'graphql';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { GatewayRequest } from '../request/requests.ts';
import type { SourceRef } from '../schema/context.ts';

/** The subscriptions of one gateway, for the protocols that bring them. */
export interface Subscriptions {
  /**
   * Begins one, within the terms and the bounds of its key; never throws.
   * @returns the errors of one that can't begin
   */
  open(
    request: LiveRequest,
  ): Promise<{ readonly results: LiveResults } | { readonly errors: readonly GraphQLFormattedError[] }>;
  /** Answers at once for a text that can't hold a subscription; otherwise parses it in a turn of its own. */
  isSubscription(query: unknown, operationName: unknown): false | Promise<boolean>;
  /** Of those that are open. */
  count(): number;
  /** Ends all of them, without a word to their readers. */
  stop(): void;
}

/** A subscription as a protocol has received it. */
export interface LiveRequest extends Pick<GatewayRequest, 'headers' | 'address'> {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly onError?: unknown;
  readonly requestId: string;
  /** Aborts when the client leaves before the subscription has begun. */
  readonly signal: AbortSignal;
  readonly reader: LiveReader;
}

export interface LiveReader {
  /** Settles when the reader can take the next result. */
  readonly ready?: () => Promise<void>;
  readonly onResult?: () => void;
  /** Called after the last result of a subscription that began. */
  readonly onEnd: () => void;
}

export interface LiveResult {
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GraphQLFormattedError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Each is made when it is asked for, of all that has changed by then. */
export type LiveResults = AsyncIterableIterator<LiveResult> & {
  return(): Promise<IteratorResult<LiveResult>>;
  /** The libraries of protocols only end iterators that have it, as generators do. */
  throw(error: unknown): Promise<never>;
};

/** What a field of `Subscription` may follow, within the rights of its caller; the end of the subscription ends it. */
export interface Changes {
  /**
   * Follows figures, from the present ones on.
   * @throws Failure BAD_USER_INPUT for a name that the service doesn't have; or if the figures can't be known or are too many
   */
  figures(wanted: FiguresWanted): Promise<AsyncIterable<Change<ObservationChangesRecord>>>;
  /**
   * Follows the runs of sources.
   * @param keys null for all
   * @throws Failure BAD_USER_INPUT for a source that the service doesn't have
   */
  sources(keys: readonly string[] | null): Promise<AsyncIterable<Change<Pick<SourceRef, 'key'>>>>;
}

export interface FiguresWanted {
  /** Left out or null, those of all countries. */
  readonly countryCodes?: readonly string[] | null | undefined;
  /** Left out or null, the whole catalogue. */
  readonly metricKeys?: readonly string[] | null | undefined;
  /** Only the latest figure of each pair. */
  readonly latest?: boolean | null | undefined;
  /** The last revision that the subscriber saw; null or left out to begin with the present figures. */
  readonly since?: string | null | undefined;
}

/** The parent of the field that follows it. */
export interface Change<Value> {
  /** Null if there is no news but that the subscription pauses, or goes on. */
  readonly value: Value | null;
}

export interface ObservationChangesRecord {
  readonly changes: readonly ObservationChangeRecord[];
  /** True if these are all figures, and not only those that changed. */
  readonly isWhole: boolean;
  readonly revision: string;
  readonly at: string;
}

export interface ObservationChangeRecord {
  readonly kind: 'ADDED' | 'REVISED' | 'REMOVED';
  /** The figure as it is now; a removed one, as it was. */
  readonly observation: ObservationRecord;
  /** Its identifier is no longer that of a figure. */
  readonly before: ObservationRecord | null;
  /** The identifier of `before`. */
  readonly formerId: string | null;
}
