/** One attempt at one call, as metrics and logs hear of it. */
export interface Attempt {
  readonly route: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Hears of one request to the service. */
export interface AttemptWatcher {
  /** Headers that the request has besides. */
  readonly headers?: Readonly<Record<string, string>>;
  onStatus?(status: number): void;
  /** @param fault code of the failure, if there is no answer, or it is of no use */
  onEnd?(fault?: string): void;
}
