import { createLru } from './lru.ts';
import {
  type CounterSnapshot,
  mayTake,
  type Note,
  type SharedCounters,
  type Window,
} from './shared-counters.ts';

/** Keys whose counters are kept at once. */
const MAX_ACCOUNTS = 50_000;

interface Counts {
  minute: number;
  calls: number;
  month: number;
  callsInMonth: number;
  note: Note | null;
}

/** Opens counters in this process, for others to share. */
export function createMemoryCounters(): SharedCounters {
  const accounts = createLru<Counts>(MAX_ACCOUNTS);

  function countsOf(account: string): Counts {
    const known = accounts.get(account);
    if (known !== undefined) return known;
    const counts = { minute: 0, calls: 0, month: 0, callsInMonth: 0, note: null };
    accounts.set(account, counts);
    return counts;
  }

  function enter(account: string, { minute, month }: Window): Counts {
    const counts = countsOf(account);
    if (counts.minute !== minute) Object.assign(counts, { minute, calls: 0 });
    if (counts.month !== month) Object.assign(counts, { month, callsInMonth: 0 });
    return counts;
  }

  const snapshotOf = ({ calls, callsInMonth, note }: Counts, isTaken: boolean): CounterSnapshot => ({
    isTaken,
    callsThisMinute: calls,
    callsThisMonth: callsInMonth,
    note,
  });

  return {
    async take(account, at) {
      const counts = enter(account, at);
      if (!mayTake(counts.calls, counts.note, at)) return snapshotOf(counts, false);
      counts.calls += 1;
      counts.callsInMonth += 1;
      return snapshotOf(counts, true);
    },
    read: async (account, at) => snapshotOf(enter(account, at), false),
    async note(account, note) {
      countsOf(account).note = note;
    },
  };
}
