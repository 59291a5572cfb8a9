import type { ResponsePath } from 'graphql';
import type { Shape } from './plan.ts';

export interface Holder {
  /** What is lost with a non-null slot; null for the whole answer. */
  above(slot: number): Position | null;
  /** Undefined for the whole answer. */
  path(slot: number): ResponsePath | undefined;
}

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
