import {
  defaultTypeResolver,
  type GraphQLError,
  type GraphQLResolveInfo,
  isObjectType,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { toError } from 'graphql/jsutils/toError.js';
import { inSlice, type Job, TURN_MS, timeSliced } from '../async/yielding.ts';
import {
  AbstractColumn,
  type Column,
  FieldHolder,
  type Holder,
  LeafColumn,
  ListColumn,
  ObjectColumn,
  type Position,
} from './columns.ts';
import { FieldInfo, TogetherInfo } from './infos.ts';
import type {
  AbstractShape,
  BatchInfo,
  FieldPlan,
  LeafShape,
  ListShape,
  ObjectPlan,
  Plan,
  Shape,
} from './plan.ts';
import { stringify } from './stringify.ts';

/** The outcome of an operation. */
export interface Executed {
  /** `data` as JSON. */
  readonly data: string;
  readonly errors: readonly GraphQLError[];
}

export interface RunParts {
  readonly plan: Plan;
  readonly context: unknown;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whose time the run takes where others want theirs. */
  readonly job?: Job;
  /** Hears that the run makes a pause so that others may have a turn, and will go on by itself. */
  readonly onPause?: (goesOn: Promise<void>) => void;
  /**
   * Hears of the items of a list before anything is resolved for them.
   * @throws where they are too many: the run ends, and is rejected with the same
   */
  readonly onList?: (items: number) => void;
  /** Whether everything is resolved, and no answer made of it. */
  readonly isDry?: boolean;
}

/** Objects that a field is resolved for between looks at the clock. */
const BLOCK_OBJECTS = 8;

/** Stands where there is no object to have a value. */
const ABSENT = Symbol('absent');

const ignore = () => {};

/**
 * Executes an operation breadth first. Each field of a selection is resolved for all objects of that selection
 * together, before the selections below it; what doesn't have to wait is done at once, without a promise. The outcome
 * is that of graphql-js, but for this: where an object is lost to an error, errors of its other fields may be told too.
 */
export function runPlan(parts: RunParts): Executed | Promise<Executed> {
  return new Run(parts).start();
}

/** A field to be resolved for all objects of a column. */
interface Task {
  readonly objects: ObjectColumn;
  readonly index: number;
  readonly field: FieldPlan;
}

/** A field that is resolved for one object after the other. */
interface Each {
  readonly holder: FieldHolder;
  readonly args: Record<string, unknown>;
  readonly info: GraphQLResolveInfo & FieldInfo;
  readonly values: unknown[];
  readonly complete: (values: unknown[]) => void;
}

class Run {
  readonly #parts: RunParts;
  readonly #job: Job;
  readonly #errors: GraphQLError[] = [];
  readonly #root: ObjectColumn;
  #tasks: Task[] = [];
  /** Columns that wait for promises. */
  #waiting = 0;
  #isPaused = false;
  /** When others are to have their turns. */
  #pausesAtMs = 0;
  /** Whether it was ended before its time: what is still on its way is for nobody. */
  #isEnded = false;
  #over = () => {};
  #broken = (_fault: unknown) => {};

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#job = parts.job ?? { flow: '' };
    const { root } = parts.plan;
    const whole: Holder = { above: () => null, path: () => undefined };
    this.#root = new ObjectColumn({ kind: 'object', isNonNull: false, plan: root }, whole, root, [{}]);
  }

  start(): Executed | Promise<Executed> {
    this.#descend(this.#root);
    this.#work();
    if (this.#isOver()) return this.#finish();
    return new Promise<void>((resolve, reject) => {
      this.#over = resolve;
      this.#broken = reject;
    }).then(() => this.#finish());
  }

  #isOver(): boolean {
    return this.#waiting === 0 && this.#tasks.length === 0 && !this.#isPaused;
  }

  /** Works off what can be done now. */
  #work(): void {
    if (this.#isPaused || this.#isEnded) return;
    this.#pausesAtMs = performance.now() + TURN_MS;
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks;
      this.#tasks = [];
      for (const [done, task] of tasks.entries()) {
        this.#resolve(task);
        const isLast = done === tasks.length - 1;
        if (!this.#isPaused && (isLast || performance.now() < this.#pausesAtMs)) continue;
        this.#tasks.unshift(...tasks.slice(done + 1));
        if (!this.#isPaused) this.#pause(() => this.#work());
        return;
      }
    }
    if (this.#isOver()) this.#over();
  }

  #pause(goOn: () => void): void {
    this.#isPaused = true;
    const goesOn = new Promise<void>((resolve) => {
      inSlice(this.#job, () => {
        this.#isPaused = false;
        this.#safely(goOn);
        resolve();
      });
    });
    this.#parts.onPause?.(goesOn);
  }

  /** A fault of ours must not leave the operation without an answer. */
  #safely(work: () => void): void {
    if (this.#isEnded) return;
    try {
      work();
    } catch (fault) {
      this.#broken(fault);
    }
  }

  /** Goes on to the fields of objects that are there now. */
  #descend(objects: ObjectColumn): void {
    const { plan } = objects;
    const isPlain = objects.objects.some((object) => object !== null) ? plan.builder.isPlain : null;
    for (let slot = 0; isPlain !== null && slot < objects.objects.length; slot += 1) {
      const object = objects.objects[slot] as object | null;
      if (object !== null && !isPlain(object)) this.#checkProperties(objects, object, slot);
    }
    for (const [index, field] of plan.fields.entries()) {
      if (field.by !== 'typename' && field.by !== 'leaf property')
        this.#tasks.push({ objects, index, field });
    }
  }

  /** Properties are read when the answer is made; before that, whether the object is lost for want of one. */
  #checkProperties(objects: ObjectColumn, object: object, slot: number): void {
    for (const field of objects.plan.fields) {
      if (field.by !== 'leaf property' || !field.shape.isNonNull) continue;
      const value = (object as Record<string, unknown>)[field.name];
      try {
        if (value == null) throw missing(field);
        serialized(field, value);
      } catch (error) {
        this.#fail(field, error, new FieldHolder(objects, field), slot, null);
      }
    }
  }

  #resolve({ objects, index, field }: Task): void {
    const holder = new FieldHolder(objects, field);
    const complete = (values: unknown[]) => {
      objects.columns[index] = this.#complete(field, field.shape, holder, values);
    };
    let args: Record<string, unknown>;
    try {
      args = field.argumentsOf(this.#parts.variables);
    } catch (error) {
      complete(objects.objects.map((object) => (object === null ? ABSENT : toError(error))));
      return;
    }
    if (field.by === 'batch') this.#resolveTogether(holder, args, complete);
    else
      this.#resolveEach(
        {
          holder,
          args,
          complete,
          info: this.#infoOf(field, holder),
          values: new Array(objects.objects.length),
        },
        0,
      );
  }

  /** Resolves a field for each of its objects, from one of them on; others have their turns in between. */
  #resolveEach(each: Each, from: number): void {
    const { holder, args, info, values } = each;
    const { context } = this.#parts;
    const { objects } = holder.objects;
    const { by, name, definition } = holder.field;
    for (let slot = from; slot < objects.length; slot += 1) {
      const isBlockOver = slot > from && slot % BLOCK_OBJECTS === 0;
      if (isBlockOver && performance.now() >= this.#pausesAtMs) {
        info.slot = -1;
        // They are waited for only once all of them have been asked for.
        heed(values.slice(from, slot));
        this.#pauseAt(each, slot);
        return;
      }
      const object = objects[slot] as object | null;
      if (object === null) {
        values[slot] = ABSENT;
      } else {
        info.slot = slot;
        try {
          values[slot] =
            by === 'property'
              ? (object as Record<string, unknown>)[name]
              : definition.resolve?.(object, args, context, info);
        } catch (error) {
          values[slot] = toError(error);
        }
      }
    }
    if (objects.length > 1) info.slot = -1;
    this.#mapValue(values, each.complete);
  }

  /** Apart from the loop above, which would else make a context of its own for each object. */
  #pauseAt(each: Each, slot: number): void {
    this.#pause(() => {
      this.#pausesAtMs = performance.now() + TURN_MS;
      this.#resolveEach(each, slot);
      this.#work();
    });
  }

  #resolveTogether(
    holder: FieldHolder,
    args: Record<string, unknown>,
    complete: (values: unknown[]) => void,
  ): void {
    const { definition } = holder.field;
    // Some of the objects may be lost before their values are there.
    const asked = holder.objects.objects.slice();
    const there = asked.filter((object) => object !== null);
    const spread = (given: readonly unknown[] | Error) => {
      let next = 0;
      const nextValue = () => {
        next += 1;
        return given instanceof Error ? given : given[next - 1];
      };
      complete(asked.map((object) => (object === null ? ABSENT : nextValue())));
    };
    if (there.length === 0) {
      spread([]);
      return;
    }
    try {
      const { plan, variables, context } = this.#parts;
      const info = new TogetherInfo(plan, variables, holder.field, holder, asked);
      const given = definition.extensions.batch?.(there, args, context, info as unknown as BatchInfo) ?? [];
      if (isPromise(given)) this.#wait(given, spread);
      else spread(given);
    } catch (error) {
      spread(toError(error));
    }
  }

  /** Goes on with a promise's value, or the error that it was rejected with. */
  #wait<Value>(promise: PromiseLike<Value>, goOn: (value: Value | Error) => void): void {
    this.#waiting += 1;
    const settled = (value: Value | Error) => {
      this.#waiting -= 1;
      this.#safely(() => {
        goOn(value);
        this.#work();
      });
    };
    promise.then(settled, (error) => settled(toError(error)));
  }

  /** Goes on once none of the values is a promise any longer. */
  #mapValue(values: unknown[], goOn: (values: unknown[]) => void): void {
    let missing = 0;
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = values[slot];
      if (!isPromise(value)) continue;
      missing += 1;
      this.#wait(value, (settled) => {
        values[slot] = settled;
        missing -= 1;
        if (missing === 0) goOn(values);
        else heed(settled);
      });
    }
    if (missing === 0) goOn(values);
    else for (const value of values) heed(value);
  }

  #complete(field: FieldPlan, shape: Shape, holder: Holder, values: unknown[]): Column {
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

  /** What there is of a value: null, with the error told, where it is an error or missing. */
  #presence(field: FieldPlan, column: Column, value: unknown, slot: number): unknown {
    if (value === ABSENT) return null;
    if (value instanceof Error) this.#fail(field, value, column.holder, slot, column);
    else if (value != null) return value;
    else if (column.shape.isNonNull) this.#fail(field, missing(field), column.holder, slot, column);
    return null;
  }

  #completeLeaves(field: FieldPlan, shape: LeafShape, holder: Holder, values: unknown[]): Column {
    const column = new LeafColumn(shape, holder, values.length);
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (value === null) continue;
      try {
        column.values[slot] = shape.leaf.serialize(value);
      } catch (error) {
        this.#fail(field, error, holder, slot, column);
      }
    }
    return column;
  }

  #completeObjects(
    field: FieldPlan,
    shape: Shape,
    holder: Holder,
    values: unknown[],
    plan: ObjectPlan,
  ): Column {
    const column = new ObjectColumn(shape, holder, plan, new Array(values.length).fill(null));
    for (let slot = 0; slot < values.length; slot += 1) {
      column.objects[slot] = this.#presence(field, column, values[slot], slot) as object | null;
    }
    this.#descend(column);
    return column;
  }

  #completeLists(field: FieldPlan, shape: ListShape, holder: Holder, values: unknown[]): Column {
    const column = new ListColumn(shape, holder, values.length);
    const items: unknown[] = [];
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (isIterable(value)) {
        const before = items.length;
        for (const item of value) items.push(item);
        this.#count(items.length - before);
      } else if (value !== null) {
        const { parentType, name } = field;
        const error = new Error(
          `Expected Iterable, but did not find one for field "${parentType.name}.${name}".`,
        );
        this.#fail(field, error, holder, slot, column);
      }
      column.endsAt(slot, items.length, value === null);
    }
    this.#mapValue(items, (there) => {
      column.items = this.#complete(field, shape.item, column, there);
    });
    return column;
  }

  #count(items: number): void {
    try {
      this.#parts.onList?.(items);
    } catch (error) {
      this.#isEnded = true;
      throw error;
    }
  }

  #completeAbstract(field: FieldPlan, shape: AbstractShape, holder: Holder, values: unknown[]): Column {
    const column = new AbstractColumn(shape, holder, values.length);
    const { type } = shape;
    const { context, plan } = this.#parts;
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const info = this.#infoOf(field, holder);
    const there = values.map((value, slot) => this.#presence(field, column, value, slot));
    const names = there.map((value, slot) => {
      info.slot = slot;
      try {
        return value === null ? null : resolveType(value, context, info, type);
      } catch (error) {
        return toError(error);
      }
    });
    this.#mapValue(names, (types) => {
      for (let slot = 0; slot < there.length; slot += 1) {
        const object = there[slot] as object | null;
        if (object === null) continue;
        const name = types[slot];
        const concrete = typeof name === 'string' ? plan.schema.getType(name) : undefined;
        if (isObjectType(concrete) && plan.schema.isSubType(type, concrete)) {
          column.choose(slot, shape.planOf(concrete), object as object);
        } else {
          const error = name instanceof Error ? name : new Error(notPossible(field, shape, name));
          this.#fail(field, error, holder, slot, column);
        }
      }
      for (const objects of column.byType.values()) this.#descend(objects);
    });
    return column;
  }

  /**
   * Tells an error, and has its value be null, or what holds that where it may not be null.
   * @param column where the value stands; null for a property
   */
  #fail(field: FieldPlan, error: unknown, holder: Holder, slot: number, column: Column | null): void {
    let position: Position | null = column === null ? holder.above(slot) : { column, slot };
    while (position?.column.shape.isNonNull) position = position.column.holder.above(position.slot);
    // Something is lost once, however many of its fields are missing.
    const isLostAlready =
      position !== null && position.column !== column && position.column.isNull(position.slot);
    if (isLostAlready) return;
    position?.column.setNull(position.slot);
    this.#tell(field, error, holder, slot);
  }

  #tell(field: FieldPlan, error: unknown, holder: Holder, slot: number): void {
    this.#errors.push(locatedError(error, field.nodes, responsePathAsArray(holder.path(slot))));
  }

  #infoOf(field: FieldPlan, holder: Holder): GraphQLResolveInfo & FieldInfo {
    return new FieldInfo(this.#parts.plan, this.#parts.variables, field, holder) as GraphQLResolveInfo &
      FieldInfo;
  }

  #finish(): Executed | Promise<Executed> {
    if (this.#parts.isDry) return this.#executed('null');
    const building = this.#root.build((objects) => (index, slot, value) => {
      if (value == null) return null;
      const field = objects.plan.fields[index] as FieldPlan;
      try {
        return serialized(field, value);
      } catch (error) {
        this.#tell(field, error, new FieldHolder(objects, field), slot);
        return null;
      }
    });
    const built = timeSliced(this.#job, building);
    const write = () => {
      const data = stringify(this.#root.valueAt(0), this.#job);
      return data instanceof Promise ? data.then((text) => this.#executed(text)) : this.#executed(data);
    };
    return built instanceof Promise ? built.then(write) : write();
  }

  #executed(data: string): Executed {
    return { data, errors: this.#errors };
  }
}

/**
 * What goes into the answer for a property that is there.
 * @throws where it is an error, or its type refuses it
 */
function serialized({ shape }: FieldPlan, value: unknown): unknown {
  if (value instanceof Error) throw value;
  return (shape as LeafShape).leaf.serialize(value);
}

function missing({ parentType, name }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

function notPossible({ parentType, name }: FieldPlan, { type }: AbstractShape, given: unknown): string {
  return (
    `Abstract type "${type.name}" must resolve to an Object type at runtime for field ` +
    `"${parentType.name}.${name}", received ${inspect(given)}.`
  );
}

/** Hears rejections in a list that has to wait for others: heard only later, they count as unhandled. */
function heed(value: unknown): void {
  if (!Array.isArray(value)) return;
  for (const item of value) {
    if (isPromise(item)) item.then(heed, ignore);
    else heed(item);
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Iterable<unknown> | null)?.[Symbol.iterator] === 'function'
  );
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
  );
}
