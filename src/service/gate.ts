import { untilAborted } from '../async/cancellation.ts';
import { Failure } from '../errors.ts';
import { createKeyTable, type ProvenKeys } from '../tenants/status.ts';
import type { TenantCache } from '../tenants/tenant-cache.ts';
import type { Answer, Call, Send } from './call.ts';
import { isForgotten, isUnanswered, isUnsent } from './exchange.ts';
import { namesAsked } from './failures.ts';
import { COVERED_COUNTRIES } from './records/countries.ts';

interface PauseLengths {
  /** The first pause, in milliseconds; each further one in a row is twice as long. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Keeps calls back for a while after a failure. When the while is over, one call at a time may leave as a probe: its
 * failure begins the next pause, its success ends them.
 */
class Pause {
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

const NO_PAUSES: readonly Pause[] = [];

/** The pauses that keep calls back, and the failure of those calls. */
interface Pauses {
  /** Returns the pauses that concern a call, as they stand now: mostly {@link NO_PAUSES}. */
  of(call: Call, keyDigest: string): readonly (Pause | undefined)[];
  failure(why: Failure, call: Call, pause: Pause): Failure;
  readonly now: () => number;
}

/**
 * Keeps calls back while a pause lasts: when they come, and once more when they have had their turn and are about to
 * leave. A call that was let through as a probe is over when it is answered, however that goes.
 */
function pausing(next: Send, { of, failure, now }: Pauses): Send {
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

/** Hears the service's verdicts on keys. */
interface Listener extends Pick<TenantCache, 'accept'> {
  /** @returns a promise that the answer waits for, if any */
  refuse(keyDigest: string, refusal: Failure): Promise<void> | undefined | void;
}

/**
 * Tells the tenant cache, and the other listeners, the verdict of each answer on the caller's key. If the service
 * accepts the key, it may be served its held entries. If the service refuses it, none of them is served any more.
 */
export function authenticated(next: Send, ...listeners: readonly Listener[]): Send {
  return (call, sending) => {
    const { keyDigest } = sending.caller;
    if (call.isPublic) return next(call, sending);
    return hearingOfKey(call, next(call, sending), {
      accept() {
        for (const listener of listeners) listener.accept(keyDigest);
      },
      // A client that is told of the refusal may go to another gateway, which has to know of it by then.
      async refuse(failure) {
        await Promise.all(listeners.map((listener) => listener.refuse(keyDigest, failure)));
      },
    });
  };
}

/**
 * Tells the verdict on the key in the answer to a protected call: the key is accepted, refused (401, 403), or nothing
 * is said.
 */
function hearingOfKey(
  call: Call,
  answering: Promise<Answer>,
  told: { readonly accept: () => void; readonly refuse: (failure: Failure) => Promise<void> | void },
): Promise<Answer> {
  return answering.then(
    (answer) => {
      // A 404 that doesn't name the thing asked for may come from a proxy before the service, and says nothing of the
      // key.
      if (answer.status !== 404 || namesAsked(call, answer.body)) told.accept();
      return answer;
    },
    async (error: unknown) => {
      if (error instanceof Failure) {
        if (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN') await told.refuse(error);
        if (error.code === 'BAD_USER_INPUT') told.accept();
      }
      throw error;
    },
  );
}

/**
 * Sends nothing under a key that the service has just refused: after a 401 no call, after a 403 none to that route.
 * Calls that have not left yet, and further ones, fail with the service's own words. When the pause is over, one call
 * finds out if the key is accepted by now, and calls that come before its answer wait for it.
 */
interface KeyRefusals {
  /** Keeps calls back; around the ring in which they wait for their turn. */
  stopping(next: Send): Send;
  /** Returns the refusal after which nothing at all is sent under a key now; null if something would be. */
  refusal(keyDigest: string): Failure | null;
  /** Notes the outcomes of calls that leave; within that ring, so that one is known before the next call has its turn. */
  hearing(next: Send): Send;
}

interface KeyRefusalsParts {
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly now: () => number;
}

/** Milliseconds without calls after a refusal. A key that is activated seconds later works soon after. */
const KEY_PAUSES = { firstMs: 1_000, longestMs: 60_000 };

/** Keys whose refusals are remembered at once. */
const MAX_KEYS = { proven: 10_000, unproven: 2_000 };

/** The refusals of the service to one key. */
interface KeyRefusal {
  /** The pause of every route, after a 401. */
  readonly all: Pause;
  /** The pause of one route, after a 403. The key may be good for the others. */
  readonly byRoute: Map<string, Pause>;
}

export function createKeyRefusals({ proven, now }: KeyRefusalsParts): KeyRefusals {
  const keys = createKeyTable<KeyRefusal>(MAX_KEYS);

  function pausesOf(keyDigest: string): KeyRefusal {
    let held = keys.get(keyDigest);
    if (held === undefined) {
      held = { all: new Pause(KEY_PAUSES), byRoute: new Map() };
      keys.add(keyDigest, held);
    }
    return held;
  }

  function ofRoute({ byRoute }: KeyRefusal, route: string): Pause {
    let pause = byRoute.get(route);
    if (pause === undefined) {
      pause = new Pause(KEY_PAUSES);
      byRoute.set(route, pause);
    }
    return pause;
  }

  function pausesFor({ route }: Call, keyDigest: string): readonly (Pause | undefined)[] {
    const held = keys.get(keyDigest);
    return held === undefined ? NO_PAUSES : [held.all, held.byRoute.get(route)];
  }

  function probeOf(call: Call, keyDigest: string): Promise<void> | null {
    for (const pause of pausesFor(call, keyDigest)) {
      const probed = pause?.untilProbed() ?? null;
      if (probed !== null) return probed;
    }
    return null;
  }

  return {
    refusal: (keyDigest) => keys.get(keyDigest)?.all.reason(now()) ?? null,
    stopping(next) {
      const failure = (refusal: Failure, { route }: Call) => refusal.with({ route });
      const stopped = pausing(next, { of: pausesFor, failure, now });
      return (call, sending) => {
        if (call.isPublic) return next(call, sending);
        const probe = probeOf(call, sending.caller.keyDigest);
        return probe === null ? stopped(call, sending) : probe.then(() => stopped(call, sending));
      };
    },
    hearing: (next) => (call, sending) => {
      if (call.isPublic) return next(call, sending);
      const { keyDigest } = sending.caller;
      const { route } = call;
      const before = keys.get(keyDigest);
      const rounds = { all: before?.all.round ?? 0, route: before?.byRoute.get(route)?.round ?? 0 };
      const wasProven = proven.has(keyDigest);

      // The verdict on calls that left before the last refusal was known is no news.
      function accepted(isForRoute: boolean): void {
        const held = keys.get(keyDigest);
        if (held?.all.round === rounds.all) held.all.end();
        const pause = isForRoute ? held?.byRoute.get(route) : undefined;
        if (pause?.round === rounds.route) pause.end();
      }

      function refused(failure: Failure): void {
        const isOfRoute = failure.code === 'FORBIDDEN';
        const held = pausesOf(keyDigest);
        const pause = isOfRoute ? ofRoute(held, route) : held.all;
        if (pause.round === (isOfRoute ? rounds.route : rounds.all)) pause.begin(failure, now());
        // Only the service can make a key known, so proven keys can't be pushed out by keys that are made up.
        if (wasProven || isOfRoute) keys.prove(keyDigest);
        if (isOfRoute) accepted(false);
      }

      return hearingOfKey(call, next(call, sending), { accept: () => accepted(true), refuse: refused });
    },
  };
}

/**
 * Circuit breakers of the routes. After some attempts in a row that the service has not answered (5xx, timeouts, broken
 * connections), calls fail at once and nothing is sent. After a pause one call finds out if the service is back. An
 * outage of one route is none of the others, and a route that fails under one key alone is kept from that key alone.
 */
export interface Circuits {
  /** Keeps calls back; around the ring in which they wait for their turn. */
  stopping(next: Send): Send;
  /** Notes the outcomes of calls that leave; within that ring, so that one is known before the next call has its turn. */
  hearing(next: Send): Send;
  /**
   * Lists the routes whose circuits keep calls back at the moment, and with none those that have failed before and do
   * so no longer.
   */
  open(): readonly OpenCircuits[];
}

/** The circuits of a route that keep calls back. */
interface OpenCircuits {
  readonly route: string;
  /** True if the circuit of all keys does. */
  readonly isOpenForAll: boolean;
  /** Number of keys whose own circuit does. */
  readonly keys: number;
}

interface CircuitsParts {
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly now: () => number;
  /** The wall clock, for the times that callers are told. */
  readonly wallNow: () => number;
}

/** Unanswered attempts in a row that open a circuit. */
const OPENS_AFTER = 10;

/** Most attempts of one key that count for the circuit of all keys. */
const MOST_OF_ONE_KEY = OPENS_AFTER / 2;

/** Pauses of a circuit: short, since the calls that are kept back might have gone well. */
const CIRCUIT_PAUSES = { firstMs: 1_000, longestMs: 5_000 };

/** Circuits of single keys that are kept at once. */
const MAX_CIRCUITS = { proven: 10_000, unproven: 2_000 };

/** The circuit of one key on one route. */
interface KeyCircuit {
  failures: number;
  readonly pause: Pause;
}

/** The circuit of all keys on one route. */
interface RouteCircuit {
  /** Failures of each key that count, in a row. */
  readonly failures: Map<string, number>;
  readonly pause: Pause;
}

const ANYBODY = 'public';

export function createCircuits({ proven, now, wallNow }: CircuitsParts): Circuits {
  const ofKeys = createKeyTable<KeyCircuit>(MAX_CIRCUITS);
  const ofRoutes = new Map<string, RouteCircuit>();

  /** Tells if nothing has failed, as far as is remembered. */
  const isUntroubled = () => ofKeys.isEmpty && ofRoutes.size === 0;

  function pausesFor(call: Call, keyDigest: string): readonly (Pause | undefined)[] {
    if (isUntroubled()) return NO_PAUSES;
    return [ofKeys.get(nameOf(call, keyDigest))?.pause, ofRoutes.get(call.route)?.pause];
  }

  /** Makes the failure of a call that is kept back. */
  function keptBack({ fields }: Failure, { route }: Call, { endsAtMs }: Pause): Failure {
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAtMs - now()) / 1000));
    return new Failure(
      'UPSTREAM_UNAVAILABLE',
      'The service has not answered on this route lately, so nothing was sent.',
      {
        route,
        detail: fields.detail,
        attempts: 0,
        retryAfterSeconds,
        retryAt: new Date(wallNow() + retryAfterSeconds * 1000).toISOString(),
      },
    );
  }

  function failed(name: string, keyDigest: string, failure: Failure, round: number): void {
    let own = ofKeys.get(name);
    if (own === undefined) {
      own = { failures: 0, pause: new Pause(CIRCUIT_PAUSES) };
      ofKeys.add(name, own);
    }
    if (keyDigest === ANYBODY || proven.has(keyDigest)) ofKeys.prove(name);
    // A call that left before the circuit opened says nothing new.
    if (own.pause.round !== round) return;
    own.failures += 1;
    if (round > 0 || own.failures >= OPENS_AFTER) own.pause.begin(failure, now());
  }

  function failedForAll(route: string, keyDigest: string, failure: Failure, round: number): void {
    let circuit = ofRoutes.get(route);
    if (circuit === undefined) {
      circuit = { failures: new Map(), pause: new Pause(CIRCUIT_PAUSES) };
      ofRoutes.set(route, circuit);
    }
    const { failures, pause } = circuit;
    if (pause.round !== round) return;
    failures.set(keyDigest, Math.min(MOST_OF_ONE_KEY, (failures.get(keyDigest) ?? 0) + 1));
    let sum = 0;
    for (const count of failures.values()) sum += count;
    if (round > 0 || sum >= OPENS_AFTER) {
      failures.clear();
      pause.begin(failure, now());
    }
  }

  function answered(call: Call, keyDigest: string): void {
    if (isUntroubled()) return;
    const own = ofKeys.get(nameOf(call, keyDigest));
    if (own !== undefined) own.failures = 0;
    own?.pause.end();
    const circuit = ofRoutes.get(call.route);
    circuit?.failures.clear();
    circuit?.pause.end();
  }

  function open(): readonly OpenCircuits[] {
    const keys = new Map<string, number>();
    for (const [name, { pause }] of ofKeys.entries()) {
      const route = name.slice(name.indexOf(' ') + 1);
      keys.set(route, (keys.get(route) ?? 0) + (pause.round > 0 ? 1 : 0));
    }
    for (const route of ofRoutes.keys()) if (!keys.has(route)) keys.set(route, 0);
    return Array.from(keys, ([route, count]) => {
      const isOpenForAll = (ofRoutes.get(route)?.pause.round ?? 0) > 0;
      return { route, isOpenForAll, keys: count };
    });
  }

  return {
    open,
    stopping: (next) => pausing(next, { of: pausesFor, failure: keptBack, now }),
    hearing: (next) => (call, sending) => {
      const { route, isPublic } = call;
      const keyDigest = isPublic ? ANYBODY : sending.caller.keyDigest;
      const [own, ofAll] = pausesFor(call, keyDigest);
      const ownRound = own?.round ?? 0;
      const roundOfAll = ofAll?.round ?? 0;
      return next(call, sending).then(
        (answer) => {
          answered(call, keyDigest);
          return answer;
        },
        (error: unknown) => {
          if (isForgotten(error)) throw error;
          if (isUnanswered(error)) {
            failed(nameOf(call, keyDigest), keyDigest, error, ownRound);
            if (!isPublic) failedForAll(route, keyDigest, error, roundOfAll);
          } else if (error instanceof Failure) answered(call, keyDigest);
          throw error;
        },
      );
    },
  };
}

/** Names the circuit of a key on a route; of a public route, that of all keys. */
function nameOf({ route, isPublic }: Call, keyDigest: string): string {
  return `${isPublic ? ANYBODY : keyDigest} ${route}`;
}

/** Calls in a row that must fail before the service is taken to be down. */
const MIN_FAILURES = 3;

/** Milliseconds for which no caller with an old answer at hand asks a service that is down. */
const PAUSE_MS = 5_000;

/**
 * Tells if the service is down. A caller with an old answer at hand need not wait for a timeout to serve it, after a
 * few failures already. A caller with none asks all the same, until the circuit of the route is open (`createCircuits`).
 */
export interface Outage {
  /** Sees every call go by, retries and all. */
  watching(next: Send): Send;
  /**
   * Returns the failure of calls while the service is down; null if it isn't, and for one caller each pause, so that it
   * looks.
   */
  failure(): Failure | null;
}

export function createOutage(now: () => number): Outage {
  let failures = 0;
  let last: Failure | null = null;
  let seenAtMs = 0;

  return {
    watching: (next) => (call, sending) =>
      next(call, sending).then(
        (answer) => {
          failures = 0;
          return answer;
        },
        (error: unknown) => {
          if (isUnanswered(error) && !isUnsent(error)) {
            failures += 1;
            last = error;
            seenAtMs = now();
          }
          throw error;
        },
      ),
    failure() {
      if (failures < MIN_FAILURES) return null;
      if (now() - seenAtMs < PAUSE_MS) return last;
      seenAtMs = now();
      return null;
    },
  };
}

/** Milliseconds for which a route counts as absent after the service itself has said so. */
const ABSENT_MS = 24 * 3_600_000;

/** The same after a 404 that has no words of the service: something between it and us may have sent that. */
const STRAY_MS = 10 * 60_000;

/** The state of one route, under any key. */
interface RouteState {
  isThere: boolean;
  /** The failure of calls to it; null if it may be asked. */
  absence: Failure | null;
  untilMs: number;
  /** The call that finds out; others wait for it. */
  probe: Promise<void> | null;
}

/**
 * Asks routes that a service may lack once: while it isn't known if the service has one, one call finds out and the
 * others wait. A 404 that names the missing thing is about that; so is any about a country that the service needn't
 * know. Any other 404 says that there is no such route: all calls to it fail unsent from then on, under every key.
 * @param routes templates of the routes that may be absent
 */
export function absentRoutes(
  next: Send,
  { routes, now }: { readonly routes: ReadonlySet<string>; readonly now: () => number },
): Send {
  const states = new Map<string, RouteState>(
    [...routes].map((route) => [route, { isThere: false, absence: null, untilMs: 0, probe: null }]),
  );

  function checkAbsence({ absence, untilMs }: RouteState): void {
    if (absence !== null && now() < untilMs) throw absence;
  }

  function heard(state: RouteState, call: Call, answer: Answer): Answer {
    if (answer.status !== 404 || namesAsked(call, answer.body)) {
      state.isThere = true;
      state.absence = null;
      return answer;
    }
    if (!areAllKnown(call)) return answer;
    const isWorded = answer.body !== undefined;
    state.isThere = false;
    state.untilMs = now() + (isWorded ? ABSENT_MS : STRAY_MS);
    state.absence = absence(call.route);
    throw state.absence;
  }

  return async (call, sending) => {
    const state = states.get(call.route);
    if (state === undefined) return next(call, sending);
    checkAbsence(state);
    while (!state.isThere && state.probe !== null) {
      await untilAborted(state.probe, sending.signal);
      checkAbsence(state);
    }
    if (state.isThere) return heard(state, call, await next(call, sending));
    let over = () => {};
    state.probe = new Promise((resolve) => {
      over = resolve;
    });
    try {
      return heard(state, call, await next(call, sending));
    } finally {
      state.probe = null;
      over();
    }
  };
}

/** Tells if the service knows every country that a call names. */
function areAllKnown({ route, target }: Call): boolean {
  const [path = '', search = ''] = target.split('?');
  const place = route.split('/').indexOf('{code}');
  const codes = place === -1 ? [] : [path.split('/')[place] ?? ''];
  const query = new URLSearchParams(search);
  // Partners are of all the world, so their codes don't count.
  for (const name of ['country_code', 'reporter_country_code']) codes.push(...query.getAll(name));
  return codes.every((code) => COVERED_COUNTRIES.has(code.toUpperCase()));
}

function absence(route: string): Failure {
  return new Failure(
    'UPSTREAM_ROUTE_ABSENT',
    'The service does not have this route. Leave the field out; the gateway looks again within a day.',
    { route },
  );
}
