import type { ResponsePath } from 'graphql';
import type { Steps } from '../../shared/async/turns.ts';
import type { FieldErrors } from './field-errors.ts';
import { compiled } from './object-builders.ts';
import type { AbstractShape, FieldPlan, LeafShape, ListShape, ObjectPlan, Shape } from './plan.ts';
import type { Holder, NullableColumn, Position } from './positions.ts';

/**
 * A response under construction, by columns: all values of one field of one selection stand together, a slot for each
 * object that the selection is executed on. So a field is resolved, checked and built for all of them in one go, whatever
 * their parents.
 */

/** Slots built between chances for other jobs to run. */
const BLOCK_SLOTS = 256;

export abstract class Column<S extends Shape = Shape> implements NullableColumn {
  readonly shape: S;
  readonly holder: Holder;

  constructor(shape: S, holder: Holder) {
    this.shape = shape;
    this.holder = holder;
  }

  abstract isNull(slot: number): boolean;
  abstract setNull(slot: number): void;
  abstract valueAt(slot: number): unknown;
  /**
   * Builds the values that `valueAt` returns.
   * @param errors gets those of leaf properties, which are serialized only now
   */
  abstract build(errors: FieldErrors): Steps<void>;
}

export class LeafColumn extends Column<LeafShape> {
  /** Serialized; null for missing ones. */
  readonly values: unknown[];

  constructor(shape: LeafShape, holder: Holder, length: number) {
    super(shape, holder);
    this.values = new Array(length).fill(null);
  }

  isNull(slot: number): boolean {
    return this.values[slot] === null;
  }

  setNull(slot: number): void {
    this.values[slot] = null;
  }

  valueAt(slot: number): unknown {
    return this.values[slot];
  }

  *build(): Steps<void> {}
}

/** Objects, with a column for each of their fields that needs one. */
export class ObjectColumn extends Column {
  readonly plan: ObjectPlan;
  readonly objects: (object | null)[];
  /** By the field's index in the plan. */
  readonly columns: (Column | undefined)[];
  #built: (object | null)[] = [];

  constructor(shape: Shape, holder: Holder, plan: ObjectPlan, objects: (object | null)[]) {
    super(shape, holder);
    this.plan = plan;
    this.objects = objects;
    this.columns = new Array(plan.fields.length);
  }

  isNull(slot: number): boolean {
    return this.objects[slot] === null;
  }

  setNull(slot: number): void {
    this.objects[slot] = null;
  }

  valueAt(slot: number): unknown {
    return this.#built[slot];
  }

  *build(errors: FieldErrors): Steps<void> {
    const { plan, objects, columns } = this;
    for (const column of columns) if (column !== undefined) yield* column.build(errors);
    const hasObjects = objects.some((object) => object !== null);
    const build = hasObjects ? (plan.builder ?? compiled(plan)).build : () => ({});
    const fallback = (index: number, slot: number, value: unknown) =>
      this.#serializeOrNull(errors, index, slot, value);
    const built: (object | null)[] = new Array(objects.length);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      built[slot] = object === null ? null : build(object, slot, columns, fallback);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#built = built;
  }

  /**
   * Nulls objects that lack a non-null leaf property, before anything is resolved below them. With `NULL` the objects
   * stay, and the errors are found when they are built.
   */
  check(errors: FieldErrors): void {
    const { plan, objects } = this;
    if (errors.behavior === 'NULL' || !objects.some((object) => object !== null)) return;
    const { isPlain } = plan.builder ?? compiled(plan);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      if (object !== null && !isPlain(object)) this.#checkProperties(errors, object, slot);
    }
  }

  #checkProperties(errors: FieldErrors, object: object, slot: number): void {
    for (const field of this.plan.fields) {
      if (field.by !== 'leaf property' || !field.shape.isNonNull) continue;
      const value = (object as Record<string, unknown>)[field.name];
      try {
        if (value == null) throw missing(field);
        serialized(field, value);
      } catch (error) {
        errors.fail(field, error, new FieldHolder(this, field), slot, null);
      }
    }
  }

  /** For a property that its type's shortcut doesn't serialize; null with an error if the type refuses it. */
  #serializeOrNull(errors: FieldErrors, index: number, slot: number, value: unknown): unknown {
    const field = this.plan.fields[index] as FieldPlan;
    if (value == null && !field.shape.isNonNull) return null;
    try {
      if (value == null) throw missing(field);
      return serialized(field, value);
    } catch (error) {
      errors.add(field, error, new FieldHolder(this, field), slot);
      return null;
    }
  }
}

/** A field of all objects of a column. */
export class FieldHolder implements Holder {
  readonly objects: ObjectColumn;
  readonly field: FieldPlan;

  constructor(objects: ObjectColumn, field: FieldPlan) {
    this.objects = objects;
    this.field = field;
  }

  above(slot: number): Position {
    return { column: this.objects, slot };
  }

  path(slot: number): ResponsePath {
    const { key, parentType } = this.field;
    return { prev: this.objects.holder.path(slot), key, typename: parentType.name };
  }
}

/** The items of all lists stand in one column, one list after the other. */
export class ListColumn extends Column<ListShape> implements Holder {
  /** First item of each list, and the end of the last. */
  readonly #starts: number[];
  readonly #isNull: boolean[];
  items: Column | undefined;
  #built: (unknown[] | null)[] = [];

  constructor(shape: ListShape, holder: Holder, length: number) {
    super(shape, holder);
    this.#starts = new Array(length + 1).fill(0);
    this.#isNull = new Array(length).fill(false);
  }

  /** Call in order of the lists. */
  endsAt(slot: number, end: number, isNull: boolean): void {
    this.#starts[slot + 1] = end;
    if (isNull) this.#isNull[slot] = true;
  }

  isNull(slot: number): boolean {
    return this.#isNull[slot] === true;
  }

  setNull(slot: number): void {
    this.#isNull[slot] = true;
  }

  valueAt(slot: number): unknown {
    return this.#built[slot];
  }

  #itemsOf(slot: number): unknown[] | null {
    if (this.#isNull[slot]) return null;
    const items = this.items as Column;
    const end = this.#starts[slot + 1] as number;
    const values: unknown[] = [];
    for (let item = this.#starts[slot] as number; item < end; item += 1) values.push(items.valueAt(item));
    return values;
  }

  *build(errors: FieldErrors): Steps<void> {
    yield* (this.items as Column).build(errors);
    for (let slot = 0; slot < this.#isNull.length; slot += 1) {
      this.#built.push(this.#itemsOf(slot));
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
  }

  above(item: number): Position {
    return { column: this, slot: this.#listOf(item) };
  }

  path(item: number): ResponsePath {
    const slot = this.#listOf(item);
    const key = item - (this.#starts[slot] as number);
    return { prev: this.holder.path(slot), key, typename: undefined };
  }

  /** The last list that begins at or before the item and is not empty. */
  #listOf(item: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) <= item) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Objects of several types: a column for each type, in which the slots of the others are null. */
export class AbstractColumn extends Column<AbstractShape> implements Holder {
  readonly byType = new Map<ObjectPlan, ObjectColumn>();
  readonly #columnBySlot: (ObjectColumn | null)[];

  constructor(shape: AbstractShape, holder: Holder, length: number) {
    super(shape, holder);
    this.#columnBySlot = new Array(length).fill(null);
  }

  choose(slot: number, plan: ObjectPlan, object: object): void {
    let objects = this.byType.get(plan);
    if (objects === undefined) {
      const shape: Shape = { kind: 'object', isNonNull: true, plan };
      objects = new ObjectColumn(shape, this, plan, new Array(this.#columnBySlot.length).fill(null));
      this.byType.set(plan, objects);
    }
    objects.objects[slot] = object;
    this.#columnBySlot[slot] = objects;
  }

  isNull(slot: number): boolean {
    return this.#columnBySlot[slot] === null;
  }

  setNull(slot: number): void {
    this.#columnBySlot[slot] = null;
  }

  valueAt(slot: number): unknown {
    return this.#columnBySlot[slot]?.valueAt(slot) ?? null;
  }

  *build(errors: FieldErrors): Steps<void> {
    for (const objects of this.byType.values()) yield* objects.build(errors);
  }

  above(slot: number): Position {
    return { column: this, slot };
  }

  path(slot: number): ResponsePath | undefined {
    return this.holder.path(slot);
  }
}

export function missing({ parentType, name }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

/** @throws if the value is an error, or its type refuses it */
function serialized({ shape }: FieldPlan, value: unknown): unknown {
  if (value instanceof Error) throw value;
  return (shape as LeafShape).leaf.serialize(value);
}
