import { useState } from 'react';
import { lastExchange, shownTab } from '../exchange.ts';
import { copied } from '../share/clipboard.ts';
import { linkTo } from '../share/link.ts';
import { seenIn } from '../share/seen.ts';
import { seenAsText } from '../share/seen-text.ts';
import { citationsOf } from './citation.ts';
import type { Figure } from './figures.ts';

/** Characters of a link that a reference to a source has room for. */
const MAX_CITED_LINK = 1_000;

/** Copies what a picture tells, and references to its figures. */
export function Cite({ figures, story }: { readonly figures: readonly Figure[]; readonly story: string }) {
  const [said, setSaid] = useState('');
  const copyText = async (text: string) => {
    const isCopied = await copied(text);
    setSaid(isCopied ? 'Copied' : 'This browser lets nothing be copied from this page.');
  };
  const copy = (style: 'TEXT' | 'BIBTEX') => copyText(citationsOf(figures, style, linkToPicture()));
  return (
    <>
      {story !== '' && (
        <button type="button" onClick={() => void copyText(story)}>
          Copy in words
        </button>
      )}
      {figures.some(({ source }) => source !== null) && (
        <>
          <button type="button" onClick={() => void copy('TEXT')}>
            Copy citation
          </button>
          <button type="button" onClick={() => void copy('BIBTEX')}>
            Copy BibTeX
          </button>
        </>
      )}
      <span role="status">{said}</span>
    </>
  );
}

/** The address of this page as it is seen, if it is short enough to be read. */
export function linkToPicture(): string | null {
  const operation = lastExchange.get()?.operation;
  if (operation === undefined) return null;
  const link = linkTo(`${location.origin}${location.pathname}`, {
    query: operation.query,
    variables: operation.variables === undefined ? '' : JSON.stringify(operation.variables),
    seen: seenAsText(seenIn(shownTab.get())),
  });
  return link !== null && link.length <= MAX_CITED_LINK ? link : null;
}
