import type { CallCounts, Count } from '../cache/counts.ts';
import type { QuotaRecord, RateLimit } from '../keys/ledger.ts';
import { Flow } from '../shared/async/turns.ts';
import { Failure } from '../shared/errors.ts';
import { createSeal, type Sealed } from '../shared/sealed.ts';
import { type CallBudget, Unfunded } from './call-budget.ts';

/** Milliseconds for which a refusal, or a failure of the store, stands before the store is asked again. */
const REFUSED_MS = 1_000;

/** What a budget of calls counts. Instants are milliseconds since the epoch. */
export interface BudgetTerms<Counted extends Count = Count> {
  /** Identifies the owner, to whom alone the budget is reported. */
  readonly name: string;
  /** The clock by which calls are counted. */
  now(): number;
  /** Lists the counts that a call at this instant belongs to: it takes one of each, or none. */
  countsAt(nowMs: number): readonly Counted[];
  /** Makes the failure of a call that would exceed a count. */
  spent(count: Counted, nowMs: number): Failure;
  /** Called with the store's counts whenever a call is taken from them. */
  see?(counts: readonly Counted[], calls: readonly number[]): void;
  /** Absent if the caller is told its key's plan instead; so are the limits. */
  quota?(): Promise<QuotaRecord>;
  limits?(): readonly RateLimit[];
}

/** A budget as its owner holds it, who doesn't take calls from it. */
export type Budget = Sealed<'budget'>;

export const budgetSeal = createSeal<CallBudget, 'budget'>('budget');

/**
 * A budget counted in a shared store. Each call is taken from the store's counts before it leaves, so that gateways
 * together never exceed it. A call that does not leave in the window in which it was taken is put back.
 */
export class CountedBudget<Counted extends Count> implements CallBudget {
  readonly name: string;
  readonly flow = new Flow();
  readonly quota: CallBudget['quota'];
  readonly limits: CallBudget['limits'];
  readonly #terms: BudgetTerms<Counted>;
  readonly #store: Pick<CallCounts, 'take' | 'putBack'>;
  /** Calls taken but not used yet, each as the names of its counts. */
  #units: (readonly string[])[] = [];
  #refusal: { readonly failure: Failure; readonly untilMs: number } | null = null;

  constructor(terms: BudgetTerms<Counted>, store: Pick<CallCounts, 'take' | 'putBack'>) {
    this.name = terms.name;
    this.quota = terms.quota?.bind(terms);
    this.limits = terms.limits?.bind(terms);
    this.#terms = terms;
    this.#store = store;
  }

  take(): () => void {
    const nowMs = this.#terms.now();
    const counts = this.#terms.countsAt(nowMs);
    const [first] = counts;
    for (let unit = this.#units.pop(); unit !== undefined; unit = this.#units.pop()) {
      const taken = unit;
      if (taken[0] === first?.name) return () => this.#offer(taken);
      this.#putBack(taken);
    }
    if (this.#refusal !== null && nowMs < this.#refusal.untilMs) throw this.#refusal.failure;
    throw new Unfunded(this.#fund(counts, nowMs));
  }

  /** Takes a call from the store, for the next `take` to find, or notes why there is none. */
  async #fund(counts: readonly Counted[], nowMs: number): Promise<void> {
    const refuse = (failure: Failure) => {
      this.#refusal = { failure, untilMs: this.#terms.now() + REFUSED_MS };
    };
    try {
      const { calls, full } = await this.#store.take(counts);
      this.#terms.see?.(counts, calls);
      const spent = full === null ? undefined : counts[full];
      if (spent !== undefined) refuse(this.#terms.spent(spent, nowMs));
      else this.#offer(counts.map(({ name }) => name));
    } catch {
      refuse(unreachable());
    }
  }

  /** Keeps a unit for the call that is about to retry `take`; an unused one goes back to the store. */
  #offer(unit: readonly string[]): void {
    this.#units.push(unit);
    setImmediate(() => {
      const place = this.#units.indexOf(unit);
      if (place === -1) return;
      this.#units.splice(place, 1);
      this.#putBack(unit);
    });
  }

  #putBack(unit: readonly string[]): void {
    // If that fails, the budget is one call smaller, never larger.
    this.#store.putBack(unit).catch(() => {});
  }
}

/** Makes the failure of what needs the store of counts while that can't be reached. */
export function unreachable(): Failure {
  return new Failure(
    'UPSTREAM_UNAVAILABLE',
    "The store of issued keys can't be reached, so nothing was sent.",
    { attempts: 0, retryAfterSeconds: 1 },
  );
}
