import { useMemo, useState } from 'react';
import { copied } from '../share/clipboard.ts';
import { type Table, tsvOf } from './csv.ts';
import { fullNumber } from './numbers.ts';
import { type Filters, filtered, type Order, sorted } from './rows.ts';
import { writtenTable } from './written-table.ts';

/** Cells and columns that are written out at once; a file has them all. */
const MAX_CELLS = 1500;
const MAX_ROWS = 100;
const MAX_COLUMNS = 40;
/** Columns beyond which a table is wider than a page. */
const MANY_COLUMNS = 10;
/** Characters of a cell, and of one in a row that somebody has opened. */
const MAX_LENGTH = 160;
const MAX_OPENED_LENGTH = 5_000;
/** Characters that a cell has room for in one line. */
const LINE_LENGTH = 40;

type Row = Table['rows'][number];

/**
 * A table whose columns sort its rows, page by page.
 * @param names headings of the columns
 */
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
  const [wanted, setWanted] = useState<Filters>({});
  const [isFiltering, setFiltering] = useState(false);
  const [said, setSaid] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<Row>>(new Set());
  const rows = useMemo(
    () => sorted(filtered(table.rows, isFiltering ? wanted : {}), order),
    [table, wanted, isFiltering, order],
  );
  const { areNumbers, textOf } = useMemo(() => writtenTable(table), [table]);
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
  const toggle = (row: Row) =>
    setOpened(new Set(opened.has(row) ? [...opened].filter((one) => one !== row) : [...opened, row]));
  const copy = async () => {
    const isCopied = await copied(tsvOf({ columns: names, rows }));
    const what = `${fullNumber(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`;
    setSaid(isCopied ? `${what} copied: paste into a spreadsheet` : 'This browser lets nothing be copied.');
  };
  return (
    <>
      <p className="actions">
        <button type="button" aria-pressed={isFiltering} onClick={() => setFiltering(!isFiltering)}>
          Filter
        </button>
        <button type="button" onClick={() => void copy()}>
          Copy table
        </button>
        <span role="status">
          {said !== ''
            ? said
            : rows.length < table.rows.length &&
              `${fullNumber(rows.length)} of ${fullNumber(table.rows.length)} rows`}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard */}
      <section className="table" aria-label={label} tabIndex={0}>
        <table className={columns.length > MANY_COLUMNS ? 'many' : ''}>
          <thead>
            <tr>
              {columns.map((name, i) => (
                <th
                  key={table.columns[i]}
                  scope="col"
                  className={areNumbers[i] ? 'number' : ''}
                  aria-sort={sortOf(order, i)}
                >
                  <button type="button" onClick={() => sortBy(i)}>
                    {name} <span aria-hidden="true">{arrowOf(order, i)}</span>
                  </button>
                </th>
              ))}
            </tr>
            {isFiltering && (
              <tr className="column-filters">
                {columns.map((name, i) => (
                  <td key={table.columns[i]}>
                    <input
                      aria-label={`Filter ${name}`}
                      placeholder={i === 0 ? 'has …, > 5, < 5' : ''}
                      value={wanted[i] ?? ''}
                      onChange={(event) => {
                        setWanted({ ...wanted, [i]: event.target.value });
                        setPage(0);
                        setSaid('');
                      }}
                    />
                  </td>
                ))}
              </tr>
            )}
          </thead>
          <tbody>
            {shown.map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
              <tr key={i} data-opened={opened.has(row) ? '' : undefined}>
                {columns.map((_, column) => (
                  <td
                    key={table.columns[column]}
                    className={typeof row[column] === 'number' ? 'number' : ''}
                    data-name={names[column]}
                  >
                    <CellText
                      text={textOf(row, column)}
                      isOpened={opened.has(row)}
                      toggle={() => toggle(row)}
                    />
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

/** A text of one line; a longer one is a button that opens its row, and closes it again. */
function CellText({
  text,
  isOpened,
  toggle,
}: {
  readonly text: string;
  readonly isOpened: boolean;
  readonly toggle: () => void;
}) {
  if (text.length <= LINE_LENGTH) return text;
  const most = isOpened ? MAX_OPENED_LENGTH : MAX_LENGTH;
  return (
    <button type="button" className="long" aria-expanded={isOpened} onClick={toggle}>
      {text.length > most ? `${text.slice(0, most)}…` : text}
    </button>
  );
}

function sortOf(order: Order | null, column: number): 'ascending' | 'descending' | undefined {
  if (order?.column !== column) return undefined;
  return order.isDescending ? 'descending' : 'ascending';
}

function arrowOf(order: Order | null, column: number): string {
  if (order?.column !== column) return '';
  return order.isDescending ? '▼' : '▲';
}
