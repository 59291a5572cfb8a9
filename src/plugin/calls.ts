import type { Answer } from '../service/call.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Trace } from '../service/trace.ts';
import type { FieldPair } from './graph.ts';

/** A call that is about to be tried. It can be watched, answered or refused, but not changed. */
export interface OutgoingCall {
  /** The route's template, such as `/v1/countries/{code}/profile`. */
  readonly route: string;
  /** Path and query string; of another service, the whole URL. */
  readonly target: string;
  /** What its answer is about: figures, the runs of all sources, the service's health, or anything else. */
  readonly about: 'figures' | 'sources' | 'health' | 'other';
  /** Names the key whose cache the answer goes to, and shows nothing of it; empty for what anybody may read. */
  readonly owner: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The span of the operation, if it is traced. */
  readonly trace: Trace | undefined;
  /** The body of the answer that is cached, fresh or not; null if there is none. */
  cached(): Promise<{ readonly body: unknown } | null>;
  /**
   * Reads the last successful run of each source, ISO 8601, from an answer about sources.
   * @throws Failure UPSTREAM_INVALID_RESPONSE
   */
  sourceRunsIn(body: unknown): readonly { readonly key: string; readonly lastRunAt: string | null }[];
  /**
   * Reads the rows of an answer about figures. It is whole if its total says that no row is missing.
   * @throws Failure UPSTREAM_INVALID_RESPONSE
   */
  figuresIn(body: unknown): {
    readonly rows: readonly ObservationRecord[];
    /** Countries and metrics of rows without a value, and of rows that can't be read: null if not even that can. */
    readonly blanks: readonly FieldPair[];
    readonly errors: readonly { readonly [name in keyof FieldPair]: string | null }[];
    readonly isWhole: boolean;
  };
  /**
   * Has figures of the owner from before an instant (milliseconds since the epoch) looked at again before they are served.
   * @returns settles once all gateways of the store know
   */
  recheckFigures(beforeMs: number): Promise<void>;
}

/** Hands a call on, once: it is counted, paced and billed there. The changes are to what the stages behind see of it. */
export type SendOn = (changes?: { readonly trace?: Trace }) => Promise<Answer>;

/** A stage on the way of each call, before it is tried, counted or paced: it may answer itself, or refuse. */
export type CallStage = (call: OutgoingCall, next: SendOn) => Promise<Answer>;
