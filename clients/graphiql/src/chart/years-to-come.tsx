import { useState } from 'react';
import { lastExchange, shownTab } from '../exchange.ts';
import { looks, setTabLook } from '../looks.ts';
import { useStore } from '../store.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { FIRST_YEAR, withYears } from './operation-edit.ts';
import type { BarsPicture } from './picture.ts';
import { usePrice } from './use-price.ts';

/** Asks for the years of a map that has the latest figures alone, and tells the cost of that. */
export function YearsToCome({ picture }: { readonly picture: BarsPicture }) {
  const exchange = useStore(lastExchange);
  const editAndRun = useEdit();
  const [isLost, setLost] = useState(false);
  const [first] = picture.figures;
  const indicator = first?.indicator ?? '';
  const { query, variables, operationName } = exchange?.operation ?? { query: '' };
  const given = variables === undefined ? '' : JSON.stringify(variables);
  const isTrusted = trustedIdOf(query) !== null;
  const written = isTrusted ? null : withYears(query, given, indicator);
  const price = usePrice(written, operationName);
  if (written === null) return null;
  const ask = () => {
    const tab = shownTab.get();
    const isChanged = editAndRun((current, variablesText) => withYears(current, variablesText, indicator));
    setLost(!isChanged);
    if (!isChanged) return;
    // The series have a picture of their own, which begins as the map that is there.
    const look = looks.get()[tab] ?? { isTable: false, pictures: {} };
    const key = `lines ${picture.unit} ${indicator}`;
    const kind = look.pictures[picture.key]?.kind ?? 'map';
    setTabLook(tab, { ...look, pictures: { ...look.pictures, [key]: { ...look.pictures[key], kind } } });
  };
  return (
    <>
      <button type="button" onClick={ask}>
        Years since {FIRST_YEAR} {price !== '' && <span className="cost">({price})</span>}
      </button>
      {isLost && <span role="status">The operation in the editor is another by now.</span>}
    </>
  );
}
