import type { QuotaRecord, RateLimit } from '../keys/ledger.ts';
import type { Flow } from '../shared/async/turns.ts';

/** A budget of calls under the key of another. */
export interface CallBudget {
  /** Names its owner: nothing that the owner learns of its budget is shown to others. */
  readonly name: string;
  /** The flow of work that it pays for. */
  readonly flow: Flow;
  /**
   * Takes a call out of the budget.
   * @returns a function that puts it back, if it was not sent
   * @throws Unfunded if it isn't known at once that there is one
   * @throws Failure if there is none
   */
  take(): () => void;
  /** Left out if the caller is told of its key's plan instead. */
  readonly quota?: (() => Promise<QuotaRecord>) | undefined;
  readonly limits?: (() => readonly RateLimit[]) | undefined;
}

/** Joins two budgets: a call is taken out of both, or out of none. The other one tells its caller of itself. */
export function joinBudgets(name: string, takeFirst: CallBudget['take'], other: CallBudget): CallBudget {
  return {
    name,
    flow: other.flow,
    quota: other.quota?.bind(other),
    limits: other.limits?.bind(other),
    take() {
      const putBack = takeFirst();
      try {
        const putBackOther = other.take();
        return () => {
          putBack();
          putBackOther();
        };
      } catch (error) {
        // The first one waits for the other: otherwise each would lack a call while the other has one.
        if (error instanceof Unfunded) throw new Unfunded(error.settled.then(putBack));
        putBack();
        throw error;
      }
    },
  };
}

/** The reason to wait, and then to reserve again: it isn't known as yet if the budget has room. */
export class Unfunded extends Error {
  /** Settles once it is known; never rejects. */
  readonly settled: Promise<void>;

  constructor(settled: Promise<void>) {
    super('The budget is being asked.');
    this.settled = settled;
  }
}
