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

/** Measures how long something was waited for, in milliseconds; waits that overlap count once. */
export class Stopwatch {
  readonly #now: () => number;
  #running = 0;
  #sinceMs = 0;
  #totalMs = 0;

  /** @param now milliseconds since any instant */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(): void {
    if (this.#running === 0) this.#sinceMs = this.#now();
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#totalMs += this.#now() - this.#sinceMs;
  }

  /** Counts the time that a promise takes; anything else takes no time. */
  timing<Value>(value: Value): Value {
    if (!(value instanceof Promise)) return value;
    const end = () => this.end();
    this.begin();
    value.then(end, end);
    return value;
  }

  /** Milliseconds of waits that are over. */
  get totalMs(): number {
    return this.#totalMs;
  }
}
