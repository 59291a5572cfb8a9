import { Failure } from '../../src/errors.ts';

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
