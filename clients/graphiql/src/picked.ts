import { shownTab } from './exchange.ts';
import { createStore, useStore } from './store.ts';

/** Countries that are ticked beside the pictures of a tab, and not yet acted on. */
interface Picked {
  readonly tab: string;
  readonly isOpen: boolean;
  readonly codes: readonly string[];
}

const picked = createStore<Picked>({ tab: '', isOpen: false, codes: [] });

export function pickedHere(): Picked {
  const now = picked.get();
  const tab = shownTab.get();
  return now.tab === tab ? now : { tab, isOpen: false, codes: [] };
}

export function pick(change: Partial<Omit<Picked, 'tab'>>): void {
  picked.set({ ...pickedHere(), ...change });
}

export function usePicked(): Picked {
  useStore(picked);
  useStore(shownTab);
  return pickedHere();
}
