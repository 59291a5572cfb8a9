import { useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { lastExchange } from '../exchange.ts';
import { useStore } from '../store.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { COUNTRY_NUMBERS, nameOf } from './countries.ts';
import { countryEdit } from './country-edit.ts';
import { Search } from './members.tsx';
import type { Picture } from './picture.ts';

/** Countries that are offered by a button each, as long as they aren't there: populous ones of all regions. */
const OFFERED = ['ZA', 'EG', 'ET', 'NG', 'KE', 'MA', 'GH', 'TZ', 'SN', 'CD'];
const MAX_OFFERED = 3;

const ALL = Object.keys(COUNTRY_NUMBERS)
  .map((code) => ({ key: code, name: nameOf(code) ?? code }))
  .sort((a, b) => a.name.localeCompare(b.name));

/**
 * Puts a further country into the operation, or in place of its only one, and runs it: cached figures aren't
 * asked for again.
 */
export function FurtherCountry({ picture }: { readonly picture: Picture }) {
  const exchange = useStore(lastExchange);
  const isFetching = useGraphiQL((state) => state.isFetching);
  const editAndRun = useEdit();
  const [isLost, setLost] = useState(false);
  if (exchange === null || trustedIdOf(exchange.operation.query) !== null) return null;
  const { query, variables } = exchange.operation;
  const edit = countryEdit(query, variables === undefined ? '' : JSON.stringify(variables));
  if (edit === null) return null;
  const shownCountries = new Set(picture.figures.map(({ country }) => country));
  const missing = ALL.filter(({ key }) => !shownCountries.has(key));
  const choose = (code: string) =>
    setLost(!editAndRun((text, given) => countryEdit(text, given)?.with(code) ?? null));
  const verb = edit.how === 'add' ? 'Add' : 'Show';
  return (
    <div className="controls further">
      {OFFERED.filter((code) => !shownCountries.has(code))
        .slice(0, MAX_OFFERED)
        .map((code) => (
          <button
            key={code}
            type="button"
            className="member"
            aria-label={`${verb} ${nameOf(code)}`}
            disabled={isFetching}
            onClick={() => choose(code)}
          >
            <span aria-hidden="true">+</span> {nameOf(code)}
          </button>
        ))}
      <Search
        label={edit.how === 'add' ? 'Add a country' : 'Another country'}
        members={missing}
        choose={choose}
      />
      {isLost && <span role="status">The operation in the editor names no countries any more.</span>}
    </div>
  );
}
