import type { Ledger } from '../keys/ledger.ts';
import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import type { Clock } from '../shared/async/clock.ts';
import { excerpt, Failure } from '../shared/errors.ts';
import type { Attempt } from './attempt.ts';
import type { Answer, Call, Send } from './call.ts';
import { isForgotten, isUnanswered } from './http.ts';
import { Unfunded } from './purse.ts';
import type { Sending } from './sending.ts';

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
class Pause {
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
  keepsBack(call: object, nowMs: number): Failure | null {
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

/** The pauses of one key on one route. */
interface RoutePauses {
  /** After a 403: the key may be good for other routes. */
  readonly refusal: Pause;
  /** After attempts under the key that got no answer. */
  readonly outage: Pause;
  /** Unanswered attempts in a row. */
  failures: number;
}

/** The pauses of one key. */
interface KeyPauses {
  /** Of every route, after a 401. */
  readonly all: Pause;
  readonly byRoute: Map<string, RoutePauses>;
}

/** A call that waits for its turn. */
interface WaitingCall {
  readonly deadlineMs: number;
  readonly wake: () => void;
}

/** Calls under one key. */
interface CallQueue {
  inFlight: number;
  /** Calls that wait for a free place. */
  readonly forPlace: WaitingCall[];
  /** Calls that wait for a minute window; woken together when it begins, the earliest deadline first. */
  readonly forMinute: WaitingCall[];
}

/** Milliseconds without calls after a refusal. A key that is activated seconds later works soon after. */
const REFUSALS = { firstMs: 1_000, longestMs: 60_000 };

/** Pauses after failures: short, since the calls that are kept back might have gone well. */
const OUTAGES = { firstMs: 1_000, longestMs: 5_000 };

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
    return pausesIn(tenant)?.all.reason(this.#now()) ?? null;
  }

  /** Keeps calls back; around the ring in which they wait for their turn. */
  stopping(next: Send): Send {
    return (call, sending) => {
      const probe = probeOf(call, sending.caller.tenant);
      return probe === null
        ? this.#goOn(next, call, sending)
        : probe.then(() => this.#goOn(next, call, sending));
    };
  }

  /**
   * Notes the outcomes of calls that leave, and tells the tenant and its cache the service's verdict on the key; within
   * that ring, so that one is known before the next call has its turn.
   */
  hearing(next: Send): Send {
    return (call, sending) => {
      const { tenant } = sending.caller;
      const rounds = this.#roundsOf(call, tenant);
      return next(call, sending).then(
        (answer) => this.#hear(answer, call, tenant, rounds),
        (error: unknown) => this.#hearFailure(error, call, tenant, rounds),
      );
    };
  }

  /** Lists routes that have failed: if the pause of all keys keeps calls back now, and how many keys' own do. */
  open() {
    const keys = new Map([...this.#outages.keys()].map((route) => [route, 0]));
    for (const tenant of this.#tenants.all()) {
      for (const [route, { outage }] of pausesIn(tenant)?.byRoute ?? []) {
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
    const pauses = isPublic ? null : pausesIn(tenant);
    const own = pauses?.byRoute.get(route);
    const found = [pauses?.all, own?.refusal, own?.outage, this.#outages.get(route)?.pause];
    return found.filter((pause) => pause !== undefined);
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
    const keptBack = (): Failure | null => {
      for (const pause of this.#pausesOf(call, tenant)) {
        const why = pause.keepsBack(visit, this.#now());
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
    const pauses = pausesIn(tenant);
    const own = pauses?.byRoute.get(route);
    return {
      key: pauses?.all.round ?? 0,
      refusal: own?.refusal.round ?? 0,
      outage: own?.outage.round ?? 0,
      all: this.#outages.get(route)?.pause.round ?? 0,
    };
  }

  /** Hears the verdict on the key in the answer to a protected call: it is accepted, or nothing is said. */
  #hear(answer: Answer, call: Call, tenant: Tenant, rounds: Rounds): Answer {
    // A 404 of a proxy before the service says nothing of the key, nor of the service.
    if (answer.stray !== undefined && answer.body === undefined) return answer;
    if (answer.stray === undefined) this.#accept(call, tenant, rounds, answer.receivedAt);
    else if (!call.isPublic) tenant.prove();
    this.#answered(call, tenant);
    return answer;
  }

  async #hearFailure(error: unknown, call: Call, tenant: Tenant, rounds: Rounds): Promise<never> {
    if (!(error instanceof Failure) || isForgotten(error)) throw error;
    const { code } = error;
    if (isUnanswered(error)) this.#failed(call, tenant, error, rounds);
    else {
      if (!call.isPublic && (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN')) {
        tenant.refuse();
        const isKnown = this.#tenantCache.refuse(tenant, error);
        this.#refused(error, tenant, call.route, rounds);
        // A client that is told of the refusal may go to another gateway, which has to know of it by then.
        await isKnown;
      }
      if (code === 'BAD_USER_INPUT') this.#accept(call, tenant, rounds, this.#now());
      if (code === 'RATE_LIMITED' && !call.isPublic) tenant.prove();
      this.#answered(call, tenant);
    }
    throw error;
  }

  #accept({ route, isPublic }: Call, tenant: Tenant, rounds: Rounds, atMs: number): void {
    if (isPublic) return;
    // A call that left before the key was refused says nothing new.
    if ((pausesIn(tenant)?.all.round ?? 0) !== rounds.key) {
      tenant.prove();
      return;
    }
    tenant.accept(atMs);
    this.#tenantCache.accept(tenant, atMs);
    endRefusals(tenant, route, rounds);
  }

  #refused(failure: Failure, tenant: Tenant, route: string, rounds: Rounds): void {
    const isOfRoute = failure.code === 'FORBIDDEN';
    const pause = isOfRoute ? pausesOn(route, tenant).refusal : pausesOfKey(tenant).all;
    if (pause.round === (isOfRoute ? rounds.refusal : rounds.key)) pause.begin(failure, this.#now());
    if (!isOfRoute) return;
    tenant.prove();
    endRefusals(tenant, null, rounds);
  }

  /** Notes an attempt without an answer. One that left before the pause began says nothing new. */
  #failed({ route, isPublic }: Call, tenant: Tenant, failure: Failure, rounds: Rounds): void {
    const own = isPublic ? undefined : pausesOn(route, tenant);
    if (own?.outage.round === rounds.outage) {
      own.failures += 1;
      if (rounds.outage > 0 || own.failures >= PAUSES_AFTER) own.outage.begin(failure, this.#now());
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
    const own = isPublic ? undefined : pausesIn(tenant)?.byRoute.get(route);
    if (own !== undefined) {
      own.failures = 0;
      own.outage.end();
    }
    const ofAll = this.#outages.get(route);
    ofAll?.failures.clear();
    ofAll?.pause.end();
  }
}

/** Finds the call that finds out if a key is accepted by now: further ones wait for it. */
function probeOf({ route, isPublic }: Call, tenant: Tenant): Promise<void> | null {
  const pauses = pausesIn(tenant);
  if (isPublic || pauses === null) return null;
  return pauses.all.untilProbed() ?? pauses.byRoute.get(route)?.refusal.untilProbed() ?? null;
}

function pausesIn({ pauses }: Tenant): KeyPauses | null {
  return pauses as KeyPauses | null;
}

function pausesOfKey(tenant: Tenant): KeyPauses {
  const pauses = pausesIn(tenant) ?? { all: new Pause(REFUSALS), byRoute: new Map() };
  tenant.pauses = pauses;
  return pauses;
}

function pausesOn(route: string, tenant: Tenant): RoutePauses {
  const { byRoute } = pausesOfKey(tenant);
  let own = byRoute.get(route);
  if (own === undefined) {
    own = { refusal: new Pause(REFUSALS), outage: new Pause(OUTAGES), failures: 0 };
    byRoute.set(route, own);
  }
  return own;
}

/** Ends the pauses of a key that the service has accepted. Calls that left before its last refusal say nothing new. */
function endRefusals(tenant: Tenant, route: string | null, rounds: Rounds): void {
  const pauses = pausesIn(tenant);
  if (pauses?.all.round === rounds.key) pauses.all.end();
  const refusal = route === null ? undefined : pauses?.byRoute.get(route)?.refusal;
  if (refusal?.round === rounds.refusal) refusal.end();
}

/** Calls under one key that are under way at once, so that a first 429 can stop the rest. */
const MAX_IN_FLIGHT = 8;

/** Says when a call may leave: it takes a place in flight and a unit of the minute's budget, or waits for them. */
function createTurns(
  ledger: Ledger,
  clock: Pick<Clock, 'now' | 'sleep'>,
  onMinuteWait: (waitedMs: number) => void,
) {
  /** @throws Failure RATE_LIMITED if the call may not wait for as long as it would have to, or the signal's reason */
  async function takeTurn(queue: CallQueue, sending: Sending) {
    const { tenant } = sending.caller;
    for (;;) {
      sending.signal.throwIfAborted();
      const opensAtMs = ledger.opensAtMs(tenant);
      const nowMs = clock.now();
      if (opensAtMs > Math.max(nowMs, sending.waitDeadlineMs)) throw ledger.refusal(tenant);
      if (opensAtMs > nowMs) await minuteOpen(queue, sending, opensAtMs);
      else if (queue.inFlight >= (ledger.isDoubtful(tenant) ? 1 : MAX_IN_FLIGHT))
        await queued(queue.forPlace, sending);
      else {
        sending.beforeLeaving?.();
        queue.inFlight += 1;
        const departure = await ledger.take(tenant);
        if (departure !== null) return departure;
        // Other gateways were faster: the ledger knows by now for how long there is no room.
        freePlace(queue);
      }
    }
  }

  async function minuteOpen(queue: CallQueue, sending: Sending, opensAtMs: number): Promise<void> {
    const sinceMs = clock.now();
    await queued(queue.forMinute, sending, (wakeAll) => {
      clock.sleep(opensAtMs - clock.now()).then(wakeAll, wakeAll);
    });
    onMinuteWait(clock.now() - sinceMs);
  }

  /** Notes that the call is over. */
  function freePlace(queue: CallQueue): void {
    queue.inFlight -= 1;
    // All of them are woken, since one place may have become many; calls that find none queue again, in the same order.
    for (const waiter of queue.forPlace.splice(0)) waiter.wake();
  }

  return { takeTurn, freePlace };
}

/** Waits in a queue that is kept in the order of deadlines. The first to come may set the alarm that wakes all. */
async function queued(
  waiters: WaitingCall[],
  { signal, waitDeadlineMs }: Sending,
  setAlarm?: (wakeAll: () => void) => void,
): Promise<void> {
  const { promise: woken, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const waiter: WaitingCall = { deadlineMs: waitDeadlineMs, wake };
  const place = waiters.findIndex((other) => other.deadlineMs > waitDeadlineMs);
  waiters.splice(place === -1 ? waiters.length : place, 0, waiter);
  signal.addEventListener('abort', wake, { once: true });
  if (waiters.length === 1) {
    setAlarm?.(() => {
      for (const other of waiters.splice(0)) other.wake();
    });
  }
  await woken;
  signal.removeEventListener('abort', wake);
  const left = waiters.indexOf(waiter);
  if (left !== -1) waiters.splice(left, 1);
}

/**
 * Bills every attempt, and holds back calls that the service would refuse: after a 429, and when the known budget of
 * the minute is spent, nothing leaves before the next minute begins. Calls that may wait do so, the earliest deadline
 * first; the others fail at once. Public routes are billed but not held back.
 * @param onMinuteWait called with the milliseconds that a call has waited for a minute window
 */
export function rateLimited(
  next: Send,
  ledger: Ledger,
  clock: Pick<Clock, 'now' | 'sleep'>,
  onAttempt: (attempt: Attempt) => void,
  onMinuteWait: (waitedMs: number) => void = () => {},
): Send {
  const { takeTurn, freePlace } = createTurns(ledger, clock, onMinuteWait);

  async function attempt(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { tenant } = sending.caller;
    const reservation = sending.payer.reserve(call.route);
    let departure: Awaited<ReturnType<Ledger['take']>> = null;
    try {
      sending.signal.throwIfAborted();
      if (queue === null) sending.beforeLeaving?.();
      else departure = await takeTurn(queue, sending);
    } catch (error) {
      reservation.release();
      throw error;
    }
    const startedAtMs = clock.now();
    let outcome = 'aborted';
    let [isSettled, hasLeft] = [false, false];
    /** Charges a request once. One that never left, for want of a connection or of anybody who waits, costs nothing. */
    const settle = (isDue: boolean) => {
      if (isSettled) return;
      isSettled = true;
      if (isDue) reservation.charge();
      else reservation.release();
      hasLeft = isDue;
    };
    try {
      const answer = await next(call, { ...sending, onLeaving: () => settle(true) });
      settle(true);
      if (departure !== null) ledger.accepted(tenant, departure);
      outcome = 'ok';
      return answer;
    } catch (error) {
      settle(error instanceof Failure && !isUnanswered(error));
      if (!hasLeft && departure !== null) ledger.putBack(tenant, departure);
      if (!(error instanceof Failure)) throw error;
      const isLimited = error.code === 'RATE_LIMITED';
      const failure =
        isLimited && departure !== null
          ? ledger.limited(tenant, toBeRead(error.fields.detail), departure)
          : error;
      outcome = failure.code;
      throw failure;
    } finally {
      if (queue !== null) freePlace(queue);
      onAttempt({ route: call.route, outcome, durationMs: clock.now() - startedAtMs });
    }
  }

  async function patient(call: Call, sending: Sending, queue: CallQueue | null): Promise<Answer> {
    const { tenant } = sending.caller;
    for (;;) {
      tenant.underWay += 1;
      try {
        return await attempt(call, sending, queue);
      } catch (error) {
        if (error instanceof Unfunded) await error.known;
        else {
          if (!(error instanceof Failure)) throw error;
          const isLimited = queue !== null && error.code === 'RATE_LIMITED';
          // At once, if the minute that was spent is over by now.
          const untilMs = Math.max(clock.now(), sending.waitDeadlineMs);
          const mayWait = isLimited && ledger.opensAtMs(tenant) <= untilMs;
          if (!mayWait) throw error.with({ route: call.route });
        }
      } finally {
        tenant.underWay -= 1;
      }
    }
  }

  return (call, sending) => patient(call, sending, call.isPublic ? null : queueOf(sending.caller.tenant));
}

function queueOf(tenant: Tenant): CallQueue {
  const queue = (tenant.queue as CallQueue | null) ?? { inFlight: 0, forPlace: [], forMinute: [] };
  tenant.queue = queue;
  return queue;
}

/** Cuts the text of a 429 to a length that is read in no time: the figures stand at its beginning. */
function toBeRead(detail = ''): string {
  return excerpt(detail).replace(/\s+/g, ' ');
}
