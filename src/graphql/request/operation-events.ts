import type { GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { Bill } from '../../service/bill.ts';
import type { Trace } from '../../service/trace.ts';

/** What all who get the same answer share. */
interface OperationOutcome {
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription' | null;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Expired answers, served because the service failed. */
  readonly stale: number;
  /** True if the whole answer was cached. */
  readonly repeated: boolean;
  readonly errorCodes: readonly string[];
  readonly isProven?: boolean;
}

/** One operation that is over, as logs and metrics hear of it. */
export interface OperationEvent extends OperationOutcome {
  readonly durationMs: number;
  readonly requestId?: string | undefined;
}

export function eventOf(
  { calls, shared, cached, stale = [] }: Bill,
  operation: OperationDefinitionNode | null,
  errors: readonly { readonly extensions?: GraphQLFormattedError['extensions'] }[],
): OperationOutcome {
  return {
    name: operation?.name?.value ?? null,
    type: operation?.operation ?? null,
    calls,
    shared,
    cached,
    stale: stale.reduce((sum, { answers }) => sum + answers, 0),
    repeated: false,
    errorCodes: errors.map(({ extensions }) => String(extensions?.code)),
  };
}

const MAX_NAME = 100;

/** Variables and text stay private to the caller. */
export function describeOperation(
  trace: Trace | undefined,
  { name, type, calls, shared, cached, repeated, errorCodes }: OperationOutcome,
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
