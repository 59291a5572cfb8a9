import { Fragment } from 'react';
import { timeIn } from '../../../src/shared/periods.ts';

/** A text of the schema or of an error, its `code` in backticks as code. */
export function Words({ text }: { readonly text: string }) {
  return text.split('`').map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
    i % 2 === 0 ? <Fragment key={i}>{part}</Fragment> : <code key={i}>{part}</code>,
  );
}

/** A time of the gateway as clocks show it in the reader's zone, as far as the styles have of it. */
export function localTime(time: string, styles?: Intl.DateTimeFormatOptions): string {
  const read = timeIn(time);
  return read === null ? time : new Date(read.firstMs).toLocaleString(undefined, styles);
}
