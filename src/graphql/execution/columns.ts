import {
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import type { Steps } from '../../shared/async/turns.ts';
import { compiled } from './object-builders.ts';
import type { AbstractShape, FieldPlan, LeafShape, ListShape, ObjectPlan, Plan, Shape } from './plan.ts';

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

export interface Position {
  readonly column: Column;
  readonly slot: number;
}

/** Slots that are made before somebody else may have a turn. */
const BLOCK_SLOTS = 256;

export abstract class Column<S extends Shape = Shape> {
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

export class LeafColumn extends Column<LeafShape> {
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
    const isAnyThere = objects.some((object) => object !== null);
    const build = isAnyThere ? (plan.builder ?? compiled(plan)).build : () => ({});
    const odd = (index: number, slot: number, value: unknown) => this.#odd(errors, index, slot, value);
    const built: (object | null)[] = new Array(objects.length);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      built[slot] = object === null ? null : build(object, slot, columns, odd);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#built = built;
  }

  /** Loses objects that lack a property which may not be null, unless errors stay where they are. */
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

  /** The outcome of a property that doesn't go into the answer as it is. */
  #odd(errors: FieldErrors, index: number, slot: number, value: unknown): unknown {
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
export class AbstractColumn extends Column<AbstractShape> implements Holder {
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

/**
 * The treatments of an error, by the draft of the specification (`onError` of a request). `PROPAGATE`: a value that may
 * not be null takes those around it with it. `NULL`: it is null all the same. `HALT`: the first error ends the operation.
 */
export const ERROR_BEHAVIORS = ['PROPAGATE', 'NULL', 'HALT'] as const;
export type ErrorBehavior = (typeof ERROR_BEHAVIORS)[number];

/** The errors of one run, and the values lost to them. */
export class FieldErrors {
  readonly all: GraphQLError[] = [];
  /** Set once nothing is left of the whole, which may not be null. */
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
   * Adds an error, and makes its value null, or the nearest one around it that may be null.
   * @param column the column of the value; null for a property
   */
  fail(field: FieldPlan, error: unknown, holder: Holder, slot: number, column: Column | null): void {
    if (this.behavior !== 'PROPAGATE') {
      column?.setNull(slot);
      this.add(field, error, holder, slot);
      return;
    }
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
    if (this.behavior === 'HALT' && this.all.length > 0) return;
    this.#onError?.();
    const located = locatedError(error, field.nodes, responsePathAsArray(holder.path(slot)));
    this.all.push(located);
    if (this.behavior === 'HALT') this.#onHalt(located);
  }
}

type Variables = Readonly<Record<string, unknown>>;

/** The type without the members that other packages add to it and graphql-js 16 doesn't have. */
type OwnInfo = Omit<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;

/** The `info` of one field's resolvers, one after the other: the path has to be read before each returns. */
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

/** Resolves a field for many objects of one run. */
export type ResolveTogether = (call: {
  readonly field: FieldPlan;
  readonly objects: readonly object[];
  readonly args: Record<string, unknown>;
  readonly context: unknown;
  readonly info: TogetherInfo;
}) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** The `info` of a batch resolver: with the path of its first parent, and at any time that of each other. */
export class TogetherInfo extends FieldInfo {
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

export function missing({ parentType, name }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

/**
 * Serializes a property that is there.
 * @throws if it is an error, or its type refuses it
 */
function serialized({ shape }: FieldPlan, value: unknown): unknown {
  if (value instanceof Error) throw value;
  return (shape as LeafShape).leaf.serialize(value);
}

/**
 * A text in pieces that follow one another. The engine gives a text beyond 128 KB pages of its own, which the system
 * has to find and to clear: to join rows that are written already would take longer than to write them.
 */
export type StringPieces = readonly string[];

/** Characters beyond which a piece is ended. */
const PIECE_LENGTH = 32_768;

/** Characters from which a text is a piece by itself: to copy it once more would not pay. */
const LONG_STRING = 4_096;

export function lengthOf(text: StringPieces): number {
  return text.reduce((sum, { length }) => sum + length, 0);
}

export function byteLengthOf(text: StringPieces): number {
  return text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

class PieceWriter {
  readonly #pieces: string[] = [];
  #strings: string[] = [];
  #length = 0;

  add(text: string): void {
    if (text.length >= LONG_STRING) {
      this.#end();
      this.#pieces.push(text);
      return;
    }
    this.#strings.push(text);
    this.#length += text.length;
    if (this.#length >= PIECE_LENGTH) this.#end();
  }

  pieces(): StringPieces {
    this.#end();
    return this.#pieces;
  }

  #end(): void {
    if (this.#strings.length === 0) return;
    this.#pieces.push(this.#strings.join(''));
    this.#strings = [];
    this.#length = 0;
  }
}

/** Items that are written in one step, with those of the lists in them. */
const STEP_ITEMS = 64;

/** Items beyond which a value is written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data; of long data, in pieces. */
export function* written(value: unknown): Steps<StringPieces> {
  if (!isLong(value)) return [JSON.stringify(value)];
  const text = new PieceWriter();
  yield* writeJson(value, text);
  return text.pieces();
}

/** Writes JSON, in steps if there are many items; nothing if a value has none. */
function* writeJson(value: unknown, text: PieceWriter): Steps<void> {
  if (!isLong(value)) {
    const short: string | undefined = JSON.stringify(value);
    if (short !== undefined) text.add(short);
  } else if (Array.isArray(value)) {
    const ofFirst = itemsIn(value[0]);
    text.add('[');
    for (let start = 0, end = 0; start < value.length; start = end) {
      if (start > 0) text.add(',');
      end = Math.min(value.length, start + Math.ceil(STEP_ITEMS / (1 + ofFirst)));
      if (end - start > 1) text.add(JSON.stringify(value.slice(start, end)).slice(1, -1));
      else if (hasJson(value[start])) yield* writeJson(value[start], text);
      else text.add('null');
      yield;
    }
    text.add(']');
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value as object)) {
      if (!hasJson(member)) continue;
      text.add(`${before}${JSON.stringify(key)}:`);
      yield* writeJson(member, text);
      before = ',';
    }
    text.add('}');
  }
}

function hasJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'symbol' && typeof value !== 'function';
}

function isLong(value: unknown): boolean {
  return itemsIn(value) > MAX_ITEMS;
}

/** Items of the lists in a value, roughly: each item of a list is taken to have as many in it as the first one. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.length * (1 + itemsIn(value[0]));
  let items = 0;
  for (const key in value) items += itemsIn((value as Record<string, unknown>)[key]);
  return items;
}
