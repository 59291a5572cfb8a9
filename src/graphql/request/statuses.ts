import { type GraphQLFormattedError, Kind, type OperationDefinitionNode } from 'graphql';
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

/** For tables; JSON has 200 even if nothing came. */
const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  MONTHLY_QUOTA_EXCEEDED: 429,
  KEY_BUDGET_SPENT: 429,
  KEY_EXPIRED: 401,
  OVERLOADED: 503,
  BAD_USER_INPUT: 400,
  OPERATION_TOO_EXPENSIVE: 400,
  DOCUMENT_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  PERSISTED_QUERY_NOT_FOUND: 404,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_INVALID_RESPONSE: 502,
  UPSTREAM_INCOMPLETE: 502,
  UPSTREAM_ROUTE_ABSENT: 502,
  NOT_HELD: 404,
  NOT_RECORDED: 404,
  UPSTREAM_TIMEOUT: 504,
  OPERATION_TIMEOUT: 504,
};

/** The status of an answer that is this GraphQL error alone; 500 for one without a known code. */
export function statusOfError(error: unknown): number {
  const extensions = isObject(error) ? error.extensions : undefined;
  return (isObject(extensions) ? STATUSES[String(extensions.code)] : undefined) ?? 500;
}

/** True for null, and for what holds nothing else at any depth. */
export function isNothing(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.values(value).every(isNothing));
}
