import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import { Failure } from '../shared/errors.ts';
import type { Attempted, Transport } from './attempt.ts';
import type { Answer, Call, Send } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { OUTAGES, Pause, PausesByKey, REFUSALS } from './pauses.ts';
import type { Sending } from './sending.ts';

/** Unanswered attempts in a row that begin a pause. */
const PAUSES_AFTER = 10;

/** Most attempts of one key that count for the pause of all keys. */
const MOST_OF_ONE_KEY = PAUSES_AFTER / 2;

/** The failures of all keys on one route. */
interface RouteOutage {
  /** Failures of each key that count, in a row. */
  readonly failures: Map<Tenant, number>;
  readonly pause: Pause;
}

/** Numbers of the pauses in a row that a call had met when it left. */
type Rounds = Readonly<Record<'key' | 'refusal' | 'outage' | 'all', number>>;

/**
 * Decides if calls may leave. After a 401 nothing is sent under a key, after a 403 nothing to that route; after some
 * attempts in a row that the service has not answered (5xx, timeouts, broken connections), nothing is sent to a route.
 * Calls that have not left yet, and further ones, fail at once: with the service's own words, or as unavailable. When a
 * pause is over, one call finds out if things are well again.
 *
 * An outage of one route is none of the others, and a route that fails under one key alone is kept from that key alone.
 */
export class CallGate {
  readonly #tenants: { all(): Iterable<Tenant> };
  readonly #tenantCache: Pick<TenantCache, 'accept' | 'refuse'>;
  readonly #now: () => number;
  readonly #wallNow: () => number;
  readonly #pauses = new PausesByKey();
  /** Failures by route, of those on which anything has failed. */
  readonly #outages = new Map<string, RouteOutage>();

  /**
   * @param tenantCache hears the service's verdicts on keys
   * @param now the clock of pauses; see `steadied`
   * @param wallNow the clock of the times that callers are told
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

  /** Returns the refusal after which nothing at all is sent under a key now; null if something would be. */
  refusal(tenant: Tenant): Failure | null {
    return this.#pauses.of(tenant)?.all.reason(this.#now()) ?? null;
  }

  /** Keeps calls back; around the stage in which they wait for their turn. */
  stopping(next: Send): Send {
    return (call, sending) => {
      const probe = call.isPublic ? null : this.#pauses.probeOn(call.route, sending.caller.tenant);
      return probe === null
        ? this.#goOn(next, call, sending)
        : probe.then(() => this.#goOn(next, call, sending));
    };
  }

  /**
   * Notes the outcomes of calls that leave, and tells the tenant and its cache the service's verdict on the key; within
   * that stage, so that one is known before the next call has its turn.
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

  /** Lists routes that have failed: if the pause of all keys keeps calls back now, and how many keys' own do. */
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

  /** Finds the pauses that concern a call, as they stand now: mostly none. */
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
   * Lets a call on unless a pause lasts: when it comes, and once more when it has had its turn and is about to leave. A
   * call that was let through as a probe is over when it is answered, however that goes.
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
    /** Watches for the end of a probe. Most calls are none, and nobody has to watch for their end. */
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

  /** Makes the failure of a call that is kept back: the service's own words, or that the route has not answered lately. */
  #failure(why: Failure, { route }: Call, { lengths, endsAtMs }: Pause): Failure {
    if (lengths === REFUSALS) return why.with({ route });
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAtMs - this.#now()) / 1000));
    return new Failure(
      'UPSTREAM_UNAVAILABLE',
      'The service has not answered on this route lately, so nothing was sent.',
      {
        route,
        detail: why.fields.detail,
        attempts: 0,
        retryAfterSeconds,
        retryAt: new Date(this.#wallNow() + retryAfterSeconds * 1000).toISOString(),
      },
    );
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

  /** Hears the verdict on the key and on the route; settles once others are told of a refusal. */
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
    // A client that is told of the refusal may go to another gateway, which has to know of it by then.
    return published;
  }

  /** An answer to a protected call accepts the key; a 404 of a proxy before the service says nothing of either. */
  #hearAnswer({ stray, body, receivedAt }: Answer, call: Call, tenant: Tenant, rounds: Rounds): void {
    if (stray !== undefined && body === undefined) return;
    if (stray === undefined) this.#accept(call, tenant, rounds, receivedAt);
    else if (!call.isPublic) tenant.prove();
    this.#answered(call, tenant);
  }

  #accept({ route, isPublic }: Call, tenant: Tenant, rounds: Rounds, atMs: number): void {
    if (isPublic) return;
    // A call that left before the key was refused says nothing new.
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

  /** Notes an attempt without an answer. One that left before the pause began says nothing new. */
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

  /** Ends the pauses of a key that the service has accepted. Calls that left before its last refusal say nothing new. */
  #endRefusals(tenant: Tenant, route: string | null, rounds: Rounds): void {
    const { all, byRoute } = this.#pauses.of(tenant) ?? {};
    if (all?.round === rounds.key) all.end();
    const refusal = route === null ? undefined : byRoute?.get(route)?.refusal;
    if (refusal?.round === rounds.refusal) refusal.end();
  }
}
