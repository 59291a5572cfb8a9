/** A request as the sandbox received it. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  /** The template of the route, `/v1/countries/{code}/profile`; null if there is no such route. */
  readonly route: string | null;
  readonly query: Readonly<Record<string, string>>;
  /** Name of the demo key; `unknown` for a key nobody has, null for none. */
  readonly key: string | null;
  /** True if it bore `If-None-Match`. */
  readonly conditional: boolean;
  /** Time at which it came, by the sandbox's own clock. */
  readonly receivedAt: number;
  /** Null until the headers of a reply are sent; for ever if there is none. */
  status: number | null;
  /** The client left before the reply was whole. */
  aborted: boolean;
}

const MAX_KEPT = 20_000;

/** The requests received, oldest first; past 20,000 the oldest are forgotten. An array, but for `clear`. */
export class RequestLog extends Array<LoggedRequest> {
  // Makes plain arrays of the results of map and filter.
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  record(request: LoggedRequest): void {
    this.push(request);
    if (this.length > MAX_KEPT) this.shift();
  }

  clear(): void {
    this.length = 0;
  }
}
