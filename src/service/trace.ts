import { Failure } from '../shared/errors.ts';

type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * A span of a trace, as far as stages have to know. Without tracing there is none, and nothing is loaded for it. No
 * attribute may hold a key, or anything else that a caller has sent, except the name of an operation.
 */
export interface Trace {
  /** Spans that have begun below this one. */
  readonly begun: number;
  /** Begins a span below this one. */
  begin(name: string, attributes?: TraceAttributes, isCall?: boolean): Trace;
  set(attributes: TraceAttributes): void;
  /** Links two spans that share their work, both ways. */
  link(other: Trace): void;
  /** Headers by which another program continues the trace. */
  headers(): Readonly<Record<string, string>>;
  /** @param error code of the failure, never a text */
  end(error?: string): void;
}

/** The code of a failure, or the kind of any other error. */
export function errorNameOf(error: unknown): string {
  if (error instanceof Failure) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** A span for work, until it is done. */
export function tracing<Result>(trace: Trace | undefined, name: string, work: () => Result): Result {
  if (trace === undefined) return work();
  const span = trace.begin(name);
  try {
    const result = work();
    if (result instanceof Promise)
      result.then(
        () => span.end(),
        (error: unknown) => span.end(errorNameOf(error)),
      );
    else span.end();
    return result;
  } catch (error) {
    span.end(errorNameOf(error));
    throw error;
  }
}
