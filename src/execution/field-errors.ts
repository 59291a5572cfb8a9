import { type GraphQLError, locatedError, responsePathAsArray } from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import type { Column, Holder, Position } from './columns.ts';
import type { AbstractShape, FieldPlan } from './plan.ts';

/** The errors of one run, and the values lost to them. */
export class FieldErrors {
  readonly all: GraphQLError[] = [];
  /** Set once nothing is left of the whole, which may not be null. */
  isAllLost = false;
  readonly #onError: (() => void) | undefined;

  /** @param onError called before each error; throws if there are too many */
  constructor(onError?: () => void) {
    this.#onError = onError;
  }

  /**
   * Adds an error, and makes its value null, or the nearest one around it that may be null.
   * @param column the column of the value; null for a property
   */
  fail(field: FieldPlan, error: unknown, holder: Holder, slot: number, column: Column | null): void {
    let position: Position | null = column === null ? holder.above(slot) : { column, slot };
    while (position?.column.shape.isNonNull) position = position.column.holder.above(position.slot);
    // A value is lost once, for any number of its fields that are missing.
    const isLostAlready =
      position !== null && position.column !== column && position.column.isNull(position.slot);
    if (isLostAlready) return;
    if (position === null) this.isAllLost = true;
    else position.column.setNull(position.slot);
    this.add(field, error, holder, slot);
  }

  add(field: FieldPlan, error: unknown, holder: Holder, slot: number): void {
    this.#onError?.();
    this.all.push(locatedError(error, field.nodes, responsePathAsArray(holder.path(slot))));
  }
}

export function missing({ parentType, name }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

export function notIterable({ parentType, name }: FieldPlan): Error {
  return new Error(`Expected Iterable, but did not find one for field "${parentType.name}.${name}".`);
}

export function notPossible({ parentType, name }: FieldPlan, { type }: AbstractShape, given: unknown): Error {
  return new Error(
    `Abstract type "${type.name}" must resolve to an Object type at runtime for field ` +
      `"${parentType.name}.${name}", received ${inspect(given)}.`,
  );
}
