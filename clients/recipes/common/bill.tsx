import type { AnswerExtensions } from '@country-graph/client';
import { useSyncExternalStore } from 'react';

let calls: number | null = null;
const listeners = new Set<() => void>();

/** Takes the bill from the code that fetches: hooks of client libraries don't hand on `extensions`. */
export function noteBill(extensions: unknown): void {
  const bill = (extensions as Partial<AnswerExtensions> | undefined)?.upstream;
  if (bill === undefined) return;
  calls = bill.calls;
  for (const listener of listeners) listener();
}

/** Bill of the last answer. */
export function Bill() {
  const last = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => calls,
  );
  return last === null ? null : <p className="bill">{`${last} upstream ${last === 1 ? 'call' : 'calls'}`}</p>;
}
