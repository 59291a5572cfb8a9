import { leftOutOf } from '../../src/service/records/envelope.ts';
import { Failure } from '../../src/shared/errors.ts';

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

/** Rows that a list says it lacks; null if it is whole. */
export function lackOf(list: object): { count: number; detail: string | undefined } | null {
  const leftOut = leftOutOf(list);
  return leftOut && { count: leftOut.count, detail: leftOut.first.fields.detail };
}

/** Bodies that hold no list of records, each with its error. */
export const NO_LISTS = [
  [{ data: [7] }, 'data[0]: expected object, received number'],
  [{ data: 'none' }, 'data: expected array, received string'],
  ['none', 'body: expected array, received string'],
] as const;

/** Bodies that hold no single record, each with its error. */
export const NO_OBJECTS = [
  [{ data: [] }, 'data: expected object, received array'],
  [[], 'body: expected object, received array'],
  [null, 'body: expected object, received null'],
] as const;
