import { type GraphQLError, type ResponsePath, responsePathAsArray } from 'graphql';
import type { ObjectColumn } from './columns.ts';
import { type ResolveTogether, TogetherInfo } from './field-info.ts';
import type { DeferUsage, FieldPlan, ObjectDeferral } from './plan.ts';
import type { Holder, NullableColumn, Position } from './positions.ts';
import { atOnce, type Executed, Run, type RunParts, type RunScope } from './run.ts';

type AnswerPath = readonly (string | number)[];

interface PooledCall {
  readonly call: Parameters<ResolveTogether>[0];
  readonly settle: PromiseWithResolvers<readonly unknown[]>;
}

/** Resolves a field for several runs together, since resolvers look at all parents to decide which figures to fetch. */
class Pooled {
  readonly #isAboutToAsk: () => boolean;
  readonly #onPause: ((goesOn: Promise<void>) => void) | undefined;
  #waiting = new Map<FieldPlan, PooledCall[]>();

  /**
   * @param isAboutToAsk true if some run hasn't come to its fields yet
   * @param onPause called with a promise that settles once the waiting calls have been resolved
   */
  constructor(isAboutToAsk: () => boolean, onPause: ((goesOn: Promise<void>) => void) | undefined) {
    this.#isAboutToAsk = isAboutToAsk;
    this.#onPause = onPause;
  }

  readonly resolve: ResolveTogether = (call) => {
    if (this.#waiting.size === 0) this.#onPause?.(new Promise((resolve) => this.#whenQuiet(resolve)));
    const settle = Promise.withResolvers<readonly unknown[]>();
    const waitingCalls = this.#waiting.get(call.field);
    if (waitingCalls === undefined) this.#waiting.set(call.field, [{ call, settle }]);
    else waitingCalls.push({ call, settle });
    return settle.promise;
  };

  #whenQuiet(goOn: () => void): void {
    setImmediate(() => {
      if (this.#isAboutToAsk()) {
        this.#whenQuiet(goOn);
        return;
      }
      const all = this.#waiting;
      this.#waiting = new Map();
      for (const calls of all.values()) resolveAll(calls);
      goOn();
    });
  }
}

function resolveAll(calls: readonly PooledCall[]): void {
  const [first] = calls as [PooledCall];
  const objects = calls.flatMap(({ call }) => call.objects);
  const info = new PooledInfo(calls.map(({ call }) => [call.info, call.objects.length]));
  const give = (values: readonly unknown[]) => {
    let next = 0;
    for (const { call, settle } of calls) {
      settle.resolve(values.slice(next, next + call.objects.length));
      next += call.objects.length;
    }
  };
  const fail = (error: unknown) => {
    for (const { settle } of calls) settle.reject(error);
  };
  try {
    const given = atOnce({ ...first.call, objects, info });
    if ('then' in given) given.then(give, fail);
    else give(given);
  } catch (error) {
    fail(error);
  }
}

/** The `info` of a batch resolver for several runs; their parents are concatenated in the order of the runs. */
class PooledInfo extends TogetherInfo {
  readonly #infos: readonly (readonly [info: TogetherInfo, parents: number])[];

  constructor(infos: readonly (readonly [info: TogetherInfo, parents: number])[]) {
    super(...(infos[0] as [TogetherInfo, number])[0].given);
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
  /** Parts that are still pending. */
  left: number;
  /** True if the object that it belongs to has been written. */
  isFound: boolean;
  state: 'hidden' | 'pending' | 'told' | 'given up';
}

/** The answer of one run: the first part, or the fields of a deferred fragment on one object. */
interface RunPart {
  readonly path: AnswerPath;
  readonly fragments: readonly Fragment[];
  /** Position of the object that it belongs to; null if nothing holds it. */
  readonly position: Position | null;
  /** Fragments that begin in it, with their positions. */
  readonly begun: { readonly what: Fragment; readonly position: Position }[];
  readonly spawned: RunPart[];
  state: 'running' | 'there' | 'lost' | 'told';
  /** True if its run has started, or never will. */
  isBegun: boolean;
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
    const wasGivenUp = part.state === 'lost';
    if (!wasGivenUp) part.state = isLost ? 'lost' : 'there';
    for (const other of part.spawned) {
      if (part.state === 'lost' || isGone(other.position)) this.#giveUp(other);
    }
    if (wasGivenUp) return;
    for (const fragment of part.fragments) {
      fragment.left -= 1;
      if (fragment.state !== 'pending') continue;
      if (isLost) this.#fail(fragment, part);
      else if (fragment.left === 0) this.#complete(fragment);
    }
  }

  /** Drops a part whose parent is lost: clients are not told of it. */
  #giveUp(part: RunPart): void {
    const wasRunning = part.state === 'running';
    part.state = 'lost';
    for (const fragment of part.fragments) {
      fragment.parts.splice(fragment.parts.indexOf(part), 1);
      if (wasRunning) fragment.left -= 1;
    }
    for (const other of part.spawned) this.#giveUp(other);
  }

  /** Records that a part was written, so that the parts nested in it may be announced. */
  noteWritten(part: RunPart): void {
    if (part.state === 'lost') return;
    part.state = 'told';
    const begun = part.begun.filter(({ position }) => !isGone(position)).map(({ what }) => what);
    for (const what of begun) what.isFound = true;
    const announced = begun.filter((what) => this.#announce(what));
    for (const what of announced) this.#goOn(what);
  }

  /** Announces a pending part, once the enclosing one has been written. */
  #announce(what: Fragment): boolean {
    if (!isDue(what)) return false;
    what.state = 'pending';
    const { id, path, label } = what;
    this.#pending += 1;
    this.#changes.push({ kind: 'pending', of: { id, path, label } });
    return true;
  }

  /** Sends the available parts of an announced delivery. */
  #goOn(what: Fragment): void {
    const failed = what.parts.find(({ state }) => state === 'lost');
    if (failed !== undefined) this.#fail(what, failed);
    else if (what.left === 0) this.#complete(what);
  }

  #complete(fragment: Fragment): void {
    const readyParts = fragment.parts.filter(({ state }) => state === 'there');
    this.#pending -= 1;
    fragment.state = 'told';
    const parts = readyParts.map((part) => ({ path: part.path, part: part.outcome as Message }));
    this.#changes.push({ kind: 'fragment', of: fragment, parts, failed: null });
    for (const part of readyParts) this.noteWritten(part);
    this.#goOnWithin(fragment);
  }

  /** Continues with the fragments nested in one that is written. */
  #goOnWithin({ children }: Fragment): void {
    for (const child of children) {
      if (this.#announce(child)) this.#goOn(child);
      else if (child.state === 'hidden' && isOver(child)) this.#goOnWithin(child);
    }
  }

  #fail(fragment: Fragment, part: RunPart): void {
    this.#pending -= 1;
    fragment.state = 'given up';
    this.#changes.push({ kind: 'fragment', of: fragment, parts: [], failed: part.outcome as Message });
  }
}

function openPart(given: Pick<RunPart, 'path' | 'position'> & Partial<RunPart>): RunPart {
  return {
    fragments: [],
    begun: [],
    spawned: [],
    state: 'running',
    isBegun: false,
    outcome: undefined,
    ...given,
  };
}

/** True if a fragment may be announced: its object and the enclosing fragment are written. */
function isDue({ isFound, state, parent, parts }: Fragment): boolean {
  return isFound && state === 'hidden' && isOver(parent) && parts.length > 0;
}

/** True if a fragment is written, or had no fields of its own beside the enclosing one's. */
function isOver(fragment: Fragment | undefined): boolean {
  if (fragment === undefined || fragment.state === 'told') return true;
  const { isFound, parts, parent } = fragment;
  return fragment.state === 'hidden' && isFound && parts.length === 0 && isOver(parent);
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
  readonly #failed: (error: unknown) => Message;
  readonly #onChange: () => void;
  readonly #fragments = new Map<NullableColumn, Map<number, Map<DeferUsage, Fragment>>>();
  readonly #first: RunPart;
  readonly #order = new DeliveryOrder<Message>();
  readonly #pooled: Pooled;
  readonly #runs = new Set<Run>();
  #running = 0;
  /** Runs that have not started yet, or are paused. */
  #late = 0;
  #count = 0;
  #ids = 0;

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
    this.#failed = failedPart;
    this.#onChange = onChange;
    this.#first = openPart({ path: [], position: null });
    this.#pooled = new Pooled(() => this.#late > 0, parts.onPause);
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
    const later: RunScope['later'] = (run) => ({
      mayDefer: ({ begins, groups }, objects) => this.#mayAdd((begins.length + groups.length) * objects),
      defer: (deferral, objects) => this.#defer(part, run, deferral, objects, outer),
    });
    const run = new Run(
      { ...this.#parts, onPause: this.#onPause, onHalt: this.#onHalt },
      { ...scope, later, together: this.#pooled.resolve },
    );
    this.#runs.add(run);
    return run;
  }

  /** Ends all runs under way with the error that ended one of them. */
  readonly #onHalt = (error: GraphQLError) => {
    for (const run of this.#runs) run.halt(error);
    this.#parts.onHalt?.(error);
  };

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
        part.begun.push({ what: fragment, position });
      }
      for (const { usages, plan } of groups) {
        const fragments = usages.flatMap((usage) => findFragment(usage) ?? []);
        const added = this.#add(part, openPart({ path, fragments, position }));
        const holder: Holder = { above: () => null, path: () => objects.holder.path(slot) };
        run.begin(() => {
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

  async #start(part: RunPart, run: Run): Promise<void> {
    if (part.isBegun) return;
    part.isBegun = true;
    this.#late -= 1;
    let outcome: Message;
    try {
      const executed = await run.answer();
      outcome = this.#write(executed, run.isLost);
    } catch (error) {
      outcome = this.#failed(error);
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
      if (other.isBegun) continue;
      other.isBegun = true;
      this.#late -= 1;
      this.#running -= 1;
    }
  }
}
