import { randomUUID } from 'node:crypto';
import type { Lease, Leases } from '../cache/store.ts';
import type { Clock } from '../shared/async/clock.ts';
import { untilAborted } from '../shared/async/promises.ts';
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

/** The first and the longest pause between looks at what others fetch; each is half as long again as the last. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 50;

/** Names of which this process has the leases: those that it found after all, and those that it has to fetch. */
interface Taken {
  readonly found: ReadonlySet<string>;
  readonly lacking: ReadonlySet<string>;
}

const NOTHING: Taken = { found: new Set(), lacking: new Set() };

/** @param maxWaitMs the longest wait for others */
export function createInFlight(
  leases: Leases,
  cache: TenantCache,
  clock: Clock,
  maxWaitMs: number,
): InFlight {
  /** By group and name, what this process has taken of it, or is about to take. */
  const pending = new Map<string, Promise<Taken>>();

  /** Takes the leases that nobody has, and looks for values once more: others may have fetched them meanwhile. */
  async function take(lease: Lease, { takeOver }: WantedNames): Promise<Taken> {
    const taken = lease.names.length === 0 ? [] : await leases.take(lease);
    // Without the store each fetches for itself.
    if (taken === null) return { found: new Set(), lacking: new Set(lease.names) };
    const own = lease.names.filter((_, i) => taken[i]);
    let lacking: ReadonlySet<string> = new Set();
    let found: readonly string[] = [];
    try {
      if (own.length > 0) lacking = new Set(await takeOver(own));
    } finally {
      found = own.filter((name) => !lacking.has(name));
      if (found.length > 0) void leases.end({ ...lease, names: found });
    }
    return { found: new Set(found), lacking };
  }

  /** Returns a function that ends the lease: not before the values are stored, since others look for them then. */
  function startRenewing(lease: Lease): () => void {
    let cancel = () => {};
    const wait = () => {
      cancel = clock.after(RENEWAL_MS, () => {
        void leases.take(lease);
        wait();
      });
    };
    wait();
    const end = () => {
      cancel();
      // A lease whose reply was lost may have been taken, so it is ended as well.
      void leases.end(lease);
    };
    return () => void cache.landed().then(end, end);
  }

  /**
   * Begins to fetch the names that nobody else is fetching. Names that this process fetches already are fetched with
   * it, as calls in flight are shared.
   * @param fetching takes the fetch
   * @returns the names that others are fetching
   */
  async function begin(wanted: WantedNames, names: readonly string[], fetching: Promise<void>[]) {
    const { group } = wanted;
    const keyOf = (name: string) => `${group} ${name}`;
    const asked = names.filter((name) => !pending.has(keyOf(name)));
    const lease = { group, names: asked, holder: randomUUID(), lifeMs: LIFE_MS };
    const taking = take(lease, wanted);
    const settled = taking.catch(() => NOTHING);
    for (const name of asked) pending.set(keyOf(name), settled);
    const taken = await Promise.all(names.map((name) => pending.get(keyOf(name))));
    const { lacking } = await settled;
    for (const name of asked) if (!lacking.has(name)) pending.delete(keyOf(name));
    const { found } = await taking;
    const isMine = (name: string, i: number) => taken[i]?.lacking.has(name) === true;
    const mine = names.filter(isMine);
    if (mine.length > 0) {
      const end = lacking.size > 0 ? startRenewing({ ...lease, names: [...lacking] }) : () => {};
      fetching.push(
        wanted.fetch(mine).finally(() => {
          for (const name of lacking) pending.delete(keyOf(name));
          end();
        }),
      );
      // Its error is thrown at the end.
      fetching.at(-1)?.catch(() => {});
    }
    return names.filter((name, i) => !found.has(name) && !isMine(name, i));
  }

  async function together(wanted: WantedNames): Promise<void> {
    const { group, names, signal } = wanted;
    const untilMs = performance.now() + maxWaitMs;
    const fetching: Promise<void>[] = [];
    for (let missing = names; missing.length > 0; ) {
      missing = await begin(wanted, missing, fetching);
      if (missing.length === 0) break;
      await untilOver(missing, untilMs, signal, clock, (still) => leases.look(group, still));
      missing = await wanted.takeOver(missing);
      // The loop may not end by itself if others fetch values that are always too old.
      signal.throwIfAborted();
      if (missing.length === 0 || performance.now() < untilMs) continue;
      fetching.push(wanted.fetch(missing));
      break;
    }
    await Promise.all(fetching);
  }

  return {
    cache,
    together: (wanted) =>
      wanted.names.length > MAX_NAMES_TOGETHER ? wanted.fetch(wanted.names) : together(wanted),
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
