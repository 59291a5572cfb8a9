export type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * One span of a trace, as far as stages have to know: if nobody traces there is none, and nothing is loaded for it. No
 * attribute may hold a key, or anything that a caller has sent but the name of an operation.
 */
export interface Trace {
  /** Spans that have begun below this one. */
  readonly begun: number;
  /** Begins a span below this one. */
  begin(name: string, attributes?: TraceAttributes, isCall?: boolean): Trace;
  set(attributes: TraceAttributes): void;
  /** Links the other span to this one: its work is that of the other, too, and each names the other. */
  link(other: Trace): void;
  /** Returns the headers that have another program go on with the trace. */
  headers(): Readonly<Record<string, string>>;
  /** @param fault code of the failure, never a text */
  end(fault?: string): void;
}

/** Begins traces, or goes on with those of the caller. */
export interface Tracer {
  begin(name: string, headers: Readonly<Record<string, string>>): Trace;
  /** Sends the spans that are left. */
  close(): Promise<void>;
}
