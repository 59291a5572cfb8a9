import type { AbstractShape, FieldPlan, LeafShape, ListShape, ObjectPlan, Shape } from './plan.ts';
import type { Oddity, Texts } from './text.ts';

/*
 * An answer in the making, by columns: all values of one field of one selection stand together, a slot for each
 * object that the selection is executed on. So a field of many objects is resolved, checked and written in one go,
 * whatever it hangs from.
 */

/** What a column hangs from. */
export interface Holder {
  /** The position that is lost with a slot where there has to be a value; null for the whole answer. */
  above(slot: number): Position | null;
  path(slot: number): readonly (string | number)[];
}

/** One value of an answer. */
export interface Position {
  readonly column: Column;
  readonly slot: number;
}

/** Slots that are written before somebody else may have a turn. */
const BLOCK_SLOTS = 256;

/** Values of one shape. */
export abstract class Column<S extends Shape = Shape> implements Texts {
  readonly shape: S;
  readonly holder: Holder;

  constructor(shape: S, holder: Holder) {
    this.shape = shape;
    this.holder = holder;
  }

  abstract isNull(slot: number): boolean;
  abstract setNull(slot: number): void;
  abstract text(slot: number): string;
  /** Makes the texts ready, in steps. */
  abstract write(odd: OddityOf): Generator<void>;
}

/** Says what becomes of odd values below one selection. */
export type OddityOf = (objects: ObjectColumn) => Oddity;

/** Leaves that a resolver gave. */
export class LeafColumn extends Column<LeafShape> {
  /** Null where there is no value. */
  readonly texts: (string | null)[];

  constructor(shape: LeafShape, holder: Holder, length: number) {
    super(shape, holder);
    this.texts = new Array(length).fill(null);
  }

  isNull(slot: number): boolean {
    return this.texts[slot] === null;
  }

  setNull(slot: number): void {
    this.texts[slot] = null;
  }

  text(slot: number): string {
    return this.texts[slot] ?? 'null';
  }

  *write(): Generator<void> {}
}

/** Objects of one type, and a column for each of their fields that needs one. */
export class ObjectColumn extends Column {
  readonly plan: ObjectPlan;
  readonly objects: (object | null)[];
  /** By the fields' places in the plan. */
  readonly columns: (Column | undefined)[];
  #texts: string[] = [];

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

  text(slot: number): string {
    return this.#texts[slot] as string;
  }

  *write(oddityOf: OddityOf): Generator<void> {
    for (const column of this.columns) if (column !== undefined) yield* column.write(oddityOf);
    const { objects, columns } = this;
    const { write } = this.plan.text;
    const odd = oddityOf(this);
    const texts: string[] = new Array(objects.length);
    for (let slot = 0; slot < objects.length; slot += 1) {
      const object = objects[slot] as object | null;
      texts[slot] = object === null ? 'null' : write(object, slot, columns, odd);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#texts = texts;
  }
}

/** Where the column of a field hangs. */
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

  path(slot: number): readonly (string | number)[] {
    return [...this.objects.holder.path(slot), this.field.key];
  }
}

/** Lists; the items of all of them stand in one column, one list after the other. */
export class ListColumn extends Column<ListShape> implements Holder {
  /** Where each list's items begin; with one more, where the last one's end. */
  readonly #starts: number[];
  readonly #isNull: boolean[];
  items: Column | undefined;
  #texts: string[] = [];

  constructor(shape: ListShape, holder: Holder, length: number) {
    super(shape, holder);
    this.#starts = new Array(length + 1).fill(0);
    this.#isNull = new Array(length).fill(false);
  }

  /** Says where the items of a list end, once those of all before it are known. */
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

  text(slot: number): string {
    return this.#texts[slot] as string;
  }

  *write(oddityOf: OddityOf): Generator<void> {
    const items = this.items as Column;
    yield* items.write(oddityOf);
    const texts: string[] = [];
    for (let slot = 0; slot < this.#isNull.length; slot += 1) {
      if (this.#isNull[slot]) {
        texts.push('null');
        continue;
      }
      const end = this.#starts[slot + 1] as number;
      const blocks: string[] = [];
      for (let start = this.#starts[slot] as number; start < end; start += BLOCK_SLOTS) {
        blocks.push(joined(items, start, Math.min(end, start + BLOCK_SLOTS)));
        if (end - start > BLOCK_SLOTS) yield;
      }
      texts.push(`[${blocks.length === 1 ? blocks[0] : blocks.join(',')}]`);
      if (slot % BLOCK_SLOTS === BLOCK_SLOTS - 1) yield;
    }
    this.#texts = texts;
  }

  above(item: number): Position {
    return { column: this, slot: this.#listOf(item) };
  }

  path(item: number): readonly (string | number)[] {
    const slot = this.#listOf(item);
    return [...this.holder.path(slot), item - (this.#starts[slot] as number)];
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

/** Joined piece by piece, a long text would be a tree of as many nodes, which the engine has to flatten in one go. */
function joined(items: Column, start: number, end: number): string {
  if (end - start <= 4) {
    let text = items.text(start);
    for (let item = start + 1; item < end; item += 1) text += `,${items.text(item)}`;
    return text;
  }
  const texts: string[] = [];
  for (let item = start; item < end; item += 1) texts.push(items.text(item));
  return texts.join(',');
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

  text(slot: number): string {
    return this.#chosen[slot]?.text(slot) ?? 'null';
  }

  *write(oddityOf: OddityOf): Generator<void> {
    for (const objects of this.byType.values()) yield* objects.write(oddityOf);
  }

  above(slot: number): Position {
    return { column: this, slot };
  }

  path(slot: number): readonly (string | number)[] {
    return this.holder.path(slot);
  }
}
