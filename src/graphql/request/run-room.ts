import type { Config } from '../../config/config.ts';
import { spareBytes } from '../../config/memory-budget.ts';
import type { ObservationClient } from '../../observations/client.ts';
import type { Demand } from '../../observations/planner/demand.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import type { Caller } from '../../service/caller.ts';
import type { Deadline } from '../../service/deadline.ts';
import { type PromiseOrValue, untilAborted } from '../../shared/async/promises.ts';
import { type Keeper, Room } from '../../shared/async/room.ts';
import type { Flow } from '../../shared/async/turns.ts';
import type { RequestBatch } from './requests.ts';

/** Of the memory that an idle process leaves: together with full caches, half of it. */
const SHARE = 0.25;

/** What a row takes from its parsed body to its text in an answer: both forms of it, a slot in each column, its JSON. */
const ROW_BYTES = 1_200;

/** Operations of no more rows, two full calls, wait for nobody. */
const LIGHT_ROWS = 2_000;

interface Run {
  readonly participant: ReturnType<ObservationClient['join']>['participant'];
  readonly deadline: Deadline;
  readonly caller: Caller;
  readonly batch: RequestBatch | undefined;
}

/** Bounds what all operations of a process make at once. */
export function createRooms(config: Config, learned: Learned) {
  const room = new Room((SHARE * spareBytes(config)) / config.workers);
  return ({ participant, deadline, caller, batch }: Run) => {
    const waitUntil = async (turn: Promise<unknown>) => {
      participant.forgo();
      deadline.start();
      // If its time ends first, it fails at its first call.
      await untilAborted(turn, deadline.signal).catch(() => {});
    };
    const runRoom = new RunRoom(room, learned, { flow: caller.flow, keeper: batch }, waitUntil);
    const leave = () => {
      participant.leave();
      runRoom.leave();
    };
    return { room: runRoom, participant: { ...participant, leave }, waitUntil };
  };
}

/** The room of one operation, by the rows that its demands are expected to bring. */
class RunRoom {
  readonly #room: Room;
  readonly #learned: Learned;
  readonly #whose: { readonly flow: Flow; readonly keeper: Keeper | undefined };
  readonly #untilRoom: (entering: Promise<void>) => Promise<void>;
  #rows = 0;
  #countedRows = 0;
  #entering: PromiseOrValue<void> = undefined;

  /** @param untilRoom waits as long as the operation may, and never rejects */
  constructor(
    room: Room,
    learned: Learned,
    whose: { readonly flow: Flow; readonly keeper: Keeper | undefined },
    untilRoom: (entering: Promise<void>) => Promise<void>,
  ) {
    this.#room = room;
    this.#learned = learned;
    this.#whose = whose;
    this.#untilRoom = untilRoom;
  }

  /** Null if there is room at once. */
  take(demands: readonly Demand[]): Promise<void> | null {
    for (const demand of demands) this.#rows += this.#rowsOf(demand);
    if (this.#rows <= LIGHT_ROWS) return null;
    if (this.#entering instanceof Promise) return this.#entering;
    const bytes = ROW_BYTES * (this.#rows - this.#countedRows);
    this.#countedRows = this.#rows;
    const entering = this.#room.enter(this, { ...this.#whose, bytes });
    if (!(entering instanceof Promise)) return null;
    this.#entering = this.#untilRoom(entering).then(() => {
      this.#entering = undefined;
    });
    return this.#entering;
  }

  leave(): void {
    this.#room.leave(this);
  }

  #rowsOf({ mode, countryCode, metricKey, years }: Demand): number {
    if (mode === 'latest') return 1;
    return this.#learned.rowsWithin(years)(countryCode, metricKey);
  }
}
