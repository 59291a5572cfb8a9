import { type GraphQLError, type ResponsePath, responsePathAsArray } from 'graphql';
import type { ObjectColumn } from './columns.ts';
import { FieldBatchInfo, type ResolveBatch } from './field-info.ts';
import type { DeferUsage, FieldPlan, ObjectDeferral } from './plan.ts';
import type { Holder, NullableColumn, Position } from './positions.ts';
import { type Executed, Run, type RunParts, type RunScope, resolveBatchNow, WHOLE } from './run.ts';

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
  /** The part in whose run its object stands, and where there. */
  readonly within: RunPart;
  readonly position: Position;
  /** All parts with fields of it, those that are dropped included. */
  readonly parts: RunPart[];
  /** `hidden`: not announced. Clients then see it as `pending` until it is `complete` or `failed`. */
  state: 'hidden' | 'pending' | 'complete' | 'failed';
}

/** The answer of one run: the first part, or the fields of a deferred fragment on one object. */
interface RunPart {
  readonly path: AnswerPath;
  readonly fragments: readonly Fragment[];
  /** As of a fragment; null for the first part. */
  readonly within: RunPart | null;
  readonly position: Position | null;
  /** Parts that begin in its run. */
  readonly spawned: RunPart[];
  /** In the caller's type; null until its run is over. */
  outcome: PartOutcome | null;
  isWritten: boolean;
}

/**
 * Orders all messages to clients: each part is sent once, after the part that encloses it. Runs note their outcomes on
 * their parts. What follows for a fragment is derived from its parts when somebody asks, so nothing has to be kept in
 * step.
 */
class DeliveryOrder<Message extends PartOutcome> {
  /** Fragments of which clients may still hear, in the order in which they were met. */
  #open: Fragment[] = [];
  #messages: Delivered<Message>[] = [];

  /** True if anything is still to be written. */
  get hasMore(): boolean {
    this.#advance();
    return this.#messages.length > 0 || this.#open.some(({ state }) => state === 'pending');
  }

  /** Takes the messages since the last time. */
  take(): readonly Delivered<Message>[] {
    this.#advance();
    return this.#messages.splice(0);
  }

  add(fragment: Fragment): void {
    this.#open.push(fragment);
  }

  /** What has happened since the last time may announce fragments, and end others. */
  #advance(): void {
    let before: number;
    do {
      before = this.#messages.length;
      for (const fragment of this.#open) if (isDue(fragment)) this.#announce(fragment);
      for (const fragment of this.#open) if (fragment.state === 'pending') this.#endIfOver(fragment);
      this.#open = this.#open.filter(isOpen);
    } while (this.#messages.length > before);
  }

  #announce(fragment: Fragment): void {
    fragment.state = 'pending';
    const { id, path, label } = fragment;
    this.#messages.push({ kind: 'pending', of: { id, path, label } });
  }

  #endIfOver(fragment: Fragment): void {
    const parts = fragment.parts.filter((part) => !isDropped(part));
    const lost = parts.find(({ outcome }) => outcome?.isLost);
    if (lost === undefined && parts.some(({ outcome }) => outcome === null)) return;
    fragment.state = lost === undefined ? 'complete' : 'failed';
    const written = lost === undefined ? parts.filter(({ isWritten }) => !isWritten) : [];
    for (const part of written) part.isWritten = true;
    this.#messages.push({
      kind: 'fragment',
      of: fragment,
      parts: written.map(({ path, outcome }) => ({ path, part: outcome as Message })),
      failed: (lost?.outcome ?? null) as Message | null,
    });
  }
}

/** True if clients are not told of it, since it belongs to something that an error nulled. */
function isDropped({ within, position }: Pick<RunPart, 'within' | 'position'>): boolean {
  if (within === null || within.outcome === null) return false;
  return within.outcome.isLost || isDropped(within) || isGone(position);
}

/** True if its object is written. */
function isPlaced({ within, position }: Fragment): boolean {
  return within.isWritten && !isGone(position);
}

/** True if it may be announced: its object and the enclosing fragment are written. */
function isDue(fragment: Fragment): boolean {
  const { state, parent } = fragment;
  return state === 'hidden' && isOver(parent) && isPlaced(fragment) && !isEmpty(fragment);
}

/** True if it has no fields of its own beside the enclosing one's. */
function isEmpty({ parts }: Fragment): boolean {
  return parts.every(isDropped);
}

/** True if a fragment is written, or has nothing to be written. */
function isOver(fragment: Fragment | undefined): boolean {
  if (fragment === undefined || fragment.state === 'complete') return true;
  return fragment.state === 'hidden' && isPlaced(fragment) && isEmpty(fragment) && isOver(fragment.parent);
}

/** False if clients will hear no more of it. */
function isOpen(fragment: Fragment): boolean {
  return fragment.state === 'hidden' ? !isDropped(fragment) : fragment.state === 'pending';
}

function openPart(given: Pick<RunPart, 'path' | 'fragments' | 'within' | 'position'>): RunPart {
  return { spawned: [], outcome: null, isWritten: false, ...given };
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
  /** Parts whose run has not started. */
  readonly #toStart = new Set<RunPart>();
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
    this.#first = openPart({ path: [], fragments: [], within: null, position: null });
    this.#batchPool = new BatchPool(() => this.#toStart.size + this.#pausedRuns > 0, parts.onPause);
  }

  /** Executes the first part; afterwards, `take` returns the messages for the rest. */
  async first(): Promise<Executed> {
    const root = { plan: this.#parts.plan.root, object: {} };
    const run = this.#open(this.#first, { holder: WHOLE, root }, () => undefined);
    try {
      const executed = await run.answer();
      this.#first.outcome = { isLost: run.isLost };
      this.#first.isWritten = !run.isLost;
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
        here.set(usage, this.#openFragment({ path, label: usage.label, parent, within: part, position }));
      }
      for (const { usages, plan } of groups) {
        const fragments = usages.flatMap((usage) => findFragment(usage) ?? []);
        const added = this.#add(part, openPart({ path, fragments, within: part, position }));
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

  #openFragment(given: Omit<Fragment, 'id' | 'parts' | 'state'>): Fragment {
    const fragment: Fragment = { id: this.#nextId++, parts: [], state: 'hidden', ...given };
    this.#order.add(fragment);
    return fragment;
  }

  #add(within: RunPart, part: RunPart): RunPart {
    this.#deferredParts += 1;
    this.#running += 1;
    this.#toStart.add(part);
    within.spawned.push(part);
    for (const fragment of part.fragments) fragment.parts.push(part);
    return part;
  }

  async #start(part: RunPart, run: Run): Promise<void> {
    if (!this.#toStart.delete(part)) return;
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
    this.#onChange();
  }

  /** Drops the parts that would have started in a run that was ended. */
  #drop(part: RunPart): void {
    for (const other of part.spawned) if (this.#toStart.delete(other)) this.#running -= 1;
  }
}
