import type { ResponsePath } from 'graphql';
import { type Job, mapValue, type PromiseOrValue, type Steps, timeSliced } from '../async/turns.ts';
import type {
  AbstractShape,
  FieldPlan,
  LeafShape,
  ListShape,
  ObjectBuilder,
  ObjectPlan,
  Oddity,
  Shape,
  Values,
} from './plan.ts';

/**
 * A text in pieces that follow one another. The engine gives a text beyond 128 KB pages of its own, which the system
 * has to find and to clear: to join rows that are written already would take longer than to write them.
 */
export type TextPieces = readonly string[];

/** Characters beyond which a piece is ended. */
const PIECE_LENGTH = 32_768;

/** Characters from which a text is a piece by itself: to copy it once more would not pay. */
const LONG_TEXT = 4_096;

export function lengthOf(text: TextPieces): number {
  return text.reduce((sum, { length }) => sum + length, 0);
}

export function byteLengthOf(text: TextPieces): number {
  return text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** Puts short texts together to pieces. */
export class PieceWriter {
  readonly #pieces: string[] = [];
  #texts: string[] = [];
  #length = 0;

  add(text: string): void {
    if (text.length >= LONG_TEXT) {
      this.#end();
      this.#pieces.push(text);
      return;
    }
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= PIECE_LENGTH) this.#end();
  }

  /** All that was added. */
  pieces(): TextPieces {
    this.#end();
    return this.#pieces;
  }

  #end(): void {
    if (this.#texts.length === 0) return;
    this.#pieces.push(this.#texts.join(''));
    this.#texts = [];
    this.#length = 0;
  }
}

declare module 'graphql' {
  interface GraphQLObjectTypeExtensions {
    /** True if properties of an object of this type never change, so that its text holds. */
    isImmutable?: boolean;
  }
}

/** Objects of one selection; the columns of their fields are read by compiled code. */
interface SelectedObjects {
  readonly plan: ObjectPlan;
  readonly objects: readonly unknown[];
}

/** JSON of one object, and its values from other columns. */
interface KeptText {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Reads the columns of a selection for one of its objects. */
interface ColumnReader {
  readonly valuesOf: (objects: SelectedObjects, slot: number) => readonly unknown[];
  readonly areSame: (objects: SelectedObjects, slot: number, values: readonly unknown[]) => boolean;
}

/** Objects below which looking for texts takes as long as it saves. */
const MIN_OBJECTS = 16;

/** Objects beyond which the texts of one list would drive out all others. */
const MAX_OBJECTS = 8_192;

/** Bytes kept for an object beside its text, roughly. */
const OVERHEAD_BYTES = 200;

/**
 * JSON of objects that operations have in common, by selection: held rows are answered many times, each time with the
 * same text. A list's texts are kept from the second time on that it begins with the same object, so that a list that
 * comes once costs nothing. If all texts come to too much, they are dropped.
 */
export class KeptTexts {
  readonly #maxBytes: number;
  readonly #minObjects: number;
  #bytes = 0;
  #bySelection = new WeakMap<ObjectPlan, SelectionTexts>();

  /**
   * @param maxBytes bytes of all texts, roughly
   * @param minObjects length from which a list's texts are kept
   */
  constructor(maxBytes: number, minObjects = MIN_OBJECTS) {
    this.#maxBytes = maxBytes;
    this.#minObjects = minObjects;
  }

  /** Texts of the items of a list; null if none are kept. */
  of({ plan, objects }: SelectedObjects): SelectionTexts | null {
    if (objects.length < this.#minObjects || objects.length > MAX_OBJECTS) return null;
    if (plan.type.extensions.isImmutable !== true) return null;
    let texts = this.#bySelection.get(plan);
    if (texts === undefined) {
      texts = new SelectionTexts(plan, (text) => this.#count(text));
      this.#bySelection.set(plan, texts);
    }
    // A resolver may give anything in place of an object.
    const first = objects.find(isObject);
    return first !== undefined && texts.wasSeen(first) && texts.areReadable ? texts : null;
  }

  /** Drops all texts if they take more than a share of their maximum. */
  shrink(share: number): void {
    if (this.#bytes <= share * this.#maxBytes) return;
    this.#bySelection = new WeakMap();
    this.#bytes = 0;
  }

  #count(text: string): void {
    this.#bytes += text.length + OVERHEAD_BYTES;
    this.shrink(1);
  }
}

/** Texts of the objects of one selection. */
export class SelectionTexts {
  readonly #plan: ObjectPlan;
  readonly #onKept: (text: string) => void;
  /** Texts by object; null for one that was seen, and not written. */
  readonly #byObject = new WeakMap<object, KeptText | null>();
  #compiled: ColumnReader | null | undefined;

  constructor(plan: ObjectPlan, onKept: (text: string) => void) {
    this.#plan = plan;
    this.#onKept = onKept;
  }

  /** True if code can tell that an object is to have the same text as before. */
  get areReadable(): boolean {
    return this.#reader() !== null;
  }

  /** True if an object was seen before; from now on, it was. */
  wasSeen(object: object): boolean {
    if (this.#byObject.has(object)) return true;
    this.#byObject.set(object, null);
    return false;
  }

  /** Texts by slot: undefined if nothing was written, or something else. */
  textsOf(selected: SelectedObjects): (string | undefined)[] {
    const reader = this.#reader();
    return selected.objects.map((object, slot) => {
      if (object === null) return 'null';
      const kept = this.#byObject.get(object as object);
      return kept != null && reader?.areSame(selected, slot, kept.values) ? kept.text : undefined;
    });
  }

  keep(selected: SelectedObjects, texts: readonly string[]): void {
    const reader = this.#reader();
    if (reader === null) return;
    for (const [slot, object] of selected.objects.entries()) {
      const text = texts[slot] as string;
      if (!isObject(object) || this.#byObject.get(object)?.text === text) continue;
      const values = reader.valuesOf(selected, slot);
      // An object among the values may change while it stays the same one.
      if (values.some(isObject)) continue;
      this.#byObject.set(object, { text, values });
      this.#onKept(text);
    }
  }

  #reader(): ColumnReader | null {
    if (this.#compiled === undefined) this.#compiled = compileColumnReader(this.#plan);
    return this.#compiled;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Compiles a reader of the columns of a selection, with those of objects below it, as far down as they go.
 * @returns null if there are lists below it, objects of several types, or parts that are delivered apart
 */
function compileColumnReader(plan: ObjectPlan): ColumnReader | null {
  const reads = readsOf(plan, 'objects', () => []);
  if (reads === null) return null;
  const tests = reads.map((read, index) => `${read} === values[${index}]`);
  return {
    valuesOf: new Function(`return (objects, slot) => [${reads.join(', ')}];`)(),
    areSame: new Function(`return (objects, slot, values) => ${['true', ...tests].join(' && ')};`)(),
  };
}

/**
 * Expressions for the values.
 * @param column an expression for the column of the objects
 * @param readsOfProperty expressions for a property of theirs
 */
function readsOf(
  plan: ObjectPlan,
  column: string,
  readsOfProperty: (name: string) => readonly string[],
): string[] | null {
  if (plan.deferral !== undefined) return null;
  const reads: string[] = [];
  for (const [index, { by, name, shape }] of plan.fields.entries()) {
    const below = `${column}.columns[${index}]`;
    if (by === 'typename') continue;
    if (by === 'leaf property') reads.push(...readsOfProperty(name));
    else if (shape.kind === 'leaf') reads.push(`${below}.values[slot]`);
    else {
      const property = (name: string) => [`${below}.objects[slot]?.[${JSON.stringify(name)}]`];
      const others = shape.kind === 'object' ? readsOf(shape.plan, below, property) : null;
      if (others === null) return null;
      if (!shape.isNonNull) reads.push(`(${below}.objects[slot] === null)`);
      reads.push(...others);
    }
  }
  return reads;
}

/** Items that are written in one step, with those of the lists in them. */
const STEP_ITEMS = 64;

/** Items beyond which a value is written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data. Long data is written in steps, so that others have their turns. */
export function stringify(value: unknown, job: Job = { flow: '' }): PromiseOrValue<TextPieces> {
  if (!isLong(value)) return [JSON.stringify(value)];
  const text = new PieceWriter();
  return mapValue(timeSliced(job, writeJson(value, text)), () => text.pieces());
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
interface Building {
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
