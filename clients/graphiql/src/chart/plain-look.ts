import type { Scope } from './operation-edit.ts';

/** Choices of somebody for one picture. */
export interface Look {
  /** Names of lines that have a colour before all others, the last one chosen first. */
  readonly highlight: readonly string[];
  /** Name of the line that stands out; null for none. */
  readonly focus: string | null;
  /** Codes of countries, or keys of indicators, that are taken out. */
  readonly removed: readonly string[];
  /** The form that it is drawn in; null for the one that it has by itself. */
  readonly kind: string | null;
  readonly isLog: boolean;
  /** True if small pictures have one scale for all. */
  readonly isShared: boolean;
  /** Where the axis of lines begins: at zero, or below their least value; null to let the values decide. */
  readonly axis: 'zero' | 'data' | null;
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
  focus: null,
  removed: [],
  kind: null,
  isLog: false,
  isShared: false,
  axis: null,
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
