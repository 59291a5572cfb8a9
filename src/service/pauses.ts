import type { Tenant } from '../keys/tenant.ts';
import type { Failure } from '../shared/errors.ts';

/** Unanswered attempts in a row after which a pause begins. */
export const PAUSES_AFTER = 10;

/** Short at first, so that a key which is activated seconds later works soon after. */
const REFUSALS = { firstMs: 1_000, longestMs: 60_000 };

/** Short, since calls that are kept back might have succeeded. */
const OUTAGES = { firstMs: 1_000, longestMs: 5_000 };

/** Beginnings and ends of all pauses so far, by which it shows if one has changed since a call left. */
let changes = 0;

export function pauseChanges(): number {
  return changes;
}

/**
 * Keeps calls back for a while after a failure. Then one call at a time may leave as a probe: its failure begins the
 * next pause, its success ends them.
 */
export class Pause {
  readonly #lengths: typeof REFUSALS;
  #failure: Failure | null = null;
  /** Instant at which the next probe may leave. */
  endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  /** Pauses in a row, this one included; 0 if there is none. */
  round = 0;
  #changedAt = 0;

  /** @param lengths of the first pause and the longest; each is twice as long as the one before */
  constructor(lengths: typeof REFUSALS) {
    this.#lengths = lengths;
  }

  /** Why no call may leave now; null if one may as a probe. */
  reason(nowMs: number): Failure | null {
    return nowMs < this.endsAtMs ? this.#failure : null;
  }

  /** The same for one call: the first to ask after the pause becomes the probe. */
  refusalFor(call: object, nowMs: number): Failure | null {
    if (this.#failure === null || this.#probe === call) return null;
    if (nowMs < this.endsAtMs || this.#probe !== null) return this.#failure;
    this.#probe = call;
    return null;
  }

  /** Null if no probe is under way. */
  untilProbed(): Promise<void> | null {
    return this.#probe === null ? null : new Promise((over) => this.#onProbeOver.push(over));
  }

  /** True if it was as it is after so many changes: what is told of a call that left then is no old news. */
  isAsAfter(changesThen: number): boolean {
    return this.#changedAt <= changesThen;
  }

  begin(failure: Failure, nowMs: number): void {
    const { firstMs, longestMs } = this.#lengths;
    this.endsAtMs = nowMs + Math.min(longestMs, firstMs * 2 ** this.round);
    this.#change(this.round + 1, failure);
  }

  /** To be called at the end of a call with any outcome: if it was the probe, another may be. */
  release(call: object): void {
    if (this.#probe === call) this.#endProbe();
  }

  end(): void {
    if (this.round > 0) this.#change(0, null);
  }

  #change(round: number, failure: Failure | null): void {
    this.round = round;
    this.#failure = failure;
    changes += 1;
    this.#changedAt = changes;
    this.#endProbe();
  }

  #endProbe(): void {
    this.#probe = null;
    for (const over of this.#onProbeOver.splice(0)) over();
  }
}

/** The pause of a route that doesn't answer, after some attempts in a row. */
export class Outage extends Pause {
  /** Attempts without an answer since the last answer or pause, by key. */
  readonly #failures = new Map<Tenant, number>();

  constructor() {
    super(OUTAGES);
  }

  /**
   * Counts a failed attempt of a key, and begins a pause after too many.
   * @param most failures of this key that count
   */
  fail(whose: Tenant, most: number, failure: Failure, nowMs: number): void {
    this.#failures.set(whose, Math.min(most, (this.#failures.get(whose) ?? 0) + 1));
    let sum = 0;
    for (const count of this.#failures.values()) sum += count;
    if (this.round === 0 && sum < PAUSES_AFTER) return;
    this.#failures.clear();
    this.begin(failure, nowMs);
  }

  /** Ends it, and counts anew. */
  answer(): void {
    // Clearing makes a new table.
    if (this.#failures.size > 0) this.#failures.clear();
    this.end();
  }
}

/** The pauses of one key; under PUBLIC, the outages for all keys. */
export class KeyPauses {
  /** For every route, after a 401. */
  readonly key = new Pause(REFUSALS);
  /** By route, after a 403: the key may be good for others. */
  readonly refusals = new Map<string, Pause>();
  /** By route; one that never failed has none. */
  readonly outages = new Map<string, Outage>();

  refusal(route: string): Pause {
    const pause = this.refusals.get(route) ?? new Pause(REFUSALS);
    this.refusals.set(route, pause);
    return pause;
  }

  outage(route: string): Outage {
    const outage = this.outages.get(route) ?? new Outage();
    this.outages.set(route, outage);
    return outage;
  }
}
