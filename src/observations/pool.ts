import type { Clock } from '../async/clock.ts';
import { Failure } from '../errors.ts';
import { type Demand, demandKey } from '../planner/demand.ts';
import type { Ledger } from '../quota/ledger.ts';
import type { Payer, Sending } from '../upstream/call.ts';
import { untilAborted } from '../upstream/coalesced.ts';
import { sharedPayer } from '../upstream/payer.ts';
import { type FiguresParts, fetchFigures } from './figures.ts';
import type { Outcome } from './outcome.ts';

/**
 * Where the demands of all operations under one key meet. They are planned together, fetched once, and handed back
 * to each operation by name; what is in flight already is waited for, not asked for again.
 */
export interface ObservationPool {
  /** Takes part with one operation. */
  join(sending: Sending): Seat;
}

export interface Seat {
  /**
   * The outcome of each demand, by its key; where the operation's time is over, that is the outcome of what has not come.
   * @throws the signal's reason where the operation is given up otherwise
   */
  load(demands: readonly Demand[], onLeftOut?: Sending['onLeftOut']): Promise<ReadonlyMap<string, Outcome>>;
  /** The operation may yet bring demands: batches that open meanwhile wait for it. */
  expect(): void;
  /** The operation is over: nobody waits for its demands any more. */
  leave(): void;
}

export interface PoolParts extends FiguresParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** How long operations wait for each other, in milliseconds. */
  readonly windowMs: number;
  /** How long a batch waits for operations that can still add to it, in milliseconds. */
  readonly holdMs: number;
}

/**
 * The window may be stretched this much by further arrivals: far where calls are scarce or nothing is known of them,
 * little where the minute has plenty left, so that a steady stream of operations doesn't keep it open.
 */
const MAX_STRETCH = { scarce: 25, plenty: 2 };

/** Turns of the event loop without an arrival after which nobody is taken to be at the door. */
const QUIET_TURNS = 4;

/** How much wider the window is while nothing of the minute's budget is left, or nothing is known of it. */
const WIDENING = { spent: 5, unknown: 4 };

/** What one operation asked for at once. */
interface Order {
  readonly sending: Sending;
  readonly onLeftOut: Sending['onLeftOut'];
  readonly outcomes: Map<string, Outcome>;
  /** Batches that carry some of it. */
  readonly flights: Set<Flight>;
  missing: number;
  readonly done: () => void;
}

/** A batch under way, and the orders that wait for it. */
interface Flight {
  readonly ends: AbortController;
  readonly lead: Order;
  readonly orders: Set<Order>;
}

/** A demand that is waiting to leave or under way, and who wants it. */
interface Wanted {
  readonly demand: Demand;
  readonly orders: Set<Order>;
  flight: Flight | null;
}

interface Gathering {
  readonly openedAtMs: number;
  window: NodeJS.Timeout | undefined;
  bound: NodeJS.Timeout | undefined;
  isWindowOver: boolean;
  /** Operations that came while the window was open. */
  arrivals: number;
}

/** All that goes on under one key. */
interface Table {
  readonly keyDigest: string;
  readonly seats: Set<object>;
  /** Seats that have yet to bring their demands. */
  readonly awaited: Set<object>;
  readonly wanted: Map<string, Wanted>;
  gathering: Gathering | null;
}

export function createObservationPool(parts: PoolParts): ObservationPool {
  const { ledger, clock, windowMs, holdMs } = parts;
  const tables = new Map<string, Table>();

  function tableOf(keyDigest: string): Table {
    let table = tables.get(keyDigest);
    if (table === undefined) {
      table = { keyDigest, seats: new Set(), awaited: new Set(), wanted: new Map(), gathering: null };
      tables.set(keyDigest, table);
    }
    return table;
  }

  /** Opens the window, or keeps it open a little longer for an arrival. */
  function gather(table: Table): void {
    table.gathering ??= {
      openedAtMs: clock.now(),
      window: undefined,
      bound: undefined,
      isWindowOver: false,
      arrivals: 0,
    };
    const { gathering } = table;
    if (gathering.isWindowOver) return;
    gathering.arrivals += 1;
    const shareLeft = ledger.shareLeft(table.keyDigest);
    const waitMs = windowMs * widening(shareLeft);
    const longestMs = gathering.openedAtMs + windowMs * stretch(shareLeft) - clock.now();
    clearTimeout(gathering.window);
    gathering.window = setTimeout(
      () =>
        afterQuietTurns(table, gathering, () => {
          gathering.isWindowOver = true;
          gathering.bound = setTimeout(() => departSafely(table), holdMs);
          departIfReady(table);
        }),
      Math.max(0, Math.min(waitMs, longestMs)),
    );
  }

  /**
   * Waits until some turns of the event loop have passed without an arrival. A timer that is overdue fires before
   * the sockets are read, so operations that are at the door already would else be left behind.
   */
  function afterQuietTurns(table: Table, gathering: Gathering, then: () => void): void {
    const { arrivals, window } = gathering;
    let turnsLeft = QUIET_TURNS;
    const turn = () => {
      // Whoever arrives meanwhile has opened the window anew.
      const isSame = table.gathering === gathering && gathering.window === window;
      if (!isSame || gathering.arrivals !== arrivals) return;
      turnsLeft -= 1;
      if (turnsLeft < 0) then();
      else setImmediate(turn);
    };
    turn();
  }

  function departIfReady(table: Table): void {
    if (table.gathering?.isWindowOver && table.awaited.size === 0) departSafely(table);
  }

  function closeGathering(table: Table): void {
    clearTimeout(table.gathering?.window);
    clearTimeout(table.gathering?.bound);
    table.gathering = null;
    // Seats that were waited for in vain are not waited for again.
    table.awaited.clear();
  }

  /** Timers call this: a fault on the way fails what has gathered, and nothing else. */
  function departSafely(table: Table): void {
    try {
      depart(table);
    } catch (error) {
      const fault =
        error instanceof Error ? error : new Error('The batch could not leave.', { cause: error });
      for (const { demand, orders } of waiting(table)) {
        for (const order of orders) settleFor(order, demandKey(demand), fault);
      }
      dropUnwanted(table);
    }
  }

  /** Sends what has gathered; where the minute is spent, sends away those that may not wait for the next one. */
  function depart(table: Table): void {
    closeGathering(table);
    const opensAtMs = ledger.opensAtMs(table.keyDigest);
    const pausesMs = opensAtMs - clock.now();
    if (pausesMs > 0) {
      const refusal = ledger.refusal(table.keyDigest).with({ route: '/v1/data' });
      for (const { demand, orders, flight } of table.wanted.values()) {
        if (flight !== null) continue;
        for (const order of orders) {
          if (order.sending.waitDeadlineMs < opensAtMs) settleFor(order, demandKey(demand), refusal);
        }
      }
      dropUnwanted(table);
      if (waiting(table).length > 0) void clock.sleep(pausesMs).then(() => departSafely(table));
      return;
    }
    const leaving = waiting(table);
    const lead = leaving[0]?.orders.values().next().value;
    if (lead === undefined) return;
    const flight: Flight = { ends: new AbortController(), lead, orders: new Set() };
    let waitDeadlineMs = 0;
    for (const wanted of leaving) {
      wanted.flight = flight;
      for (const order of wanted.orders) {
        board(order, flight);
        waitDeadlineMs = Math.max(waitDeadlineMs, order.sending.waitDeadlineMs);
      }
    }
    const sending: Sending = {
      caller: lead.sending.caller,
      bill: lead.sending.bill,
      payer: sharedPayer(() => payersOf(flight)),
      signal: flight.ends.signal,
      waitDeadlineMs,
      onLeftOut(rows) {
        for (const order of flight.orders) order.onLeftOut?.(rows);
      },
    };
    const settle = (key: string, outcome: Outcome) => {
      const wanted = table.wanted.get(key);
      if (wanted?.flight !== flight) return;
      table.wanted.delete(key);
      for (const order of wanted.orders) settleFor(order, key, outcome);
    };
    fetchFigures(
      leaving.map(({ demand }) => demand),
      parts,
      sending,
      settle,
    ).catch((error: unknown) => {
      // Nobody waits any longer, or the gateway is at fault: then each demand fails with the fault.
      const fault = error instanceof Error ? error : new Error('The batch was given up.', { cause: error });
      for (const { demand } of leaving) settle(demandKey(demand), fault);
    });
  }

  function waiting(table: Table): Wanted[] {
    return [...table.wanted.values()].filter(({ flight }) => flight === null);
  }

  function dropUnwanted(table: Table): void {
    for (const [key, { orders, flight }] of table.wanted) {
      for (const order of orders) if (order.missing === 0) orders.delete(order);
      if (orders.size === 0 && flight === null) table.wanted.delete(key);
    }
  }

  function settleFor(order: Order, key: string, outcome: Outcome): void {
    if (order.outcomes.has(key)) return;
    order.outcomes.set(key, outcome);
    order.missing -= 1;
    if (order.missing === 0) order.done();
  }

  function board(order: Order, flight: Flight): void {
    order.flights.add(flight);
    flight.orders.add(order);
  }

  /** An order is answered or given up: a batch that nobody waits for any more is given up too. */
  function withdraw(table: Table, order: Order): void {
    if (order.missing > 0) {
      for (const [key, { orders, flight }] of table.wanted) {
        if (orders.delete(order) && orders.size === 0 && flight === null) table.wanted.delete(key);
      }
    }
    for (const flight of order.flights) {
      flight.orders.delete(order);
      if (flight.orders.size > 0) continue;
      // What it still carries nobody wants; whoever wants it from now on must not wait for a batch given up.
      let isCarrying = false;
      for (const [key, wanted] of table.wanted) {
        if (wanted.flight !== flight) continue;
        table.wanted.delete(key);
        isCarrying = true;
      }
      if (isCarrying) flight.ends.abort();
    }
  }

  return {
    join(sending) {
      const table = tableOf(sending.caller.keyDigest);
      const seat = {};
      table.seats.add(seat);
      if (table.gathering !== null) gather(table);

      const arrive = () => {
        if (table.awaited.delete(seat)) departIfReady(table);
      };

      return {
        expect() {
          if (!table.gathering?.isWindowOver) table.awaited.add(seat);
        },
        async load(demands, onLeftOut) {
          if (demands.length > 0) sending.deadline?.start();
          if (sending.signal.aborted) {
            arrive();
            return withTheLate(demands, new Map(), sending.signal.reason);
          }
          let done = () => {};
          const answered = new Promise<void>((resolve) => {
            done = resolve;
          });
          const order: Order = {
            sending,
            onLeftOut,
            outcomes: new Map(),
            flights: new Set(),
            missing: 0,
            done,
          };
          let isNew = false;
          for (const demand of demands) {
            const key = demandKey(demand);
            let wanted = table.wanted.get(key);
            if (wanted === undefined) {
              wanted = { demand, orders: new Set(), flight: null };
              table.wanted.set(key, wanted);
            }
            if (!wanted.orders.has(order)) order.missing += 1;
            wanted.orders.add(order);
            if (wanted.flight !== null) board(order, wanted.flight);
            isNew ||= wanted.flight === null;
          }
          if (isNew) gather(table);
          arrive();
          try {
            if (order.missing > 0) await untilAborted(answered, sending.signal);
          } catch (reason) {
            return withTheLate(demands, order.outcomes, reason);
          } finally {
            withdraw(table, order);
          }
          for (const { lead } of order.flights) if (lead !== order) sending.bill.shared += 1;
          return order.outcomes;
        },
        leave() {
          arrive();
          table.seats.delete(seat);
          if (table.seats.size === 0 && table.wanted.size === 0) tables.delete(table.keyDigest);
        },
      };
    },
  };
}

/**
 * The outcomes that were there when an operation was given up, and of the others that its time was over.
 * @throws the reason where it was given up for another one: then nobody reads its answer
 */
function withTheLate(
  demands: readonly Demand[],
  outcomes: Map<string, Outcome>,
  reason: unknown,
): ReadonlyMap<string, Outcome> {
  if (!(reason instanceof Failure)) throw reason;
  for (const demand of demands) {
    const key = demandKey(demand);
    if (!outcomes.has(key)) outcomes.set(key, reason);
  }
  return outcomes;
}

/** Those that wait for something of a batch, the one that led it first: what it sends is billed to them alone. */
function payersOf({ orders }: Flight): Payer[] {
  return [...orders].filter(({ missing }) => missing > 0).map(({ sending }) => sending.payer);
}

function stretch(shareLeft: number | null): number {
  const { scarce, plenty } = MAX_STRETCH;
  return shareLeft === null ? scarce : plenty + (1 - shareLeft) * (scarce - plenty);
}

function widening(shareLeft: number | null): number {
  return shareLeft === null ? WIDENING.unknown : 1 + (1 - shareLeft) * (WIDENING.spent - 1);
}
