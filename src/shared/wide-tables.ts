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
  /** Columns whose cells tell rows apart: all but those of single figures. */
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
  const figure = columns[value]?.name.slice(0, -'value'.length) ?? '';
  const others = [...columns].flatMap(({ name }, i) => {
    const [field = ''] = name.startsWith(figure) ? name.slice(figure.length).split('.') : [];
    return turned.includes(i) || OF_ONE_FIGURE.has(field) ? [] : [i];
  });
  return { period, value, others };
}

/** What differs from figure to figure of a series: cells of a wide table have no room for it, and it tells no series apart. */
const OF_ONE_FIGURE: ReadonlySet<string> = new Set([
  'id',
  'asOfPeriod',
  'valueStatus',
  'isModelled',
  'estimateLow',
  'estimateHigh',
  'datasetVersion',
  'retrievedAt',
  'citation',
  'freshness',
  'record',
  'change',
  'growthPercent',
  'per',
  'rank',
]);

/** Makes rows of a table wide; or says why that can't be. */
export function widening(
  columns: readonly TableColumn[],
): string | ((rows: Iterable<readonly unknown[]>) => Steps<WideTable>) {
  const turned = turnedOf(columns);
  return turned === null ? NOT_WIDE : (rows) => widened(columns, turned, rows);
}

interface WideRow {
  readonly cells: readonly unknown[];
  readonly values: Map<string, unknown>;
}

/** Rows with the same other cells. */
interface Alike {
  readonly rows: WideRow[];
  /** How many figures of each period there are: each stands in a row of its own. */
  readonly counts: Map<string, number>;
}

const STEP_ROWS = 64;

/**
 * A row for each combination of all other cells, in the order of their first figures. A second figure of a row and period, such as that of
 * a place whose name isn't selected, has a further row below.
 */
function* widened(
  columns: readonly TableColumn[],
  { period, value, others }: Turned,
  rows: Iterable<readonly unknown[]>,
): Steps<WideTable> {
  const wideRows = new Map<string, Alike>();
  const periods = new Set<string>();
  let count = 0;
  for (const row of rows) {
    const cells = others.map((i) => row[i] ?? null);
    const name = JSON.stringify(cells);
    const alike: Alike = wideRows.get(name) ?? { rows: [], counts: new Map() };
    wideRows.set(name, alike);
    const at = cellText(row[period]);
    const nth = alike.counts.get(at) ?? 0;
    const place = alike.rows[nth] ?? { cells, values: new Map() };
    alike.rows[nth] = place;
    // An outer item without figures has a row of its own.
    if (at !== '') {
      alike.counts.set(at, nth + 1);
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
  wideRows: ReadonlyMap<string, Alike>,
  periods: readonly string[],
): Generator<readonly unknown[]> {
  for (const alike of wideRows.values())
    for (const { cells, values } of alike.rows)
      yield [...cells, ...periods.map((period) => values.get(period) ?? null)];
}
