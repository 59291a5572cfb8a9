import type { ResponsePath } from 'graphql';
import type { Shape } from './plan.ts';

/** What the values of a column belong to: a field of several objects, lists, or objects of an abstract type. */
export interface Holder {
  /** The value that is nulled if a non-null slot is; null if that is the whole response. */
  above(slot: number): Position | null;
  /** Undefined for the root of the response. */
  path(slot: number): ResponsePath | undefined;
}

/** One value of a response that is under construction. */
export interface Position {
  readonly column: NullableColumn;
  readonly slot: number;
}

export interface NullableColumn {
  readonly shape: Shape;
  readonly holder: Holder;
  isNull(slot: number): boolean;
  setNull(slot: number): void;
}
