import { csvLine } from '../../wings/tables/cells.ts';
import type { Figure } from './figures.ts';

export type Cell = string | number | boolean | null;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** What a table of figures says, column by column. */
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
  ['retrieved', ({ retrievedAt }) => retrievedAt],
];

/** All columns, whether anything is known of them or not: files of several operations fit each other. */
export function tableOf(figures: readonly Figure[]): Table {
  return {
    columns: COLUMNS.map(([name]) => name),
    rows: figures.map((figure) => COLUMNS.map(([, of]) => of(figure))),
  };
}

/** Columns as they are read: what it is and how much, before what tells it exactly. */
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
  'country',
  'indicator',
  'retrieved',
];

/** A table of figures for reading: without columns that say nothing, or the same in all of many rows, or what another says. */
export function readableTableOf(figures: readonly Figure[]): Table {
  const { columns, rows } = tableOf(figures);
  const at = (name: string) => columns.indexOf(name);
  const isSame = (a: number, b: number) => rows.every((row) => String(row[a]) === String(row[b]));
  const periodSaysMore = !isSame(at('period'), at('year')) && rows.every((row) => row[at('period')] !== null);
  const kept = READING_ORDER.map(at).filter((i) => {
    const name = columns[i];
    const isEmpty = rows.every((row) => row[i] === null || row[i] === '');
    const isOne = rows.length > 1 && rows.every((row) => row[i] === rows[0]?.[i]);
    if (isEmpty || (isOne && name !== 'value' && name !== 'year')) return false;
    if (name === 'period') return periodSaysMore;
    return name !== 'year' || !periodSaysMore;
  });
  return {
    columns: kept.map((i) => columns[i] ?? ''),
    rows: rows.map((row) => kept.map((i) => row[i] ?? null)),
  };
}

export function csvOf({ columns, rows }: Table): string {
  return [columns, ...rows].map(csvLine).join('');
}
