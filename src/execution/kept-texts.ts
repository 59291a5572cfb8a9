import type { ObjectPlan } from './plan.ts';

declare module 'graphql' {
  interface GraphQLObjectTypeExtensions {
    /** True if properties of an object of this type never change, so that its text holds. */
    isImmutable?: boolean;
  }
}

/** Objects of one selection; the columns of their fields are read by compiled code. */
export interface SelectedObjects {
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
