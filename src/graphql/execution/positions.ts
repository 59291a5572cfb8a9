import type { ResponsePath } from 'graphql';
import type { Shape } from './plan.ts';

/** The parent of a column. */
export interface Holder {
  /** The position that is lost with a slot that has to have a value; null for the whole answer. */
  above(slot: number): Position | null;
  /** The path of a slot in the answer; undefined for the whole of it. */
  path(slot: number): ResponsePath | undefined;
}

export interface Position {
  readonly column: NullableColumn;
  readonly slot: number;
}

/** The slots of a column, as far as errors take their values. */
export interface NullableColumn {
  readonly shape: Shape;
  readonly holder: Holder;
  isNull(slot: number): boolean;
  setNull(slot: number): void;
}
