import {
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLError,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { isIterableObject } from 'graphql/jsutils/isIterableObject.js';
import { toError } from 'graphql/jsutils/toError.js';
import {
  Flow,
  handleRejections,
  inSlice,
  type Job,
  type Steps,
  TURN_MS,
  timeSliced,
} from '../../shared/async/turns.ts';
import {
  AbstractColumn,
  type Column,
  FieldHolder,
  LeafColumn,
  ListColumn,
  missing,
  ObjectColumn,
} from './columns.ts';
import { type ErrorBehavior, FieldErrors } from './field-errors.ts';
import { FieldInfo, type ResolveTogether, TogetherInfo } from './field-info.ts';
import { type StringPieces, written } from './json-pieces.ts';
import {
  type AbstractShape,
  type BatchInfo,
  type FieldPlan,
  itemsIn,
  type LeafShape,
  type ListShape,
  type ObjectDeferral,
  type ObjectPlan,
  type Plan,
  type Shape,
} from './plan.ts';
import type { Holder } from './positions.ts';

export const atOnce: ResolveTogether = ({ field, objects, args, context, info }) =>
  field.definition.extensions.batch?.(objects, args, context, info as unknown as BatchInfo) ?? [];

export interface Executed {
  /** JSON. */
  readonly data: StringPieces;
  readonly errors: readonly GraphQLError[];
}

export interface RunParts {
  readonly plan: Plan;
  readonly context: unknown;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The job whose turns the run takes. */
  readonly job?: Job;
  /** Called with each pause for others; the promise settles when the run goes on. */
  readonly onPause?: (goesOn: Promise<void>) => void;
  /**
   * Called before anything is resolved for the items.
   * @throws if they are too many: the run rejects with the same error
   */
  readonly onList?: (items: number) => void;
  /**
   * Called before each field error.
   * @throws as above
   */
  readonly onError?: () => void;
  readonly errorBehavior?: ErrorBehavior;
  readonly onHalt?: (error: GraphQLError) => void;
  readonly rootValue?: object;
  /** Resolves everything, and writes no answer. */
  readonly isDry?: boolean;
}

export interface RunScope {
  readonly holder: Holder;
  readonly root: { readonly plan: ObjectPlan; readonly object: object };
  readonly later: (run: Run) => Later | undefined;
  readonly together: ResolveTogether;
}

/** Takes the parts that are delivered apart. */
interface Later {
  mayDefer(deferral: ObjectDeferral, objects: number): boolean;
  defer(deferral: ObjectDeferral, objects: ObjectColumn): void;
}

const WHOLE: Holder = { above: () => null, path: () => undefined };

const ABSENT = Symbol('absent');

/** Objects resolved between looks at the clock. */
const BLOCK_OBJECTS = 8;

/** Items that may take milliseconds while their code is cold. */
const LONG_LIST = 1_000;

/**
 * Executes breadth first: each field of a selection is resolved for all its objects together, before the selections
 * below. What needn't wait is done synchronously. Results equal graphql-js's, but if an object is lost to an error,
 * errors of its other fields may be listed too.
 */
export function runPlan(parts: RunParts): Promise<Executed> {
  const { error } = parts.plan.root;
  if (error !== undefined) return Promise.resolve({ data: ['null'], errors: [error] });
  const root = { plan: parts.plan.root, object: parts.rootValue ?? {} };
  return new Run(parts, { holder: WHOLE, root, later: () => undefined, together: atOnce }).answer();
}

interface Each {
  readonly holder: FieldHolder;
  readonly args: Record<string, unknown>;
  readonly info: GraphQLResolveInfo & FieldInfo;
  readonly values: unknown[];
  readonly complete: (values: readonly unknown[]) => void;
}

/** A whole operation, or a part delivered apart. */
export class Run {
  readonly #parts: RunParts;
  readonly #job: Job;
  readonly #errors: FieldErrors;
  readonly #scheduler: Scheduler;
  readonly #scope: RunScope;
  readonly #later: Later | undefined;
  #root: ObjectColumn | undefined;
  #halted: GraphQLError | null = null;

  constructor(parts: RunParts, scope: RunScope) {
    this.#parts = parts;
    this.#scope = scope;
    this.#job = parts.job ?? { flow: new Flow() };
    this.#scheduler = new Scheduler(this.#job, parts.onPause);
    this.#errors = new FieldErrors(parts.errorBehavior, parts.onError, (error) => {
      this.halt(error);
      parts.onHalt?.(error);
    });
    this.#later = scope.later(this);
  }

  /** Synchronous as far as nothing has to be waited for. */
  async answer(): Promise<Executed> {
    const { root, holder } = this.#scope;
    const shape = { kind: 'object', isNonNull: false, plan: root.plan } as const;
    const objects = new ObjectColumn(shape, holder, root.plan, [root.object]);
    this.#root = objects;
    this.#descend(objects);
    const working = this.#scheduler.work();
    if (working !== undefined) await working;
    const isNull = this.#parts.isDry || this.#halted !== null;
    const made = isNull ? ['null'] : timeSliced(this.#job, this.#make());
    const data = made instanceof Promise ? await made : made;
    if (this.#halted !== null) return { data: ['null'], errors: [this.#halted] };
    return { data, errors: this.#errors.all };
  }

  /** Nothing comes of the run but an error. */
  halt(error: GraphQLError): void {
    this.#halted ??= error;
    this.#scheduler.end();
  }

  /** The run isn't over before it has begun. */
  begin(begin: () => void): void {
    this.#scheduler.add(begin);
  }

  /** True if a missing non-null value nulls all of it. */
  get isLost(): boolean {
    if (this.#errors.isAllLost || this.#halted !== null) return true;
    return this.#root?.isNull(0) === true;
  }

  #resolve(objects: ObjectColumn, index: number, field: FieldPlan): void {
    const holder = new FieldHolder(objects, field);
    const complete = (values: readonly unknown[]) => {
      objects.columns[index] = this.#complete(field, field.shape, holder, values);
    };
    let args: Record<string, unknown>;
    try {
      args =
        field.args ?? getArgumentValues(field.definition, field.nodes[0] as FieldNode, this.#parts.variables);
    } catch (error) {
      const values = objects.objects.map((object) => (object === null ? ABSENT : toError(error)));
      complete(values);
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

  /** Pauses between blocks of objects. */
  #resolveEach(each: Each, from: number): void {
    const { holder, args, info, values } = each;
    const { context } = this.#parts;
    const { objects } = holder.objects;
    const { by, name, definition } = holder.field;
    for (let slot = from; slot < objects.length; slot += 1) {
      const isBlockOver = slot > from && slot % BLOCK_OBJECTS === 0;
      if (isBlockOver && this.#scheduler.isTimeUp()) {
        info.slot = -1;
        // They are waited for only once all have been asked for.
        handleRejections(values.slice(from, slot));
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
    this.#scheduler.waitForAll(values, each.complete);
  }

  /** A closure in the loop would make a context for each object. */
  #pauseAt(each: Each, slot: number): void {
    this.#scheduler.pause(() => this.#resolveEach(each, slot));
  }

  #resolveTogether(
    holder: FieldHolder,
    args: Record<string, unknown>,
    complete: (values: readonly unknown[]) => void,
  ): void {
    // Some objects may be lost before their values arrive.
    const asked = holder.objects.objects.slice();
    const objects = asked.includes(null) ? asked.filter((object) => object !== null) : (asked as object[]);
    const spread = (given: readonly unknown[] | Error) =>
      complete(spreadOver(asked, given, objects === asked));
    if (objects.length === 0) {
      spread([]);
      return;
    }
    const { plan, variables, context } = this.#parts;
    const info = new TogetherInfo(plan, variables, holder.field, holder, asked);
    let given: ReturnType<ResolveTogether> | Error;
    try {
      given = this.#scope.together({ field: holder.field, objects, args, context, info });
    } catch (error) {
      given = toError(error);
    }
    if (isPromise(given)) this.#scheduler.wait(given, spread);
    else spread(given);
  }

  *#make(): Steps<StringPieces> {
    const column = this.#root as ObjectColumn;
    yield* column.build(this.#errors);
    return yield* written(column.valueAt(0));
  }

  #complete(field: FieldPlan, shape: Shape, holder: Holder, values: readonly unknown[]): Column {
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

  /** Null if it is missing, or an error, which is listed. */
  #presence(field: FieldPlan, column: Column, value: unknown, slot: number): unknown {
    if (value === ABSENT) return null;
    if (value instanceof Error) this.#errors.fail(field, value, column.holder, slot, column);
    else if (value != null) return value;
    else if (column.shape.isNonNull) this.#errors.fail(field, missing(field), column.holder, slot, column);
    return null;
  }

  #completeLeaves(field: FieldPlan, shape: LeafShape, holder: Holder, values: readonly unknown[]): Column {
    const column = new LeafColumn(shape, holder, values.length);
    if (field.isOfSchema) {
      const texts = values.map((value) => (typeof value === 'string' ? value.length : 0));
      this.#parts.onList?.(itemsIn(texts.reduce((sum, length) => sum + length, 0)));
    }
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (value === null) continue;
      try {
        column.values[slot] = shape.leaf.serialize(value);
      } catch (error) {
        this.#errors.fail(field, error, holder, slot, column);
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
    const { error } = plan;
    for (let slot = 0; slot < values.length; slot += 1) {
      const object = this.#presence(field, column, values[slot], slot) as object | null;
      if (error === undefined || object === null) column.objects[slot] = object;
      else this.#errors.fail(field, error, holder, slot, column);
    }
    this.#descend(column);
    return column;
  }

  #completeLists(field: FieldPlan, shape: ListShape, holder: Holder, values: readonly unknown[]): Column {
    const column = new ListColumn(shape, holder, values.length);
    const items: unknown[] = [];
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presence(field, column, values[slot], slot);
      if (isIterableObject(value)) {
        const before = items.length;
        for (const item of value) items.push(item);
        this.#parts.onList?.(items.length - before);
      } else if (value !== null) {
        const named = `${field.parentType.name}.${field.name}`;
        const error = new Error(`Expected Iterable, but did not find one for field "${named}".`);
        this.#errors.fail(field, error, holder, slot, column);
      }
      column.endsAt(slot, items.length, value === null);
    }
    this.#scheduler.waitForAll(items, (items) => {
      const complete = () => {
        column.items = this.#complete(field, shape.item, column, items);
      };
      if (items.length > LONG_LIST) this.#scheduler.inTurn(complete);
      else complete();
    });
    return column;
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
    const info = this.#infoOf(field, holder);
    const present = values.map((value, slot) => this.#presence(field, column, value, slot));
    const names = present.map((value, slot) => {
      info.slot = slot;
      try {
        return value === null ? null : resolveType(value, context, info, type);
      } catch (error) {
        return toError(error);
      }
    });
    this.#scheduler.waitForAll(names, (types) => {
      for (let slot = 0; slot < present.length; slot += 1) {
        const object = present[slot] as object | null;
        if (object === null) continue;
        const name = types[slot];
        const concrete = typeof name === 'string' ? plan.schema.getType(name) : undefined;
        if (isObjectType(concrete) && plan.schema.isSubType(type, concrete)) {
          const plan = this.#planFor(shape.planOf(concrete), present.length);
          if (plan.error === undefined) column.choose(slot, plan, object);
          else this.#errors.fail(field, plan.error, holder, slot, column);
        } else {
          const error = name instanceof Error ? name : notPossible(field, type, name);
          this.#errors.fail(field, error, holder, slot, column);
        }
      }
      for (const objects of column.byType.values()) this.#descend(objects);
    });
    return column;
  }

  /** Nothing is deferred if the objects are too many. */
  #planFor(plan: ObjectPlan, objects: number): ObjectPlan {
    const { deferral } = plan;
    if (deferral === undefined || this.#later?.mayDefer(deferral, objects)) return plan;
    return deferral.whole();
  }

  #descend(objects: ObjectColumn): void {
    const { plan } = objects;
    if (plan.countedLength > 0) this.#parts.onList?.(itemsIn(plan.countedLength * objects.objects.length));
    objects.check(this.#errors);
    for (const [index, field] of plan.fields.entries()) {
      if (field.by !== 'typename' && field.by !== 'leaf property')
        this.#scheduler.add(() => this.#resolve(objects, index, field));
    }
    if (plan.deferral !== undefined) this.#later?.defer(plan.deferral, objects);
  }

  #infoOf(field: FieldPlan, holder: Holder): GraphQLResolveInfo & FieldInfo {
    return new FieldInfo(this.#parts.plan, this.#parts.variables, field, holder) as GraphQLResolveInfo &
      FieldInfo;
  }
}

function notPossible({ parentType, name }: FieldPlan, type: GraphQLAbstractType, given: unknown): Error {
  return new Error(
    `Abstract type "${type.name}" must resolve to an Object type at runtime for field ` +
      `"${parentType.name}.${name}", received ${inspect(given)}.`,
  );
}

/**
 * ABSENT where there is no object.
 * @param areAllThere true if none of the objects is null
 */
function spreadOver(
  asked: readonly (object | null)[],
  given: readonly unknown[] | Error,
  areAllThere: boolean,
): readonly unknown[] {
  if (given instanceof Error) return asked.map((object) => (object === null ? ABSENT : given));
  if (areAllThere && given.length === asked.length) return given;
  let next = 0;
  return asked.map((object) => (object === null ? ABSENT : given[next++]));
}

/** Works off the tasks of one run, with pauses for others, and what waits for promises once they are settled. */
export class Scheduler {
  readonly #job: Job;
  readonly #onPause: ((goesOn: Promise<void>) => void) | undefined;
  #tasks: (() => void)[] = [];
  #waiting = 0;
  #isPaused = false;
  /** End of the current turn, by `performance.now`. */
  #pausesAtMs = 0;
  /** Set once ended early: later results are dropped, and nothing more begins. */
  #isEnded = false;
  #over = () => {};
  #broken = (_error: unknown) => {};

  /** @param onPause called with each pause for others; its promise settles after it */
  constructor(job: Job, onPause?: (goesOn: Promise<void>) => void) {
    this.#job = job;
    this.#onPause = onPause;
  }

  add(task: () => void): void {
    this.#tasks.push(task);
  }

  /**
   * Synchronous if nothing has to be waited for.
   * @throws the error of a task
   */
  work(): void | Promise<void> {
    try {
      this.#work();
    } catch (error) {
      this.#isEnded = true;
      throw error;
    }
    if (this.#isOver()) return;
    return new Promise<void>((resolve, reject) => {
      this.#over = resolve;
      this.#broken = reject;
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#over();
  }

  isTimeUp(): boolean {
    return performance.now() >= this.#pausesAtMs;
  }

  pause(goOn: () => void): void {
    this.#pause(() => {
      this.#pausesAtMs = performance.now() + TURN_MS;
      goOn();
      this.#work();
    });
  }

  wait<Value>(promise: PromiseLike<Value>, goOn: (value: Value | Error) => void): void {
    this.#waiting += 1;
    const settled = (value: Value | Error) => {
      if (this.#isEnded) handleRejections(value);
      else this.#goOn(() => goOn(value));
    };
    promise.then(settled, (error) => settled(toError(error)));
  }

  /** Does long work, after a pause if the turn is over. */
  inTurn(work: () => void): void {
    if (!this.isTimeUp()) {
      work();
      return;
    }
    this.#waiting += 1;
    this.#inSlice(() => this.#goOn(work));
  }

  /** Goes on once all promises among the values are settled; errors stand for rejected ones. */
  waitForAll(values: unknown[], goOn: (values: unknown[]) => void): void {
    let missing = 0;
    // Outside of the loop, which would otherwise make a scope for each value.
    const waitFor = (promise: PromiseLike<unknown>, slot: number) =>
      this.wait(promise, (settled) => {
        values[slot] = settled;
        missing -= 1;
        if (missing === 0) goOn(values);
        else handleRejections(settled);
      });
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = values[slot];
      if (!isPromise(value)) continue;
      missing += 1;
      waitFor(value, slot);
    }
    if (missing === 0) goOn(values);
    else for (const value of values) handleRejections(value);
  }

  #goOn(work: () => void): void {
    this.#waiting -= 1;
    this.#safely(() => {
      this.#pausesAtMs = performance.now() + TURN_MS;
      work();
      // Taking over a long list counts as work.
      if (this.#tasks.length > 0 && !this.#isPaused && this.isTimeUp()) this.#pause(() => this.#work());
      else this.#work();
    });
  }

  #isOver(): boolean {
    return this.#isEnded || (this.#waiting === 0 && this.#tasks.length === 0 && !this.#isPaused);
  }

  /** Works off the tasks that can be done now. */
  #work(): void {
    if (this.#isPaused || this.#isEnded) return;
    this.#pausesAtMs = performance.now() + TURN_MS;
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks;
      this.#tasks = [];
      for (const [done, task] of tasks.entries()) {
        task();
        if (this.#isEnded) return;
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
    this.#inSlice(() => {
      this.#isPaused = false;
      this.#safely(goOn);
    });
  }

  /** The listener to pauses waits until the work is done. */
  #inSlice(work: () => void): void {
    const goesOn = new Promise<void>((resolve) => {
      inSlice(this.#job, () => {
        work();
        resolve();
      });
    });
    this.#onPause?.(goesOn);
  }

  /** An internal error must not leave the operation unanswered. */
  #safely(work: () => void): void {
    if (this.#isEnded) return;
    try {
      work();
    } catch (error) {
      this.#isEnded = true;
      this.#broken(error);
    }
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
  );
}
