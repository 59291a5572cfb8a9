import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import { Failure } from '../shared/errors.ts';
import type { Attempted, Transport } from './attempt.ts';
import type { Answer, Call, Send } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { OUTAGES, Pause, PausesByKey, REFUSALS } from './pauses.ts';
import type { Sending } from './sending.ts';

/** Unanswered attempts in a row after which a pause begins. */
const PAUSES_AFTER = 10;

/** Failures of one key that count towards the pause of all keys: one key alone can't close a route to the others. */
const MOST_OF_ONE_KEY = PAUSES_AFTER / 2;

/** The failures of all keys on one route. */
interface RouteOutage {
  /** Failures in a row, by key, up to MOST_OF_ONE_KEY. */
  readonly failures: Map<Tenant, number>;
  readonly pause: Pause;
}

/** The `round` of each pause when a call left: if one has changed by the time of the answer, the answer is old news. */
type Rounds = Readonly<Record<'key' | 'refusal' | 'outage' | 'all', number>>;

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
  readonly #pauses = new PausesByKey();
  /** By route; a route that never failed has no entry. */
  readonly #outages = new Map<string, RouteOutage>();

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
    return this.#pauses.of(tenant)?.all.reason(this.#now()) ?? null;
  }

  /** Fails calls that meet a pause. Wraps the stage in which calls queue, so that queued calls fail too. */
  stopping(next: Send): Send {
    return (call, sending) => {
      const probe = call.isPublic ? null : this.#pauses.probeOn(call.route, sending.caller.tenant);
      return probe === null
        ? this.#goOn(next, call, sending)
        : probe.then(() => this.#goOn(next, call, sending));
    };
  }

  /**
   * Notes the outcome of each call, and passes the service's verdict on the key to the tenant and its cache. Sits inside
   * the queueing stage, so that the next call in the queue already meets the pause.
   */
  hearing(next: Transport): Transport {
    return async (call, sending) => {
      const { tenant } = sending.caller;
      const rounds = this.#roundsOf(call, tenant);
      const attempted = await next(call, sending);
      await this.#hear(attempted, call, tenant, rounds);
      return attempted;
    };
  }

  /** Lists routes that have failed: whether they are closed to all keys now, and to how many single keys. */
  open() {
    const keys = new Map([...this.#outages.keys()].map((route) => [route, 0]));
    for (const tenant of this.#tenants.all()) {
      for (const [route, { outage }] of this.#pauses.of(tenant)?.byRoute ?? []) {
        if (outage.round > 0) keys.set(route, (keys.get(route) ?? 0) + 1);
      }
    }
    return Array.from(keys, ([route, count]) => {
      const isOpenForAll = (this.#outages.get(route)?.pause.round ?? 0) > 0;
      return { route, isOpenForAll, keys: count };
    });
  }

  /** Finds the pauses that apply to a call; usually none. */
  #pausesOf({ route, isPublic }: Call, tenant: Tenant): readonly Pause[] {
    const pauses = isPublic ? undefined : this.#pauses.of(tenant);
    const routePauses = pauses?.byRoute.get(route);
    const candidates = [
      pauses?.all,
      routePauses?.refusal,
      routePauses?.outage,
      this.#outages.get(route)?.pause,
    ];
    return candidates.filter((pause) => pause !== undefined);
  }

  /**
   * Checks a call twice: when it arrives, and again when it leaves the queue. If it was let through as a probe, the probe
   * ends with it, whatever the outcome.
   */
  #goOn(next: Send, call: Call, sending: Sending): Promise<Answer> {
    const { tenant } = sending.caller;
    const visit = {};
    let answering: Promise<Answer> | undefined;
    let isProbe = false;
    const refusal = (): Failure | null => {
      for (const pause of this.#pausesOf(call, tenant)) {
        const why = pause.refusalFor(visit, this.#now());
        if (why !== null) return this.#failure(why, call, pause);
        if (pause.isProbedBy(visit)) becomeProbe();
      }
      return null;
    };
    const release = () => {
      for (const pause of this.#pausesOf(call, tenant)) pause.release(visit);
    };
    /** Only probes are followed to their end, since most calls aren't one. */
    function becomeProbe(): void {
      if (isProbe) return;
      isProbe = true;
      answering?.then(release, release);
    }
    function beforeLeaving(): void {
      sending.beforeLeaving?.();
      const why = refusal();
      if (why !== null) throw why;
    }
    const why = refusal();
    if (why !== null) {
      release();
      return Promise.reject(why);
    }
    answering = next(call, { ...sending, beforeLeaving });
    if (isProbe) answering.then(release, release);
    return answering;
  }

  /** Makes the failure of a call that meets a pause: the service's own words, or that the route does not answer. */
  #failure(why: Failure, { route }: Call, { lengths, endsAtMs }: Pause): Failure {
    if (lengths === REFUSALS) return why.with({ route });
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAtMs - this.#now()) / 1000));
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

  #roundsOf({ route }: Call, tenant: Tenant): Rounds {
    const pauses = this.#pauses.of(tenant);
    const routePauses = pauses?.byRoute.get(route);
    return {
      key: pauses?.all.round ?? 0,
      refusal: routePauses?.refusal.round ?? 0,
      outage: routePauses?.outage.round ?? 0,
      all: this.#outages.get(route)?.pause.round ?? 0,
    };
  }

  /** Notes the verdict on the key and on the route. Settles once a refusal is published to other gateways. */
  #hear({ answer, error }: Attempted, call: Call, tenant: Tenant, rounds: Rounds): unknown {
    if (answer !== undefined) return this.#hearAnswer(answer, call, tenant, rounds);
    if (!(error instanceof Failure) || isForgotten(error)) return;
    const { code } = error;
    if (isUnanswered(error)) return this.#failed(call, tenant, error, rounds);
    this.#answered(call, tenant);
    if (code === 'BAD_USER_INPUT') return this.#accept(call, tenant, rounds, this.#now());
    if (call.isPublic) return;
    if (code === 'RATE_LIMITED') return tenant.prove();
    if (code !== 'UNAUTHENTICATED' && code !== 'FORBIDDEN') return;
    tenant.refuse();
    const published = this.#tenantCache.refuse(tenant, error);
    this.#refused(error, tenant, call.route, rounds);
    // A client that sees the refusal may turn to another gateway, which must know of it by then.
    return published;
  }

  /** An answer to a protected call proves the key; a 404 from a proxy in front of the service proves nothing. */
  #hearAnswer({ stray, body, receivedAt }: Answer, call: Call, tenant: Tenant, rounds: Rounds): void {
    if (stray !== undefined && body === undefined) return;
    if (stray === undefined) this.#accept(call, tenant, rounds, receivedAt);
    else if (!call.isPublic) tenant.prove();
    this.#answered(call, tenant);
  }

  #accept({ route, isPublic }: Call, tenant: Tenant, rounds: Rounds, atMs: number): void {
    if (isPublic) return;
    // The call left before the key was refused, so it does not contradict that.
    if ((this.#pauses.of(tenant)?.all.round ?? 0) !== rounds.key) {
      tenant.prove();
      return;
    }
    tenant.accept(atMs);
    this.#tenantCache.accept(tenant, atMs);
    this.#endRefusals(tenant, route, rounds);
  }

  #refused(failure: Failure, tenant: Tenant, route: string, rounds: Rounds): void {
    const isOfRoute = failure.code === 'FORBIDDEN';
    const pause = isOfRoute ? this.#pauses.openedOn(route, tenant).refusal : this.#pauses.opened(tenant).all;
    if (pause.round === (isOfRoute ? rounds.refusal : rounds.key)) pause.begin(failure, this.#now());
    if (!isOfRoute) return;
    tenant.prove();
    this.#endRefusals(tenant, null, rounds);
  }

  /** Notes an attempt without an answer, unless it left before the current pause began. */
  #failed({ route, isPublic }: Call, tenant: Tenant, failure: Failure, rounds: Rounds): void {
    const routePauses = isPublic ? undefined : this.#pauses.openedOn(route, tenant);
    if (routePauses?.outage.round === rounds.outage) {
      routePauses.failures += 1;
      if (rounds.outage > 0 || routePauses.failures >= PAUSES_AFTER)
        routePauses.outage.begin(failure, this.#now());
    }
    let ofAll = this.#outages.get(route);
    if (ofAll === undefined) {
      ofAll = { failures: new Map(), pause: new Pause(OUTAGES) };
      this.#outages.set(route, ofAll);
    }
    const { failures, pause } = ofAll;
    if (pause.round !== rounds.all) return;
    const [whose, most] = isPublic ? [PUBLIC, PAUSES_AFTER] : [tenant, MOST_OF_ONE_KEY];
    failures.set(whose, Math.min(most, (failures.get(whose) ?? 0) + 1));
    let sum = 0;
    for (const count of failures.values()) sum += count;
    if (rounds.all === 0 && sum < PAUSES_AFTER) return;
    failures.clear();
    pause.begin(failure, this.#now());
  }

  #answered({ route, isPublic }: Call, tenant: Tenant): void {
    const routePauses = isPublic ? undefined : this.#pauses.on(route, tenant);
    if (routePauses !== undefined) {
      routePauses.failures = 0;
      routePauses.outage.end();
    }
    const ofAll = this.#outages.get(route);
    ofAll?.failures.clear();
    ofAll?.pause.end();
  }

  /** Ends the pauses of a key that the service has accepted, unless the call left before the last refusal. */
  #endRefusals(tenant: Tenant, route: string | null, rounds: Rounds): void {
    const { all, byRoute } = this.#pauses.of(tenant) ?? {};
    if (all?.round === rounds.key) all.end();
    const refusal = route === null ? undefined : byRoute?.get(route)?.refusal;
    if (refusal?.round === rounds.refusal) refusal.end();
  }
}
