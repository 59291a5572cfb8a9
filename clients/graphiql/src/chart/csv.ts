import { BYTE_ORDER_MARK, csvLine, tsvLine } from '../../../../src/shared/cells.ts';
import { sourceNameOf } from '../source-names.ts';
import type { Figure } from './figures.ts';
import { momentOf, seriesOf, timeOf } from './picture.ts';

export type Cell = string | number | boolean | null;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

interface Column {
  /** As `/graphql` names it in CSV, of a list of observations. */
  readonly name: string;
  /** As people read it. */
  readonly head: string;
  readonly of: (figure: Figure) => Cell;
}

/** Columns of a table of figures. */
const COLUMNS: readonly Column[] = [
  { name: 'country.code', head: 'code', of: ({ country }) => country },
  { name: 'country.name', head: 'country', of: ({ countryName }) => countryName },
  { name: 'indicator.key', head: 'key', of: ({ indicator }) => indicator },
  { name: 'indicator.name', head: 'indicator', of: ({ indicatorName }) => indicatorName },
  { name: 'locationName', head: 'place', of: ({ place }) => place },
  { name: 'year', head: 'year', of: ({ year }) => year },
  { name: 'period', head: 'period', of: ({ period }) => period },
  { name: 'value', head: 'value', of: ({ value }) => value },
  { name: 'unit', head: 'unit', of: ({ unit }) => unit },
  { name: 'estimateLow', head: 'low', of: ({ low }) => low },
  { name: 'estimateHigh', head: 'high', of: ({ high }) => high },
  {
    name: 'valueStatus',
    head: 'status',
    of: ({ status, isModelled }) => status ?? (isModelled ? 'modelled' : null),
  },
  { name: 'source.key', head: 'source key', of: ({ source }) => source },
  { name: 'source.name', head: 'source', of: (figure) => sourceNameOf(figure) || null },
  { name: 'datasetVersion', head: 'release', of: ({ release }) => release },
  { name: 'retrievedAt', head: 'retrieved', of: ({ retrievedAt }) => retrievedAt },
];

const PLACES: ReadonlyMap<string, number> = new Map(COLUMNS.map(({ head }, i) => [head, i]));

/** Place of the column of a head. */
const at = (head: string): number => PLACES.get(head) ?? -1;

/** All columns, whether anything is known of them or not: files of several operations fit each other. */
export function tableOf(figures: readonly Figure[]): Table {
  return {
    columns: COLUMNS.map(({ name }) => name),
    rows: figures.map((figure) => COLUMNS.map(({ of }) => of(figure))),
  };
}

/** Heads of columns in the order in which they are read: the thing and its amount, then the exact details. */
const READING_ORDER = [
  'country',
  'indicator',
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
  'code',
  'key',
  'retrieved',
];

/**
 * A table of figures for reading: without columns that say nothing, or the same in all of many rows, or the
 * same as another.
 */
export function readableTableOf(figures: readonly Figure[]): Table {
  const { rows } = tableOf(figures);
  const isSame = (a: number, b: number) => rows.every((row) => String(row[a]) === String(row[b]));
  const differsFromYear = !isSame(at('period'), at('year'));
  const saysYear = figures.every((figure) => figure.period === timeOf(figure));
  const chosenHeads = READING_ORDER.filter((head) => {
    const i = at(head);
    const isEmpty = rows.every((row) => row[i] === null || row[i] === '');
    const isOne = rows.length > 1 && rows.every((row) => row[i] === rows[0]?.[i]);
    if (isEmpty || (isOne && head !== 'value' && head !== 'year')) return false;
    if (head === 'period') return differsFromYear;
    return head !== 'year' || !(differsFromYear && saysYear);
  });
  const chosenColumns = chosenHeads.map(at);
  return {
    columns: chosenHeads,
    rows: rows.map((row) => chosenColumns.map((i) => row[i] ?? null)),
  };
}

/** Heads of columns that say something of a whole series. */
const OF_SERIES = ['country', 'indicator', 'place', 'unit', 'source', 'source key', 'code', 'key'];

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
      const allOf = (of: (figure: Figure) => string | null) =>
        [...new Set(some.flatMap((figure) => of(figure) || []))].sort().join('; ') || null;
      const cells = [
        countryName,
        indicatorName,
        place,
        unit,
        allOf(sourceNameOf),
        allOf(({ source }) => source),
      ];
      return [...cells, country, indicator, ...times.map((time) => values.get(time) ?? null)];
    });
  const names = OF_SERIES.map((head) => COLUMNS[at(head)]?.name ?? head);
  return { columns: [...names, ...times], rows };
}

/**
 * The same for reading: without columns that say nothing, or the same of all series, or the same as another.
 */
export function readableWideTableOf(figures: readonly Figure[]): Table {
  const { columns, rows } = wideTableOf(figures);
  const chosenColumns = columns.flatMap((_, i) => {
    if (i === 0 || i >= OF_SERIES.length) return [i];
    const isOne = rows.every((row) => row[i] === rows[0]?.[i]);
    return isOne || ['source key', 'code', 'key'].includes(OF_SERIES[i] ?? '') ? [] : [i];
  });
  return {
    columns: chosenColumns.map((i) => OF_SERIES[i] ?? columns[i] ?? ''),
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
