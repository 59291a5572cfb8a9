/** Tables with a column for each year, or other period, in place of a row. */
import type { TableColumn } from './arrow.ts';
import type { Steps } from './async/turns.ts';
import { cellText } from './cells.ts';

export interface WideTable {
  readonly columns: readonly TableColumn[];
  readonly rows: Iterable<readonly unknown[]>;
}

/** Indexes of columns. */
interface Turned {
  readonly period: number;
  readonly value: number;
  /** Columns whose cells tell rows apart. */
  readonly others: readonly number[];
}

const NOT_WIDE =
  'A wide table has a column for each year: select one `year` or `period`, and one `value`, in one list.';

/** Null unless a table has one column of values, and one of their years or periods. */
function turnedOf(columns: readonly TableColumn[]): Turned | null {
  const placesOf = (name: string) =>
    columns.flatMap((column, i) => (column.name.split('.').at(-1) === name ? [i] : []));
  const [values, years, periods] = [placesOf('value'), placesOf('year'), placesOf('period')];
  const [value] = values;
  // The period of a figure says its year.
  const [period] = periods.length > 0 ? periods : years;
  if (value === undefined || period === undefined) return null;
  if (values.length > 1 || years.length > 1 || periods.length > 1) return null;
  const turned = [value, ...years, ...periods];
  return { period, value, others: [...columns.keys()].filter((i) => !turned.includes(i)) };
}

/** Returns why a table of these columns can't be made wide; null if it can. */
export function whyNotWide(columns: readonly TableColumn[]): string | null {
  return turnedOf(columns) === null ? NOT_WIDE : null;
}

interface WideRow {
  readonly cells: readonly unknown[];
  readonly values: Map<string, unknown>;
}

const STEP_ROWS = 64;

/**
 * A row for each combination of all other cells, in the order of their first figures. A second figure of a row and period, such as that of
 * a place whose name isn't selected, has a further row below.
 */
export function* widened(
  columns: readonly TableColumn[],
  rows: Iterable<readonly unknown[]>,
): Steps<WideTable> {
  const turned = turnedOf(columns);
  if (turned === null) throw new Error(NOT_WIDE);
  const { period, value, others } = turned;
  const wideRows = new Map<string, WideRow[]>();
  const periods = new Set<string>();
  let count = 0;
  for (const row of rows) {
    const cells = others.map((i) => row[i] ?? null);
    const name = JSON.stringify(cells);
    const alike = wideRows.get(name) ?? [];
    wideRows.set(name, alike);
    const at = cellText(row[period]);
    let place = alike.find(({ values }) => at === '' || !values.has(at));
    if (place === undefined) {
      place = { cells, values: new Map() };
      alike.push(place);
    }
    // An outer item without figures has a row of its own.
    if (at !== '') {
      periods.add(at);
      place.values.set(at, row[value] ?? null);
    }
    count += 1;
    if (count % STEP_ROWS === 0) yield;
  }
  // Years have four digits, and what is a part of one begins with it.
  const names = [...periods].sort();
  const kind = columns[value]?.kind ?? 'number';
  return {
    columns: [
      ...others.map((i) => columns[i] as TableColumn),
      ...names.map((name): TableColumn => ({ name, kind })),
    ],
    rows: filledRows(wideRows, names),
  };
}

function* filledRows(
  wideRows: ReadonlyMap<string, readonly WideRow[]>,
  periods: readonly string[],
): Generator<readonly unknown[]> {
  for (const alike of wideRows.values())
    for (const { cells, values } of alike)
      yield [...cells, ...periods.map((period) => values.get(period) ?? null)];
}
