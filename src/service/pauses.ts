import type { Tenant } from '../keys/tenant.ts';
import type { Failure } from '../shared/errors.ts';

/** Milliseconds without calls after a refusal. A key that is activated seconds later works soon after. */
export const REFUSALS = { firstMs: 1_000, longestMs: 60_000 };

/** Pauses after failures: short, since the calls that are kept back might have gone well. */
export const OUTAGES = { firstMs: 1_000, longestMs: 5_000 };

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
export class Pause {
  readonly lengths: typeof REFUSALS;
  #failure: Failure | null = null;
  /** The time at which the next probe may leave, in milliseconds. */
  endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  /** Number of pauses in a row, this one included; 0 if there is none. */
  round = 0;

  /** @param lengths of the first one, and of the longest; each in a row is twice as long as the one before */
  constructor(lengths: typeof REFUSALS) {
    this.lengths = lengths;
  }

  /** Returns the reason for which no call may leave now; null if one may as a probe. */
  reason(nowMs: number): Failure | null {
    return nowMs < this.endsAtMs ? this.#failure : null;
  }

  /** Returns the reason as well, if the call is not the probe. The first to ask after the pause is, until it is over. */
  refusalFor(call: object, nowMs: number): Failure | null {
    if (this.#failure === null || this.#probe === call) return null;
    if (nowMs < this.endsAtMs || this.#probe !== null) return this.#failure;
    this.#probe = call;
    return null;
  }

  isProbedBy(call: object): boolean {
    return this.#probe === call;
  }

  /** Waits until the probe that is under way is over; null if there is none. */
  untilProbed(): Promise<void> | null {
    return this.#probe === null ? null : new Promise((over) => this.#onProbeOver.push(over));
  }

  begin(failure: Failure, nowMs: number): void {
    const { firstMs, longestMs } = this.lengths;
    this.endsAtMs = nowMs + Math.min(longestMs, firstMs * 2 ** this.round);
    this.round += 1;
    this.#failure = failure;
    this.#endProbe();
  }

  /** Ends a call, with any outcome: if it was the probe, another call may be. */
  release(call: object): void {
    if (this.#probe === call) this.#endProbe();
  }

  end(): void {
    this.round = 0;
    this.#failure = null;
    this.#endProbe();
  }

  #endProbe(): void {
    this.#probe = null;
    for (const over of this.#onProbeOver.splice(0)) over();
  }
}

interface RoutePauses {
  /** After a 403: the key may be good for other routes. */
  readonly refusal: Pause;
  /** After attempts under the key that got no answer. */
  readonly outage: Pause;
  /** Unanswered attempts in a row. */
  failures: number;
}

interface KeyPauses {
  /** Of every route, after a 401. */
  readonly all: Pause;
  readonly byRoute: Map<string, RoutePauses>;
}

/** The pauses of all keys: most have none. */
export class PausesByKey {
  readonly #byTenant = new WeakMap<Tenant, KeyPauses>();

  of(tenant: Tenant): KeyPauses | undefined {
    return this.#byTenant.get(tenant);
  }

  on(route: string, tenant: Tenant): RoutePauses | undefined {
    return this.of(tenant)?.byRoute.get(route);
  }

  /** Returns the pauses of a key, opened if it has had none. */
  opened(tenant: Tenant): KeyPauses {
    let pauses = this.of(tenant);
    if (pauses === undefined) {
      pauses = { all: new Pause(REFUSALS), byRoute: new Map() };
      this.#byTenant.set(tenant, pauses);
    }
    return pauses;
  }

  openedOn(route: string, tenant: Tenant): RoutePauses {
    const { byRoute } = this.opened(tenant);
    let routePauses = byRoute.get(route);
    if (routePauses === undefined) {
      routePauses = { refusal: new Pause(REFUSALS), outage: new Pause(OUTAGES), failures: 0 };
      byRoute.set(route, routePauses);
    }
    return routePauses;
  }

  /** Finds the call that finds out if a key is accepted by now: further ones wait for it. */
  probeOn(route: string, tenant: Tenant): Promise<void> | null {
    return this.of(tenant)?.all.untilProbed() ?? this.on(route, tenant)?.refusal.untilProbed() ?? null;
  }
}
