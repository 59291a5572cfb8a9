/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly durationMs: number;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Answers that were past their time, served because the service gave none. */
  readonly stale: number;
  /** Whether the whole answer was there, since the same had been asked before. */
  readonly repeated: boolean;
  readonly errorCodes: readonly string[];
  /** Set where it came by a key that the service had accepted lately. */
  readonly isProven?: boolean;
  /** Of the request that it came by; undefined where that has none. */
  readonly requestId?: string | undefined;
}
