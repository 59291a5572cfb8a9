import { GraphQLError, type GraphQLSchema } from 'graphql';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import { errorOf } from '../schema/errors.ts';
import { contentTypeFor } from './accept.ts';
import type { Execution } from './execution.ts';
import { inputRefusal } from './input-limits.ts';
import type { OperationRun } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { PlannedOperation, Prepared } from './prepared-operation.ts';
import { type Unreadable, variableErrors } from './reading.ts';
import { mayReadSchema } from './schema-reads.ts';

/** An operation of a valid document, as one request asks for it. */
export interface AskedOperation {
  readonly text: string;
  readonly prepared: Prepared;
  readonly variables: Readonly<Record<string, unknown>>;
}

type Planned = PlannedOperation | Unreadable;

/**
 * Plans an operation that is going to run: its variables fit, the caller may read it, and it isn't too expensive.
 * Otherwise it says why it doesn't run.
 */
export function planToRun(
  asked: AskedOperation,
  run: OperationRun,
  parts: OperationsParts & { readonly execution: Execution },
): PromiseOrValue<Planned> {
  const planned = planAsked(asked, run, parts);
  if ('errors' in planned) return planned;
  const pricing = parts.execution.refusalOf(planned, run);
  if (pricing === null) return planned;
  return mapValue(pricing, (refusal): Planned => (refusal === null ? planned : { errors: [refusal] }));
}

/** Plans an operation that may be too expensive to run. */
export function planAsked(
  { text, prepared, variables }: AskedOperation,
  { accepts, context: { caller } }: OperationRun,
  { schema, config }: OperationsParts,
): Planned {
  const { operation } = prepared;
  if (operation.operation === 'subscription') return { errors: [subscribedByPost(schema)] };
  // It may have been named by its hash, and not known when the terms of its key were looked at.
  const unreadable = caller.refusalOf?.(text) ?? null;
  if (unreadable !== null) return { errors: [errorOf(unreadable, 400)] };
  const tooLong = inputRefusal(operation, variables, config.maxListItems);
  if (tooLong !== null) return { errors: [tooLong] };
  const planned = prepared.with(variables);
  if (planned === null) return { errors: variableErrors(operation, variables, schema, config) };
  const nullCondition = prepared.conditions.find((name) => planned.variables[name] === null);
  if (nullCondition !== undefined && mayReadSchema(text))
    return { errors: [nullConditionError(nullCondition)] };
  if (contentTypeFor(accepts) !== null) return planned;
  return {
    errors: [
      new GraphQLError('The client takes no answer of ours.', { extensions: { code: 'BAD_REQUEST' } }),
    ],
  };
}

/** Refuses a subscription, in the words of whoever brings them. */
function subscribedByPost(schema: GraphQLSchema): GraphQLError {
  const { posted = 'A subscription is no request that has one answer.' } =
    schema.getSubscriptionType()?.extensions ?? {};
  return new GraphQLError(String(posted), { extensions: { code: 'BAD_REQUEST' } });
}

/** Refuses an operation that may read the schema under a condition that is null: its fields can't be known. */
function nullConditionError(condition: string): GraphQLError {
  const message = `Variable "$${condition}" stands in a condition (@skip, @include), and may not be null.`;
  return errorOf(new Failure('BAD_USER_INPUT', message), 400);
}
