import type { QuotaRecord, RateLimit } from '../keys/ledger.ts';
import type { Flow } from '../shared/async/turns.ts';

/** A budget of calls under the key of another. */
export interface CallBudget {
  /** Identifies the owner, to whom alone the budget is reported. */
  readonly name: string;
  /** The flow in whose turns its work runs. */
  readonly flow: Flow;
  /**
   * Takes a call out of the budget.
   * @returns a function that puts it back, if it was not sent
   * @throws Unfunded if it isn't known at once that there is one
   * @throws Failure if there is none
   */
  take(): () => void;
  /** Absent if the caller is told its key's plan instead. */
  readonly quota?: (() => Promise<QuotaRecord>) | undefined;
  readonly limits?: (() => readonly RateLimit[]) | undefined;
}

/** Joins two budgets: a call is taken from both or from neither. The caller is told about the second one. */
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
        // Keep the first call until the second is known: putting it back at once, the two could alternate for ever.
        if (error instanceof Unfunded) throw new Unfunded(error.settled.then(putBack));
        putBack();
        throw error;
      }
    },
  };
}

/** Thrown while the budget's store is being asked: wait for `settled`, then reserve again. */
export class Unfunded extends Error {
  /** Settles once it is known; never rejects. */
  readonly settled: Promise<void>;

  constructor(settled: Promise<void>) {
    super('The budget is being asked.');
    this.settled = settled;
  }
}
