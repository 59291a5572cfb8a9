import { responsePathAsArray } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { Column, Holder, ListColumn, ObjectColumn, Position } from './columns.ts';
import type { Later } from './completion.ts';
import {
  type AnswerPath,
  type Delivered,
  DeliveryOrder,
  type Fragment,
  openPart,
  type RunPart,
  type Stream,
  type ToldPart,
} from './delivery-order.ts';
import type { DeferUsage, FieldPlan, ListShape, ObjectDeferral, StreamUsage } from './plan.ts';
import { Pooled } from './pooled.ts';
import { type Executed, Run, type RunParts, type RunScope } from './run.ts';
import { handleRejections } from './scheduler.ts';

export interface IncrementalParts<Told extends ToldPart> extends RunParts {
  /** Makes the message on an executed part. */
  readonly tell: (executed: Executed, isLost: boolean) => Told;
  /** Makes the message on a part that was not executed to its end. */
  readonly fault: (error: unknown) => Told;
  /** Called if there is something to tell, or nothing more will come. */
  readonly onChange: () => void;
}

/** Parts of one operation that are delivered apart; any beyond stay in place. */
const MAX_PARTS = 1_000;

/** Groups that the items of one list are delivered in. */
const MAX_BLOCKS = 100;

/**
 * Executes an operation whose plan has parts that are delivered apart. They begin at once, each in a run of its own
 * beside the others, so that their demands go together. Only their delivery waits: for the part that they belong to,
 * and for those who go with them. A value lost to an error is lost within its own part.
 */
export class IncrementalRun<Told extends ToldPart> {
  readonly #parts: IncrementalParts<Told>;
  readonly #fragments = new Map<Column, Map<number, Map<DeferUsage, Fragment>>>();
  readonly #first: RunPart;
  readonly #order = new DeliveryOrder<Told>();
  readonly #pooled: Pooled;
  #running = 0;
  /** Runs that have not begun yet, or that pause. */
  #late = 0;
  #count = 0;
  #ids = 0;

  constructor(parts: IncrementalParts<Told>) {
    this.#parts = parts;
    this.#first = openPart({ path: [], position: null });
    this.#pooled = new Pooled(() => this.#late > 0, parts.onPause);
  }

  /** Executes the first part; afterwards, `take` returns messages on the rest. */
  first(): PromiseOrValue<Executed> {
    const root = { plan: this.#parts.plan.root, object: {} };
    const holder: Holder = { above: () => null, path: () => undefined };
    const run = this.#open(this.#first, { holder, root }, () => undefined, true);
    const ended = (error: unknown): never => {
      this.#drop(this.#first);
      throw error;
    };
    const done = (executed: Executed) => {
      this.#order.isThere(this.#first, run.isLost);
      this.#order.isTold(this.#first);
      return executed;
    };
    try {
      const executed = mapValue(run.resolve(), () => mapValue(run.text(), done));
      return executed instanceof Promise ? executed.catch(ended) : executed;
    } catch (error) {
      return ended(error);
    }
  }

  /** True if anything is still to be told. */
  get hasMore(): boolean {
    return this.#order.hasMore;
  }

  /** True if something is still being executed. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Takes the messages since the last time. */
  take(): readonly Delivered<Told>[] {
    return this.#order.take();
  }

  #open(
    part: RunPart,
    scope: Pick<RunScope, 'holder' | 'root'>,
    outer: (usage: DeferUsage) => Fragment | undefined,
    mayStream: boolean,
  ): Run {
    const later = (run: Run): Later => ({
      mayDefer: ({ begins, groups }, objects) => this.#mayAdd((begins.length + groups.length) * objects),
      defer: (deferral, objects) => this.#defer(part, run, deferral, objects, outer),
      stream: (field, shape, lists, slot, items) =>
        mayStream && this.#stream(part, run, { field, shape, lists, slot, items }, outer),
    });
    return new Run(
      { ...this.#parts, onPause: this.#onPause },
      { ...scope, later, together: this.#pooled.resolve },
    );
  }

  readonly #onPause = (goesOn: Promise<void>) => {
    this.#late += 1;
    void goesOn.then(() => {
      this.#late -= 1;
    });
    this.#parts.onPause?.(goesOn);
  };

  #mayAdd(parts: number): boolean {
    return this.#count + parts <= MAX_PARTS;
  }

  #defer(
    part: RunPart,
    run: Run,
    { begins, groups }: ObjectDeferral,
    objects: ObjectColumn,
    outer: (usage: DeferUsage) => Fragment | undefined,
  ): void {
    for (const [slot, object] of objects.objects.entries()) {
      if (object === null) continue;
      const path = responsePathAsArray(objects.holder.path(slot));
      const position = { column: objects, slot };
      const known = (usage: DeferUsage) => this.#fragmentAt(position, usage) ?? outer(usage);
      const here = new Map<DeferUsage, Fragment>();
      if (begins.length > 0) slotsOf(this.#fragments, objects).set(slot, here);
      for (const usage of begins) {
        const parent = usage.parent && known(usage.parent);
        const fragment = this.#openFragment(path, usage.label, parent);
        here.set(usage, fragment);
        part.begun.push({ what: fragment, position });
      }
      for (const { usages, plan } of groups) {
        const fragments = usages.flatMap((usage) => known(usage) ?? []);
        const isNested = fragments.some((fragment) => fragment.path.length < path.length);
        const added = this.#add(part, openPart({ path, fragments, position }));
        const holder: Holder = { above: () => null, path: () => objects.holder.path(slot) };
        run.begin(() =>
          this.#start(added, this.#open(added, { holder, root: { plan, object } }, known, !isNested)),
        );
      }
    }
  }

  /** The fragment that a usage stands for at a position: that of the nearest object around it. */
  #fragmentAt(position: Position, usage: DeferUsage): Fragment | undefined {
    for (let at: Position | null = position; at !== null; at = at.column.holder.above(at.slot)) {
      const fragment = this.#fragments.get(at.column)?.get(at.slot)?.get(usage);
      if (fragment !== undefined) return fragment;
    }
    return undefined;
  }

  #openFragment(path: AnswerPath, label: string | undefined, parent: Fragment | undefined): Fragment {
    const fragment: Fragment = {
      id: this.#ids++,
      path,
      label,
      parent,
      children: [],
      parts: [],
      left: 0,
      isFound: false,
      state: 'hidden',
    };
    parent?.children.push(fragment);
    return fragment;
  }

  #stream(
    part: RunPart,
    run: Run,
    list: {
      readonly field: FieldPlan;
      readonly shape: ListShape;
      readonly lists: ListColumn;
      readonly slot: number;
      readonly items: readonly unknown[];
    },
    outer: (usage: DeferUsage) => Fragment | undefined,
  ): boolean {
    const { field, shape, lists, slot, items } = list;
    const { label, initialCount } = shape.stream as StreamUsage;
    const blockItems = Math.ceil(items.length / MAX_BLOCKS);
    if (!this.#mayAdd(Math.ceil(items.length / blockItems))) return false;
    // The runs of these items begin later, or never.
    handleRejections(items);
    const listPath = lists.holder.path(slot);
    const path = responsePathAsArray(listPath);
    const stream: Stream = { id: this.#ids++, path, label, blocks: [], next: initialCount, isPending: false };
    const position = { column: lists, slot };
    part.begun.push({ what: stream, position });
    for (let start = 0; start < items.length; start += blockItems) {
      const block = items.slice(start, start + blockItems);
      const added = this.#add(part, openPart({ path, stream, items: block.length, position }));
      stream.blocks.push(added);
      const holder: Holder = {
        above: () => null,
        path: (item) => ({ prev: listPath, key: initialCount + start + item, typename: undefined }),
      };
      const root = { field, shape: shape.item, items: block };
      const known = (usage: DeferUsage) => this.#fragmentAt(position, usage) ?? outer(usage);
      // Apollo's clients lose count of a list within such items.
      run.begin(() => this.#start(added, this.#open(added, { holder, root }, known, false)));
    }
    return true;
  }

  #add(origin: RunPart, part: RunPart): RunPart {
    this.#count += 1;
    this.#running += 1;
    this.#late += 1;
    origin.spawned.push(part);
    for (const fragment of part.fragments) {
      fragment.parts.push(part);
      fragment.left += 1;
    }
    return part;
  }

  #start(part: RunPart, run: Run): void {
    if (part.isBegun) return;
    part.isBegun = true;
    this.#late -= 1;
    const settled = (outcome: Told) => {
      this.#running -= 1;
      part.outcome = outcome;
      this.#order.isThere(part, outcome.isLost);
      this.#parts.onChange();
    };
    const failed = (error: unknown) => {
      this.#drop(part);
      settled(this.#parts.fault(error));
    };
    try {
      const executed = mapValue(run.resolve(), () => run.text());
      const done = (there: Executed) => settled(this.#parts.tell(there, run.isLost));
      if (executed instanceof Promise) executed.then(done).catch(failed);
      else done(executed);
    } catch (error) {
      failed(error);
    }
  }

  /** Drops the parts that were to begin in a run that was ended: they never will. */
  #drop(part: RunPart): void {
    for (const other of part.spawned) {
      if (other.isBegun) continue;
      other.isBegun = true;
      this.#late -= 1;
      this.#running -= 1;
    }
  }
}

function slotsOf<Value>(map: Map<Column, Map<number, Value>>, column: Column): Map<number, Value> {
  const known = map.get(column);
  if (known !== undefined) return known;
  const made = new Map<number, Value>();
  map.set(column, made);
  return made;
}
