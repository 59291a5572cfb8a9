import type { CallCounts, Count } from '../cache/counts.ts';
import { Flow } from '../shared/async/turns.ts';
import { Failure } from '../shared/errors.ts';
import { type CallBudget, Unfunded } from './call-budget.ts';

/** Milliseconds for which a refusal, or a failure of the store, stands before the store is asked again. */
const REFUSED_MS = 1_000;

/**
 * A budget counted in a shared store. Each call is taken from the store's counts before it leaves, so that gateways
 * together never exceed it. A call that does not leave in the window in which it was taken is put back.
 */
export abstract class CountedBudget<Counted extends Count = Count> implements CallBudget {
  readonly name: string;
  readonly flow = new Flow();
  readonly #store: CallCounts;
  protected readonly now: () => number;
  /** Calls taken but not used yet, each as the names of its counts. */
  #units: (readonly string[])[] = [];
  #refusal: { readonly failure: Failure; readonly untilMs: number } | null = null;

  constructor(name: string, store: CallCounts, now: () => number) {
    this.name = name;
    this.#store = store;
    this.now = now;
  }

  /** Lists the counts that a call at this instant belongs to. */
  protected abstract countsAt(nowMs: number): readonly Counted[];
  /** Makes the failure of a call that would exceed a count. */
  protected abstract spent(count: Counted, nowMs: number): Failure;
  /** Called with the store's counts whenever they are read. */
  protected see(_counts: readonly Counted[], _calls: readonly number[]): void {}

  take(): () => void {
    const nowMs = this.now();
    const counts = this.countsAt(nowMs);
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
      this.#refusal = { failure, untilMs: this.now() + REFUSED_MS };
    };
    try {
      const { calls, full } = await this.#store.take(counts);
      this.see(counts, calls);
      const spent = full === null ? undefined : counts[full];
      if (spent !== undefined) refuse(this.spent(spent, nowMs));
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

  /** @throws Failure if the store can't be reached */
  protected async read(counts: readonly Counted[]): Promise<readonly number[]> {
    const calls = await this.#store.read(counts.map(({ name }) => name)).catch(() => {
      throw unreachable();
    });
    this.see(counts, calls);
    return calls;
  }
}

export function unreachable(): Failure {
  return new Failure(
    'UPSTREAM_UNAVAILABLE',
    "The store of issued keys can't be reached, so nothing was sent.",
    { attempts: 0, retryAfterSeconds: 1 },
  );
}
