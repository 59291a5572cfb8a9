import { type Look, PLAIN, type TabLook } from './chart/plain-look.ts';
import { shownTab } from './exchange.ts';
import { createStore, useStore } from './store.ts';
import { tabStorage } from './tab-storage.ts';

export type { Look };

const UNTOUCHED: TabLook = { isTable: false, pictures: {} };

export const looks = createStore<Readonly<Record<string, TabLook>>>(tabStorage.read('looks') ?? {});

looks.subscribe(() => tabStorage.write('looks', looks.get()));

export function setTabLook(tab: string, look: TabLook): void {
  looks.set({ ...looks.get(), [tab]: look });
}

/** Returns the choices for the tab that is shown, and a way to change them. */
export function useTabLook(): readonly [TabLook, (change: Partial<TabLook>) => void] {
  const tab = useStore(shownTab);
  const look = useStore(looks)[tab] ?? UNTOUCHED;
  return [look, (change) => setTabLook(tab, { ...look, ...change })];
}

export function useLook(key: string): readonly [Look, (change: Partial<Look>) => void] {
  const [tabLook, changeTab] = useTabLook();
  const look = { ...PLAIN, ...tabLook.pictures[key] };
  return [
    look,
    (change) =>
      changeTab({ pictures: { ...tabLook.pictures, [key]: { ...tabLook.pictures[key], ...change } } }),
  ];
}
