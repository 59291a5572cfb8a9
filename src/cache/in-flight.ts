import { randomUUID } from 'node:crypto';
import { type CancelSignal, untilAborted } from '../async/cancellation.ts';
import type { Clock } from '../async/clock.ts';
import {
  awayState,
  type HeldState,
  isAway,
  isHeld,
  type Lease,
  type LeaseState,
  type Leases,
  type LeaseTerms,
  onceFetched,
} from './leases.ts';
import type { TenantCache } from './tenant-cache.ts';

/** Has one of those who share a store fetch the names that several ask for at the same time. */
export interface InFlight {
  /** The cache in which the others read the values that one has fetched; null if nobody shares the store. */
  readonly cache: TenantCache | null;
  /**
   * Fetches names that nobody else is fetching, and waits for the others; but no longer than a few seconds, and not at
   * all if the store is lost: then each fetches for itself.
   * @throws the error of `fetch`, or the signal's reason
   */
  together(wanted: Wanted): Promise<void>;
}

export interface Wanted {
  /** Its owner: the key digest, or `PUBLIC`. */
  readonly group: string;
  readonly names: readonly string[];
  readonly signal: CancelSignal;
  /** Fetches names; calls that come at the same time in this process share it. */
  fetch(names: readonly string[]): Promise<void>;
  /**
   * Takes over the values that others have fetched.
   * @returns the names for which there is no value to take over
   */
  takeOver(names: readonly string[]): Promise<readonly string[]>;
}

export interface InFlightParts {
  readonly leases: Leases;
  readonly cache: TenantCache;
  readonly clock: Pick<Clock, 'sleep' | 'after'>;
  /** The longest that anybody waits for others, in milliseconds. */
  readonly maxWaitMs: number;
}

/**
 * Milliseconds that a lease lasts which its holder doesn't renew: so long others wait for a process that was killed.
 * And the interval at which it is renewed for as long as the fetch goes on: twice may fail.
 */
const LIFE_MS = 800;
const RENEWAL_MS = 250;

/** Names of one batch beyond which none is leased: a fetch of so many takes its time to plan and to make anyway. */
const MAX_NAMES = 5_000;

/**
 * Milliseconds that a name which nobody fetches waits while others are fetching the rest of the batch: mostly they have
 * been asked for the same, and are about to fetch this too.
 */
const HOLD_MS = 250;

/**
 * The first pause between two looks at the names that others are fetching, and the longest; each is longer by half than
 * the last.
 */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 100;

/** Fetches all by itself, for a store that nobody shares. */
export const ALONE: InFlight = { cache: null, together: ({ names, fetch }) => fetch(names) };

export function createInFlight(parts: InFlightParts): InFlight {
  const { leases, cache } = parts;
  /** Names that this process fetches or is about to, with the state of each. */
  const own = new Map<string, Promise<LeaseState>>();

  /** Takes leases, but for names that this process has already: those are its own. */
  async function take(group: string, names: readonly string[], terms: Terms): Promise<TakenLeases> {
    const known = names.map((name) => own.get(`${group} ${name}`));
    const asked = names.filter((_, i) => known[i] === undefined);
    const lease = { group, names: asked, holder: randomUUID(), lifeMs: LIFE_MS };
    const passedOver = asked.map((name) => terms.seen.get(name) ?? null);
    const taking =
      asked.length === 0 ? Promise.resolve([]) : leases.take(lease, { passedOver, isWhole: terms.isWhole });
    for (const [i, name] of asked.entries()) {
      own.set(
        `${group} ${name}`,
        taking.then((states) => states?.[i] ?? 'own'),
      );
    }
    const states = await taking;
    for (const [i, name] of asked.entries()) if (states?.[i] !== 'own') own.delete(`${group} ${name}`);
    const stateOf = new Map<string, LeaseState>();
    for (const [i, name] of names.entries()) {
      const mine = known[i];
      if (mine !== undefined) stateOf.set(name, await mine);
    }
    // If the store is lost, each fetches for itself; a lease whose reply was lost may have been taken all the same, and
    // is ended.
    for (const [i, name] of asked.entries()) stateOf.set(name, states?.[i] ?? 'own');
    const leasedNames = states === null ? asked : asked.filter((_, i) => states[i] === 'own');
    return { stateOf, leased: { ...lease, names: leasedNames } };
  }

  /** Renews a lease from time to time. @returns a function that stops that */
  function renewing(lease: Lease): () => void {
    const passedOver = lease.names.map(() => awayState(lease.holder));
    let cancel = () => {};
    const wait = () => {
      cancel = parts.clock.after(RENEWAL_MS, () => {
        void leases.take(lease, { passedOver, isWhole: false });
        wait();
      });
    };
    wait();
    return () => cancel();
  }

  async function fetchLeased(wanted: Wanted, names: readonly string[], lease: Lease): Promise<void> {
    const isLeased = lease.names.length > 0;
    const stopRenewing = isLeased ? renewing(lease) : () => {};
    let isFetched = false;
    try {
      await wanted.fetch(names);
      isFetched = true;
    } finally {
      for (const name of lease.names) own.delete(`${lease.group} ${name}`);
      // Nobody waits for it, but all who read a lease as ended find the values that it was for.
      const end = () => {
        stopRenewing();
        void leases.end(lease, isFetched);
      };
      if (isLeased) void cache.landed().then(end, end);
    }
  }

  async function together(wanted: Wanted): Promise<void> {
    const { group, names, signal } = wanted;
    const startedMs = performance.now();
    const untilMs = startedMs + parts.maxWaitMs;
    const fetching: Promise<void>[] = [];
    const begin = (work: Promise<void>) => {
      // An error of it is thrown at the end.
      work.catch(() => {});
      fetching.push(work);
    };
    const seen = new Map<string, HeldState>();
    let missing = names;
    while (missing.length > 0) {
      const isWhole = performance.now() < startedMs + Math.min(HOLD_MS, parts.maxWaitMs);
      const { stateOf, leased } = await take(group, missing, { seen, isWhole });
      const { mine, free, away, others } = byState(missing, stateOf);
      if (mine.length > 0) begin(fetchLeased(wanted, mine, leased));
      if (others.length === 0) break;
      for (const [name, state] of stateOf) if (isHeld(state)) seen.set(name, onceFetched(state));
      const holdMs = free.length === 0 ? untilMs : Math.min(untilMs, startedMs + HOLD_MS);
      await untilOver(group, away, holdMs, signal, parts);
      missing = await wanted.takeOver(others);
      if (performance.now() >= untilMs) {
        if (missing.length > 0) begin(wanted.fetch(missing));
        break;
      }
    }
    await Promise.all(fetching);
  }

  return {
    cache,
    together: (wanted) => (wanted.names.length > MAX_NAMES ? wanted.fetch(wanted.names) : together(wanted)),
  };
}

/** Leases that are taken, with the state of each name. */
interface TakenLeases {
  readonly stateOf: ReadonlyMap<string, LeaseState>;
  readonly leased: Lease;
}

interface Terms extends Pick<LeaseTerms, 'isWhole'> {
  /** Names that others were at before, with the state in which they are once these have fetched them. */
  readonly seen: ReadonlyMap<string, HeldState>;
}

/** @returns the names that are to be fetched, those that nobody fetches, those that others are at, and all but the first */
function byState(names: readonly string[], states: ReadonlyMap<string, LeaseState>) {
  const where = (isIt: (state: LeaseState) => boolean) =>
    names.filter((name) => isIt(states.get(name) ?? 'own'));
  return {
    mine: where((state) => state === 'own'),
    free: where((state) => state === 'free'),
    away: where(isAway),
    others: where((state) => state !== 'own'),
  };
}

/** Waits until none of the names is being fetched by others any more, the time is over, or the store is lost. */
async function untilOver(
  group: string,
  names: readonly string[],
  untilMs: number,
  signal: CancelSignal,
  { leases, clock }: InFlightParts,
): Promise<void> {
  let away = names;
  for (let pauseMs = FIRST_LOOK_MS; away.length > 0; pauseMs = Math.min(pauseMs * 1.5, MAX_LOOK_MS)) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return;
    await untilAborted(clock.sleep(Math.min(pauseMs, leftMs)), signal);
    const states = await leases.look(group, away);
    if (states === null) return;
    away = away.filter((_, i) => states[i]);
  }
}
