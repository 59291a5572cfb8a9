import { type GraphQLFormattedError, Kind, type OperationDefinitionNode } from 'graphql';
import { FAILURES, type FailureCode } from '../../shared/errors.ts';
import { isObject } from '../../shared/exact-json.ts';
import { isModern } from './accept.ts';

/**
 * Clients of `application/graphql-response+json` get 401 if nothing could run for want of a valid key. Older ones get
 * 200 for every answer, since they take other statuses for network failures; so do routers that ask for entities,
 * most of which drop the errors of any other.
 * @param status that the answer would have otherwise
 */
export function statusOf<Status extends number | undefined>(
  {
    accepts,
    errors,
    data,
    operation,
    hadOperation,
  }: {
    readonly accepts: string;
    readonly errors: readonly GraphQLFormattedError[];
    readonly data: () => unknown;
    readonly operation: OperationDefinitionNode | null;
    readonly hadOperation: boolean;
  },
  status: Status,
): Status | 200 | 401 {
  if (errors.length > 0 && operation !== null && asksForEntities(operation)) return 200;
  if (!isModern(accepts)) return status === 400 && hadOperation ? 200 : status;
  const isUnauthenticated =
    errors.length > 0 && errors.every(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return isUnauthenticated && isNothing(data()) ? 401 : status;
}

/** Only routers ask for entities, at the root, under any alias. */
function asksForEntities({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    (selection) => selection.kind === Kind.FIELD && selection.name.value === '_entities',
  );
}

/**
 * The status of a refusal or a table whose only error is this one of GraphQL; 500 without a known code. Other answers in JSON
 * have 200 even if nothing came.
 */
export function statusOfError(error: unknown): number {
  const extensions = isObject(error) ? error.extensions : undefined;
  const code = isObject(extensions) ? String(extensions.code) : '';
  if (code === 'PERSISTED_QUERY_NOT_FOUND') return 404;
  return Object.hasOwn(FAILURES, code) ? FAILURES[code as FailureCode].status : 500;
}

/** True for null, and for what holds nothing else at any depth. */
export function isNothing(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.values(value).every(isNothing));
}
