import {
  ConsecutiveBreaker,
  ConstantBackoff,
  circuitBreaker,
  handleAll,
  type IPolicy,
  retry,
} from 'cockatiel';
import type { KeyvStorageEntry } from 'keyv';
import { type Clock, systemClock } from '../shared/async/clock.ts';
import { LATE, within } from '../shared/async/within.ts';
import { messageOf } from '../shared/errors.ts';
import type { Backing, OnError } from './backing.ts';
import { StoreOutage } from './outage.ts';
import type { Leases, SharedCounters } from './store.ts';

/** Failures in a row after which the store isn't asked for `PAUSE_MS`. */
const MAX_FAILURES = 3;

/** Shared counters may take so many times as long as values: without them, one call too many may be sent. */
const COUNTERS_PATIENCE = 3;

/** Retries of the end of a lease, and the pause between them: everybody who wants the same names waits for it. */
const END_RETRIES = 3;
const END_PAUSE_MS = 100;

const PAUSE_MS = 3_000;

/** A purge looks at every key of the store, and nobody waits for it. */
const PURGE_TIMEOUT_MS = 30_000;

const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Tracks outages by kinds of work: a store that is full can be read, and one that is slow with values may still count.
 * Some failures in a row begin an outage, which ends once each kind of work that failed has succeeded.
 */
function watchOutage(onError: OnError) {
  const failures = new Map<string, number>();
  let isOut = false;

  function end(): void {
    failures.clear();
    if (isOut) onError(new StoreOutage('The store (CACHE_URL) is there again.', true));
    isOut = false;
  }

  return {
    end,
    failed(kind: string, cause: unknown): void {
      failures.set(kind, (failures.get(kind) ?? 0) + 1);
      const inAll = [...failures.values()].reduce((sum, count) => sum + count, 0);
      if (isOut || inAll < MAX_FAILURES) return;
      isOut = true;
      const words = `The store (CACHE_URL) fails (${messageOf(cause)}): until it is back, this process holds figures in its memory, and sends nothing under a plan that is known.`;
      onError(new StoreOutage(words, false, { cause }));
    },
    done(kind: string): void {
      if (failures.delete(kind) && failures.size === 0) end();
    },
  };
}

interface GuardOptions {
  readonly timeoutMs: number;
  readonly onError: OnError;
  readonly after?: Clock['after'];
}

/** A policy, and the milliseconds that each attempt by it may take. */
interface Bounded {
  readonly policy: IPolicy;
  readonly ms: number;
}

export type GuardedAdapter = ReturnType<typeof guardedBacking>['adapter'];

/**
 * Keeps the troubles of a store from its callers: a read or write that fails or takes too long is a miss; after some
 * failures in a row the store isn't asked for a while; and the beginning and the end of an outage are reported.
 * Counters have a circuit of their own, so slow values don't disable them.
 */
export function guardedBacking(
  backing: Backing,
  { timeoutMs, onError, after = systemClock.after }: GuardOptions,
) {
  const breaker = openBreaker();
  const bounded: Bounded = { policy: breaker, ms: timeoutMs };
  // A lease is ended though the store has failed before: it may have been taken then.
  const ending: Bounded = {
    policy: retry(handleAll, { maxAttempts: END_RETRIES, backoff: new ConstantBackoff(END_PAUSE_MS) }),
    ms: timeoutMs,
  };
  const { sharedCounters, leases } = backing;
  const writing = new Set<Promise<unknown>>();
  const outage = watchOutage(onError);
  backing.onReturn?.(outage.end);

  async function attempt<T, F>(
    kind: string,
    { policy, ms }: Bounded,
    work: () => Promise<T>,
    otherwise: F,
  ): Promise<T | F> {
    try {
      const result = await policy.execute(() => inTime(ms, work(), after));
      outage.done(kind);
      return result;
    } catch (error) {
      outage.failed(kind, error);
      return otherwise;
    }
  }

  const counting: Bounded = { policy: openBreaker(), ms: COUNTERS_PATIENCE * timeoutMs };
  const counted: SharedCounters | null = sharedCounters && {
    take: (account, at) => attempt('count', counting, () => sharedCounters.take(account, at), null),
    read: (account, at) => attempt('look at counts', counting, () => sharedCounters.read(account, at), null),
    putBack: (account, at) =>
      attempt('count', counting, () => sharedCounters.putBack(account, at), undefined),
    note: (account, note) => attempt('count', counting, () => sharedCounters.note(account, note), undefined),
  };
  const leased: Leases | null = leases && {
    take: (lease) => attempt('lease', bounded, () => leases.take(lease), null),
    look: (group, names) => attempt('look at leases', bounded, () => leases.look(group, names), null),
    end: (lease) => attempt('lease', ending, () => leases.end(lease), undefined),
  };

  return {
    adapter: {
      /** Null if the store could not be read. */
      getMany: (keys: string[]) => attempt('read', bounded, () => backing.adapter.getMany(keys), null),
      /** False if the store could not take the entries. */
      async setMany(entries: KeyvStorageEntry[]) {
        const work = async () => {
          await backing.adapter.setMany(entries);
          return true;
        };
        const write = attempt('write', bounded, work, false);
        writing.add(write);
        const isWritten = await write;
        writing.delete(write);
        return isWritten;
      },
    },
    async clear(prefix: string) {
      const patient: Bounded = { policy: breaker, ms: PURGE_TIMEOUT_MS };
      await attempt('write', patient, () => backing.clear(prefix), undefined);
    },
    /** Returns null if the store could not tell. */
    first: (name: string, value: string) =>
      attempt('look at secrets', bounded, () => backing.first(name, value), null),
    sharedCounters: counted,
    leases: leased,
    async close() {
      await within(CLOSE_TIMEOUT_MS, Promise.all(writing));
      await backing.close();
    },
  };
}

/** @throws if the work takes longer */
async function inTime<T>(ms: number, work: Promise<T>, after: Clock['after']): Promise<T> {
  const result = await within(ms, work, LATE, after);
  if (result === LATE) throw new Error(`Operation timed out after ${ms}ms`);
  return result;
}

function openBreaker() {
  return circuitBreaker(handleAll, {
    halfOpenAfter: PAUSE_MS,
    breaker: new ConsecutiveBreaker(MAX_FAILURES),
  });
}
