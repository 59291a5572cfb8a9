import {
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { isIterableObject } from 'graphql/jsutils/isIterableObject.js';
import { toError } from 'graphql/jsutils/toError.js';
import { handleRejections } from '../../shared/async/promises.ts';
import { Flow, inSlice, type Job, type Steps, TURN_MS, timeSliced } from '../../shared/async/turns.ts';
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
import { FieldBatchInfo, FieldInfo, type ResolveBatch } from './field-info.ts';
import { type StringPieces, written } from './json-pieces.ts';
import {
  type AbstractShape,
  type BatchInfo,
  type FieldPlan,
  itemsFor,
  type LeafShape,
  type ListShape,
  type ObjectDeferral,
  type ObjectPlan,
  type Plan,
  type Shape,
} from './plan.ts';
import type { Holder } from './positions.ts';

/** Calls the batch resolver of a field. Deferred parts wait for one another instead (`incremental.ts`). */
export const resolveBatchNow: ResolveBatch = ({ field, objects, args, context, info }) =>
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
  /** Called with each pause for other jobs; the promise settles when the run continues. */
  readonly onPause?: (resumed: Promise<void>) => void;
  /**
   * Called with the length of each list, before anything is resolved for its items, and with what introspection counts
   * for (`itemsFor`).
   * @throws if there are too many items: the run rejects with the same error
   */
  readonly onList?: (items: number) => void;
  /**
   * Called before each field error.
   * @throws if there are too many errors: the run rejects with the same error
   */
  readonly onError?: () => void;
  readonly errorBehavior?: ErrorBehavior;
  /** Called with the error that ends the run, if `errorBehavior` is `HALT`. */
  readonly onHalt?: (error: GraphQLError) => void;
  readonly rootValue?: object;
  /** True to resolve everything for its calls and errors alone: the data is null. */
  readonly isDry?: boolean;
}

/** What a run executes: the operation's root object, or an object with a deferred selection. */
export interface RunScope {
  /** What the root object belongs to; errors are nulled no further up than it. */
  readonly holder: Holder;
  readonly root: { readonly plan: ObjectPlan; readonly object: object };
  readonly deferralsOf: (run: Run) => Deferrals | undefined;
  readonly resolveBatch: ResolveBatch;
}

/** Takes over the deferred selections of a run. */
interface Deferrals {
  mayDefer(deferral: ObjectDeferral, objects: number): boolean;
  defer(deferral: ObjectDeferral, objects: ObjectColumn): void;
}

export const WHOLE: Holder = { above: () => null, path: () => undefined };

/** The value of a field in slots without an object to resolve it on: null, and no error. */
const ABSENT = Symbol('absent');

/** Objects that a field is resolved for between looks at the clock. */
const BLOCK_OBJECTS = 8;

/** Longer lists are completed in a new turn if this one is over: while code is cold, they may take milliseconds. */
const LONG_LIST = 1_000;

/**
 * Executes breadth first: each field of a selection is resolved for all its objects together, before the selections
 * below, and synchronously where nothing has to wait. Results equal graphql-js's, but if an object is lost to an error,
 * errors of its other fields may be listed too.
 */
export function runPlan(parts: RunParts): Promise<Executed> {
  const { error } = parts.plan.root;
  if (error !== undefined) return Promise.resolve({ data: ['null'], errors: [error] });
  const root = { plan: parts.plan.root, object: parts.rootValue ?? {} };
  return new Run(parts, {
    holder: WHOLE,
    root,
    deferralsOf: () => undefined,
    resolveBatch: resolveBatchNow,
  }).answer();
}

/** A field that is being resolved one object after the other, across pauses. */
interface FieldLoop {
  readonly holder: FieldHolder;
  readonly args: Record<string, unknown>;
  readonly info: GraphQLResolveInfo & FieldInfo;
  readonly values: unknown[];
  readonly complete: (values: readonly unknown[]) => void;
}

/** Executes a whole operation, or one deferred part of it. */
export class Run {
  readonly #parts: RunParts;
  readonly #job: Job;
  readonly #errors: FieldErrors;
  readonly #scheduler: Scheduler;
  readonly #scope: RunScope;
  readonly #deferrals: Deferrals | undefined;
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
    this.#deferrals = scope.deferralsOf(this);
  }

  /** Runs synchronously until it has to wait. */
  async answer(): Promise<Executed> {
    const { root, holder } = this.#scope;
    const shape = { kind: 'object', isNonNull: false, plan: root.plan } as const;
    const objects = new ObjectColumn(shape, holder, root.plan, [root.object]);
    this.#root = objects;
    this.#descend(objects);
    const working = this.#scheduler.work();
    if (working !== undefined) await working;
    const isNull = this.#parts.isDry || this.#halted !== null;
    const writing = isNull ? ['null'] : timeSliced(this.#job, this.#write());
    const data = writing instanceof Promise ? await writing : writing;
    if (this.#halted !== null) return { data: ['null'], errors: [this.#halted] };
    return { data, errors: this.#errors.all };
  }

  /** Ends the run: its data is null, and this is its only error. */
  halt(error: GraphQLError): void {
    this.#halted ??= error;
    this.#scheduler.end();
  }

  /** Adds a task, such as the start of a deferred part. The run isn't over before the task is done. */
  add(task: () => void): void {
    this.#scheduler.add(task);
  }

  /** True if an error has nulled all of its data. */
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
      complete(valuesBySlot(objects.objects, toError(error)));
      return;
    }
    if (field.by === 'batch') this.#resolveBatch(holder, args, complete);
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

  /** Resolves a field object by object, and may pause after each block of them. */
  #resolveEach(loop: FieldLoop, from: number): void {
    const { holder, args, info, values } = loop;
    const { context } = this.#parts;
    const { objects } = holder.objects;
    const { by, name, definition } = holder.field;
    for (let slot = from; slot < objects.length; slot += 1) {
      const isBlockOver = slot > from && slot % BLOCK_OBJECTS === 0;
      if (isBlockOver && this.#scheduler.isTimeUp()) {
        info.slot = -1;
        // They are awaited only after the last object, and none must count as unhandled until then.
        handleRejections(values.slice(from, slot));
        this.#pauseAt(loop, slot);
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
    this.#scheduler.waitForAll(values, loop.complete);
  }

  /** Outside of the loop, where the closure would make V8 allocate a scope for each object. */
  #pauseAt(loop: FieldLoop, slot: number): void {
    this.#scheduler.pause(() => this.#resolveEach(loop, slot));
  }

  #resolveBatch(
    holder: FieldHolder,
    args: Record<string, unknown>,
    complete: (values: readonly unknown[]) => void,
  ): void {
    // A copy, since errors may null some of the objects before their values arrive.
    const bySlot = holder.objects.objects.slice();
    const objects = bySlot.includes(null) ? bySlot.filter((object) => object !== null) : (bySlot as object[]);
    const completeSlots = (outcome: readonly unknown[] | Error) =>
      complete(valuesBySlot(bySlot, outcome, objects === bySlot));
    if (objects.length === 0) {
      completeSlots([]);
      return;
    }
    const { plan, variables, context } = this.#parts;
    const info = new FieldBatchInfo(plan, variables, holder.field, holder, bySlot);
    let outcome: ReturnType<ResolveBatch> | Error;
    try {
      outcome = this.#scope.resolveBatch({ field: holder.field, objects, args, context, info });
    } catch (error) {
      outcome = toError(error);
    }
    if (isPromise(outcome)) this.#scheduler.wait(outcome, completeSlots);
    else completeSlots(outcome);
  }

  *#write(): Steps<StringPieces> {
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

  /** The value; null if there is none or it is an error, which is noted, as is the lack of a non-null value. */
  #presentValue(field: FieldPlan, column: Column, value: unknown, slot: number): unknown {
    if (value === ABSENT) return null;
    if (value instanceof Error) this.#errors.fail(field, value, column.holder, slot, column);
    else if (value != null) return value;
    else if (column.shape.isNonNull) this.#errors.fail(field, missing(field), column.holder, slot, column);
    return null;
  }

  #completeLeaves(field: FieldPlan, shape: LeafShape, holder: Holder, values: readonly unknown[]): Column {
    const column = new LeafColumn(shape, holder, values.length);
    if (field.isIntrospection) {
      const lengths = values.map((value) => (typeof value === 'string' ? value.length : 0));
      this.#parts.onList?.(itemsFor(lengths.reduce((sum, length) => sum + length, 0)));
    }
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = this.#presentValue(field, column, values[slot], slot);
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
      const object = this.#presentValue(field, column, values[slot], slot) as object | null;
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
      const value = this.#presentValue(field, column, values[slot], slot);
      if (isIterableObject(value)) {
        const before = items.length;
        for (const item of value) items.push(item);
        this.#parts.onList?.(items.length - before);
      } else if (value !== null) {
        const fieldName = `${field.parentType.name}.${field.name}`;
        const error = new Error(`Expected Iterable, but did not find one for field "${fieldName}".`);
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
    const { schema } = plan;
    const resolveType = type.resolveType ?? defaultTypeResolver;
    const info = this.#infoOf(field, holder);
    const present = values.map((value, slot) => this.#presentValue(field, column, value, slot));
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
        const concrete = typeof name === 'string' ? schema.getType(name) : undefined;
        const possible = shape.plans.get(concrete as GraphQLObjectType);
        if (possible !== undefined) {
          const plan = this.#planFor(possible, present.length);
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

  /** The plan without `@defer` if deferring it for so many objects would make too many parts. */
  #planFor(plan: ObjectPlan, objects: number): ObjectPlan {
    const { deferral } = plan;
    if (deferral === undefined || this.#deferrals?.mayDefer(deferral, objects)) return plan;
    return deferral.whole();
  }

  /** Queues the fields of the objects. */
  #descend(objects: ObjectColumn): void {
    const { plan } = objects;
    if (plan.introspectionLength > 0)
      this.#parts.onList?.(itemsFor(plan.introspectionLength * objects.objects.length));
    objects.check(this.#errors);
    for (const [index, field] of plan.fields.entries()) {
      if (field.by !== 'typename' && field.by !== 'leaf property')
        this.#scheduler.add(() => this.#resolve(objects, index, field));
    }
    if (plan.deferral !== undefined) this.#deferrals?.defer(plan.deferral, objects);
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
 * Puts the values of a batch into the slots of its objects, and an error into all of them.
 * @param isNoneNull true if the objects are known to have no null among them
 */
function valuesBySlot(
  objects: readonly (object | null)[],
  outcome: readonly unknown[] | Error,
  isNoneNull = false,
): readonly unknown[] {
  if (outcome instanceof Error) return objects.map((object) => (object === null ? ABSENT : outcome));
  if (isNoneNull && outcome.length === objects.length) return outcome;
  let next = 0;
  return objects.map((object) => (object === null ? ABSENT : outcome[next++]));
}

/** Runs tasks in order, those that wait for promises once these settle, with pauses for other jobs. */
export class Scheduler {
  readonly #job: Job;
  readonly #onPause: ((resumed: Promise<void>) => void) | undefined;
  #tasks: (() => void)[] = [];
  #waiting = 0;
  #isPaused = false;
  /** End of the current turn, by `performance.now`. */
  #pausesAtMs = 0;
  /** Set once ended early: later results are dropped, and nothing more begins. */
  #isEnded = false;
  #resolveWork = () => {};
  #rejectWork = (_error: unknown) => {};

  /** @param onPause called with each pause for other jobs; the promise settles when the work after it is done */
  constructor(job: Job, onPause?: (resumed: Promise<void>) => void) {
    this.#job = job;
    this.#onPause = onPause;
  }

  add(task: () => void): void {
    this.#tasks.push(task);
  }

  /**
   * Runs all tasks, synchronously unless some have to wait.
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
      this.#resolveWork = resolve;
      this.#rejectWork = reject;
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#resolveWork();
  }

  isTimeUp(): boolean {
    return performance.now() >= this.#pausesAtMs;
  }

  /** Goes on in a later turn. Tasks wait until then. */
  pause(goOn = () => this.#work()): void {
    this.#isPaused = true;
    this.#waiting += 1;
    // The promise settles after the work, not before it.
    const resumed = new Promise<void>((resolve) => {
      inSlice(this.#job, () => {
        this.#isPaused = false;
        this.#goOn(goOn);
        resolve();
      });
    });
    this.#onPause?.(resumed);
  }

  wait<Value>(promise: PromiseLike<Value>, goOn: (value: Value | Error) => void): void {
    this.#waiting += 1;
    const settled = (value: Value | Error) => {
      if (this.#isEnded) handleRejections(value);
      else this.#goOn(() => goOn(value));
    };
    promise.then(settled, (error) => settled(toError(error)));
  }

  /** Runs work that may take long, after a pause if the turn is over. */
  inTurn(work: () => void): void {
    if (this.isTimeUp()) this.pause(work);
    else work();
  }

  /** Goes on once all promises among the values are settled. Each is replaced by its value, or by an error. */
  waitForAll(values: unknown[], goOn: (values: unknown[]) => void): void {
    let pending = 0;
    // Outside of the loop, where the closure would make V8 allocate a scope for each value.
    const waitFor = (promise: PromiseLike<unknown>, slot: number) =>
      this.wait(promise, (settled) => {
        values[slot] = settled;
        pending -= 1;
        if (pending === 0) goOn(values);
        else handleRejections(settled);
      });
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = values[slot];
      if (!isPromise(value)) continue;
      pending += 1;
      waitFor(value, slot);
    }
    if (pending === 0) goOn(values);
    else for (const value of values) handleRejections(value);
  }

  /** An internal error must not leave the operation unanswered. */
  #goOn(work: () => void): void {
    this.#waiting -= 1;
    if (this.#isEnded) return;
    try {
      this.#pausesAtMs = performance.now() + TURN_MS;
      work();
      // The work may have used up the turn by itself, for instance with a long list.
      if (this.#tasks.length > 0 && !this.#isPaused && this.isTimeUp()) this.pause();
      else this.#work();
    } catch (error) {
      this.#isEnded = true;
      this.#rejectWork(error);
    }
  }

  #isOver(): boolean {
    return this.#isEnded || (this.#waiting === 0 && this.#tasks.length === 0);
  }

  /** Runs the tasks that needn't wait, until the turn is over. */
  #work(): void {
    if (this.#isPaused || this.#isEnded) return;
    this.#pausesAtMs = performance.now() + TURN_MS;
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks;
      this.#tasks = [];
      for (const [index, task] of tasks.entries()) {
        task();
        if (this.#isEnded) return;
        const isLast = index === tasks.length - 1;
        if (!this.#isPaused && (isLast || performance.now() < this.#pausesAtMs)) continue;
        this.#tasks.unshift(...tasks.slice(index + 1));
        if (!this.#isPaused) this.pause();
        return;
      }
    }
    if (this.#isOver()) this.#resolveWork();
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
  );
}
