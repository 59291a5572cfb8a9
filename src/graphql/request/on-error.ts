import { Failure } from '../../shared/errors.ts';
import { isObject } from '../../shared/exact-json.ts';
import { ERROR_BEHAVIORS, type ErrorBehavior } from '../execution/field-errors.ts';
import type { GatewayRequest } from './requests.ts';

/** Reads `onError` of a request; undefined if nobody knows its value. */
export function errorBehaviorIn({ body, search }: GatewayRequest): ErrorBehavior | undefined {
  if (isObject(body)) return errorBehaviorOf(body.onError);
  const [given, ...rest] = search === '' ? [] : new URLSearchParams(search).getAll('onError');
  return rest.length === 0 ? errorBehaviorOf(given) : undefined;
}

/** Reads a value of `onError`; undefined if nobody knows it. */
export function errorBehaviorOf(given: unknown): ErrorBehavior | undefined {
  return given == null ? 'PROPAGATE' : ERROR_BEHAVIORS.find((behavior) => behavior === given);
}

/** Makes the failure of a request whose `onError` nobody knows. */
export function unknownOnError(): Failure {
  return new Failure(
    'BAD_USER_INPUT',
    `onError must be ${ERROR_BEHAVIORS.join(', ')} or left out. Nothing was run.`,
  );
}
