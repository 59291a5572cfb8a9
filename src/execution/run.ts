import type { GraphQLError, GraphQLResolveInfo } from 'graphql';
import { toError } from 'graphql/jsutils/toError.js';
import { type Job, mapValue, type PromiseOrValue, type Steps, timeSliced } from '../async/turns.ts';
import {
  ABSENT,
  type Column,
  Completion,
  FieldErrors,
  FieldHolder,
  type FieldInfo,
  type FieldTask,
  type Holder,
  type Later,
  ObjectColumn,
  type RunTask,
  TogetherInfo,
} from './columns.ts';
import type { BatchInfo, FieldPlan, ObjectPlan, Plan, Shape } from './plan.ts';
import { handleRejections, isPromise, Scheduler } from './scheduler.ts';

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
class PieceWriter {
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

/** Items that are written in one step, with those of the lists in them. */
const STEP_ITEMS = 64;

/** Items beyond which a value is written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data; of long data, in pieces. */
export function* written(value: unknown): Steps<TextPieces> {
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

/** Objects of one run that a field is to be resolved for. */
export interface TogetherCall {
  readonly field: FieldPlan;
  readonly objects: readonly object[];
  readonly args: Record<string, unknown>;
  readonly context: unknown;
  readonly info: TogetherInfo;
}

/** Resolves a field for many objects. */
export type ResolveTogether = (call: TogetherCall) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** Resolves a field as soon as it is asked to. */
export const atOnce: ResolveTogether = ({ field, objects, args, context, info }) =>
  field.definition.extensions.batch?.(objects, args, context, info as unknown as BatchInfo) ?? [];

/** The outcome of an operation. */
export interface Executed {
  /** `data` as JSON. */
  readonly data: TextPieces;
  readonly errors: readonly GraphQLError[];
}

export interface RunParts {
  readonly plan: Plan;
  readonly context: unknown;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The job whose time the run takes, if others want theirs. */
  readonly job?: Job;
  /** Called with each pause that the run makes so that others may have a turn; it goes on by itself. */
  readonly onPause?: (goesOn: Promise<void>) => void;
  /**
   * Called with the items of a list before anything is resolved for them.
   * @throws if they are too many: the run ends, and is rejected with the same
   */
  readonly onList?: (items: number) => void;
  /**
   * Called before each error that a field is answered with.
   * @throws as above
   */
  readonly onError?: () => void;
  /** True if everything is resolved, and no answer made of it. */
  readonly isDry?: boolean;
  /** Sees the resolved values; left out if nobody observes the run. */
  readonly observer?: RunObserver | undefined;
}

/** Sees the values that a run resolves, while it does. */
export interface RunObserver {
  /** Sees objects: their properties can be read now. */
  objects(objects: ObjectColumn): void;
  /**
   * Sees a field that is about to be resolved for all objects of a selection.
   * @returns a function called with a value for each of these, by slot: itself, or the promise or the list of promises
   * from the resolver
   */
  field(holder: FieldHolder): (values: readonly unknown[]) => void;
}

/** The part of an operation that one run answers. */
export interface RunScope {
  /** The parent of the values. */
  readonly holder: Holder;
  /** The object whose selection is resolved; or items of a list. */
  readonly root:
    | { readonly plan: ObjectPlan; readonly object: object }
    | { readonly field: FieldPlan; readonly shape: Shape; readonly items: unknown[] };
  /** Makes the taker of parts that are delivered apart from this run. */
  readonly later: (run: Run) => Later | undefined;
  readonly together: ResolveTogether;
}

/** The parent of the whole answer: nothing stands above it. */
const WHOLE: Holder = { above: () => null, path: () => undefined };

/** Objects that a field is resolved for between looks at the clock. */
const BLOCK_OBJECTS = 8;

/**
 * Executes an operation breadth first. Each field of a selection is resolved for all objects of that selection
 * together, before the selections below it. Work that doesn't have to wait is done at once, without a promise. The
 * outcome is that of graphql-js, but for this: if an object is lost to an error, errors of its other fields may be told
 * too.
 */
export function runPlan(parts: RunParts): PromiseOrValue<Executed> {
  const { fault } = parts.plan.root;
  if (fault !== undefined) return { data: ['null'], errors: [fault] };
  const root = { plan: parts.plan.root, object: {} };
  const run = new Run(parts, { holder: WHOLE, root, later: () => undefined, together: atOnce });
  return mapValue(run.resolve(), () => run.text());
}

/** A field that is resolved for one object after the other. */
interface Each {
  readonly holder: FieldHolder;
  readonly args: Record<string, unknown>;
  readonly info: GraphQLResolveInfo & FieldInfo;
  readonly values: unknown[];
  readonly seen: Seen;
  readonly complete: (values: readonly unknown[]) => void;
}

/** Takes the values of a field for the observer of the run; undefined if there is none. */
type Seen = ReturnType<RunObserver['field']> | undefined;

/** One run, of an operation or of a part of it that is delivered apart. */
export class Run {
  readonly #parts: RunParts;
  readonly #job: Job;
  readonly #errors: FieldErrors;
  readonly #scheduler: Scheduler<RunTask>;
  readonly #completion: Completion;
  readonly #scope: RunScope;
  #root: Column | undefined;

  constructor(parts: RunParts, scope: RunScope) {
    this.#parts = parts;
    this.#scope = scope;
    this.#job = parts.job ?? { flow: '' };
    this.#scheduler = new Scheduler<RunTask>(
      this.#job,
      (task) => ('begin' in task ? task.begin() : this.#resolve(task)),
      parts.onPause,
    );
    this.#errors = new FieldErrors(parts.onError);
    this.#completion = new Completion({
      plan: parts.plan,
      context: parts.context,
      variables: parts.variables,
      scheduler: this.#scheduler,
      errors: this.#errors,
      onList: parts.onList,
      observer: parts.observer,
      later: scope.later(this),
    });
  }

  /** Resolves all fields. */
  resolve(): PromiseOrValue<void> {
    const { root, holder } = this.#scope;
    if ('plan' in root) {
      const shape = { kind: 'object', isNonNull: false, plan: root.plan } as const;
      const objects = new ObjectColumn(shape, holder, root.plan, [root.object]);
      this.#root = objects;
      this.#completion.descend(objects);
    } else {
      this.#scheduler.waitForAll(root.items, (items) => {
        this.#root = this.#completion.complete(root.field, root.shape, holder, items);
      });
    }
    return this.#scheduler.work();
  }

  /** Begins something else in a turn of this run, which isn't over before. */
  begin(begin: () => void): void {
    this.#scheduler.add({ begin });
  }

  text(): PromiseOrValue<Executed> {
    if (this.#parts.isDry) return this.#executed(['null']);
    return mapValue(timeSliced(this.#job, this.#make()), (data) => this.#executed(data));
  }

  /** True if nothing has come of it: a value is missing that may not be null. */
  get isLost(): boolean {
    return this.#errors.isAllLost || ('plan' in this.#scope.root && this.#root?.isNull(0) === true);
  }

  #value(): unknown {
    const { root } = this.#scope;
    if ('plan' in root) return this.#root?.valueAt(0);
    return root.items.map((_, slot) => this.#root?.valueAt(slot));
  }

  #resolve({ objects, index, field }: FieldTask): void {
    const holder = new FieldHolder(objects, field);
    const seen = this.#parts.observer?.field(holder);
    const complete = (values: readonly unknown[]) => {
      objects.columns[index] = this.#completion.complete(field, field.shape, holder, values);
    };
    let args: Record<string, unknown>;
    try {
      args = field.argumentsOf(this.#parts.variables);
    } catch (error) {
      const values = objects.objects.map((object) => (object === null ? ABSENT : toError(error)));
      seen?.(values);
      complete(values);
      return;
    }
    if (field.by === 'batch') this.#resolveTogether(holder, args, seen, complete);
    else
      this.#resolveEach(
        {
          holder,
          args,
          seen,
          complete,
          info: this.#completion.infoOf(field, holder),
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
      if (isBlockOver && this.#scheduler.isTimeUp()) {
        info.slot = -1;
        // These values are waited for only once all of them have been asked for.
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
    each.seen?.(values);
    this.#scheduler.waitForAll(values, each.complete);
  }

  /**
   * Pauses the loop above. It stands apart from it, since the loop would else make a context of its own for each
   * object.
   */
  #pauseAt(each: Each, slot: number): void {
    this.#scheduler.pause(() => this.#resolveEach(each, slot));
  }

  #resolveTogether(
    holder: FieldHolder,
    args: Record<string, unknown>,
    seen: Seen,
    complete: (values: readonly unknown[]) => void,
  ): void {
    // Some of the objects may be lost before their values are there.
    const asked = holder.objects.objects.slice();
    const there = asked.includes(null) ? asked.filter((object) => object !== null) : (asked as object[]);
    const spread = (given: readonly unknown[] | Error) => {
      const values = spreadOver(asked, given, there === asked);
      seen?.(values);
      complete(values);
    };
    if (there.length === 0) {
      spread([]);
      return;
    }
    const { plan, variables, context } = this.#parts;
    const info = new TogetherInfo(plan, variables, holder.field, holder, asked);
    let given: ReturnType<ResolveTogether> | Error;
    try {
      given = this.#scope.together({ field: holder.field, objects: there, args, context, info });
    } catch (error) {
      given = toError(error);
    }
    if (isPromise(given)) this.#scheduler.wait(given, spread);
    else spread(given);
  }

  /** Makes the objects of the answer, and their JSON. */
  *#make(): Steps<TextPieces> {
    yield* (this.#root as Column).build(this.#errors);
    return yield* written(this.#value());
  }

  #executed(data: TextPieces): Executed {
    return { data, errors: this.#errors.all };
  }
}

/**
 * The values by slot of objects that were resolved together: ABSENT if there is no object.
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
