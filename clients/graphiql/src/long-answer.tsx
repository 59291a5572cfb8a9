import { useState } from 'react';
import { type Answer, isLong } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { saveFile } from './save-file.ts';
import { copied } from './share/clipboard.ts';

/** Values of a long answer that are shown. */
const MAX_VALUES = 1_500;

/** An answer as the editor shows it: of a long one, the beginning of its lists. */
export function shownOf(answer: Answer, length: number | null): Answer {
  return isLong(length) ? (cut(answer, { left: MAX_VALUES }) as Answer) : answer;
}

function cut(value: unknown, room: { left: number }): unknown {
  if (typeof value !== 'object' || value === null) {
    room.left -= 1;
    return value;
  }
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, room)]));
  const shown: unknown[] = [];
  for (const item of value) {
    if (room.left <= 0) break;
    shown.push(cut(item, room));
  }
  const more = value.length - shown.length;
  return more === 0 ? shown : [...shown, `… ${more.toLocaleString('en')} more, not shown here`];
}

/** Says that the editor shows the beginning of an answer, and hands out the whole. */
export function LongAnswer({ exchange }: { readonly exchange: Exchange }) {
  const [said, setSaid] = useState('');
  const { answer, length } = exchange;
  if (length === null || !isLong(length)) return null;
  const text = () => JSON.stringify(answer, null, 2);
  const copy = async () =>
    setSaid((await copied(text())) ? 'Copied.' : 'This browser lets nothing be copied from this page.');
  const save = () => saveFile('answer.json', new Blob([text()], { type: 'application/json' }));
  return (
    <div className="live long">
      <p className="words" role="status">
        The answer has {(length / 1e6).toFixed(1)} MB: you see its beginning. {said}
      </p>
      <button type="button" className="stop" onClick={() => void copy()}>
        Copy all
      </button>
      <button type="button" className="stop" onClick={save}>
        Save as JSON
      </button>
    </div>
  );
}
