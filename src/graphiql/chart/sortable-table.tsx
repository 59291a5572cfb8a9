import { useMemo, useState } from 'react';
import type { Cell, Table } from './csv.ts';
import { fullNumber } from './numbers.ts';

/** Cells and columns that are written out at once; a file has them all. */
const MAX_CELLS = 1500;
const MAX_ROWS = 100;
const MAX_COLUMNS = 40;
/** Characters of a cell. */
const MAX_TEXT = 160;

interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

/** A table whose columns sort its rows, page by page. @param names what stands above the columns */
export function SortableTable({
  table,
  names = table.columns,
  label,
}: {
  readonly table: Table;
  readonly names?: readonly string[];
  readonly label: string;
}) {
  const [order, setOrder] = useState<Order | null>(null);
  const [page, setPage] = useState(0);
  const rows = useMemo(() => sorted(table.rows, order), [table, order]);
  const columns = names.slice(0, MAX_COLUMNS);
  const perPage = Math.max(5, Math.min(MAX_ROWS, Math.floor(MAX_CELLS / Math.max(1, columns.length))));
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const current = Math.min(page, pages - 1);
  const shown = rows.slice(current * perPage, (current + 1) * perPage);
  const sortBy = (column: number) => {
    const isAgain = order?.column === column;
    setOrder(isAgain && order.isDescending ? null : { column, isDescending: isAgain });
    setPage(0);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard */}
      <section className="table" aria-label={label} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((name, i) => (
                <th key={table.columns[i]} scope="col" aria-sort={sortOf(order, i)}>
                  <button type="button" onClick={() => sortBy(i)}>
                    {name} <span aria-hidden="true">{arrowOf(order, i)}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
              <tr key={i}>
                {columns.map((_, column) => (
                  <td key={table.columns[column]} className={typeof row[column] === 'number' ? 'number' : ''}>
                    {textOf(row[column] ?? null, names[column] ?? '')}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {(pages > 1 || names.length > MAX_COLUMNS) && (
        <p className="pages">
          {pages > 1 && (
            <>
              <button type="button" disabled={current === 0} onClick={() => setPage(current - 1)}>
                Previous
              </button>
              <button type="button" disabled={current === pages - 1} onClick={() => setPage(current + 1)}>
                Next
              </button>
              <span role="status">
                Rows {fullNumber(current * perPage + 1)} to {fullNumber(current * perPage + shown.length)} of{' '}
                {fullNumber(rows.length)}.
              </span>
            </>
          )}
          {names.length > MAX_COLUMNS && (
            <span>
              {MAX_COLUMNS} of {names.length} columns; the CSV has them all.
            </span>
          )}
        </p>
      )}
    </>
  );
}

/** Rows in an order; what is not known comes last either way. */
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

function sortOf(order: Order | null, column: number): 'ascending' | 'descending' | undefined {
  if (order?.column !== column) return undefined;
  return order.isDescending ? 'descending' : 'ascending';
}

function arrowOf(order: Order | null, column: number): string {
  if (order?.column !== column) return '';
  return order.isDescending ? '▼' : '▲';
}

function textOf(cell: Cell, column: string): string {
  if (cell === null) return '';
  // A year is no amount.
  if (typeof cell === 'number') return /year$/i.test(column) ? String(cell) : fullNumber(cell);
  const text = String(cell);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
