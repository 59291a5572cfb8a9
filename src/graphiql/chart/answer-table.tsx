import { useMemo, useState } from 'react';
import { pagesOf } from '../source-names.ts';
import type { AnswerList } from './answer-lists.ts';
import { saveCsv } from './files.ts';
import { serviceNote, syntheticNote } from './notes.ts';
import { fullNumber } from './numbers.ts';
import { WithLinks } from './picture-view.tsx';
import { SortableTable } from './sortable-table.tsx';

/** Any list of an answer as a table that can be sorted, and as a file. */
export function AnswerTable({
  lists,
  isSynthetic,
}: {
  readonly lists: readonly AnswerList[];
  readonly isSynthetic: boolean;
}) {
  const [wanted, setWanted] = useState('');
  const list = lists.find(({ path }) => path === wanted) ?? lists[0];
  const table = useMemo(() => list?.table() ?? { columns: [], rows: [] }, [list]);
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
          {fullNumber(list.length)} {list.length === 1 ? 'row' : 'rows'}
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
