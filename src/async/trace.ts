export type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * One span of a trace, as far as stages have to know: where nobody traces there is none, and nothing is loaded for it. No
 * attribute may hold a key, or anything that a caller has sent but the name of an operation.
 */
export interface Trace {
  /** How many spans have begun below this one. */
  readonly begun: number;
  /** Begins a span below this one. */
  begin(name: string, attributes?: TraceAttributes, isCall?: boolean): Trace;
  set(attributes: TraceAttributes): void;
  /** This one's work is that of the other, too: each then names the other. */
  link(other: Trace): void;
  /** What has another program go on with the trace. */
  headers(): Readonly<Record<string, string>>;
  /** @param fault what it failed with: a code, never a text */
  end(fault?: string): void;
}

/** Begins traces, or goes on with those of whoever asks. */
export interface Tracer {
  begin(name: string, headers: Readonly<Record<string, string>>): Trace;
  /** Sends what is left. */
  close(): Promise<void>;
}
