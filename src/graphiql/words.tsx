import { Fragment } from 'react';

/** A text of the schema or of an error, its `code` in backticks as code. */
export function Words({ text }: { readonly text: string }) {
  return text.split('`').map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
    i % 2 === 0 ? <Fragment key={i}>{part}</Fragment> : <code key={i}>{part}</code>,
  );
}
