import {
  type Answer,
  type CallStage,
  COVERED_COUNTRIES,
  Failure,
  type OutgoingCall,
  untilAborted,
} from '../../plugin/index.ts';

/** Milliseconds for which a route counts as absent after a first 404, which may be a moment's. */
const FIRST_MS = 60_000;

/** The same once it has been repeated, on the service's own word. */
const ABSENT_MS = 24 * 3_600_000;

/** The same if it may come from something in between. */
const STRAY_MS = 10 * 60_000;

interface RouteState {
  isThere: boolean;
  /** Null if the route may be called. */
  absence: Failure | null;
  untilMs: number;
  /** The call that finds out, for which others wait. */
  probe: Promise<void> | null;
}

/**
 * Finds out by one call whether the service has a route, while the others wait. A 404 that names the missing thing, or is
 * about a country that the service needn't know, proves nothing. Any other means that there is no such route: calls to it
 * fail unsent from then on, under every key; for a minute, and once another call has been answered so, for a day.
 * @param routes templates of the routes that may be absent
 */
export function absentRoutesStage(routes: ReadonlySet<string>, now: () => number): CallStage {
  const states = new Map<string, RouteState>(
    [...routes].map((route) => [route, { isThere: false, absence: null, untilMs: 0, probe: null }]),
  );

  function checkAbsence({ absence, untilMs }: RouteState): void {
    if (absence !== null && now() < untilMs) throw absence;
  }

  function heard(state: RouteState, call: OutgoingCall, answer: Answer): Answer {
    if (answer.stray === undefined) {
      state.isThere = true;
      state.absence = null;
      return answer;
    }
    if (!areAllKnown(call)) return answer;
    const isWorded = answer.body !== undefined;
    const isFirst = state.absence === null;
    state.isThere = false;
    state.untilMs = now() + (isFirst ? FIRST_MS : isWorded ? ABSENT_MS : STRAY_MS);
    state.absence = absence(call.route);
    throw state.absence;
  }

  return async (call, next) => {
    const state = states.get(call.route);
    if (state === undefined) return next();
    checkAbsence(state);
    while (!state.isThere && state.probe !== null) {
      await untilAborted(state.probe, call.signal);
      checkAbsence(state);
    }
    if (state.isThere) return heard(state, call, await next());
    const { promise, resolve: over } = Promise.withResolvers<void>();
    state.probe = promise;
    try {
      return heard(state, call, await next());
    } finally {
      state.probe = null;
      over();
    }
  };
}

function areAllKnown({ route, target }: OutgoingCall): boolean {
  const [path = '', search = ''] = target.split('?');
  const place = route.split('/').indexOf('{code}');
  const codes = place === -1 ? [] : [path.split('/')[place] ?? ''];
  const query = new URLSearchParams(search);
  // Partners may be any country of the world.
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
