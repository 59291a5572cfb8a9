import type { Cell, Table } from './csv.ts';

export interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

/** Words by the column that has to have them. */
export type Filters = Readonly<Record<number, string>>;

/**
 * Rows whose cells fit the filters of their columns: a part of the text, or a number above or below another.
 */
export function filtered(rows: Table['rows'], wanted: Filters): Table['rows'] {
  const tests = Object.entries(wanted).flatMap(([column, text]) => {
    const words = text.trim().toLowerCase();
    return words === '' ? [] : [[Number(column), testOf(words)] as const];
  });
  return tests.length === 0
    ? rows
    : rows.filter((row) => tests.every(([i, isWanted]) => isWanted(row[i] ?? null)));
}

function testOf(words: string): (cell: Cell) => boolean {
  const [, sign, number] = /^([<>]=?)\s*(-?[\d.]+)$/.exec(words.replaceAll(',', '')) ?? [];
  if (sign === undefined)
    return (cell) =>
      String(cell ?? '')
        .toLowerCase()
        .includes(words);
  const bound = Number(number);
  const isAbove = sign.startsWith('>');
  const isSame = sign.endsWith('=');
  return (cell) =>
    typeof cell === 'number' && ((isSame && cell === bound) || (isAbove ? cell > bound : cell < bound));
}

/** Rows in an order; unknown values come last either way. */
export function sorted(rows: Table['rows'], order: Order | null): Table['rows'] {
  if (order === null) return rows;
  const { column, isDescending } = order;
  const collator = new Intl.Collator('en', { numeric: true });
  const compare = (a: Cell, b: Cell) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
  return rows.toSorted((rowA, rowB) => {
    const a = rowA[column] ?? null;
    const b = rowB[column] ?? null;
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return isDescending ? compare(b, a) : compare(a, b);
  });
}
