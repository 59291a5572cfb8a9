import {
  ConsecutiveBreaker,
  ConstantBackoff,
  circuitBreaker,
  handleAll,
  retry,
  TimeoutStrategy,
  timeout,
  wrap,
} from 'cockatiel';
import type { KeyvStorageEntry } from 'keyv';
import type { Adapter, Backing, Fault } from './backing.ts';

/** Failures in a row after which the store is left alone for a while. */
const MAX_FAILURES = 3;

/**
 * Times as long as a value that shared counters may take: a value that is late is a miss, but a count without them may
 * be one too many.
 */
const COUNTERS_PATIENCE = 3;

/** Tries to end a lease, and the pause between them: all others who want the same names wait for it. */
const END_RETRIES = 3;
const END_PAUSE_MS = 100;

/** Milliseconds that the store is left alone before one more try. */
const PAUSE_MS = 3_000;

/** Milliseconds in which at most one fault is told. */
const TELLING_INTERVAL_MS = 60_000;

/** Bound of a purge: it looks at every key of the store, and nobody waits for it. */
const PURGE_TIMEOUT_MS = 30_000;

/** Milliseconds that a close waits for writes under way. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The adapter as Keyv is given it: Keyv asks for no more of the contract than this. */
export interface GuardedAdapter extends Adapter {
  readonly capabilities: { readonly expires: true };
  deleteMany(keys: string[]): Promise<boolean[]>;
}

export interface Guarded extends Omit<Backing, 'adapter' | 'holdsObjects' | 'peek' | 'first' | 'onReturn'> {
  readonly adapter: GuardedAdapter;
  /** Returns null if the store could not tell. */
  first(name: string, value: string): Promise<string | null>;
  onReturn(listener: () => void): void;
}

/**
 * Stands before a store so that its troubles are nobody else's: a read or write that fails or takes too long is a miss,
 * after some failures in a row the store isn't asked for a while, and a minute's troubles are told once. Values that
 * are late don't keep counters from being asked.
 */
export function guarded(
  backing: Backing,
  { timeoutMs, onFault }: { readonly timeoutMs: number; readonly onFault: Fault },
): Guarded {
  const breaker = openBreaker();
  // Values that this process holds are neither late nor away, and are written with each answer of the service.
  const bounded = backing.holdsObjects
    ? AT_ONCE
    : wrap(breaker, timeout(timeoutMs, TimeoutStrategy.Aggressive));
  const counting = wrap(openBreaker(), timeout(COUNTERS_PATIENCE * timeoutMs, TimeoutStrategy.Aggressive));
  // A lease is ended though the store has failed before: it may have been taken then.
  const ending = wrap(
    retry(handleAll, { maxAttempts: END_RETRIES, backoff: new ConstantBackoff(END_PAUSE_MS) }),
    timeout(timeoutMs, TimeoutStrategy.Aggressive),
  );
  const { sharedCounters, leases } = backing;
  const writing = new Set<Promise<unknown>>();
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let isAway = false;
  const listeners: (() => void)[] = [];

  function returned(): void {
    isAway = false;
    for (const listener of listeners) listener();
  }
  backing.onReturn?.(returned);

  function tell(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < TELLING_INTERVAL_MS) return;
    toldAtMs = nowMs;
    onFault(error);
  }

  async function attempt<T, F>(policy: Policy, work: () => Promise<T>, otherwise: F) {
    try {
      const result = await policy.execute(work);
      if (isAway) returned();
      return result;
    } catch (error) {
      isAway = true;
      tell(error);
      return otherwise;
    }
  }

  return {
    adapter: {
      // Such adapters are handed the instant at which a value expires, not a duration.
      capabilities: { expires: true },
      // Expired values are swept by the store itself.
      deleteMany: async (keys: string[]) => keys.map(() => true),
      getMany: (keys: string[]) =>
        attempt(
          bounded,
          () => backing.adapter.getMany(keys),
          keys.map(() => undefined),
        ),
      async setMany(entries: KeyvStorageEntry[]) {
        const write = attempt(bounded, () => backing.adapter.setMany(entries), null);
        writing.add(write);
        await write;
        writing.delete(write);
        return entries.map(() => true);
      },
    },
    async clear(prefix) {
      const patient = wrap(breaker, timeout(PURGE_TIMEOUT_MS, TimeoutStrategy.Aggressive));
      await attempt(patient, () => backing.clear(prefix), undefined);
    },
    first: (name, value) => attempt(bounded, () => backing.first(name, value), null),
    onReturn: (listener) => void listeners.push(listener),
    sharedCounters: sharedCounters && {
      take: (account, at) => attempt(counting, () => sharedCounters.take(account, at), null),
      read: (account, at) => attempt(counting, () => sharedCounters.read(account, at), null),
      note: (account, note) => attempt(counting, () => sharedCounters.note(account, note), undefined),
    },
    leases: leases && {
      take: (lease, terms) => attempt(bounded, () => leases.take(lease, terms), null),
      look: (group, names) => attempt(bounded, () => leases.look(group, names), null),
      end: (lease, isFetched) => attempt(ending, () => leases.end(lease, isFetched), undefined),
    },
    async close() {
      const wait = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
      await Promise.race([Promise.all(writing), wait]);
      await backing.close();
    },
  };
}

interface Policy {
  execute<T>(work: () => Promise<T>): Promise<T>;
}

const AT_ONCE: Policy = { execute: (work) => work() };

function openBreaker() {
  return circuitBreaker(handleAll, {
    halfOpenAfter: PAUSE_MS,
    breaker: new ConsecutiveBreaker(MAX_FAILURES),
  });
}
