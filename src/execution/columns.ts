import type { ResponsePath } from 'graphql';
import type { Steps } from '../async/steps.ts';
import type { KeptTexts, SelectionTexts } from './kept-texts.ts';
import type { ObjectBuilder, Oddity, Values } from './objects.ts';
import type { AbstractShape, FieldPlan, LeafShape, ListShape, ObjectPlan, Shape } from './plan.ts';
import { writeJson } from './stringify.ts';
import type { PieceWriter } from './text-pieces.ts';

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
  /** Makes the values ready, in steps; or their JSON, if some of it is kept. */
  abstract build(building: Building): Steps<void>;

  /** True if some of its values are JSON already, so that it has to be written. */
  get isWritten(): boolean {
    return false;
  }

  /** Writes the JSON of a value, in steps if it is long. */
  write(slot: number, text: PieceWriter): Steps<void> {
    return writeJson(this.valueAt(slot), text);
  }
}

/** The means to build columns. */
export interface Building {
  /** Tells the outcome of odd values below one selection. */
  readonly oddityOf: (objects: ObjectColumn) => Oddity;
  /** JSON of objects that were written before; undefined if none is kept. */
  readonly texts: KeptTexts | undefined;
  /** The errors of the run so far. */
  readonly errors: readonly unknown[];
}

/** Leaves from a resolver. */
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
  /** The store for texts of its objects; null if they aren't kept. */
  kept: SelectionTexts | null = null;
  #built: (object | null)[] = [];
  /** JSON of each object; null if they are not written yet. */
  texts: readonly string[] | null = null;
  #hasTextBelow = false;

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

  override get isWritten(): boolean {
    return this.texts !== null || this.#hasTextBelow;
  }

  override *write(slot: number, text: PieceWriter): Steps<void> {
    const built = this.#built[slot] as Readonly<Record<string, unknown>> | null | undefined;
    if (this.texts !== null) text.add(this.texts[slot] as string);
    else if (built && this.#hasTextBelow) yield* this.#writeFields(slot, built, text);
    else yield* super.write(slot, text);
  }

  *#writeFields(slot: number, built: Readonly<Record<string, unknown>>, text: PieceWriter): Steps<void> {
    let before = '{';
    for (const [index, { key }] of this.plan.fields.entries()) {
      text.add(`${before}${JSON.stringify(key)}:`);
      const column = this.columns[index];
      if (column?.isWritten) yield* column.write(slot, text);
      else yield* writeJson(built[key], text);
      before = ',';
    }
    text.add('}');
  }

  *build(building: Building): Steps<void> {
    const { kept, objects, columns } = this;
    const errorsBefore = building.errors.length;
    const known = kept?.textsOf(this);
    if (known !== undefined && isWhole(known)) {
      this.texts = known;
      return;
    }
    for (const column of columns) if (column !== undefined) yield* column.build(building);
    const build: ObjectBuilder['build'] = objects.some((object) => object !== null)
      ? this.plan.builder.build
      : () => ({});
    const odd = building.oddityOf(this);
    const built: (object | null)[] = new Array(objects.length);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      built[slot] = object === null || known?.[slot] !== undefined ? null : build(object, slot, columns, odd);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#built = built;
    this.#hasTextBelow = columns.some((column) => column?.isWritten);
    if (known === undefined) return;
    // If texts of objects are kept, none are of anything below them.
    const texts: string[] = [];
    for (let slot = 0; slot < objects.length; slot += 1) {
      texts.push(known[slot] ?? JSON.stringify(built[slot]));
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.texts = texts;
    if (building.errors.length === errorsBefore) kept?.keep(this, texts);
  }
}

function isWhole(texts: readonly (string | undefined)[]): texts is string[] {
  return !texts.includes(undefined);
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

  override get isWritten(): boolean {
    return this.items?.isWritten ?? false;
  }

  override *write(slot: number, text: PieceWriter): Steps<void> {
    if (!this.isWritten) {
      yield* super.write(slot, text);
      return;
    }
    if (this.#isNull[slot]) {
      text.add('null');
      return;
    }
    const items = this.items as Column;
    const texts = items instanceof ObjectColumn ? items.texts : null;
    const start = this.#starts[slot] as number;
    const end = this.#starts[slot + 1] as number;
    text.add('[');
    for (let item = start; item < end; item += 1) {
      if (item > start) text.add(',');
      if (texts !== null) text.add(texts[item] as string);
      else yield* items.write(item, text);
      if (item % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    text.add(']');
  }

  #itemsOf(slot: number): unknown[] | null {
    if (this.#isNull[slot]) return null;
    const items = this.items as Column;
    const end = this.#starts[slot + 1] as number;
    const values: unknown[] = [];
    for (let item = this.#starts[slot] as number; item < end; item += 1) values.push(items.valueAt(item));
    return values;
  }

  *build(building: Building): Steps<void> {
    const items = this.items as Column;
    if (items instanceof ObjectColumn) items.kept = building.texts?.of(items) ?? null;
    yield* items.build(building);
    if (items.isWritten) return;
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

  override get isWritten(): boolean {
    return [...this.byType.values()].some((objects) => objects.isWritten);
  }

  override write(slot: number, text: PieceWriter): Steps<void> {
    return this.#chosen[slot]?.write(slot, text) ?? writeJson(null, text);
  }

  *build(building: Building): Steps<void> {
    for (const objects of this.byType.values()) yield* objects.build(building);
  }

  above(slot: number): Position {
    return { column: this, slot };
  }

  path(slot: number): ResponsePath | undefined {
    return this.holder.path(slot);
  }
}
