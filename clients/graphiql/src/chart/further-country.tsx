import { useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { lastExchange } from '../exchange.ts';
import { useStore } from '../store.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { nameOf } from './countries.ts';
import { countryEdit } from './country-edit.ts';
import type { Picture } from './picture.ts';

/** Countries that are offered by a button each, as long as they aren't there: populous ones of all regions. */
const OFFERED = ['ZA', 'EG', 'ET', 'NG', 'KE', 'MA', 'GH', 'TZ', 'SN', 'CD'];
const MAX_OFFERED = 3;

/** Puts a further country into the operation by one click, and runs it: cached figures aren't asked for again. */
export function FurtherCountry({ picture }: { readonly picture: Picture }) {
  const exchange = useStore(lastExchange);
  const isFetching = useGraphiQL((state) => state.isFetching);
  const editAndRun = useEdit();
  const [isLost, setLost] = useState(false);
  if (exchange === null || trustedIdOf(exchange.operation.query) !== null) return null;
  const { query, variables, operationName } = exchange.operation;
  const withFurther = (code: string, text: string, given: string) => {
    const edit = countryEdit(text, given, operationName);
    return edit?.codes == null ? null : edit.with([...edit.codes, code]);
  };
  if (withFurther('', query, JSON.stringify(variables ?? {})) === null) return null;
  const shownCountries = new Set(picture.figures.map(({ country }) => country));
  return (
    <div className="controls further">
      {OFFERED.filter((code) => !shownCountries.has(code))
        .slice(0, MAX_OFFERED)
        .map((code) => (
          <button
            key={code}
            type="button"
            className="member"
            aria-label={`Add ${nameOf(code)}`}
            disabled={isFetching}
            onClick={() => setLost(!editAndRun((text, given) => withFurther(code, text, given)))}
          >
            <span aria-hidden="true">+</span> {nameOf(code)}
          </button>
        ))}
      {isLost && <span role="status">The operation in the editor names no countries any more.</span>}
    </div>
  );
}
