import { type GraphQLError, type ResponsePath, responsePathAsArray } from 'graphql';
import type { ObjectColumn } from './columns.ts';
import { FieldBatchInfo, type ResolveBatch } from './field-info.ts';
import type { DeferUsage, FieldPlan, ObjectDeferral } from './plan.ts';
import type { Holder, NullableColumn, Position } from './positions.ts';
import { type Executed, Run, type RunParts, type RunScope, resolveBatchNow } from './run.ts';

type AnswerPath = readonly (string | number)[];

interface PooledBatch {
  readonly call: Parameters<ResolveBatch>[0];
  readonly settler: PromiseWithResolvers<readonly unknown[]>;
}

/**
 * Resolves a field for several runs together, since batch resolvers decide by all parents which figures to fetch. It
 * waits until all runs have come to their fields.
 */
class BatchPool {
  readonly #isAnyPaused: () => boolean;
  readonly #onPause: ((resumed: Promise<void>) => void) | undefined;
  #waiting = new Map<FieldPlan, PooledBatch[]>();

  /**
   * @param isAnyPaused true if some run hasn't started yet, or is paused, and may come to further fields
   * @param onPause called with a promise that settles once the waiting batches have been resolved
   */
  constructor(isAnyPaused: () => boolean, onPause: ((resumed: Promise<void>) => void) | undefined) {
    this.#isAnyPaused = isAnyPaused;
    this.#onPause = onPause;
  }

  readonly resolve: ResolveBatch = (call) => {
    if (this.#waiting.size === 0) this.#onPause?.(new Promise((resolve) => this.#whenQuiet(resolve)));
    const settler = Promise.withResolvers<readonly unknown[]>();
    const waiting = this.#waiting.get(call.field);
    if (waiting === undefined) this.#waiting.set(call.field, [{ call, settler }]);
    else waiting.push({ call, settler });
    return settler.promise;
  };

  #whenQuiet(goOn: () => void): void {
    setImmediate(() => {
      if (this.#isAnyPaused()) {
        this.#whenQuiet(goOn);
        return;
      }
      const all = this.#waiting;
      this.#waiting = new Map();
      for (const batches of all.values()) resolveAll(batches);
      goOn();
    });
  }
}

function resolveAll(batches: readonly PooledBatch[]): void {
  const [first] = batches as [PooledBatch];
  const objects = batches.flatMap(({ call }) => call.objects);
  const info = new PooledBatchInfo(batches.map(({ call }) => [call.info, call.objects.length]));
  const resolve = (values: readonly unknown[]) => {
    let next = 0;
    for (const { call, settler } of batches) {
      settler.resolve(values.slice(next, next + call.objects.length));
      next += call.objects.length;
    }
  };
  const reject = (error: unknown) => {
    for (const { settler } of batches) settler.reject(error);
  };
  try {
    const outcome = resolveBatchNow({ ...first.call, objects, info });
    if ('then' in outcome) outcome.then(resolve, reject);
    else resolve(outcome);
  } catch (error) {
    reject(error);
  }
}

/** The `info` of a batch resolver for several runs; their parents are concatenated in the order of the runs. */
class PooledBatchInfo extends FieldBatchInfo {
  readonly #infos: readonly (readonly [info: FieldBatchInfo, parents: number])[];

  constructor(infos: readonly (readonly [info: FieldBatchInfo, parents: number])[]) {
    super(...(infos[0] as [FieldBatchInfo, number])[0].constructedWith);
    this.#infos = infos;
  }

  override pathOf(parent: number): ResponsePath {
    let before = 0;
    for (const [info, parents] of this.#infos) {
      if (parent < before + parents) return info.pathOf(parent - before);
      before += parents;
    }
    return super.pathOf(parent);
  }
}

/** A message that follows the first part of an answer, in the order in which clients must receive it. */
type Delivered<Message> =
  | { readonly kind: 'pending'; readonly of: PendingDelivery }
  /** A deferred fragment is complete: `parts` holds whatever of it was not written before. Or it failed. */
  | {
      readonly kind: 'fragment';
      readonly of: PendingDelivery;
      readonly parts: readonly { readonly path: AnswerPath; readonly part: Message }[];
      readonly failed: Message | null;
    };

/** A deferred fragment of one object. */
interface PendingDelivery {
  readonly id: number;
  readonly path: AnswerPath;
  readonly label: string | undefined;
}

/** The outcome of a part that clients are told; the caller's type adds more. */
interface PartOutcome {
  /** True if it produced nothing: then its errors belong to the enclosing part. */
  readonly isLost: boolean;
}

interface Fragment extends PendingDelivery {
  readonly parent: Fragment | undefined;
  readonly children: Fragment[];
  readonly parts: RunPart[];
  /** Number of parts that are still being executed. */
  runningParts: number;
  /** True if the object that it belongs to has been written. */
  isObjectWritten: boolean;
  /** `hidden`: not announced. Clients then see it as `pending` until it is `complete` or `failed`. */
  state: 'hidden' | 'pending' | 'complete' | 'failed';
}

/** The answer of one run: the first part, or the fields of a deferred fragment on one object. */
interface RunPart {
  readonly path: AnswerPath;
  readonly fragments: readonly Fragment[];
  /** Position of the object that it belongs to; null if nothing holds it. */
  readonly position: Position | null;
  /** Deferred fragments of its own objects, with the positions of these. */
  readonly nested: { readonly fragment: Fragment; readonly position: Position }[];
  /** Parts with the fields of these fragments. */
  readonly spawned: RunPart[];
  /** `ready`: executed but not written. `lost`: nulled by an error, or by one in a part around it. */
  state: 'running' | 'ready' | 'lost' | 'written';
  /** True if its run has started, or never will. */
  isStarted: boolean;
  /** The outcome, in the caller's type. */
  outcome: unknown;
}

/** Orders all messages to clients: each part is sent once, after the part that encloses it. */
class DeliveryOrder<Message extends PartOutcome> {
  #pending = 0;
  #changes: Delivered<Message>[] = [];

  /** True if anything is still to be written. */
  get hasMore(): boolean {
    return this.#pending > 0 || this.#changes.length > 0;
  }

  /** Takes the messages since the last time. */
  take(): readonly Delivered<Message>[] {
    return this.#changes.splice(0);
  }

  /** Notes that the run of a part is over. */
  noteReady(part: RunPart, isLost: boolean): void {
    const wasLost = part.state === 'lost';
    if (!wasLost) part.state = isLost ? 'lost' : 'ready';
    for (const other of part.spawned) {
      if (part.state === 'lost' || isGone(other.position)) this.#giveUp(other);
    }
    if (wasLost) return;
    for (const fragment of part.fragments) {
      fragment.runningParts -= 1;
      if (fragment.state !== 'pending') continue;
      if (isLost) this.#fail(fragment, part);
      else if (fragment.runningParts === 0) this.#complete(fragment);
    }
  }

  /** Drops a part whose parent is lost: clients are not told of it. */
  #giveUp(part: RunPart): void {
    const wasRunning = part.state === 'running';
    part.state = 'lost';
    for (const fragment of part.fragments) {
      fragment.parts.splice(fragment.parts.indexOf(part), 1);
      if (wasRunning) fragment.runningParts -= 1;
    }
    for (const other of part.spawned) this.#giveUp(other);
  }

  /** Records that a part was written, so that the parts nested in it may be announced. */
  noteWritten(part: RunPart): void {
    if (part.state === 'lost') return;
    part.state = 'written';
    const nested = part.nested.filter(({ position }) => !isGone(position)).map(({ fragment }) => fragment);
    for (const fragment of nested) fragment.isObjectWritten = true;
    const announced = nested.filter((fragment) => this.#announce(fragment));
    for (const fragment of announced) this.#proceed(fragment);
  }

  /** Announces a fragment as pending, once the enclosing one has been written. */
  #announce(fragment: Fragment): boolean {
    if (!isDue(fragment)) return false;
    fragment.state = 'pending';
    const { id, path, label } = fragment;
    this.#pending += 1;
    this.#changes.push({ kind: 'pending', of: { id, path, label } });
    return true;
  }

  /** Completes or fails an announced fragment whose parts have been executed meanwhile. */
  #proceed(fragment: Fragment): void {
    const lost = fragment.parts.find(({ state }) => state === 'lost');
    if (lost !== undefined) this.#fail(fragment, lost);
    else if (fragment.runningParts === 0) this.#complete(fragment);
  }

  #complete(fragment: Fragment): void {
    const readyParts = fragment.parts.filter(({ state }) => state === 'ready');
    this.#pending -= 1;
    fragment.state = 'complete';
    const parts = readyParts.map((part) => ({ path: part.path, part: part.outcome as Message }));
    this.#changes.push({ kind: 'fragment', of: fragment, parts, failed: null });
    for (const part of readyParts) this.noteWritten(part);
    this.#proceedWithin(fragment);
  }

  /** Continues with the fragments nested in one that is written. */
  #proceedWithin({ children }: Fragment): void {
    for (const child of children) {
      if (this.#announce(child)) this.#proceed(child);
      else if (child.state === 'hidden' && isOver(child)) this.#proceedWithin(child);
    }
  }

  #fail(fragment: Fragment, part: RunPart): void {
    this.#pending -= 1;
    fragment.state = 'failed';
    this.#changes.push({ kind: 'fragment', of: fragment, parts: [], failed: part.outcome as Message });
  }
}

function openPart(given: Pick<RunPart, 'path' | 'position'> & Partial<RunPart>): RunPart {
  return {
    fragments: [],
    nested: [],
    spawned: [],
    state: 'running',
    isStarted: false,
    outcome: undefined,
    ...given,
  };
}

/** True if a fragment may be announced: its object and the enclosing fragment are written. */
function isDue({ isObjectWritten, state, parent, parts }: Fragment): boolean {
  return isObjectWritten && state === 'hidden' && isOver(parent) && parts.length > 0;
}

/** True if a fragment is written, or had no fields of its own beside the enclosing one's. */
function isOver(fragment: Fragment | undefined): boolean {
  if (fragment === undefined || fragment.state === 'complete') return true;
  const { isObjectWritten, parts, parent } = fragment;
  return fragment.state === 'hidden' && isObjectWritten && parts.length === 0 && isOver(parent);
}

/** True if a value or one of its ancestors was nulled by an error. */
function isGone(position: Position | null): boolean {
  for (let at = position; at !== null; at = at.column.holder.above(at.slot)) {
    if (at.column.isNull(at.slot)) return true;
  }
  return false;
}

/** The most parts of an operation that are delivered separately; further ones stay inline. */
const MAX_PARTS = 1_000;

/**
 * Executes an operation whose plan has deferred parts. All start at once, each in a run of its own, so that their
 * demands are batched together. Only delivery waits: for the enclosing part, and for parts that are delivered
 * together. An error nulls values within its own part only.
 */
export class IncrementalRun<Message extends PartOutcome> {
  readonly #parts: RunParts;
  readonly #write: (executed: Executed, isLost: boolean) => Message;
  readonly #failedPart: (error: unknown) => Message;
  readonly #onChange: () => void;
  readonly #fragments = new Map<NullableColumn, Map<number, Map<DeferUsage, Fragment>>>();
  readonly #first: RunPart;
  readonly #order = new DeliveryOrder<Message>();
  readonly #batchPool: BatchPool;
  readonly #runs = new Set<Run>();
  #running = 0;
  /** Runs that have not started yet, or are paused. */
  #pausedRuns = 0;
  #deferredParts = 0;
  #nextId = 0;

  /**
   * @param write makes the message for an executed part
   * @param failedPart makes the message for a part whose execution was cut short
   * @param onChange called when messages are available, or no more will come
   */
  constructor(
    parts: RunParts,
    write: (executed: Executed, isLost: boolean) => Message,
    failedPart: (error: unknown) => Message,
    onChange: () => void,
  ) {
    this.#parts = parts;
    this.#write = write;
    this.#failedPart = failedPart;
    this.#onChange = onChange;
    this.#first = openPart({ path: [], position: null });
    this.#batchPool = new BatchPool(() => this.#pausedRuns > 0, parts.onPause);
  }

  /** Executes the first part; afterwards, `take` returns the messages for the rest. */
  async first(): Promise<Executed> {
    const root = { plan: this.#parts.plan.root, object: {} };
    const holder: Holder = { above: () => null, path: () => undefined };
    const run = this.#open(this.#first, { holder, root }, () => undefined);
    try {
      const executed = await run.answer();
      this.#order.noteReady(this.#first, run.isLost);
      this.#order.noteWritten(this.#first);
      return executed;
    } finally {
      this.#runs.delete(run);
      this.#drop(this.#first);
    }
  }

  /** True if anything is still to be written. */
  get hasMore(): boolean {
    return this.#order.hasMore;
  }

  /** True if something is still being executed. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Takes the messages since the last time. */
  take(): readonly Delivered<Message>[] {
    return this.#order.take();
  }

  #open(
    part: RunPart,
    scope: Pick<RunScope, 'holder' | 'root'>,
    outer: (usage: DeferUsage) => Fragment | undefined,
  ): Run {
    const deferralsOf: RunScope['deferralsOf'] = (run) => ({
      mayDefer: ({ begins, groups }, objects) => this.#mayAdd((begins.length + groups.length) * objects),
      defer: (deferral, objects) => this.#defer(part, run, deferral, objects, outer),
    });
    const run = new Run(
      { ...this.#parts, onPause: this.#onPause, onHalt: this.#onHalt },
      { ...scope, deferralsOf, resolveBatch: this.#batchPool.resolve },
    );
    this.#runs.add(run);
    return run;
  }

  /** Ends all runs under way with the error that ended one of them. */
  readonly #onHalt = (error: GraphQLError) => {
    for (const run of this.#runs) run.halt(error);
    this.#parts.onHalt?.(error);
  };

  readonly #onPause = (resumed: Promise<void>) => {
    this.#pausedRuns += 1;
    void resumed.then(() => {
      this.#pausedRuns -= 1;
    });
    this.#parts.onPause?.(resumed);
  };

  #mayAdd(parts: number): boolean {
    return this.#deferredParts + parts <= MAX_PARTS;
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
      const findFragment = (usage: DeferUsage) => this.#fragmentAt(position, usage) ?? outer(usage);
      const here = new Map<DeferUsage, Fragment>();
      if (begins.length > 0) {
        const slots = this.#fragments.get(objects) ?? new Map<number, typeof here>();
        this.#fragments.set(objects, slots.set(slot, here));
      }
      for (const usage of begins) {
        const parent = usage.parent && findFragment(usage.parent);
        const fragment = this.#openFragment(path, usage.label, parent);
        here.set(usage, fragment);
        part.nested.push({ fragment, position });
      }
      for (const { usages, plan } of groups) {
        const fragments = usages.flatMap((usage) => findFragment(usage) ?? []);
        const added = this.#add(part, openPart({ path, fragments, position }));
        const holder: Holder = { above: () => null, path: () => objects.holder.path(slot) };
        run.add(() => {
          void this.#start(added, this.#open(added, { holder, root: { plan, object } }, findFragment));
        });
      }
    }
  }

  /** The fragment that a usage refers to at a position: the one of the nearest enclosing object. */
  #fragmentAt(position: Position, usage: DeferUsage): Fragment | undefined {
    for (let at: Position | null = position; at !== null; at = at.column.holder.above(at.slot)) {
      const fragment = this.#fragments.get(at.column)?.get(at.slot)?.get(usage);
      if (fragment !== undefined) return fragment;
    }
    return undefined;
  }

  #openFragment(path: AnswerPath, label: string | undefined, parent: Fragment | undefined): Fragment {
    const fragment: Fragment = {
      id: this.#nextId++,
      path,
      label,
      parent,
      children: [],
      parts: [],
      runningParts: 0,
      isObjectWritten: false,
      state: 'hidden',
    };
    parent?.children.push(fragment);
    return fragment;
  }

  #add(origin: RunPart, part: RunPart): RunPart {
    this.#deferredParts += 1;
    this.#running += 1;
    this.#pausedRuns += 1;
    origin.spawned.push(part);
    for (const fragment of part.fragments) {
      fragment.parts.push(part);
      fragment.runningParts += 1;
    }
    return part;
  }

  async #start(part: RunPart, run: Run): Promise<void> {
    if (part.isStarted) return;
    part.isStarted = true;
    this.#pausedRuns -= 1;
    let outcome: Message;
    try {
      const executed = await run.answer();
      outcome = this.#write(executed, run.isLost);
    } catch (error) {
      outcome = this.#failedPart(error);
    }
    this.#runs.delete(run);
    this.#drop(part);
    this.#running -= 1;
    part.outcome = outcome;
    this.#order.noteReady(part, outcome.isLost);
    this.#onChange();
  }

  /** Drops the parts that would have started in a run that was ended. */
  #drop(part: RunPart): void {
    for (const other of part.spawned) {
      if (other.isStarted) continue;
      other.isStarted = true;
      this.#pausedRuns -= 1;
      this.#running -= 1;
    }
  }
}
