import type { Adapter } from './backing.ts';
import type { CallCounts } from './counts.ts';
import type { CounterSnapshot, Note, SharedCounters, Window } from './store.ts';

/** Milliseconds for which a minute and a month are counted, both longer than they last; a note as long as a month. */
const RETENTION_MS = [2 * 60_000, 32 * 86_400_000] as const;

/**
 * The ledger's counters: a count of the minute and one of the month for each account, and its plan as a text. A call is
 * counted before the plan is read, and put back if the plan has no room for it, so that gateways together never send
 * one too many.
 */
export function countersOver(
  counts: Pick<CallCounts, 'take' | 'putBack' | 'read'>,
  texts: Adapter,
  prefix = '',
): SharedCounters {
  const nameOf = (account: string, what: string) => `ledger:{${account}}:${what}`;
  const windowsOf = (account: string, { minute, month }: Pick<Window, 'minute' | 'month'>) =>
    [`minute:${minute}`, `month:${month}`].map((what) => nameOf(account, what));
  const keyOfNote = (account: string) => prefix + nameOf(account, 'note');
  const noteOf = async (account: string) => noteIn((await texts.getMany([keyOfNote(account)]))[0]);

  return {
    async take(account, at) {
      const windows = windowsOf(account, at);
      const wanted = windows.map((name, i) => ({ name, most: null, retentionMs: RETENTION_MS[i] ?? 0 }));
      const [{ calls }, note] = await Promise.all([counts.take(wanted), noteOf(account)]);
      const [minute = 0, month = 0] = calls;
      if (mayTake(minute - 1, note, at)) return snapshotOf([minute, month], note, true);
      await counts.putBack(windows);
      return snapshotOf([minute - 1, month - 1], note);
    },
    async read(account, at) {
      const reading = [counts.read(windowsOf(account, at)), noteOf(account)] as const;
      return snapshotOf(...(await Promise.all(reading)));
    },
    putBack: (account, at) => counts.putBack(windowsOf(account, at)),
    async note(account, note) {
      const expires = Date.now() + RETENTION_MS[1];
      await texts.setMany([{ key: keyOfNote(account), value: JSON.stringify(note), expires }]);
    },
  };
}

function snapshotOf(calls: readonly number[], note: Note | null, isTaken = false): CounterSnapshot {
  const [callsThisMinute = 0, callsThisMonth = 0] = calls;
  return { isTaken, callsThisMinute, callsThisMonth, note };
}

function mayTake(callsThisMinute: number, note: Note | null, at: Window): boolean {
  if (note === null) return true;
  const { requestsPerMinute, spentMinute, spentMonth, nextProbeAtMs } = note;
  if (spentMonth === at.month && nextProbeAtMs > at.nowMs) return false;
  return spentMinute !== at.minute && (requestsPerMinute === null || callsThisMinute < requestsPerMinute);
}

/** Returns null if the text holds no note that can be read. */
function noteIn(text: unknown): Note | null {
  try {
    const note = JSON.parse(String(text ?? 'null'));
    return typeof note === 'object' && note !== null && typeof note.nextProbeAtMs === 'number' ? note : null;
  } catch {
    return null;
  }
}
