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

/** Has what is asked for at the same time by several who share a store fetched by one of them. */
export interface InFlight {
  /** Where what one has fetched is for the others to read; null where nobody shares the store. */
  readonly cache: TenantCache | null;
  /**
   * Fetches names that nobody else is fetching, and waits for the others; but no longer than a few seconds, and not at all
   * where the store is lost: then each fetches for itself.
   * @throws what `fetch` throws, or the signal's reason
   */
  together(wanted: Wanted): Promise<void>;
}

export interface Wanted {
  /** Whose it is: the key digest, or `PUBLIC`. */
  readonly group: string;
  readonly names: readonly string[];
  readonly signal: CancelSignal;
  /** Fetches names; those that come at the same time in this process share it. */
  fetch(names: readonly string[]): Promise<void>;
  /**
   * Takes over what others have fetched.
   * @returns the names of which there is nothing that could be
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
 * How long a lease lasts that its holder doesn't renew, in milliseconds: so long others wait for a process that was killed. And
 * how often it is renewed for as long as the fetch goes on: twice may fail.
 */
const LIFE_MS = 800;
const RENEWAL_MS = 250;

/** Names of one batch beyond which none is leased: to plan and to fetch so many takes its time anyway. */
const MAX_NAMES = 5_000;

/**
 * How long what nobody fetches waits, in milliseconds, where others are fetching the rest of the batch: mostly they have been asked
 * for the same, and are about to fetch this too.
 */
const HOLD_MS = 250;

/** The first pause between two looks at what others are fetching, and the longest; each is longer by half than the last. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 100;

/** Where nobody shares the store. */
export const ALONE: InFlight = { cache: null, together: ({ names, fetch }) => fetch(names) };

export function createInFlight(parts: InFlightParts): InFlight {
  const { leases, cache } = parts;
  /** What this process fetches or is about to, and in what state each name turned out to be. */
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
    // Where the store is lost, each fetches for itself; a lease whose reply was lost may have been taken all the same, and is ended.
    for (const [i, name] of asked.entries()) stateOf.set(name, states?.[i] ?? 'own');
    const leasedNames = states === null ? asked : asked.filter((_, i) => states[i] === 'own');
    return { stateOf, leased: { ...lease, names: leasedNames } };
  }

  /** Renews a lease from time to time. @returns what ends that */
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
      // Nobody waits for it, but all who read a lease as ended find what it was for.
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
      // What it throws is thrown at the end.
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

/** Leases that are taken, and how it stands with each name. */
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
