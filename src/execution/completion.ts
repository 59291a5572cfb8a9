import { defaultTypeResolver, type GraphQLResolveInfo, isObjectType } from 'graphql';
import { toError } from 'graphql/jsutils/toError.js';
import {
  AbstractColumn,
  type Column,
  FieldHolder,
  type Holder,
  LeafColumn,
  ListColumn,
  ObjectColumn,
} from './columns.ts';
import { type FieldErrors, missing, notIterable, notPossible } from './field-errors.ts';
import { FieldInfo } from './infos.ts';
import { itemsIn, itemsInTexts } from './introspection.ts';
import type {
  AbstractShape,
  FieldPlan,
  LeafShape,
  ListShape,
  ObjectDeferral,
  ObjectPlan,
  Plan,
  Shape,
} from './plan.ts';
import type { Scheduler } from './scheduler.ts';

/** A field to be resolved for all objects of a column. */
export interface FieldTask {
  readonly objects: ObjectColumn;
  readonly index: number;
  readonly field: FieldPlan;
}

/** A task of a run: a field, or the begin of something that is delivered apart. */
export type RunTask = FieldTask | { readonly begin: () => void };

/** Stands for the value of an object that isn't there. */
export const ABSENT = Symbol('absent');

export interface ColumnParts {
  readonly plan: Plan;
  readonly context: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly scheduler: Scheduler<RunTask>;
  readonly errors: FieldErrors;
  /**
   * Called with the items of a list before anything is resolved for them.
   * @throws if they are too many
   */
  readonly onList: ((items: number) => void) | undefined;
  /** Sees objects that are there; undefined if nobody observes the run. */
  readonly observer: { objects(objects: ObjectColumn): void } | undefined;
  /** Takes the parts that aren't delivered with the rest; undefined if nothing is deferred. */
  readonly later: Later | undefined;
}

/** Takes over parts that are delivered apart from the answer in the making. */
export interface Later {
  /** True if parts of so many objects may be delivered apart. */
  mayDefer(deferral: ObjectDeferral, objects: number): boolean;
  /** Defers parts of objects that are there. */
  defer(deferral: ObjectDeferral, objects: ObjectColumn): void;
  /**
   * Takes the items of a list from some place on.
   * @param lists column whose path, at the slot, is that of the list
   * @returns false if it doesn't take them: then they belong to the answer
   */
  stream(
    field: FieldPlan,
    shape: ListShape,
    lists: ListColumn,
    slot: number,
    items: readonly unknown[],
  ): boolean;
}

/** Items that may take milliseconds to complete, while the code for them is new. */
const LONG_LIST = 1_000;

/** Makes columns of the values of resolved fields, and adds a task for each field of the objects in them. */
export class Completion {
  readonly #parts: ColumnParts;

  constructor(parts: ColumnParts) {
    this.#parts = parts;
  }

  complete(field: FieldPlan, shape: Shape, holder: Holder, values: readonly unknown[]): Column {
    switch (shape.kind) {
      case 'leaf':
        return this.#completeLeaves(field, shape, holder, values);
      case 'list':
        return this.#completeLists(field, shape, holder, values);
      case 'object':
        return this.#completeObjects(field, shape, holder, values, shape.plan);
      case 'abstract':
        return this.#completeAbstract(field, shape, holder, values);
    }
  }

  /** The value that is there; null, with the error told, if it is an error or missing. */
  #presence(field: FieldPlan, column: Column, value: unknown, slot: number): unknown {
    if (value === ABSENT) return null;
    if (value instanceof Error) this.#parts.errors.fail(field, value, column.holder, slot, column);
    else if (value != null) return value;
    else if (column.shape.isNonNull)
      this.#parts.errors.fail(field, missing(field), column.holder, slot, column);
    return null;
  }

  #completeLeaves(field: FieldPlan, shape: LeafShape, holder: Holder, values: readonly unknown[]): Column {
    const column = new LeafColumn(shape, holder, values.length);
    if (field.isOfSchema) this.#parts.onList?.(itemsInTexts(values));
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (value === null) continue;
      try {
        column.values[slot] = shape.leaf.serialize(value);
      } catch (error) {
        this.#parts.errors.fail(field, error, holder, slot, column);
      }
    }
    return column;
  }

  #completeObjects(
    field: FieldPlan,
    shape: Shape,
    holder: Holder,
    values: readonly unknown[],
    selected: ObjectPlan,
  ): Column {
    const plan = this.#planFor(selected, values.length);
    const column = new ObjectColumn(shape, holder, plan, new Array(values.length).fill(null));
    for (let slot = 0; slot < values.length; slot += 1) {
      column.objects[slot] = this.#presence(field, column, values[slot], slot) as object | null;
    }
    this.descend(column);
    return column;
  }

  #completeLists(field: FieldPlan, shape: ListShape, holder: Holder, values: readonly unknown[]): Column {
    const column = new ListColumn(shape, holder, values.length);
    const items: unknown[] = [];
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (isIterable(value)) {
        const before = items.length;
        for (const item of value) items.push(item);
        this.#parts.onList?.(items.length - before);
        if (shape.stream !== undefined) this.#stream(field, shape, column, slot, items, before);
      } else if (value !== null) {
        this.#parts.errors.fail(field, notIterable(field), holder, slot, column);
      }
      column.endsAt(slot, items.length, value === null);
    }
    const { scheduler } = this.#parts;
    scheduler.waitForAll(items, (there) => {
      const complete = () => {
        column.items = this.complete(field, shape.item, column, there);
      };
      if (there.length > LONG_LIST) scheduler.inTurn(complete);
      else complete();
    });
    return column;
  }

  /** Leaves the items beyond the first to come later, if they may. */
  #stream(
    field: FieldPlan,
    shape: ListShape,
    lists: ListColumn,
    slot: number,
    items: unknown[],
    before: number,
  ): void {
    const from = before + (shape.stream?.initialCount ?? 0);
    if (items.length <= from) return;
    if (this.#parts.later?.stream(field, shape, lists, slot, items.slice(from))) items.length = from;
  }

  #completeAbstract(
    field: FieldPlan,
    shape: AbstractShape,
    holder: Holder,
    values: readonly unknown[],
  ): Column {
    const column = new AbstractColumn(shape, holder, values.length);
    const { type } = shape;
    const { context, plan } = this.#parts;
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const info = this.infoOf(field, holder);
    const there = values.map((value, slot) => this.#presence(field, column, value, slot));
    const names = there.map((value, slot) => {
      info.slot = slot;
      try {
        return value === null ? null : resolveType(value, context, info, type);
      } catch (error) {
        return toError(error);
      }
    });
    this.#parts.scheduler.waitForAll(names, (types) => {
      for (let slot = 0; slot < there.length; slot += 1) {
        const object = there[slot] as object | null;
        if (object === null) continue;
        const name = types[slot];
        const concrete = typeof name === 'string' ? plan.schema.getType(name) : undefined;
        if (isObjectType(concrete) && plan.schema.isSubType(type, concrete)) {
          const plan = this.#planFor(shape.planOf(concrete), there.length);
          column.choose(slot, plan, object as object);
        } else {
          const error = name instanceof Error ? name : notPossible(field, shape, name);
          this.#parts.errors.fail(field, error, holder, slot, column);
        }
      }
      for (const objects of column.byType.values()) this.descend(objects);
    });
    return column;
  }

  /** The selection on objects here: all of it, if there are too many to deliver parts of each apart. */
  #planFor(plan: ObjectPlan, objects: number): ObjectPlan {
    const { deferral } = plan;
    if (deferral === undefined || this.#parts.later?.mayDefer(deferral, objects)) return plan;
    return deferral.whole();
  }

  /** Goes on to the fields of objects that are there now. */
  descend(objects: ObjectColumn): void {
    const { plan } = objects;
    if (plan.countedLength > 0) this.#parts.onList?.(itemsIn(plan.countedLength * objects.objects.length));
    this.#parts.observer?.objects(objects);
    const isPlain = objects.objects.some((object) => object !== null) ? plan.builder.isPlain : null;
    for (let slot = 0; isPlain !== null && slot < objects.objects.length; slot += 1) {
      const object = objects.objects[slot] as object | null;
      if (object !== null && !isPlain(object)) this.#checkProperties(objects, object, slot);
    }
    for (const [index, field] of plan.fields.entries()) {
      if (field.by !== 'typename' && field.by !== 'leaf property')
        this.#parts.scheduler.add({ objects, index, field });
    }
    if (plan.deferral !== undefined) this.#parts.later?.defer(plan.deferral, objects);
  }

  /** Checks if the object is lost for want of a property. Properties themselves are read when the answer is made. */
  #checkProperties(objects: ObjectColumn, object: object, slot: number): void {
    for (const field of objects.plan.fields) {
      if (field.by !== 'leaf property' || !field.shape.isNonNull) continue;
      const value = (object as Record<string, unknown>)[field.name];
      try {
        if (value == null) throw missing(field);
        serialized(field, value);
      } catch (error) {
        this.#parts.errors.fail(field, error, new FieldHolder(objects, field), slot, null);
      }
    }
  }

  infoOf(field: FieldPlan, holder: Holder): GraphQLResolveInfo & FieldInfo {
    return new FieldInfo(this.#parts.plan, this.#parts.variables, field, holder) as GraphQLResolveInfo &
      FieldInfo;
  }
}

/**
 * Serializes a property that is there.
 * @throws if it is an error, or its type refuses it
 */
export function serialized({ shape }: FieldPlan, value: unknown): unknown {
  if (value instanceof Error) throw value;
  return (shape as LeafShape).leaf.serialize(value);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Iterable<unknown> | null)?.[Symbol.iterator] === 'function'
  );
}
