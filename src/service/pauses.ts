import type { Tenant } from '../keys/tenant.ts';
import type { Failure } from '../shared/errors.ts';

/** Short at first, so that a key which is activated seconds later works soon after. */
export const REFUSALS = { firstMs: 1_000, longestMs: 60_000 };

/** Short, since calls that are kept back might have succeeded. */
export const OUTAGES = { firstMs: 1_000, longestMs: 5_000 };

/**
 * Keeps calls back for a while after a failure. Then one call at a time may leave as a probe: its failure begins the
 * next pause, its success ends them.
 */
export class Pause {
  readonly lengths: typeof REFUSALS;
  #failure: Failure | null = null;
  /** Instant at which the next probe may leave. */
  endsAtMs = 0;
  #probe: object | null = null;
  #onProbeOver: (() => void)[] = [];
  /** Pauses in a row, this one included; 0 if there is none. */
  round = 0;

  /** @param lengths of the first pause and the longest; each is twice as long as the one before */
  constructor(lengths: typeof REFUSALS) {
    this.lengths = lengths;
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

  isProbedBy(call: object): boolean {
    return this.#probe === call;
  }

  /** Null if no probe is under way. */
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

  /** To be called at the end of a call with any outcome: if it was the probe, another may be. */
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
  /** After unanswered attempts under the key. */
  readonly outage: Pause;
  /** Unanswered attempts in a row. */
  failures: number;
}

interface KeyPauses {
  /** For every route, after a 401. */
  readonly all: Pause;
  readonly byRoute: Map<string, RoutePauses>;
}

export class PausesByKey {
  readonly #byTenant = new WeakMap<Tenant, KeyPauses>();

  of(tenant: Tenant): KeyPauses | undefined {
    return this.#byTenant.get(tenant);
  }

  on(route: string, tenant: Tenant): RoutePauses | undefined {
    return this.of(tenant)?.byRoute.get(route);
  }

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

  /** Settles with the probe that finds out if a key is accepted by now: other calls wait for it. */
  probeOn(route: string, tenant: Tenant): Promise<void> | null {
    return this.of(tenant)?.all.untilProbed() ?? this.on(route, tenant)?.refusal.untilProbed() ?? null;
  }
}
