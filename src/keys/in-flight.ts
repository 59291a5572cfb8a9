import { randomUUID } from 'node:crypto';
import { awayState, fetchedState, isAway } from '../cache/backing.ts';
import type { Lease, LeaseState, Leases, TakenState } from '../cache/store.ts';
import type { Clock } from '../shared/async/clock.ts';
import { untilAborted } from '../shared/async/turns.ts';
import type { InFlight, TenantCache } from './tenant-cache.ts';

type WantedNames = Parameters<InFlight['together']>[0];

/**
 * Milliseconds that a lease lasts without renewal, which is how long others wait for a process that was killed; and the
 * interval of renewals, of which two may fail.
 */
const LIFE_MS = 600;
const RENEWAL_MS = 150;

/** A batch of more names is not leased: it takes its time to plan and to fetch anyway. */
const MAX_NAMES_TOGETHER = 5_000;

/**
 * The longest wait, in milliseconds, of a name that nobody fetches while others are fetching the rest of the batch:
 * mostly they have been asked for the same, and are about to fetch this too. And the wait as a share of a fetch's usual
 * time, so that it is not felt beside the fetch.
 */
const MAX_WAIT_MS = 250;
const WAIT_SHARE = 0.25;

/** Weight of the newest fetch in the moving average. */
const NEWEST_SHARE = 0.2;

/** The first and the longest pause between looks at what others fetch; each is half as long again as the last. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 50;

/** Names that others had leased before, with the state of each once these have fetched it. */
type Seen = Map<string, TakenState>;

/** @param maxWaitMs the longest wait for others */
export function createInFlight(
  leases: Leases,
  cache: TenantCache,
  clock: Clock,
  maxWaitMs: number,
): InFlight {
  /** States of the names that this process fetches or is about to. */
  const pending = new Map<string, Promise<LeaseState>>();
  /** Milliseconds that a fetch usually takes. */
  let usualMs = MAX_WAIT_MS / WAIT_SHARE;

  /** Takes leases of the names that this process doesn't have already; returns the state of each name. */
  async function take(group: string, names: readonly string[], seen: Seen, isWhole: boolean) {
    const pendingStates = names.map((name) => pending.get(`${group} ${name}`));
    const asked = names.filter((_, i) => pendingStates[i] === undefined);
    const lease = { group, names: asked, holder: randomUUID(), lifeMs: LIFE_MS };
    const passedOver = asked.map((name) => seen.get(name) ?? null);
    const taking = asked.length === 0 ? Promise.resolve([]) : leases.take(lease, { passedOver, isWhole });
    for (const [i, name] of asked.entries()) {
      pending.set(
        `${group} ${name}`,
        taking.then((states) => states?.[i] ?? 'own'),
      );
    }
    const states = await taking;
    for (const [i, name] of asked.entries()) if (states?.[i] !== 'own') pending.delete(`${group} ${name}`);
    const stateOf = new Map<string, LeaseState>();
    for (const [i, name] of names.entries()) {
      const mine = pendingStates[i];
      if (mine !== undefined) stateOf.set(name, await mine);
    }
    // Without the store each fetches for itself. A lease whose reply was lost may have been taken, so it is ended as well.
    for (const [i, name] of asked.entries()) stateOf.set(name, states?.[i] ?? 'own');
    const leasedNames = states === null ? asked : asked.filter((_, i) => states[i] === 'own');
    return { stateOf, leased: { ...lease, names: leasedNames } };
  }

  /** Returns a function that stops it. */
  function startRenewing(lease: Lease): () => void {
    const passedOver = lease.names.map(() => awayState(lease.holder));
    let cancel = () => {};
    const wait = () => {
      cancel = clock.after(RENEWAL_MS, () => {
        void leases.take(lease, { passedOver, isWhole: false });
        wait();
      });
    };
    wait();
    return () => cancel();
  }

  async function fetchLeased(wanted: WantedNames, names: readonly string[], lease: Lease): Promise<void> {
    const isLeased = lease.names.length > 0;
    const stopRenewing = isLeased ? startRenewing(lease) : () => {};
    const startedMs = performance.now();
    let isFetched = false;
    try {
      await wanted.fetch(names);
      isFetched = true;
      usualMs += NEWEST_SHARE * (performance.now() - startedMs - usualMs);
    } finally {
      for (const name of lease.names) pending.delete(`${lease.group} ${name}`);
      // Not before the values are stored: whoever finds the lease ended looks for them.
      const end = () => {
        stopRenewing();
        void leases.end(lease, isFetched);
      };
      if (isLeased) void cache.landed().then(end, end);
    }
  }

  async function together(wanted: WantedNames): Promise<void> {
    const { group, names, signal } = wanted;
    const startedMs = performance.now();
    const untilMs = startedMs + maxWaitMs;
    const waitUntilMs = startedMs + Math.min(MAX_WAIT_MS, WAIT_SHARE * usualMs, maxWaitMs);
    const fetching: Promise<void>[] = [];
    const begin = (work: Promise<void>) => {
      // Errors are thrown at the end.
      work.catch(() => {});
      fetching.push(work);
    };
    const seen: Seen = new Map();
    let missing = names;
    while (missing.length > 0) {
      const isWhole = performance.now() < waitUntilMs;
      const { stateOf, leased } = await take(group, missing, seen, isWhole);
      const { mine, free, away, fetched } = byState(missing, stateOf);
      if (mine.length > 0) begin(fetchLeased(wanted, mine, leased));
      if (mine.length === missing.length) break;
      for (const [name, state] of stateOf) if (isTaken(state)) seen.set(name, onceFetched(state));
      // At once: values that others have fetched may be too old already.
      const lacking = fetched.length === 0 ? [] : await wanted.takeOver(fetched);
      missing = [...lacking, ...free, ...away];
      if (lacking.length === 0) {
        const overMs = free.length === 0 ? untilMs : waitUntilMs;
        await untilOver(away, overMs, signal, clock, (still) => leases.look(group, still));
        if (missing.length > 0) missing = await wanted.takeOver(missing);
      }
      // The loop may not end by itself if others fetch values that are always too old.
      signal.throwIfAborted();
      if (performance.now() >= untilMs) {
        if (missing.length > 0) begin(wanted.fetch(missing));
        break;
      }
    }
    await Promise.all(fetching);
  }

  return {
    cache,
    together: (wanted) =>
      wanted.names.length > MAX_NAMES_TOGETHER ? wanted.fetch(wanted.names) : together(wanted),
  };
}

function byState(names: readonly string[], states: ReadonlyMap<string, LeaseState>) {
  const where = (isIt: (state: LeaseState) => boolean) =>
    names.filter((name) => isIt(states.get(name) ?? 'own'));
  return {
    mine: where((state) => state === 'own'),
    free: where((state) => state === 'free'),
    away: where(isAway),
    fetched: where((state) => isTaken(state) && !isAway(state)),
  };
}

/** Waits until others fetch none of the names any more, the time is over, or the store is lost. */
async function untilOver(
  names: readonly string[],
  untilMs: number,
  signal: AbortSignal,
  clock: Clock,
  look: (names: readonly string[]) => ReturnType<Leases['look']>,
): Promise<void> {
  let away = names;
  for (let pauseMs = FIRST_LOOK_MS; away.length > 0; pauseMs = Math.min(pauseMs * 1.5, MAX_LOOK_MS)) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return;
    await untilAborted(clock.sleep(Math.min(pauseMs, leftMs)), signal);
    const states = await look(away);
    if (states === null) return;
    away = away.filter((_, i) => states[i]);
  }
}

function isTaken(state: LeaseState): state is TakenState {
  return state !== 'own' && state !== 'free';
}

/** Returns the state of a name once its present holder has fetched it. */
function onceFetched(state: TakenState): TakenState {
  return fetchedState(state.slice(state.indexOf(' ') + 1));
}
