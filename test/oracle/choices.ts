import type { Habits } from './habits.ts';
import { isLonger, lastDayOf, nameOf, shifted } from './periods.ts';
import type { RowFact } from './world.ts';

/*
 * The choice among several figures: as the schema documents it, and as a service happens to choose its latest
 * ones. No rule knows the order of rows.
 */

/** The written order: the newest first. */
export function newerFirst(a: RowFact, b: RowFact): number {
  return (
    b.year - a.year ||
    compare(lastDayOf(b.slot), lastDayOf(a.slot)) ||
    -isLonger(a.slot, b.slot) ||
    compare(b.asOfPeriod ?? '', a.asOfPeriod ?? '') ||
    compare(a.place ?? '', b.place ?? '') ||
    compare(b.retrievedAt, a.retrievedAt) ||
    compare(b.release ?? '', a.release ?? '') ||
    compare(a.source, b.source)
  );
}

/** The written order of a series: the oldest first, and of rows of one time the one that would be the latest. */
export function inSeries(a: RowFact, b: RowFact): number {
  return (
    a.year - b.year ||
    compare(lastDayOf(a.slot), lastDayOf(b.slot)) ||
    isLonger(a.slot, b.slot) ||
    compare(a.asOfPeriod ?? '', b.asOfPeriod ?? '') ||
    newerFirst(a, b)
  );
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows of one country and metric that its service takes for the latest: mostly one. */
export function latestRows(rows: readonly RowFact[], habits: Habits): RowFact[] {
  const eligible = rows.filter(({ value }) => value !== null || habits.latestCountsNulls);
  const inOrder = eligible.sort((a, b) => compareLatest(a, b, habits));
  const [first] = inOrder;
  if (first === undefined || habits.latestTie !== 'all') return inOrder.slice(0, 1);
  return inOrder.filter((row) => standsWith(row, first) && nameOf(row.slot) === nameOf(first.slot));
}

function compareLatest(a: RowFact, b: RowFact, { latestTie, latestIsShort }: Habits): number {
  const byTime =
    b.year - a.year ||
    compare(lastDayOf(b.slot), lastDayOf(a.slot)) ||
    isLonger(a.slot, b.slot) * (latestIsShort ? 1 : -1) ||
    Number(a.place !== null) - Number(b.place !== null);
  if (byTime !== 0 || latestTie === 'all') return byTime;
  const bySource = compare(a.source, b.source) * (latestTie === 'last source' ? -1 : 1);
  return (latestTie === 'retrieved' ? 0 : bySource) || newerFirst(a, b);
}

/** True if two rows claim to be of the same time, and both of the whole country or both of places. */
function standsWith(a: RowFact, b: RowFact): boolean {
  const isSameDay = a.year === b.year && lastDayOf(a.slot) === lastDayOf(b.slot);
  return isSameDay && (a.place === null) === (b.place === null);
}

/** One figure, and the others that may have been meant. */
export interface Choice {
  readonly row: RowFact;
  /** All that there are for its place and period, itself among them. */
  readonly among: readonly RowFact[];
  /** True if the written rule chose, since the service's own choice isn't known or is none. */
  readonly byRule: boolean;
}

export interface Chosen {
  readonly habits: Habits;
  /** All rows of one country and metric, those without a value too. */
  readonly rows: readonly RowFact[];
  /** Filter of the wanted ones. */
  readonly isWanted?: (row: RowFact) => boolean;
}

/** The latest figure: that of the service, if it has chosen just one such; else that of the written rule. */
export function latestOf({ habits, rows, isWanted = () => true }: Chosen): Choice | null {
  const isFigure = (row: RowFact) => row.value !== null && isWanted(row);
  const figures = rows.filter(isFigure);
  const latest = latestRows([...rows], habits).filter(isFigure);
  const [only] = latest;
  if (only === undefined) return newestOf(figures);
  if (latest.length === 1) return { row: only, among: withOf(only, figures), byRule: false };
  const newest = newestOf(latest);
  return newest === null ? null : { ...newest, among: withOf(newest.row, figures) };
}

/** The newest of some figures by the written rule. */
export function newestOf(figures: readonly RowFact[]): Choice | null {
  const [row] = [...figures].sort(newerFirst);
  return row === undefined ? null : { row, among: withOf(row, figures), byRule: true };
}

function withOf(row: RowFact, figures: readonly RowFact[]): readonly RowFact[] {
  return figures.filter((one) => one.place === row.place && nameOf(one.slot) === nameOf(row.slot));
}

/** Counterpart to compare a figure with: one figure, none, or none that goes with it. */
export type Counterpart = RowFact | 'none' | 'other years' | 'misfit';

export interface Operand {
  readonly habits: Habits;
  /** All rows of the operand's country and metric. */
  readonly rows: readonly RowFact[];
  readonly own: RowFact;
  readonly year: number;
}

/** The figure of a year that a figure is compared with: of the same place, and for the same period. */
export function counterpartOf({ habits, rows, own, year }: Operand): Counterpart {
  const ofPlace = rows.filter(({ value, place }) => value !== null && place === own.place);
  const there = ofPlace.filter((row) => row.year === year);
  if (there.length === 0) return ofPlace.length === 0 ? 'none' : 'other years';
  // Words that no rule reads go with the same words alone.
  const wanted = shifted(own.slot, year - own.year);
  let same = there.filter(({ slot }) => nameOf(slot) === nameOf(wanted));
  if (same.length === 0 && isYearAndDay(own, there)) same = there;
  const latest =
    own.place === null ? latestOf({ habits, rows, isWanted: (row) => row.place === null }) : null;
  if (latest !== null && same.includes(latest.row)) return latest.row;
  if (same.length > 1) same = same.filter(({ source }) => source === own.source);
  if (same.length > 1) same = same.filter(({ release }) => release === own.release);
  const [match, ...others] = same;
  return match === undefined || others.length > 0 ? 'misfit' : match;
}

/**
 * True if there is one period of a year, and it goes with another for the other being the day that stands for
 * a year.
 */
function isYearAndDay(own: RowFact, there: readonly RowFact[]): boolean {
  const [first] = there as [RowFact];
  const both = [own.slot.frequency, first.slot.frequency].sort().join(' ');
  return both === 'day year' && there.every(({ slot }) => nameOf(slot) === nameOf(first.slot));
}
