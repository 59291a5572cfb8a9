import type { Table } from './csv.ts';
import { fullNumber } from './numbers.ts';

/** A table as people read it. */
export interface WrittenTable {
  /** True for columns that hold nothing but numbers. */
  readonly areNumbers: readonly boolean[];
  textOf(row: Table['rows'][number], column: number): string;
}

/** Decimals that shorter numbers of a column are given zeros for: with more, zeros would be most of what is read. */
const MAX_DECIMALS = 6;

/** Columns that say what the numbers of a row are of: those of one thing have the same decimals. */
const OF_ROW = /(^|\.)(indicator|unit|key|metricKey)(\.|$)/;

/** Writes the numbers of a column with the same decimals, so that their digits stand below each other. */
export function writtenTable({ columns, rows }: Table): WrittenTable {
  const areNumbers = columns.map((_, i) => isOfNumbers(rows, i));
  const areYears = columns.map((name) => /year$/i.test(name));
  const things = columns.flatMap((name, i) => (OF_ROW.test(name) && !areNumbers[i] ? [i] : []));
  const placeOf = (row: Table['rows'][number], column: number) =>
    [column, ...things.map((i) => row[i])].join('\n');
  const decimals = new Map<string, number>();
  for (const row of rows)
    for (const [i, cell] of row.entries())
      if (typeof cell === 'number') {
        const place = placeOf(row, i);
        decimals.set(place, Math.max(decimals.get(place) ?? 0, decimalsOf(cell)));
      }
  return {
    areNumbers,
    textOf(row, column) {
      const cell = row[column] ?? null;
      if (cell === null) return '';
      // A year is no amount.
      if (typeof cell !== 'number' || areYears[column]) return String(cell);
      const most = decimals.get(placeOf(row, column)) ?? 0;
      return fullNumber(cell, most <= MAX_DECIMALS ? most : 0);
    },
  };
}

function isOfNumbers(rows: Table['rows'], column: number): boolean {
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null);
  return cells.length > 0 && cells.every((cell) => typeof cell === 'number');
}

function decimalsOf(value: number): number {
  const text = String(value);
  return text.includes('e') ? 0 : (text.split('.')[1]?.length ?? 0);
}

/** The rows of figures from the highest down, with their ranks: equal values have the same. */
export function ranked({ columns, rows }: Table): Table {
  const column = columns.indexOf('value');
  const amountOf = (row: Table['rows'][number]) => Number(row[column]);
  const order = rows.toSorted((a, b) => amountOf(b) - amountOf(a));
  let rank = 0;
  return {
    columns: ['rank', ...columns],
    rows: order.map((row, i) => {
      const before = order[i - 1];
      if (before === undefined || amountOf(before) !== amountOf(row)) rank = i + 1;
      return [rank, ...row];
    }),
  };
}
