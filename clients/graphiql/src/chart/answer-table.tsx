import { useMemo, useState } from 'react';
import { pagesOf } from '../source-names.ts';
import type { AnswerList } from './answer-lists.ts';
import { codeOf, nameOf } from './countries.ts';
import type { Cell, Table } from './csv.ts';
import { saveCsv } from './files.ts';
import { serviceNote, syntheticNote } from './notes.ts';
import { fullNumber } from './numbers.ts';
import { WithLinks } from './picture-view.tsx';
import { SortableTable } from './sortable-table.tsx';

/** Any list of an answer as a table that can be sorted, and as a file. */
export function AnswerTable({
  lists,
  removed,
  isSynthetic,
}: {
  readonly lists: readonly AnswerList[];
  /** Codes of countries whose rows are left out. */
  readonly removed: readonly string[];
  readonly isSynthetic: boolean;
}) {
  const [wanted, setWanted] = useState('');
  const list = lists.find(({ path }) => path === wanted) ?? lists[0];
  const whole = useMemo(() => list?.table() ?? { columns: [], rows: [] }, [list]);
  const table = useMemo(() => withoutCountries(whole, removed), [whole, removed]);
  if (list === undefined) return <p>The last response holds no list.</p>;
  return (
    <>
      <div className="actions">
        {lists.length > 1 && (
          <label>
            List{' '}
            <select value={list.path} onChange={(event) => setWanted(event.target.value)}>
              {lists.map(({ path, length }) => (
                <option key={path} value={path}>
                  {path} ({fullNumber(length)})
                </option>
              ))}
            </select>
          </label>
        )}
        <button
          type="button"
          onClick={() => saveCsv((list.path || 'answer').replace(/[^\w-]+/g, '_'), table)}
        >
          CSV
        </button>
        <span>
          {fullNumber(table.rows.length)} {table.rows.length === 1 ? 'row' : 'rows'}
          {table !== whole && `: ${fullNumber(whole.rows.length - table.rows.length)} are taken out`}
        </span>
      </div>
      {/* Above the table, whose end may be thousands of rows away. */}
      <div className="under">
        {[...syntheticNote(isSynthetic), serviceNote()].map((note) => (
          <p key={note}>
            <WithLinks text={note} pages={[...pagesOf([])]} />
          </p>
        ))}
      </div>
      <SortableTable key={list.path} table={table} label={list.path || 'Answer'} />
    </>
  );
}

function countryOf(cell: Cell): string | undefined {
  if (typeof cell !== 'string') return undefined;
  const code = cell.toUpperCase();
  return nameOf(code) === undefined ? codeOf(cell) : code;
}

/** A table without the rows of some countries, if one of its columns names a country in each row. */
function withoutCountries(table: Table, removed: readonly string[]): Table {
  const { columns, rows } = table;
  if (removed.length === 0) return table;
  const column = columns.findIndex((_, i) => rows.every((row) => countryOf(row[i] ?? null) !== undefined));
  if (column < 0) return table;
  const left = rows.filter((row) => !removed.includes(countryOf(row[column] ?? null) ?? ''));
  return left.length === rows.length ? table : { columns, rows: left };
}
