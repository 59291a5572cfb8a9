import { useState } from 'react';
import { useOpen } from './tools.ts';
import { type TrustedDocument, trustedNameOf, variablesFor } from './trusted.ts';

/** Names that are written out; the search finds the rest. */
const MAX_SHOWN = 200;

/** The only operations that may run, by name. */
export function DocumentsPane({ documents }: { readonly documents: readonly TrustedDocument[] }) {
  const open = useOpen();
  const [search, setSearch] = useState('');
  const matches = documents.filter((document) =>
    `${trustedNameOf(document)} ${document.id}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <>
      <p>
        This gateway runs trusted documents alone:{' '}
        {documents.length === 1 ? 'the one operation' : `the ${documents.length} operations`} here, and no
        others. Choose one; what it asks for can&apos;t be changed, but its variables can.
      </p>
      <input
        type="search"
        aria-label="Search documents"
        placeholder="Name"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul className="choices">
        {matches.slice(0, MAX_SHOWN).map((document) => (
          <li key={document.id}>
            <button
              type="button"
              onClick={() => open({ query: document.text, variables: variablesFor(document) })}
            >
              {trustedNameOf(document)}
            </button>
          </li>
        ))}
      </ul>
      {matches.length === 0 && <p>No document has such a name.</p>}
      {matches.length > MAX_SHOWN && (
        <p>
          The first {MAX_SHOWN} of {matches.length}: search for the others.
        </p>
      )}
    </>
  );
}
