/** One attempt at one call, as metrics and logs hear of it. */
export interface Attempt {
  readonly route: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  readonly durationMs: number;
}
