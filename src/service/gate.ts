import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import { Failure } from '../shared/errors.ts';
import type { Attempted } from './attempt.ts';
import type { Answer, Call } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { KeyPauses, Outage, PAUSES_AFTER, type Pause, pauseChanges } from './pauses.ts';

/** Failures of one key that count towards the outage for all keys: one key alone can't close a route to the others. */
const MOST_OF_ONE_KEY = PAUSES_AFTER / 2;

/** An attempt at the gate. */
export interface Visit {
  /** Settles with the probe that finds out if the key is accepted by now; null if there is none to wait for. */
  readonly probe: Promise<void> | null;
  /**
   * Checks an attempt when it arrives, and again when it leaves the queue: it may become a probe.
   * @throws Failure if it meets a pause
   */
  readonly check: () => void;
  /** Notes the outcome. Settles once a refusal of the key is published to other gateways. */
  readonly hear: (attempted: Attempted) => unknown;
  /** Ends the probe that it may be, whatever the outcome. */
  readonly end: () => void;
}

/**
 * The circuit breaker. It opens for a key after a 401, for a key on one route after a 403, and for a route after
 * PAUSES_AFTER attempts in a row without an answer (5xx, timeouts, broken connections). While it is open, queued and new
 * calls fail at once: with the service's own words, or as unavailable. When the pause ends, one call probes the service.
 *
 * Routes fail separately, and a route that fails under one key alone is closed to that key alone.
 */
export class CallGate {
  readonly #tenants: { all(): Iterable<Tenant> };
  readonly #tenantCache: Pick<TenantCache, 'accept' | 'refuse'>;
  readonly #now: () => number;
  readonly #wallNow: () => number;
  readonly #pauses = new WeakMap<Tenant, KeyPauses>();

  /**
   * @param tenantCache is told of the service's verdicts on keys
   * @param now clock of pauses, which nobody can set back; see `createSteadyClock`
   * @param wallNow clock of the times in errors
   */
  constructor(
    tenants: { all(): Iterable<Tenant> },
    tenantCache: Pick<TenantCache, 'accept' | 'refuse'>,
    now: () => number,
    wallNow: () => number,
  ) {
    this.#tenants = tenants;
    this.#tenantCache = tenantCache;
    this.#now = now;
    this.#wallNow = wallNow;
  }

  /** Returns the refusal that blocks every call under the key now; null if none does. */
  refusal(tenant: Tenant): Failure | null {
    return this.#pauses.get(tenant)?.key.reason(this.#now()) ?? null;
  }

  /** What an attempt meets. Attempts that queue are checked again when they leave, so that a pause stops them too. */
  visit(call: Call, tenant: Tenant): Visit {
    const visitor = {};
    let changesThen = 0;
    const own = call.isPublic ? undefined : this.#pauses.get(tenant);
    return {
      probe: own?.key.untilProbed() ?? own?.refusals.get(call.route)?.untilProbed() ?? null,
      check: () => {
        changesThen = pauseChanges();
        for (const pause of this.#pausesOf(call, tenant)) {
          const why = pause.refusalFor(visitor, this.#now());
          if (why !== null) throw this.#failure(why, call, pause);
        }
      },
      hear: (attempted) => this.#hear(attempted, call, tenant, changesThen),
      end: () => {
        for (const pause of this.#pausesOf(call, tenant)) pause.release(visitor);
      },
    };
  }

  /** Lists routes that have failed: whether they are closed to all keys now, and to how many single keys. */
  open() {
    const forAll = this.#pauses.get(PUBLIC)?.outages ?? new Map<string, Outage>();
    const all = [...this.#tenants.all()].map((tenant) => this.#pauses.get(tenant)?.outages);
    return Array.from(forAll, ([route, { round }]) => {
      const keys = all.filter((outages) => (outages?.get(route)?.round ?? 0) > 0).length;
      return { route, isOpenForAll: round > 0, keys };
    });
  }

  /** Finds the pauses that apply to a call; usually none. */
  #pausesOf({ route, isPublic }: Call, tenant: Tenant): readonly Pause[] {
    const own = isPublic ? undefined : this.#pauses.get(tenant);
    const forAll = this.#pauses.get(PUBLIC)?.outages.get(route);
    const candidates = [own?.key, own?.refusals.get(route), own?.outages.get(route), forAll];
    return candidates.filter((pause) => pause !== undefined);
  }

  #opened(tenant: Tenant): KeyPauses {
    const pauses = this.#pauses.get(tenant) ?? new KeyPauses();
    this.#pauses.set(tenant, pauses);
    return pauses;
  }

  /** Makes the failure of a call that meets a pause: the service's own words, or that the route does not answer. */
  #failure(why: Failure, { route }: Call, pause: Pause): Failure {
    if (!(pause instanceof Outage)) return why.with({ route });
    const retryAfterSeconds = Math.max(1, Math.ceil((pause.endsAtMs - this.#now()) / 1000));
    const words = 'The service has not answered on this route lately, so nothing was sent.';
    return new Failure('UPSTREAM_UNAVAILABLE', why.retryable ? words : `${words} ${why.message}`, {
      route,
      detail: why.fields.detail,
      retryable: why.fields.retryable,
      attempts: 0,
      retryAfterSeconds,
      retryAt: new Date(this.#wallNow() + retryAfterSeconds * 1000).toISOString(),
    });
  }

  /** Notes the verdict on the key and on the route. Settles once a refusal is published to other gateways. */
  #hear({ answer, error }: Attempted, call: Call, tenant: Tenant, changesThen: number): unknown {
    if (answer !== undefined) return this.#hearAnswer(answer, call, tenant, changesThen);
    if (!(error instanceof Failure) || isForgotten(error)) return;
    const { code } = error;
    if (isUnanswered(error)) return this.#failed(call, tenant, error, changesThen);
    this.#answered(call, tenant);
    if (code === 'BAD_USER_INPUT') return this.#accept(call, tenant, changesThen, this.#now());
    if (call.isPublic) return;
    if (code === 'RATE_LIMITED') return tenant.prove();
    if (code !== 'UNAUTHENTICATED' && code !== 'FORBIDDEN') return;
    tenant.refuse();
    const published = this.#tenantCache.refuse(tenant, error);
    this.#refused(error, tenant, call.route, changesThen);
    // A client that sees the refusal may turn to another gateway, which must know of it by then.
    return published;
  }

  /** An answer to a protected call proves the key; a 404 from a proxy in front of the service proves nothing. */
  #hearAnswer({ stray, body, receivedAt }: Answer, call: Call, tenant: Tenant, changesThen: number): void {
    if (stray !== undefined && body === undefined) return;
    if (stray === undefined) this.#accept(call, tenant, changesThen, receivedAt);
    else if (!call.isPublic) tenant.prove();
    this.#answered(call, tenant);
  }

  #accept({ route, isPublic }: Call, tenant: Tenant, changesThen: number, atMs: number): void {
    if (isPublic) return;
    // The call left before the key was refused, so it does not contradict that.
    if (this.#pauses.get(tenant)?.key.isAsAfter(changesThen) === false) {
      tenant.prove();
      return;
    }
    tenant.accept(atMs);
    this.#tenantCache.accept(tenant, atMs);
    this.#endRefusals(tenant, route, changesThen);
  }

  #refused(failure: Failure, tenant: Tenant, route: string, changesThen: number): void {
    const isOfRoute = failure.code === 'FORBIDDEN';
    const pauses = this.#opened(tenant);
    const pause = isOfRoute ? pauses.refusal(route) : pauses.key;
    if (pause.isAsAfter(changesThen)) pause.begin(failure, this.#now());
    if (!isOfRoute) return;
    tenant.prove();
    this.#endRefusals(tenant, null, changesThen);
  }

  /** Notes an attempt without an answer, unless it left before the current pause began. */
  #failed({ route, isPublic }: Call, tenant: Tenant, failure: Failure, changesThen: number): void {
    const count = (owner: Tenant, whose: Tenant, most: number) => {
      const outage = this.#opened(owner).outage(route);
      if (outage.isAsAfter(changesThen)) outage.fail(whose, most, failure, this.#now());
    };
    if (isPublic) count(PUBLIC, PUBLIC, PAUSES_AFTER);
    else {
      count(tenant, tenant, PAUSES_AFTER);
      count(PUBLIC, tenant, MOST_OF_ONE_KEY);
    }
  }

  #answered({ route, isPublic }: Call, tenant: Tenant): void {
    if (!isPublic) this.#pauses.get(tenant)?.outages.get(route)?.answer();
    this.#pauses.get(PUBLIC)?.outages.get(route)?.answer();
  }

  /** Ends the pauses of a key that the service has accepted, unless the call left before the last refusal. */
  #endRefusals(tenant: Tenant, route: string | null, changesThen: number): void {
    const { key, refusals } = this.#pauses.get(tenant) ?? {};
    if (key?.isAsAfter(changesThen)) key.end();
    const refusal = route === null ? undefined : refusals?.get(route);
    if (refusal?.isAsAfter(changesThen)) refusal.end();
  }
}
