import type { FailureCode } from '../shared/errors.ts';
import type { Bill } from './bill.ts';
import type { Caller } from './caller.ts';
import type { Deadline } from './deadline.ts';
import type { Payer } from './payer.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { Trace } from './trace.ts';

/** The payer of a call, and the end of the demand for it. */
export interface Sending {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The deadline of an operation: started before it first waits, so that its signal aborts when the time is over. */
  readonly deadline?: Deadline;
  /** The bill that counts answers that took no request. */
  readonly bill: Bill;
  /** The waits of the operation: for the service, batching and pacing included, and for the store. */
  readonly waits?: { readonly service: Stopwatch; readonly store: Stopwatch };
  /** Bills the requests. */
  readonly payer: Payer;
  /** Milliseconds since the epoch until which the call may wait for a minute window that still has room. */
  readonly waitDeadlineMs: number;
  /** Called when a call has its turn and is about to leave. Throws the reason if it must not leave after all. */
  readonly beforeLeaving?: () => void;
  /** The span that calls are made within, if somebody traces. */
  readonly trace?: Trace | undefined;
  /** Called with the status of the answer. */
  readonly onStatus?: (status: number) => void;
  /** Returns true while nobody has named what is asked for: no further call finds out why it is refused. */
  readonly isGuess?: () => boolean;
  /** Further request headers, such as `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Has the request go over a connection that nothing has gone over before. */
  readonly isAnew?: true;
  /** Called once, at the instant the request leaves; an error that it throws keeps the request from being sent. */
  readonly onLeaving?: () => void;
  /** Called with the expiry of cache hits of a route, and the ages of their answers: in milliseconds since the epoch. */
  readonly onCached?: (freshUntilMs: number, route: string, oldestAtMs: number, newestAtMs: number) => void;
  /** Called with the expiry of each answer that has just come, as `onCached`; 0 if it has none. */
  readonly onFetched?: (freshUntilMs: number) => void;
  /** Called with records that are past their time and served for want of newer ones. */
  readonly onStale?: (records: unknown, why: FailureCode) => void;
  /** Called with rows of an answer that belong to nothing that can be asked for. */
  readonly onLeftOut?: (rows: LeftOutRows) => void;
}

/** Rows of an answer that could not be used. */
export interface LeftOutRows {
  readonly route: string;
  readonly count: number;
  /** The error in the first of them. */
  readonly detail: string;
}
