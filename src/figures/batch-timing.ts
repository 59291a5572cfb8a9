import type { Clock } from '../async/clock.ts';
import type { Ledger } from '../tenants/ledger.ts';

/**
 * Tells when the batch of one operation leaves: once no load still in flight can add to it, or after a bounded wait.
 *
 * DataLoader's own tick is too early: `country(code)` is ready while `countries` still waits for its list. Their
 * figures would travel in two calls.
 */
export interface BatchGate {
  /** Keeps the gate closed until the promise settles. It ignores the outcome. */
  closeDuring<T>(promise: Promise<T>): Promise<T>;
  /** Opens the gate for a load that keeps it closed, while that load waits for figures itself. */
  openDuring<T>(figures: Promise<T>): Promise<T>;
  /** Calls back once nothing keeps the gate closed, or the longest wait is over. */
  whenOpen(leave: () => void): void;
}

/** @param longestMs the longest wait of a batch that is ready, in milliseconds */
export function createBatchGate(longestMs: number): BatchGate {
  /** Loads that keep the gate closed. */
  let loading = 0;
  let longest: NodeJS.Timeout | undefined;
  let waiting: (() => void)[] = [];

  function open(): void {
    clearTimeout(longest);
    const ready = waiting;
    waiting = [];
    for (const leave of ready) leave();
  }

  // The resolvers below a settled load may load again: all of them run before setImmediate.
  const openSoon = () =>
    setImmediate(() => {
      if (loading === 0 && waiting.length > 0) open();
    });

  return {
    closeDuring(promise) {
      loading += 1;
      const end = () => {
        loading -= 1;
        if (loading === 0 && waiting.length > 0) openSoon();
      };
      promise.then(end, end);
      return promise;
    },
    openDuring(figures) {
      loading -= 1;
      const end = () => {
        loading += 1;
      };
      return figures.finally(end);
    },
    whenOpen(leave) {
      waiting.push(leave);
      if (waiting.length > 1) return;
      longest = setTimeout(open, longestMs);
      openSoon();
    },
  };
}

/**
 * Decides when to send the demands of all operations under one key:
 *
 * | state               | event                                          | next                               |
 * |---------------------|------------------------------------------------|------------------------------------|
 * | idle                | something is asked for                         | gathering, or about to leave       |
 * | about to leave      | the turn is over, and no operation is expected | sends: idle or awaiting the minute |
 * | about to leave      | the turn is over, and one is expected          | gathering                          |
 * | gathering           | something is asked for, or an operation joins  | gathering, a little longer         |
 * | gathering           | the window is over                             | awaiting operations                |
 * | awaiting operations | the last one has asked, or `holdMs` are over   | sends: idle or awaiting the minute |
 * | awaiting the minute | something is asked for                         | gathering                          |
 * | any                 | the minute that was waited for begins          | sends: idle or awaiting the minute |
 *
 * If nothing is under way and the minute has plenty left, a batch leaves in the same turn of the event loop. Operations
 * that come later gather behind it.
 */
export interface BatchWindow {
  /** Opens the window, or keeps it open a little longer: something is asked for that is not under way. */
  demanded(): void;
  /** Keeps an open window open a little longer: an operation came. */
  joined(): void;
  /** Has a batch wait for the operation, which may yet ask for something, unless its window is over. */
  expect(operation: object): void;
  /** Ends the wait for the operation: it has asked, or never will. */
  arrived(operation: object): void;
}

interface BatchWindowParts {
  readonly clock: Clock;
  /** Milliseconds that operations wait for each other. */
  readonly windowMs: number;
  /** Milliseconds that a batch waits for operations that can still add to it. */
  readonly holdMs: number;
  /** Share of the minute's budget that is left; null if it is unknown. */
  readonly shareLeft: () => ReturnType<Ledger['shareLeft']>;
  /** True if so many calls are left that one matters less than the milliseconds that may save it. */
  readonly hasPlenty: () => boolean;
  readonly isUnderWay: () => boolean;
  /**
   * Sends all that has gathered.
   * @returns the instant to send the rest, in milliseconds since the epoch; null if there is none
   */
  readonly send: () => number | null;
}

/**
 * Factor by which further arrivals may stretch the window: high if calls are scarce or their number is unknown, low if
 * the minute has plenty left. So a steady stream of operations doesn't keep it open.
 */
const MAX_STRETCH = { scarce: 25, plenty: 2 };

/** Factor by which the window is wider while the minute's budget is spent, or unknown. */
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
  /** The minute that the batch waits for; null if it waits for none. */
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
    // An arrival before the timer fires opens the window anew.
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
    // An operation that has not come in time is not waited for again.
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
 * Waits until some turns of the event loop have passed without an arrival. An overdue timer fires before the sockets
 * are read, so operations already at the door would else be left behind.
 */
function afterQuietTurns(isQuiet: () => boolean, then: () => void, turnsLeft = QUIET_TURNS): void {
  if (!isQuiet()) return;
  if (turnsLeft === 0) then();
  else setImmediate(() => afterQuietTurns(isQuiet, then, turnsLeft - 1));
}

/** Milliseconds that a window stays open after an arrival at this moment. */
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
