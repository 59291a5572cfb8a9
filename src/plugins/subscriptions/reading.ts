import {
  type ExecutionArgs,
  getVariableValues,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql';
import type { ErrorBehavior } from '../../graphql/execution/field-errors.ts';
import { type Plan, planOperation } from '../../graphql/execution/plan.ts';
import { inputRefusal } from '../../graphql/request/input-limits.ts';
import { isDeepOperation } from '../../graphql/request/nesting.ts';
import { errorBehaviorOf, unknownOnError } from '../../graphql/request/on-error.ts';
import type { OperationsParts } from '../../graphql/request/operations-parts.ts';
import { unlisted } from '../../graphql/request/persisted.ts';
import type { Wording } from '../../graphql/request/prefixed.ts';
import { readText, type Unreadable, variableErrors } from '../../graphql/request/reading.ts';
import { TOO_DEEP } from '../../shared/exact-json.ts';
import { refused, refusedAs } from './live-errors.ts';

export type LiveRequest = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly onError?: unknown;
  readonly requestId: string;
  /** Aborts when the client leaves before the subscription has begun. */
  readonly signal: AbortSignal;
  readonly reader: LiveReader;
  /** Translates results for a router with prefixed names. */
  readonly theirs?: Wording['theirs'] | undefined;
};

export interface LiveReader {
  /** Settles when the reader can take the next result. */
  readonly ready?: () => Promise<void>;
  readonly onResult?: () => void;
  /** Called after the last result of a subscription that began. */
  readonly onEnd: () => void;
}

export interface ReadOperation {
  readonly operation: OperationDefinitionNode;
  readonly args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>;
  readonly onError: ErrorBehavior;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function lengthOf({ query, variables }: LiveRequest): number {
  return query.length + (variables == null ? 0 : JSON.stringify(variables).length);
}

/** Makes every check that takes no call. */
export function readOperation(
  { query, operationName, variables, onError: asked, signal }: LiveRequest,
  rules: readonly ValidationRule[],
  { config, schema, persisted }: Pick<OperationsParts, 'config' | 'schema' | 'persisted'>,
): ReadOperation | Unreadable {
  if (signal.aborted) return refused('BAD_REQUEST', 'The client has left.');
  if (!persisted.allows(query)) return refusedAs(unlisted());
  const onError = errorBehaviorOf(asked);
  if (onError === undefined) return refusedAs(unknownOnError());
  if (isDeepOperation(query)) return refused('BAD_REQUEST', TOO_DEEP);
  const read = readText({ text: query, operationName: operationName ?? undefined }, schema, config, rules);
  if ('errors' in read) return read;
  const { document, operation } = read;
  if (operation.operation !== 'subscription')
    return refused(
      'BAD_REQUEST',
      `Only subscriptions are taken here. Send a ${operation.operation} to /graphql by POST.`,
    );
  const tooLong = inputRefusal(operation, variables ?? {}, config.maxListItems);
  if (tooLong !== null) return { errors: [tooLong] };
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  if (coerced === undefined) return { errors: variableErrors(operation, variables ?? {}, schema, config) };
  return {
    operation,
    onError,
    plan: planOperation(schema, document, operation, coerced),
    variables: coerced,
    args: { schema, document, operationName: operationName ?? null, variableValues: variables ?? {} },
  };
}
