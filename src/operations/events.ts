/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly durationMs: number;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Answers past their time, served because the service gave none. */
  readonly stale: number;
  /** True if the whole answer was kept from an earlier operation. */
  readonly repeated: boolean;
  readonly errorCodes: readonly string[];
  /** Set if it came by a key that the service had accepted lately. */
  readonly isProven?: boolean;
  /** Identifier of its request; undefined if that has none. */
  readonly requestId?: string | undefined;
}
