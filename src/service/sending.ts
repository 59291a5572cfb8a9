import type { PromiseOrValue } from '../shared/async/promises.ts';
import type { FailureCode } from '../shared/errors.ts';
import type { Bill } from './bill.ts';
import type { Caller } from './caller.ts';
import type { Deadline } from './deadline.ts';
import type { Payer } from './payer.ts';
import type { CountryRecord } from './records/countries.ts';
import type { IndicatorRecord } from './records/reference.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { Trace } from './trace.ts';

/** On whose behalf a call is sent: who pays for it, how long it may wait, who is told. */
export interface Sending {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Deadline of the operation, started before it first waits; then `signal` aborts at it. */
  readonly deadline?: Deadline;
  /** Counts answers that took no request. */
  readonly bill: Bill;
  /** Time that the operation has waited: for the service, batching and pacing included, and for the store. */
  readonly waits?: { readonly service: Stopwatch; readonly store: Stopwatch };
  /** Bills the requests. */
  readonly payer: Payer;
  /** Milliseconds since the epoch until which the call may wait for a minute with room. */
  readonly waitDeadlineMs: number;
  /** Parent span of the call, if tracing is on. */
  readonly trace?: Trace | undefined;
  /** The operation's own lists, each loaded once; left out, or undefined, if no operation waits. */
  readonly lists?: (() => ListLoaders | undefined) | undefined;
  /** Called for cache hits with their expiry, and the times of the oldest and newest answer, in milliseconds since the epoch. */
  readonly onCached?: (freshUntilMs: number, route: string, oldestAtMs: number, newestAtMs: number) => void;
  /** Called with the expiry of each new answer, in milliseconds since the epoch; 0 if it has none. */
  readonly onFetched?: (freshUntilMs: number) => void;
  /** Called with expired records that are served because the service gave no newer ones. */
  readonly onStale?: (records: unknown, why: FailureCode) => void;
  /** Called with rows of an answer that match no country or metric. */
  readonly onLeftOut?: (rows: LeftOutRows) => void;
}

export interface ListLoaders {
  countries(): PromiseOrValue<readonly CountryRecord[] | null>;
  indicators(): PromiseOrValue<readonly IndicatorRecord[]>;
}

/** Rows of an answer that could not be used. */
export interface LeftOutRows {
  readonly route: string;
  readonly count: number;
  /** The error in the first of them. */
  readonly detail: string;
}
