import { mapValue } from '../async/promise-or-value.ts';
import type { Trace, Tracer } from '../async/trace.ts';
import { faultIn } from '../upstream/traced.ts';
import type { OperationEvent } from './events.ts';
import { type Handle, onceOver } from './pipeline.ts';
import type { GatewayResponse } from './responses.ts';

/** Characters of an operation's name that a span tells. */
const MAX_NAME = 100;

/** Begins a span for each operation, or goes on with the trace of its client. */
export function traced(next: Handle, tracer: Tracer): Handle {
  return (incoming) => {
    const trace = tracer.begin('graphql.operation', incoming.request.headers);
    const end = (response: GatewayResponse) => {
      trace.set({ 'http.response.status_code': response.status });
      trace.end(response.status >= 500 ? String(response.status) : undefined);
      return response;
    };
    /** Ends an operation that is answered in parts with the last of them. */
    const endsWith = (response: GatewayResponse) => {
      onceOver(incoming.delivery, () => end(response));
      return response;
    };
    const fail = (error: unknown): never => {
      trace.end(faultIn(error));
      throw error;
    };
    try {
      const response = next({ ...incoming, trace });
      return response instanceof Promise ? response.then(endsWith, fail) : mapValue(response, end);
    } catch (error) {
      return fail(error);
    }
  };
}

/** Adds the counts and codes of an operation to its span. Variables and text are the caller's own. */
export function describeOperation(
  trace: Trace | undefined,
  { name, type, calls, shared, cached, repeated, errorCodes }: Omit<OperationEvent, 'durationMs'>,
): void {
  trace?.set({
    ...(name === null ? {} : { 'graphql.operation.name': name.slice(0, MAX_NAME) }),
    ...(type === null ? {} : { 'graphql.operation.type': type }),
    'country_graph.calls': calls,
    'country_graph.shared': shared,
    'country_graph.cached': cached,
    'country_graph.repeated': repeated,
    ...(errorCodes.length === 0 ? {} : { 'country_graph.error_codes': [...new Set(errorCodes)] }),
  });
}
