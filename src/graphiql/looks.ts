import type { Scope } from './chart/operation-edit.ts';
import { shownTab } from './exchange.ts';
import { kept } from './kept.ts';
import { createStore, useStore } from './store.ts';

/** Choices of somebody for one picture. */
export interface Look {
  /** Names of lines that have a colour before all others, the last one chosen first. */
  readonly highlight: readonly string[];
  /** Codes of countries, or keys of indicators, that are taken out. */
  readonly removed: readonly string[];
  /** The form that it is drawn in; null for the one that it has by itself. */
  readonly kind: string | null;
  readonly isLog: boolean;
  /** The way that values are set against that of `base`; `value` for none. */
  readonly measure: 'value' | 'index' | 'difference' | 'percent';
  /** The year of reference; null for the first that there is. */
  readonly base: number | null;
  /** The year of a ranking or a map; null for the latest figures. */
  readonly year: number | null;
  /** The figures of whole countries, of places within them, or both. */
  readonly scope: Scope;
}

export const PLAIN: Look = {
  highlight: [],
  removed: [],
  kind: null,
  isLog: false,
  measure: 'value',
  base: null,
  year: null,
  scope: 'ALL',
};

/** Choices for the answer of a tab: its pictures by their keys. */
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
