import { BYTE_ORDER_MARK, csvLine, tsvLine } from '../../shared/cells.ts';
import type { Figure } from './figures.ts';
import { momentOf, seriesOf, timeOf } from './picture.ts';

export type Cell = string | number | boolean | null;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Columns of a table of figures, each with its cell. */
const COLUMNS: readonly (readonly [name: string, of: (figure: Figure) => Cell])[] = [
  ['country', ({ country }) => country],
  ['name', ({ countryName }) => countryName],
  ['indicator', ({ indicator }) => indicator],
  ['indicator name', ({ indicatorName }) => indicatorName],
  ['place', ({ place }) => place],
  ['year', ({ year }) => year],
  ['period', ({ period }) => period],
  ['value', ({ value }) => value],
  ['unit', ({ unit }) => unit],
  ['low', ({ low }) => low],
  ['high', ({ high }) => high],
  ['status', ({ status, isModelled }) => status ?? (isModelled ? 'modelled' : null)],
  ['source', ({ source }) => source],
  ['release', ({ release }) => release],
  ['retrieved', ({ retrievedAt }) => retrievedAt],
];

/** All columns, whether anything is known of them or not: files of several operations fit each other. */
export function tableOf(figures: readonly Figure[]): Table {
  return {
    columns: COLUMNS.map(([name]) => name),
    rows: figures.map((figure) => COLUMNS.map(([, of]) => of(figure))),
  };
}

/** Columns in the order in which they are read: the thing and its amount, then the exact details. */
const READING_ORDER = [
  'name',
  'indicator name',
  'place',
  'value',
  'unit',
  'year',
  'period',
  'low',
  'high',
  'status',
  'source',
  'release',
  'country',
  'indicator',
  'retrieved',
];

/**
 * A table of figures for reading: without columns that say nothing, or the same in all of many rows, or the
 * same as another.
 */
export function readableTableOf(figures: readonly Figure[]): Table {
  const { columns, rows } = tableOf(figures);
  const at = (name: string) => columns.indexOf(name);
  const isSame = (a: number, b: number) => rows.every((row) => String(row[a]) === String(row[b]));
  const differsFromYear = !isSame(at('period'), at('year'));
  const saysYear = figures.every((figure) => figure.period === timeOf(figure));
  const chosenColumns = READING_ORDER.map(at).filter((i) => {
    const name = columns[i];
    const isEmpty = rows.every((row) => row[i] === null || row[i] === '');
    const isOne = rows.length > 1 && rows.every((row) => row[i] === rows[0]?.[i]);
    if (isEmpty || (isOne && name !== 'value' && name !== 'year')) return false;
    if (name === 'period') return differsFromYear;
    return name !== 'year' || !(differsFromYear && saysYear);
  });
  return {
    columns: chosenColumns.map((i) => columns[i] ?? ''),
    rows: rows.map((row) => chosenColumns.map((i) => row[i] ?? null)),
  };
}

/** Columns that say something of a whole series. */
const OF_SERIES = ['name', 'indicator name', 'place', 'unit', 'source', 'country', 'indicator'];

/**
 * A table of figures with a row for each series, and a column for each year or period. A row of several sources names
 * them all.
 */
export function wideTableOf(figures: readonly Figure[]): Table {
  const columnOf = (figure: Figure) => timeOf(figure) || 'value';
  const moments = new Map(figures.map((figure) => [columnOf(figure), momentOf(figure)]));
  const times = [...moments].sort(([, a], [, b]) => a - b).map(([time]) => time);
  const rows = seriesOf(figures)
    .flat()
    .map((some) => {
      const [first] = some;
      const { country, countryName, indicator, indicatorName, place, unit } = first as Figure;
      const values = new Map(some.map((figure) => [columnOf(figure), figure.value]));
      const sources = new Set(some.flatMap(({ source }) => source ?? []));
      const cells = [countryName, indicatorName, place, unit, [...sources].sort().join('; ') || null];
      return [...cells, country, indicator, ...times.map((time) => values.get(time) ?? null)];
    });
  return { columns: [...OF_SERIES, ...times], rows };
}

/**
 * The same for reading: without columns that say nothing, or the same of all series, or the same as another.
 */
export function readableWideTableOf(figures: readonly Figure[]): Table {
  const { columns, rows } = wideTableOf(figures);
  const isCode = (name: string | undefined) => name === 'country' || name === 'indicator';
  const chosenColumns = columns.flatMap((name, i) => {
    if (i === 0 || i >= OF_SERIES.length) return [i];
    const isOne = rows.every((row) => row[i] === rows[0]?.[i]);
    return isCode(name) || isOne ? [] : [i];
  });
  return {
    columns: chosenColumns.map((i) => columns[i] ?? ''),
    rows: rows.map((row) => chosenColumns.map((i) => row[i] ?? null)),
  };
}

/** A file that Excel reads as UTF-8, and takes for no formulas. */
export function csvOf({ columns, rows }: Table): string {
  return BYTE_ORDER_MARK + [columns, ...rows].map(csvLine).join('');
}

/** A table as it is pasted into a spreadsheet. */
export function tsvOf({ columns, rows }: Table): string {
  return [columns, ...rows].map(tsvLine).join('');
}
