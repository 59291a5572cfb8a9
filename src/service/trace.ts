import { Failure } from '../shared/errors.ts';

type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

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
  /** @param error code of the failure, never a text */
  end(error?: string): void;
}

/** Names the error of a span: the code of a failure, or the kind of any other error. */
export function errorNameOf(error: unknown): string {
  if (error instanceof Failure) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** Makes a span for work that is done at once, if somebody traces. */
export function tracing<Result>(trace: Trace | undefined, name: string, work: () => Result): Result {
  if (trace === undefined) return work();
  const span = trace.begin(name);
  try {
    const result = work();
    span.end();
    return result;
  } catch (error) {
    span.end(errorNameOf(error));
    throw error;
  }
}
