import type { Position } from './columns.ts';

export type AnswerPath = readonly (string | number)[];

/** A message on an operation's answer after its first part, in the order in which clients have to hear it. */
export type Delivered<Told> =
  | { readonly kind: 'pending'; readonly of: PendingDelivery }
  /** A deferred fragment is there: `parts` is all of it that was not told before; or it failed. */
  | {
      readonly kind: 'fragment';
      readonly of: PendingDelivery;
      readonly parts: readonly { readonly path: AnswerPath; readonly part: Told }[];
      readonly failed: Told | null;
    }
  /** Further items of a list: an array of them. */
  | { readonly kind: 'items'; readonly of: PendingDelivery; readonly first: number; readonly part: Told }
  /** A list is complete; or an item failed that it may not lack. */
  | {
      readonly kind: 'list';
      readonly of: PendingDelivery;
      readonly first: number;
      readonly failed: Told | null;
    };

/** A deferred fragment of one object, or a list of which items are to come. */
export interface PendingDelivery {
  readonly id: number;
  readonly path: AnswerPath;
  readonly label: string | undefined;
}

/** The outcome of a part to tell; the caller's type adds more. */
export interface ToldPart {
  /** True if nothing has come of it: then its errors are those of the part that it belongs to. */
  readonly isLost: boolean;
}

/** A deferred fragment of one object. */
export interface Fragment extends PendingDelivery {
  readonly parent: Fragment | undefined;
  readonly children: Fragment[];
  readonly parts: RunPart[];
  /** Parts that are not there yet. */
  left: number;
  /** True if the object that it belongs to has been told. */
  isFound: boolean;
  state: 'hidden' | 'pending' | 'told' | 'given up';
}

/** A list of which items are to come. */
export interface Stream extends PendingDelivery {
  readonly blocks: RunPart[];
  /** Place of the next item. */
  next: number;
  isPending: boolean;
}

/** The answer of one run: the first part, the fields of a deferred fragment on one object, or items of a list. */
export interface RunPart {
  readonly path: AnswerPath;
  readonly fragments: readonly Fragment[];
  readonly stream: Stream | null;
  readonly items: number;
  /** Position of the object that it belongs to; null if nothing holds it. */
  readonly position: Position | null;
  /** Fragments and lists that begin in it, with their positions. */
  readonly begun: { readonly what: Fragment | Stream; readonly position: Position }[];
  readonly spawned: RunPart[];
  state: 'running' | 'there' | 'lost' | 'told';
  /** True if its run has begun, or never will. */
  isBegun: boolean;
  /** The outcome to tell, in the caller's type. */
  outcome: unknown;
}

/** Puts all messages to clients in order: each part after the one it belongs to, and each once. */
export class DeliveryOrder<Told extends ToldPart> {
  #pending = 0;
  #changes: Delivered<Told>[] = [];

  /** True if anything is still to be told. */
  get hasMore(): boolean {
    return this.#pending > 0 || this.#changes.length > 0;
  }

  /** Takes the messages since the last time. */
  take(): readonly Delivered<Told>[] {
    return this.#changes.splice(0);
  }

  /** Notes that the run of a part is over. */
  isThere(part: RunPart, isLost: boolean): void {
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
    if (part.stream?.isPending) this.#advance(part.stream);
  }

  /** Gives up a part that nobody is to hear of any more: its parent is lost. */
  #giveUp(part: RunPart): void {
    const wasRunning = part.state === 'running';
    part.state = 'lost';
    for (const fragment of part.fragments) {
      fragment.parts.splice(fragment.parts.indexOf(part), 1);
      if (wasRunning) fragment.left -= 1;
    }
    for (const other of part.spawned) this.#giveUp(other);
  }

  /** Notes that a part was told: now clients may hear of the parts that begin in it. */
  isTold(part: RunPart): void {
    if (part.state === 'lost') return;
    part.state = 'told';
    const begun = part.begun.filter(({ position }) => !isGone(position)).map(({ what }) => what);
    for (const what of begun) {
      if (!('blocks' in what)) what.isFound = true;
    }
    const announced = begun.filter((what) => this.#announce(what));
    for (const what of announced) this.#goOn(what);
  }

  /** Announces a part to come, once the one around it has been told. */
  #announce(what: Fragment | Stream): boolean {
    if ('blocks' in what) what.isPending = true;
    else if (!isDue(what)) return false;
    else what.state = 'pending';
    const { id, path, label } = what;
    this.#pending += 1;
    this.#changes.push({ kind: 'pending', of: { id, path, label } });
    return true;
  }

  /** Tells the available parts of a delivery that was announced. */
  #goOn(what: Fragment | Stream): void {
    if ('blocks' in what) {
      this.#advance(what);
      return;
    }
    const failed = what.parts.find(({ state }) => state === 'lost');
    if (failed !== undefined) this.#fail(what, failed);
    else if (what.left === 0) this.#complete(what);
  }

  #complete(fragment: Fragment): void {
    const there = fragment.parts.filter(({ state }) => state === 'there');
    this.#pending -= 1;
    fragment.state = 'told';
    const parts = there.map((part) => ({ path: part.path, part: part.outcome as Told }));
    this.#changes.push({ kind: 'fragment', of: fragment, parts, failed: null });
    for (const part of there) this.isTold(part);
    this.#goOnWithin(fragment);
  }

  /** Goes on with the fragments within one that is told. */
  #goOnWithin({ children }: Fragment): void {
    for (const child of children) {
      if (this.#announce(child)) this.#goOn(child);
      else if (child.state === 'hidden' && isOver(child)) this.#goOnWithin(child);
    }
  }

  #fail(fragment: Fragment, part: RunPart): void {
    this.#pending -= 1;
    fragment.state = 'given up';
    this.#changes.push({ kind: 'fragment', of: fragment, parts: [], failed: part.outcome as Told });
  }

  /** Tells of the items of a list that are there, in their order. */
  #advance(stream: Stream): void {
    const { blocks } = stream;
    while (blocks.length > 0) {
      const [block] = blocks as [RunPart];
      if (block.state === 'running') return;
      const part = block.outcome as Told;
      const first = stream.next;
      if (block.state === 'lost') {
        this.#endList(stream, part);
        return;
      }
      blocks.shift();
      stream.next += block.items;
      this.#changes.push({ kind: 'items', of: stream, first, part });
      this.isTold(block);
    }
    this.#endList(stream, null);
  }

  #endList(stream: Stream, failed: Told | null): void {
    this.#pending -= 1;
    stream.isPending = false;
    this.#changes.push({ kind: 'list', of: stream, first: stream.next, failed });
  }
}

export function openPart(given: Pick<RunPart, 'path' | 'position'> & Partial<RunPart>): RunPart {
  return {
    fragments: [],
    stream: null,
    items: 0,
    begun: [],
    spawned: [],
    state: 'running',
    isBegun: false,
    outcome: undefined,
    ...given,
  };
}

/** True if a fragment is to be announced: its object is told, and so is the fragment around it. */
function isDue({ isFound, state, parent, parts }: Fragment): boolean {
  return isFound && state === 'hidden' && isOver(parent) && parts.length > 0;
}

/** True if a fragment is told, or nothing of it was left to tell apart from the one around it. */
function isOver(fragment: Fragment | undefined): boolean {
  if (fragment === undefined || fragment.state === 'told') return true;
  const { isFound, parts, parent } = fragment;
  return fragment.state === 'hidden' && isFound && parts.length === 0 && isOver(parent);
}

/** True if a value, or one that it stands in, is lost to an error. */
function isGone(position: Position | null): boolean {
  for (let at = position; at !== null; at = at.column.holder.above(at.slot)) {
    if (at.column.isNull(at.slot)) return true;
  }
  return false;
}
