/** The contract of a store outside this process, and the parts that several kinds of stores share. */

import type { KeyvStorageEntry } from 'keyv';
import type {
  CounterSnapshot,
  LeaseState,
  Leases,
  LeaseTerms,
  Note,
  SharedCounters,
  TakenState,
  Window,
} from './store.ts';
export type OnError = (error: unknown) => void;

/** One kind of store. Its methods may fail and hang: `guarded-backing.ts` stands before it. */
export interface Backing {
  readonly adapter: Adapter;
  readonly sharedCounters: SharedCounters | null;
  readonly leases: Leases | null;
  /** Looks without waiting; left out if the store is too far away for that. */
  readonly peek?: Peek | undefined;
  clear(prefix: string): Promise<void>;
  first(name: string, value: string): Promise<string>;
  /** Calls back each time that the store has been replaced or connected anew; left out if that can't happen. */
  readonly onReturn?: (listener: () => void) => void;
  close(): Promise<void>;
}

/** @throws Error if nothing can be read just now */
export type Peek = () => {
  /** Differs from that of all earlier looks if others have changed anything since. */
  readonly version: number;
  /** Returns texts by the places of their keys. */
  read(keys: readonly string[]): readonly unknown[];
};

/** The part of Keyv's storage contract that is used: text or Keyv's envelopes in, the same out. */
export interface Adapter {
  getMany(keys: string[]): Promise<unknown[]>;
  setMany(entries: KeyvStorageEntry[]): Promise<unknown>;
}

/** Retention of counters of a month, and of notes, in milliseconds: longer than any window. */
export const MONTH_RETENTION_MS = 32 * 86_400_000;

export interface AccountCounts {
  /** Null before the first call. */
  readonly minute: number | null;
  readonly calls: number;
  readonly month: number | null;
  readonly callsInMonth: number;
  readonly note: Note | null;
}

const NO_COUNTS: AccountCounts = { minute: null, calls: 0, month: null, callsInMonth: 0, note: null };

/** @param atOnce runs work as one transaction */
export function countersOver(
  table: {
    readonly read: (account: string) => AccountCounts | undefined;
    readonly write: (account: string, counts: AccountCounts) => unknown;
  },
  atOnce = <T>(work: () => T): T => work(),
): SharedCounters {
  const rowOf = (account: string) => table.read(account) ?? NO_COUNTS;
  const countsAt = (account: string, { minute, month }: Window): AccountCounts => {
    const row = rowOf(account);
    const calls = row.minute === minute ? row.calls : 0;
    return { minute, calls, month, callsInMonth: row.month === month ? row.callsInMonth : 0, note: row.note };
  };
  const snapshotOf = ({ calls, callsInMonth, note }: AccountCounts, isTaken: boolean): CounterSnapshot => ({
    isTaken,
    callsThisMinute: calls,
    callsThisMonth: callsInMonth,
    note,
  });
  return {
    take: async (account, at) =>
      atOnce(() => {
        const counts = countsAt(account, at);
        if (!mayTake(counts.calls, counts.note, at)) return snapshotOf(counts, false);
        const taken = { ...counts, calls: counts.calls + 1, callsInMonth: counts.callsInMonth + 1 };
        table.write(account, taken);
        return snapshotOf(taken, true);
      }),
    read: async (account, at) => snapshotOf(countsAt(account, at), false),
    putBack: async (account, { minute, month }) =>
      atOnce(() => {
        const row = rowOf(account);
        const calls = Math.max(0, row.calls - (row.minute === minute ? 1 : 0));
        const callsInMonth = Math.max(0, row.callsInMonth - (row.month === month ? 1 : 0));
        table.write(account, { ...row, calls, callsInMonth });
      }),
    note: async (account, note) => atOnce(() => void table.write(account, { ...rowOf(account), note })),
  };
}

function mayTake(callsThisMinute: number, note: Note | null, at: Window): boolean {
  if (note === null) return true;
  const { requestsPerMinute, spentMinute, spentMonth, nextProbeAtMs } = note;
  if (spentMonth === at.month && nextProbeAtMs > at.nowMs) return false;
  return spentMinute !== at.minute && (requestsPerMinute === null || callsThisMinute < requestsPerMinute);
}

/** Returns null if the text holds no note that can be read. */
export function noteIn(text: string | null | undefined): Note | null {
  try {
    const note = JSON.parse(text ?? 'null');
    return typeof note === 'object' && note !== null && typeof note.nextProbeAtMs === 'number' ? note : null;
  } catch {
    return null;
  }
}

/**
 * Milliseconds for which a name is marked as fetched: longer than it takes from a look at the store to a call, so that
 * a process that looked too early finds the value after all.
 */
export const FETCHED_MS = 3_000;

/** @param atOnce runs work as one transaction */
export function leasesOver(
  table: {
    readonly read: (key: string) => TakenState | null;
    readonly write: (key: string, state: TakenState, lifeMs: number) => unknown;
    readonly remove: (key: string) => unknown;
  },
  atOnce = <T>(work: () => T): T => work(),
): Leases {
  const { read, write, remove } = table;
  const keysOf = (group: string, names: readonly string[]) => names.map((name) => `${group} ${name}`);
  return {
    take: async ({ group, names, holder, lifeMs }, terms) =>
      atOnce(() => {
        const keys = keysOf(group, names);
        const states = statesOf(keys.map(read), terms);
        for (const [i, key] of keys.entries()) {
          if (states[i] === 'own') write(key, awayState(holder), lifeMs);
        }
        return states;
      }),
    look: async (group, names) => keysOf(group, names).map((key) => isAway(read(key))),
    end: async ({ group, names, holder }, isFetched) =>
      atOnce(() => {
        for (const key of keysOf(group, names)) {
          if (read(key) !== awayState(holder)) continue;
          if (isFetched) write(key, fetchedState(holder), FETCHED_MS);
          else remove(key);
        }
      }),
  };
}

export function awayState(holder: string): TakenState {
  return `away ${holder}`;
}

export function fetchedState(holder: string): TakenState {
  return `fetched ${holder}`;
}

export function isAway(state: string | null): boolean {
  return state?.startsWith('away ') ?? false;
}

/** Returns the states of names for one who wants them: those that are `own` are to be taken. */
function statesOf(
  takenStates: readonly (TakenState | null)[],
  { passedOver, isWhole }: LeaseTerms,
): readonly LeaseState[] {
  const free = isWhole && takenStates.some(isAway) ? 'free' : 'own';
  return takenStates.map((state, i) => (state === null || state === passedOver[i] ? free : state));
}
