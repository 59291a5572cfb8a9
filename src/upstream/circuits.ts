import { createKeyTable } from '../cache/key-table.ts';
import type { ProvenKeys } from '../cache/proven.ts';
import { Failure } from '../errors.ts';
import type { Call, Send } from './call.ts';
import { isForgotten, isUnanswered } from './exchange.ts';
import { NO_PAUSES, Pause, pausing } from './pause.ts';

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
export interface OpenCircuits {
  readonly route: string;
  /** True if the circuit of all keys does. */
  readonly isOpenForAll: boolean;
  /** Number of keys whose own circuit does. */
  readonly keys: number;
}

export interface CircuitsParts {
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
const PAUSES = { firstMs: 1_000, longestMs: 5_000 };

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
      own = { failures: 0, pause: new Pause(PAUSES) };
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
      circuit = { failures: new Map(), pause: new Pause(PAUSES) };
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
