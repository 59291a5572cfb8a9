import { Failure } from '../../src/errors.ts';
import { leftOutOf } from '../../src/upstream/records/left-out.ts';

/** The failure that an action ends in; any other end fails the test. */
export function failureOf(action: () => unknown): Failure {
  try {
    action();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('expected a Failure, and the action succeeded');
}

/** What a list says that it lacks; null where it is whole. */
export function lackOf(list: object): { count: number; detail: string | undefined } | null {
  const leftOut = leftOutOf(list);
  return leftOut && { count: leftOut.count, detail: leftOut.first.fields.detail };
}
