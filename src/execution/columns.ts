import {
  defaultTypeResolver,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isObjectType,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { toError } from 'graphql/jsutils/toError.js';
import type { Steps } from '../async/turns.ts';
import {
  type AbstractShape,
  type BatchInfo,
  type FieldPlan,
  itemsIn,
  itemsInTexts,
  type LeafShape,
  type ListShape,
  type ObjectBuilder,
  type ObjectDeferral,
  type ObjectPlan,
  type Oddity,
  type Plan,
  type Shape,
  type Values,
} from './plan.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * An answer in the making, by columns: all values of one field of one selection stand together, a slot for each object
 * that the selection is executed on. So a field of many objects is resolved, checked and put into the answer in one go,
 * under any parent.
 */

/** The parent of a column. */
export interface Holder {
  /** The position that is lost with a slot that has to have a value; null for the whole answer. */
  above(slot: number): Position | null;
  /** The path of a slot in the answer; undefined for the whole of it. */
  path(slot: number): ResponsePath | undefined;
}

/** One value of an answer. */
export interface Position {
  readonly column: Column;
  readonly slot: number;
}

/** Slots that are made before somebody else may have a turn. */
const BLOCK_SLOTS = 256;

/** Values of one shape. */
export abstract class Column<S extends Shape = Shape> implements Values {
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
   * Makes the values ready, in steps.
   * @param errors takes those of odd values
   */
  abstract build(errors: FieldErrors): Steps<void>;
}

/** Leaves from a resolver. */
class LeafColumn extends Column<LeafShape> {
  /** Serialized; null if there is no value. */
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

/** Objects of one type, and a column for each of their fields that needs one. */
export class ObjectColumn extends Column {
  readonly plan: ObjectPlan;
  readonly objects: (object | null)[];
  /** Columns by the fields' places in the plan. */
  readonly columns: (Column | undefined)[];
  #built: (object | null)[] = [];
  #builder: ObjectBuilder | undefined;

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

  get builder(): ObjectBuilder {
    this.#builder ??= this.plan.builder;
    return this.#builder;
  }

  *build(errors: FieldErrors): Steps<void> {
    const { objects, columns } = this;
    for (const column of columns) if (column !== undefined) yield* column.build(errors);
    const build: ObjectBuilder['build'] = objects.some((object) => object !== null)
      ? this.builder.build
      : () => ({});
    const odd: Oddity = (index, slot, value) => this.#odd(errors, index, slot, value);
    const built: (object | null)[] = new Array(objects.length);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      built[slot] = object === null ? null : build(object, slot, columns, odd);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#built = built;
  }

  /** The outcome of a property that doesn't go into the answer as it is. */
  #odd(errors: FieldErrors, index: number, slot: number, value: unknown): unknown {
    if (value == null) return null;
    const field = this.plan.fields[index] as FieldPlan;
    try {
      return serialized(field, value);
    } catch (error) {
      errors.add(field, error, new FieldHolder(this, field), slot);
      return null;
    }
  }
}

/** The parent of a field's column. */
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

/** Lists; the items of all of them stand in one column, one list after the other. */
export class ListColumn extends Column<ListShape> implements Holder {
  /** First item of each list; the one entry more is the end of the last list. */
  readonly #starts: number[];
  readonly #isNull: boolean[];
  items: Column | undefined;
  #built: (unknown[] | null)[] = [];

  constructor(shape: ListShape, holder: Holder, length: number) {
    super(shape, holder);
    this.#starts = new Array(length + 1).fill(0);
    this.#isNull = new Array(length).fill(false);
  }

  /** Notes the end of a list's items, once those of all lists before it are known. */
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

  /** The list that an item stands in: the last one that begins at or before it and is not empty. */
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

/** Objects that turn out to be of several types: a column for each, in which those of others are null. */
class AbstractColumn extends Column<AbstractShape> implements Holder {
  readonly byType = new Map<ObjectPlan, ObjectColumn>();
  readonly #chosen: (ObjectColumn | null)[];

  constructor(shape: AbstractShape, holder: Holder, length: number) {
    super(shape, holder);
    this.#chosen = new Array(length).fill(null);
  }

  choose(slot: number, plan: ObjectPlan, object: object): void {
    let objects = this.byType.get(plan);
    if (objects === undefined) {
      const shape: Shape = { kind: 'object', isNonNull: true, plan };
      objects = new ObjectColumn(shape, this, plan, new Array(this.#chosen.length).fill(null));
      this.byType.set(plan, objects);
    }
    objects.objects[slot] = object;
    this.#chosen[slot] = objects;
  }

  isNull(slot: number): boolean {
    return this.#chosen[slot] === null;
  }

  setNull(slot: number): void {
    this.#chosen[slot] = null;
  }

  valueAt(slot: number): unknown {
    return this.#chosen[slot]?.valueAt(slot) ?? null;
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

function missing({ parentType, name }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

function notIterable({ parentType, name }: FieldPlan): Error {
  return new Error(`Expected Iterable, but did not find one for field "${parentType.name}.${name}".`);
}

function notPossible({ parentType, name }: FieldPlan, { type }: AbstractShape, given: unknown): Error {
  return new Error(
    `Abstract type "${type.name}" must resolve to an Object type at runtime for field ` +
      `"${parentType.name}.${name}", received ${inspect(given)}.`,
  );
}

type Variables = Readonly<Record<string, unknown>>;

/** The type without the members that other packages add to it and graphql-js 16 doesn't have. */
type OwnInfo = Omit<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;

/**
 * The `info` of resolvers of one field, one after the other. The path is made only if it is read, and has to be read
 * before the resolver returns: after that, it is the turn of other objects.
 */
export class FieldInfo implements OwnInfo {
  readonly fieldName: string;
  readonly fieldNodes: FieldPlan['nodes'];
  readonly returnType: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
  readonly schema: Plan['schema'];
  readonly fragments: Plan['fragments'];
  readonly rootValue = undefined;
  readonly operation: Plan['operation'];
  readonly variableValues: { [variable: string]: unknown };
  /** The slot whose resolver runs; negative if none does. */
  slot = 0;
  protected readonly holder: Holder;

  constructor(
    { schema, fragments, operation }: Plan,
    variables: Variables,
    field: FieldPlan,
    holder: Holder,
  ) {
    this.fieldName = field.name;
    this.fieldNodes = field.nodes;
    this.returnType = field.definition.type;
    this.parentType = field.parentType;
    this.schema = schema;
    this.fragments = fragments;
    this.operation = operation;
    this.variableValues = variables as { [variable: string]: unknown };
    this.holder = holder;
  }

  get path(): ResponsePath {
    if (this.slot >= 0) return this.holder.path(this.slot) as ResponsePath;
    throw new TypeError('A resolver reads info.path before it returns, or not at all.');
  }
}

/** The `info` of a batch resolver: with the path of its first parent, and at any time that of each other. */
export class TogetherInfo extends FieldInfo implements Pick<BatchInfo, keyof OwnInfo | 'pathOf'> {
  /** The arguments that it was made of. */
  readonly given: readonly [Plan, Variables, FieldPlan, Holder, readonly (object | null)[]];
  readonly #asked: readonly (object | null)[];
  #slots: readonly number[] | undefined;

  /** @param asked the objects by slot, null for those that are no parents */
  constructor(
    plan: Plan,
    variables: Variables,
    field: FieldPlan,
    holder: Holder,
    asked: readonly (object | null)[],
  ) {
    super(plan, variables, field, holder);
    this.#asked = asked;
    this.given = [plan, variables, field, holder, asked];
  }

  override get path(): ResponsePath {
    return this.pathOf(0);
  }

  pathOf(parent: number): ResponsePath {
    return this.holder.path(this.#slotOf(parent)) as ResponsePath;
  }

  #slotOf(parent: number): number {
    if (parent === 0) return this.#asked.findIndex((object) => object !== null);
    this.#slots ??= this.#asked.flatMap((object, slot) => (object === null ? [] : slot));
    return this.#slots[parent] as number;
  }
}

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

interface ColumnParts {
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
    const { fault } = plan;
    for (let slot = 0; slot < values.length; slot += 1) {
      const object = this.#presence(field, column, values[slot], slot) as object | null;
      if (fault === undefined || object === null) column.objects[slot] = object;
      else this.#parts.errors.fail(field, fault, holder, slot, column);
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
          if (plan.fault === undefined) column.choose(slot, plan, object);
          else this.#parts.errors.fail(field, plan.fault, holder, slot, column);
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
    const isPlain = objects.objects.some((object) => object !== null) ? objects.builder.isPlain : null;
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
function serialized({ shape }: FieldPlan, value: unknown): unknown {
  if (value instanceof Error) throw value;
  return (shape as LeafShape).leaf.serialize(value);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Iterable<unknown> | null)?.[Symbol.iterator] === 'function'
  );
}
