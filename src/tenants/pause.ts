import type { Failure } from '../errors.ts';

interface PauseLengths {
  /** The first pause, in milliseconds; each further one in a row is twice as long. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
export class Pause {
  readonly lengths: PauseLengths;
  #failure: Failure | null = null;
  #endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  #round = 0;

  constructor(lengths: PauseLengths) {
    this.lengths = lengths;
  }

  /** Number of pauses in a row, this one included; 0 if there is none. */
  get round(): number {
    return this.#round;
  }

  /** The time at which the next probe may leave, in milliseconds. */
  get endsAtMs(): number {
    return this.#endsAtMs;
  }

  /** Returns the reason for which no call may leave now; null if one may as a probe. */
  reason(nowMs: number): Failure | null {
    return nowMs < this.#endsAtMs ? this.#failure : null;
  }

  /**
   * Returns the reason for which a call may not leave now; null if it may. The first that asks after the pause is the
   * probe until it is over.
   */
  keepsBack(call: object, nowMs: number): Failure | null {
    if (this.#failure === null || this.#probe === call) return null;
    if (nowMs < this.#endsAtMs || this.#probe !== null) return this.#failure;
    this.#probe = call;
    return null;
  }

  /** Tells if this call is the probe. */
  isProbedBy(call: object): boolean {
    return this.#probe === call;
  }

  /** Waits until the probe that is under way is over; null if there is none. */
  untilProbed(): Promise<void> | null {
    return this.#probe === null ? null : new Promise((over) => this.#onProbeOver.push(over));
  }

  begin(failure: Failure, nowMs: number): void {
    const { firstMs, longestMs } = this.lengths;
    this.#endsAtMs = nowMs + Math.min(longestMs, firstMs * 2 ** this.#round);
    this.#round += 1;
    this.#failure = failure;
    this.#endProbe();
  }

  /** Ends a call, with any outcome: if it was the probe, another call may be. */
  release(call: object): void {
    if (this.#probe === call) this.#endProbe();
  }

  end(): void {
    this.#round = 0;
    this.#failure = null;
    this.#endProbe();
  }

  #endProbe(): void {
    this.#probe = null;
    for (const over of this.#onProbeOver.splice(0)) over();
  }
}

/** The pauses of one key on one route. */
export interface RoutePauses {
  /** After a 403: the key may be good for other routes. */
  readonly refusal: Pause;
  /** After attempts under the key that got no answer. */
  readonly outage: Pause;
  /** Unanswered attempts in a row. */
  failures: number;
}

/** The pauses of one key. */
export interface KeyPauses {
  /** Of every route, after a 401. */
  readonly all: Pause;
  readonly byRoute: Map<string, RoutePauses>;
}
