import DataLoader from 'dataloader';
import { observations } from '../../service/endpoints.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { Sending } from '../../service/sending.ts';
import { mapValue, type PromiseOrValue, whenAll } from '../../shared/async/promises.ts';
import { type Steps, timeSliced, yieldToEventLoop } from '../../shared/async/turns.ts';
import { asError } from '../../shared/errors.ts';
import { FEW } from '../cached.ts';
import type { Figures, Outcome } from '../fetch.ts';
import { type Demand, wholeOf } from '../planner/demand.ts';
import type { BatchGate } from './batch-gate.ts';
import type { CallOrder } from './call-order.ts';
import type { Doubts } from './doubts.ts';
import type { Effort } from './effort.ts';
import { OneState, renewedTogether } from './one-state.ts';

export interface FiguresMeans {
  readonly sending: Sending;
  readonly figures: Figures;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly order: CallOrder;
  readonly room?: FiguresRoom | undefined;
}

/** Memory for the figures of an operation. */
export interface FiguresRoom {
  /** Null if there is room for them at once. */
  take(demands: readonly Demand[]): Promise<void> | null;
}

/** Null if there is none. */
export type National = ObservationRecord | Error | null;

interface Missing {
  readonly demands: readonly Demand[];
  readonly missingAsOf: number | null;
}

/** Demands of a field that are fetched together. */
class Pending {
  /** Resolves once each has an outcome; null while the cache is read. */
  over: Promise<unknown> | null = null;
}

/** Fields that have waited for more demands than this go on in a turn each, however many wait for the same ones. */
const FEW_TOGETHER = 100;

/**
 * The outcomes of one operation's demands. A demand is new, pending, or resolved. Resolved ones are there
 * synchronously; DataLoader gathers the rest, the demands of a field as one set, since a promise for each of
 * thousands would cost more than the demands.
 */
export class OperationOutcomes {
  readonly #means: FiguresMeans;
  readonly #doubts: Doubts;
  /** By name of the demand: its outcome, or while it is pending its set. */
  readonly #outcomes = new Map<string, Outcome | Pending>();
  readonly #loader: DataLoader<Missing, null>;
  readonly oneState: OneState;
  /** True if cached figures wait for all others, since some field bounds their age. */
  isTogether = false;

  constructor(means: FiguresMeans, doubts: Doubts) {
    this.#means = means;
    this.#doubts = doubts;
    this.oneState = new OneState(means.sending.caller);
    this.#loader = new DataLoader((sets) => this.#fetchAll(sets), {
      cache: false,
      batchScheduleFn: (leave) => means.batchGate.whenOpen(leave),
    });
  }

  /** Synchronous if all demands are resolved, unless there are many. */
  of<Result>(
    demands: readonly Demand[],
    make: (outcomes: readonly Outcome[]) => PromiseOrValue<Result>,
  ): PromiseOrValue<Result> {
    const pending = this.#ask(demands);
    if (pending.length === 0) return this.#made(demands, make);
    const goOn = () => this.#made(demands, make);
    const over = whenAll(pending.map((set) => set.over));
    if (demands.length <= FEW_TOGETHER) return over.then(goOn);
    const { sending, batchGate } = this.#means;
    return over.then(() => batchGate.closeDuring(yieldToEventLoop(sending.caller))).then(goOn);
  }

  #made<Result>(
    demands: readonly Demand[],
    make: (outcomes: readonly Outcome[]) => PromiseOrValue<Result>,
  ): PromiseOrValue<Result> {
    const resolved = this.#resolved(demands);
    return resolved instanceof Promise
      ? this.#means.batchGate.closeDuring(resolved).then(make)
      : make(resolved);
  }

  /** Fetches the new demands; returns the sets that any of them wait for. */
  #ask(demands: readonly Demand[]): readonly Pending[] {
    const pendingSet = new Pending();
    const pending = new Set<Pending>();
    const fresh: Demand[] = [];
    for (const demand of demands) {
      const name = this.#nameOf(demand);
      const before = this.#outcomes.get(name);
      if (before === undefined) {
        this.#outcomes.set(name, pendingSet);
        fresh.push(demand);
      } else if (before instanceof Pending && before !== pendingSet) pending.add(before);
    }
    try {
      if (fresh.length > 0) pendingSet.over = this.#fetch(pendingSet, fresh);
    } catch (error) {
      for (const { name } of fresh) this.#outcomes.delete(name);
      throw error;
    }
    return pendingSet.over === null ? [...pending] : [pendingSet, ...pending];
  }

  #resolved(demands: readonly Demand[]): PromiseOrValue<readonly Outcome[]> {
    const outcomes = demands.map(
      (demand) => this.outcomeOf(demand) ?? new Error(`No outcome of ${demand.key}.`),
    );
    if (this.#doubts.left > 0) this.#doubts.settle(demands, outcomes);
    return this.oneState.of(demands, outcomes);
  }

  /** Some years are found under the name of the whole series if the operation has asked for that. */
  #nameOf(demand: Demand): string {
    if (demand.years === null) return demand.name;
    const whole = wholeOf(demand);
    return this.#outcomes.has(whole.name) ? whole.name : demand.name;
  }

  *came(): Iterable<readonly [name: string, outcome: Outcome]> {
    for (const [name, outcome] of this.#outcomes) if (!(outcome instanceof Pending)) yield [name, outcome];
  }

  /** Undefined unless resolved. Asks for nothing. */
  outcomeOf(demand: Demand): Outcome | undefined {
    const outcome = this.#outcomes.get(demand.name);
    if (outcome !== undefined && !(outcome instanceof Pending)) return outcome;
    const ofWhole = this.#outcomes.get(this.#nameOf(demand));
    return ofWhole instanceof Pending ? undefined : ofWhole;
  }

  /** Resolves cached demands, many of them in turns; returns the others. */
  #missingIn(demands: readonly Demand[]): PromiseOrValue<Missing> {
    if (demands.length <= FEW) return this.#notCached(demands);
    const { sending, batchGate } = this.#means;
    const looking = timeSliced(sending.caller, this.#missingInSteps(demands));
    return looking instanceof Promise ? batchGate.closeDuring(looking) : looking;
  }

  *#missingInSteps(demands: readonly Demand[]): Steps<Missing> {
    const missing: Demand[] = [];
    for (let from = 0; from < demands.length; from += FEW) {
      missing.push(...this.#notCached(demands.slice(from, from + FEW)).demands);
      yield;
    }
    return { demands: missing, missingAsOf: null };
  }

  #notCached(demands: readonly Demand[]): Missing {
    const { figures, sending } = this.#means;
    const outcomes = this.isTogether ? null : figures.find(demands, sending);
    if (outcomes === null) return { demands, missingAsOf: null };
    const missing: Demand[] = [];
    for (let i = 0; i < demands.length; i += 1) {
      const demand = demands[i] as Demand;
      const outcome = outcomes.outcomes[i];
      if (outcome === undefined) missing.push(demand);
      else this.#outcomes.set(demand.name, outcome);
    }
    return { demands: missing, missingAsOf: outcomes.missingAsOf };
  }

  /**
   * What is thrown becomes the outcome of all that are still pending.
   * @returns null if all demands are cached
   */
  #fetch(set: Pending, demands: readonly Demand[]): Promise<unknown> | null {
    const entering = this.#means.room?.take(demands) ?? undefined;
    if (entering !== undefined) this.#means.batchGate.closeDuring(entering);
    const missing = mapValue(entering, () => this.#missingIn(demands));
    if (!(missing instanceof Promise) && missing.demands.length === 0) return null;
    const load = (some: Missing) =>
      some.demands.length === 0 ? null : this.#means.order.leads(observations.route, this.#loader.load(some));
    return Promise.resolve(mapValue(missing, load)).catch((thrown) => {
      const error = asError(thrown, 'The figures could not be fetched.');
      for (const { name } of demands) if (this.#outcomes.get(name) === set) this.#outcomes.set(name, error);
    });
  }

  async #fetchAll(sets: readonly Missing[]): Promise<null[]> {
    const { figures, sending } = this.#means;
    const demands = sets.flatMap((set) => set.demands);
    const [{ missingAsOf = null } = {}, ...rest] = sets;
    const areLooked = rest.every((set) => set.missingAsOf === missingAsOf);
    const outcomes = await figures.fetch(demands, sending, areLooked ? missingAsOf : null);
    const renewed = this.isTogether
      ? await timeSliced(sending.caller, renewedTogether(demands, outcomes))
      : null;
    // A pair for each of thousands would cost more than the call.
    outcomes.forEach((outcome, name) => {
      this.#outcomes.set(name, renewed?.get(name) ?? outcome);
    });
    return sets.map(() => null);
  }
}
