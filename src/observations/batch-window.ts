import type { Clock } from '../async/clock.ts';
import type { Ledger } from '../quota/ledger.ts';

/**
 * When what operations under one key ask for is sent:
 *
 * | state               | what happens                                   | next                              |
 * |---------------------|------------------------------------------------|-----------------------------------|
 * | idle                | something is asked for                         | gathering, or about to leave      |
 * | about to leave      | the turn is over, and no operation is expected | sends: idle or awaiting the minute |
 * | about to leave      | the turn is over, and one is expected          | gathering                         |
 * | gathering           | something is asked for, or an operation joins  | gathering, a little longer        |
 * | gathering           | the window is over                             | awaiting operations               |
 * | awaiting operations | the last one has asked, or `holdMs` are over   | sends: idle or awaiting the minute |
 * | awaiting the minute | something is asked for                         | gathering                         |
 * | any                 | the minute that was waited for begins          | sends: idle or awaiting the minute |
 *
 * Where nothing is under way and the minute has plenty left, a batch leaves in the same turn of the event loop: whoever comes
 * meanwhile gathers behind it.
 */
export interface BatchWindow {
  /** Something is asked for that is not under way: opens the window, or keeps it open a little longer. */
  demanded(): void;
  /** An operation came: keeps a window that is open open a little longer. */
  joined(): void;
  /** The operation may yet ask for something: unless its window is over, a batch waits for it. */
  expect(operation: object): void;
  /** The operation has asked, or never will. */
  arrived(operation: object): void;
}

export interface BatchWindowParts {
  readonly clock: Clock;
  /** How long operations wait for each other, in milliseconds. */
  readonly windowMs: number;
  /** How long a batch waits for operations that can still add to it, in milliseconds. */
  readonly holdMs: number;
  /** Share of the minute's budget that is left; null where nothing is known of it. */
  readonly shareLeft: () => ReturnType<Ledger['shareLeft']>;
  /** Whether so many calls are left that one matters less than the milliseconds which may save it. */
  readonly hasPlenty: () => boolean;
  /** Whether a batch is under way. */
  readonly isUnderWay: () => boolean;
  /**
   * Sends what has gathered.
   * @returns when (milliseconds since the epoch) the rest may be sent; null where there is none
   */
  readonly send: () => number | null;
}

/**
 * The window may be stretched this much by further arrivals: far where calls are scarce or nothing is known of them,
 * little where the minute has plenty left, so that a steady stream of operations doesn't keep it open.
 */
const MAX_STRETCH = { scarce: 25, plenty: 2 };

/** How much wider the window is while nothing of the minute's budget is left, or nothing is known of it. */
const WIDENING = { spent: 5, unknown: 4 };

/** Turns of the event loop without an arrival after which nobody is taken to be at the door. */
const QUIET_TURNS = 4;

interface Gathering {
  readonly name: 'gathering';
  readonly openedAtMs: number;
  /** Operations and demands that came while the window was open. */
  arrivals: number;
  cancel: () => void;
}

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'about to leave' }
  | Gathering
  | { readonly name: 'awaiting operations'; readonly cancel: () => void }
  | { readonly name: 'awaiting the minute' };

export function createBatchWindow(parts: BatchWindowParts): BatchWindow {
  const { clock, holdMs, send } = parts;
  let state: State = { name: 'idle' };
  /** Operations that have yet to ask. */
  const awaited = new Set<object>();
  /** The minute that is waited for; null where none is. */
  let minute: object | null = null;

  function gather(): void {
    if (state.name === 'awaiting operations' || state.name === 'about to leave') return;
    if (state.name === 'gathering') keepOpen(state);
    else if (state.name === 'idle' && !parts.isUnderWay() && parts.hasPlenty()) {
      state = { name: 'about to leave' };
      setImmediate(endTurn);
    } else openWindow();
  }

  function endTurn(): void {
    if (awaited.size === 0) close();
    else openWindow();
  }

  function openWindow(): void {
    const gathering: Gathering = { name: 'gathering', openedAtMs: clock.now(), arrivals: 0, cancel() {} };
    state = gathering;
    keepOpen(gathering);
  }

  function keepOpen(gathering: Gathering): void {
    gathering.arrivals += 1;
    gathering.cancel();
    const { arrivals } = gathering;
    // Whoever arrives meanwhile opens the window anew.
    const isQuiet = () => state === gathering && gathering.arrivals === arrivals;
    const leftMs = millisecondsLeft(gathering.openedAtMs, parts);
    gathering.cancel = clock.after(leftMs, () => afterQuietTurns(isQuiet, endWindow));
  }

  function endWindow(): void {
    state = { name: 'awaiting operations', cancel: clock.after(holdMs, close) };
    closeIfAllArrived();
  }

  function closeIfAllArrived(): void {
    if (state.name === 'awaiting operations' && awaited.size === 0) close();
  }

  function close(): void {
    if ('cancel' in state) state.cancel();
    state = { name: 'idle' };
    // Operations that were waited for in vain are not waited for again.
    awaited.clear();
    minute = null;
    const opensAtMs = send();
    if (opensAtMs !== null) awaitMinute(opensAtMs);
  }

  function awaitMinute(opensAtMs: number): void {
    const own = {};
    minute = own;
    state = { name: 'awaiting the minute' };
    void clock.sleep(opensAtMs - clock.now()).then(() => {
      if (minute === own) close();
    });
  }

  return {
    demanded: gather,
    joined() {
      if (state.name === 'gathering') keepOpen(state);
    },
    expect(operation) {
      if (state.name !== 'awaiting operations') awaited.add(operation);
    },
    arrived(operation) {
      if (awaited.delete(operation)) closeIfAllArrived();
    },
  };
}

/**
 * Waits until some turns of the event loop have passed without an arrival. A timer that is overdue fires before
 * the sockets are read, so operations that are at the door already would else be left behind.
 */
function afterQuietTurns(isQuiet: () => boolean, then: () => void, turnsLeft = QUIET_TURNS): void {
  if (!isQuiet()) return;
  if (turnsLeft === 0) then();
  else setImmediate(() => afterQuietTurns(isQuiet, then, turnsLeft - 1));
}

/** How long a window stays open for an arrival of now, in milliseconds. */
function millisecondsLeft(openedAtMs: number, { clock, windowMs, shareLeft }: BatchWindowParts): number {
  const left = shareLeft();
  const longestMs = openedAtMs + windowMs * stretch(left) - clock.now();
  return Math.max(0, Math.min(windowMs * widening(left), longestMs));
}

function stretch(shareLeft: number | null): number {
  const { scarce, plenty } = MAX_STRETCH;
  return shareLeft === null ? scarce : plenty + (1 - shareLeft) * (scarce - plenty);
}

function widening(shareLeft: number | null): number {
  return shareLeft === null ? WIDENING.unknown : 1 + (1 - shareLeft) * (WIDENING.spent - 1);
}
