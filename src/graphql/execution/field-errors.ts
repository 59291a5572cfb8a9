import { type GraphQLError, locatedError, type ResponsePath, responsePathAsArray } from 'graphql';
import type { FieldPlan } from './plan.ts';
import type { Holder, NullableColumn, Position } from './positions.ts';

/**
 * `onError` of a request, by the draft specification. `PROPAGATE`: an error in place of a non-null value nulls the
 * nearest nullable value around it. `NULL`: the value itself is null. `HALT`: the first error ends the operation.
 */
export const ERROR_BEHAVIORS = ['PROPAGATE', 'NULL', 'HALT'] as const;
export type ErrorBehavior = (typeof ERROR_BEHAVIORS)[number];

export class FieldErrors {
  readonly all: GraphQLError[] = [];
  /** Set once an error has nulled the whole response. */
  isAllLost = false;
  readonly behavior: ErrorBehavior;
  readonly #onError: (() => void) | undefined;
  readonly #onHalt: (error: GraphQLError) => void;

  /**
   * @param onError called before each error; throws if there are too many
   * @param onHalt called with the error that ends the operation, if one does
   */
  constructor(
    behavior: ErrorBehavior = 'PROPAGATE',
    onError?: () => void,
    onHalt: (error: GraphQLError) => void = () => {},
  ) {
    this.behavior = behavior;
    this.#onError = onError;
    this.#onHalt = onHalt;
  }

  /**
   * Adds an error, and nulls its value or the nearest nullable one around it, as `onError` says.
   * @param column the column of the value; null for a leaf property, which has none
   */
  fail(field: FieldPlan, error: unknown, holder: Holder, slot: number, column: NullableColumn | null): void {
    if (this.behavior !== 'PROPAGATE') {
      column?.setNull(slot);
      this.add(field, error, holder, slot);
      return;
    }
    let position: Position | null = column === null ? holder.above(slot) : { column, slot };
    while (position?.column.shape.isNonNull) position = position.column.holder.above(position.slot);
    // As in the specification, a value that several errors would null has only the first of them.
    const isNullAlready =
      position !== null && position.column !== column && position.column.isNull(position.slot);
    if (isNullAlready) return;
    if (position === null) this.isAllLost = true;
    else position.column.setNull(position.slot);
    this.add(field, error, holder, slot);
  }

  add(field: FieldPlan, error: unknown, holder: Holder, slot: number): void {
    if (this.behavior === 'HALT' && this.all.length > 0) return;
    this.#onError?.();
    const located = locatedAt(holder.path(slot), error, field);
    this.all.push(located);
    if (this.behavior === 'HALT') this.#onHalt(located);
  }
}

/** Without a trace of this place, which takes longer than all the rest. An error keeps its own. */
function locatedAt(path: ResponsePath | undefined, error: unknown, { nodes }: FieldPlan): GraphQLError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return locatedError(error, nodes, responsePathAsArray(path));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
