import {
  type ExecutionArgs,
  getVariableValues,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql';
import { TOO_DEEP } from '../../shared/exact-json.ts';
import type { ErrorBehavior } from '../execution/field-errors.ts';
import { type Plan, planOperation } from '../execution/plan.ts';
import { inputRefusal } from '../request/input-limits.ts';
import { isDeepOperation } from '../request/nesting.ts';
import { errorBehaviorOf, unknownOnError } from '../request/on-error.ts';
import type { OperationsParts } from '../request/operations-parts.ts';
import { unlisted } from '../request/persisted.ts';
import { readText, type Unreadable, variableErrors } from '../request/reading.ts';
import { refused, refusedAs } from './live-errors.ts';
import type { LiveRequest } from './subscribing.ts';

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
