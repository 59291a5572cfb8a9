import type { Failure } from '../errors.ts';
import type { Answer, Call, Send } from './call.ts';

export interface PauseLengths {
  /** The first pause, in milliseconds; each further one in a row is twice as long. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
export class Pause {
  readonly #lengths: PauseLengths;
  #failure: Failure | null = null;
  #endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  #round = 0;

  constructor(lengths: PauseLengths) {
    this.#lengths = lengths;
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
    const { firstMs, longestMs } = this.#lengths;
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

export const NO_PAUSES: readonly Pause[] = [];

/** The pauses that keep calls back, and the failure of those calls. */
export interface Pauses {
  /** Returns the pauses that concern a call, as they stand now: mostly {@link NO_PAUSES}. */
  of(call: Call, keyDigest: string): readonly (Pause | undefined)[];
  failure(why: Failure, call: Call, pause: Pause): Failure;
  readonly now: () => number;
}

/**
 * Keeps calls back while a pause lasts: when they come, and once more when they have had their turn and are about to
 * leave. A call that was let through as a probe is over when it is answered, however that goes.
 */
export function pausing(next: Send, { of, failure, now }: Pauses): Send {
  return (call, sending) => {
    const { keyDigest } = sending.caller;
    const visit = {};
    let answering: Promise<Answer> | undefined;
    let isProbe = false;
    function keptBack(): Failure | null {
      for (const pause of of(call, keyDigest)) {
        const why = pause?.keepsBack(visit, now());
        if (pause !== undefined && why) return failure(why, call, pause);
        if (pause?.isProbedBy(visit)) becomeProbe();
      }
      return null;
    }
    /** Watches for the end of a probe. Most calls are none, and nobody has to watch for their end. */
    function becomeProbe(): void {
      if (isProbe) return;
      isProbe = true;
      answering?.then(release, release);
    }
    function release(): void {
      for (const pause of of(call, keyDigest)) pause?.release(visit);
    }
    function beforeLeaving(): void {
      sending.beforeLeaving?.();
      const why = keptBack();
      if (why !== null) throw why;
    }
    const why = keptBack();
    if (why !== null) {
      release();
      return Promise.reject(why);
    }
    answering = next(call, { ...sending, beforeLeaving });
    if (isProbe) answering.then(release, release);
    return answering;
  };
}
