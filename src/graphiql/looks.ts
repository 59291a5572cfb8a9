import { shownTab } from './exchange.ts';
import { kept } from './kept.ts';
import { createStore, useStore } from './store.ts';

/** How somebody has a picture drawn. */
export interface Look {
  /** Names of lines that have a colour before all others, the last one chosen first. */
  readonly highlight: readonly string[];
  /** Codes of countries, or keys of indicators, that are taken out. */
  readonly removed: readonly string[];
  /** As what it is drawn; null as what it is by itself. */
  readonly kind: string | null;
  readonly isLog: boolean;
  /** What the values are set against: nothing, or the value of `base`. */
  readonly measure: 'value' | 'index' | 'difference' | 'percent';
  /** The year of reference; null for the first that there is. */
  readonly base: number | null;
  /** The year of a ranking or a map; null for the latest figures. */
  readonly year: number | null;
}

export const PLAIN: Look = {
  highlight: [],
  removed: [],
  kind: null,
  isLog: false,
  measure: 'value',
  base: null,
  year: null,
};

/** How the answer of a tab is shown: its pictures by their keys. */
export interface TabLook {
  readonly isTable: boolean;
  readonly pictures: Readonly<Record<string, Partial<Look>>>;
}

const UNTOUCHED: TabLook = { isTable: false, pictures: {} };

export const looks = createStore<Readonly<Record<string, TabLook>>>(kept.read('looks') ?? {});

looks.subscribe(() => kept.write('looks', looks.get()));

export function setTabLook(tab: string, look: TabLook): void {
  looks.set({ ...looks.get(), [tab]: look });
}

/** How the tab that is shown has its answer drawn, and a way to change that. */
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
