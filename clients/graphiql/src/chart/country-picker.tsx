import { useGraphiQL } from '@graphiql/react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { searched } from '../catalogue/search.ts';
import type { Exchange } from '../exchange.ts';
import { useTabLook } from '../looks.ts';
import { pick, usePicked } from '../picked.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { COUNTRY_NUMBERS, codeOf, nameOf } from './countries.ts';
import { countryEdit } from './country-edit.ts';
import { neighboursOf, REGIONS } from './country-groups.ts';
import type { Picture } from './picture.ts';
import { countriesOf, removedFrom } from './subjects.ts';
import { usePrice } from './use-price.ts';

const nameFor = (code: string) => nameOf(code) ?? code;

const ALL = Object.keys(COUNTRY_NUMBERS).sort((a, b) => nameFor(a).localeCompare(nameFor(b)));

/** Names that are written out; of more there is the number. */
const MAX_NAMES = 5;

const named = (codes: readonly string[]) =>
  codes.length > MAX_NAMES ? `${codes.length} countries` : codes.map(nameFor).join(', ');

interface PickerProps {
  readonly exchange: Exchange;
  readonly pictures: readonly Picture[];
}

/** A change of the countries that are shown: to these, at a price in words. */
interface Act {
  readonly codes: readonly string[];
  readonly price: string;
}

/**
 * Chooses the countries of all pictures and tables of an answer, by name, region or border. Where the operation takes countries,
 * it is changed and run; elsewhere others are taken out of what is there, at no call.
 */
export function CountryPicker({ exchange, pictures }: PickerProps) {
  const { query, variables, operationName } = exchange.operation;
  const given = variables === undefined ? '' : JSON.stringify(variables);
  const [look, changeLook] = useTabLook();
  const editAndRun = useEdit();
  const isFetching = useGraphiQL((state) => state.isFetching);
  const { isOpen, codes: ticked } = usePicked();
  const [said, setSaid] = useState('');
  const summary = useRef<HTMLElement>(null);
  const edit = countryEdit(query, given, operationName);
  // An operation of a list stays as it is, but for its variables.
  const isEditable = edit !== null && (trustedIdOf(query) === null || edit.with([]).query === query);
  const asked = isEditable ? edit : null;
  const there = countriesOf(pictures);
  const removed = removedFrom(pictures, look.pictures);
  const shown = there.filter((code) => !removed.includes(code));
  const current = asked?.codes ?? shown;
  const further = ticked.filter((code) => !current.includes(code) || removed.includes(code));
  const others = current.filter((code) => !ticked.includes(code) && !removed.includes(code));
  const only = usePrice(asked && ticked.length > 0 ? asked.with(ticked) : null, operationName);
  const withThese = [...others, ...ticked];
  const added = usePrice(asked && further.length > 0 ? asked.with(withThese) : null, operationName);
  if (asked === null && there.length < 2) return null;
  const show = ({ codes }: Act) => {
    const isChanged =
      asked === null ||
      editAndRun((text, current) => countryEdit(text, current, operationName)?.with(codes) ?? null);
    setSaid(
      isChanged ? `Shown: ${named(codes)}.` : 'The operation in the editor takes no countries any more.',
    );
    if (!isChanged) return;
    const changed = pictures.map((picture) => {
      const before = look.pictures[picture.key];
      const kept = (before?.removed ?? []).filter((key) => !ALL.includes(key));
      const out = asked === null ? countriesOf([picture]).filter((code) => !codes.includes(code)) : [];
      return [picture.key, { ...before, removed: [...kept, ...out] }] as const;
    });
    changeLook({ pictures: { ...look.pictures, ...Object.fromEntries(changed) } });
    pick({ isOpen: false, codes: [] });
    summary.current?.focus();
  };
  const free = asked === null ? 'no call' : '';
  return (
    <details
      className="countries"
      open={isOpen}
      onToggle={(event) => pick({ isOpen: event.currentTarget.open })}
    >
      <summary ref={summary}>
        Countries <span className="hint">({current.filter((code) => !removed.includes(code)).length})</span>
      </summary>
      <span className="unseen" role="status">
        {said}
      </span>
      {isOpen && (
        <div className="picker">
          <Ticks ticked={ticked} offered={asked === null ? there : ALL} shown={shown} />
          <p className="ticked">{ticked.length === 0 ? 'None ticked.' : `Ticked: ${named(ticked)}.`}</p>
          <div className="actions">
            <ActButton
              words={`Only ${ticked.length > 1 ? `these ${ticked.length}` : 'this'}`}
              isOff={isFetching || ticked.length === 0}
              act={{ codes: ticked, price: free || only }}
              show={show}
            />
            {further.length > 0 && (
              <ActButton
                words={`Add ${further.length}`}
                isOff={isFetching}
                act={{ codes: withThese, price: free || added }}
                show={show}
              />
            )}
            {ticked.length > 0 && further.length < ticked.length && others.length > 0 && (
              <ActButton
                words={`Without ${ticked.length > 1 ? 'these' : 'this'}`}
                isOff={isFetching}
                act={{ codes: others, price: free }}
                show={show}
              />
            )}
          </div>
        </div>
      )}
    </details>
  );
}

interface ActProps {
  readonly words: string;
  readonly isOff: boolean;
  readonly act: Act;
  readonly show: (act: Act) => void;
}

function ActButton({ words, isOff, act, show }: ActProps) {
  return (
    <button type="button" className="primary" disabled={isOff} onClick={() => show(act)}>
      {words}
      {act.price !== '' && !isOff && <span className="cost"> ({act.price})</span>}
    </button>
  );
}

interface TicksProps {
  readonly ticked: readonly string[];
  readonly offered: readonly string[];
  readonly shown: readonly string[];
}

/** Ticks countries one by one, or by region or border. */
function Ticks({ ticked, offered, shown }: TicksProps) {
  const [text, setText] = useState('');
  const search = useRef<HTMLInputElement>(null);
  // What the catalogue has ticked leaves the focus there.
  const isNew = useRef(ticked.length === 0);
  useEffect(() => {
    if (isNew.current) search.current?.focus();
  }, []);
  const id = useId();
  const tick = (codes: readonly string[]) => pick({ codes });
  const toggle = (code: string) => {
    setText('');
    tick(ticked.includes(code) ? ticked.filter((one) => one !== code) : [...ticked, code]);
  };
  const called = codeOf(text);
  const all = ALL.filter((code) => offered.includes(code));
  const matches = searched(all, text, (code) => ({ name: `${nameFor(code)} ${code}`, about: '' }));
  const found = called !== undefined && all.includes(called) ? [called] : matches;
  const onKeyDown = (event: KeyboardEvent) => {
    const [first] = found;
    if (event.key !== 'Enter' || text === '' || first === undefined) return;
    event.preventDefault();
    toggle(first);
  };
  const neighbours = neighboursOf(ticked).filter((code) => offered.includes(code));
  const isMarked = all.some((code) => !shown.includes(code));
  const groups = REGIONS.map(
    ([name, codes]) => [name, codes.filter((code) => offered.includes(code))] as const,
  );
  return (
    <>
      <input
        ref={search}
        type="search"
        aria-label="Search countries"
        placeholder="Name of a country"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="groups">
        {neighbours.length > 0 && (
          <button type="button" onClick={() => tick([...ticked, ...neighbours])}>
            {ticked.length === 1 ? `Neighbours of ${named(ticked)}` : 'Their neighbours'} ({neighbours.length}
            )
          </button>
        )}
        {groups.map(
          ([name, codes]) =>
            codes.length > 0 && (
              <button key={name} type="button" onClick={() => tick([...new Set([...ticked, ...codes])])}>
                {name}
              </button>
            ),
        )}
        {ticked.length < all.length && (
          <button type="button" onClick={() => tick(all)}>
            All
          </button>
        )}
        {ticked.length > 0 && (
          <button type="button" onClick={() => tick([])}>
            None
          </button>
        )}
      </div>
      <fieldset aria-labelledby={id}>
        <legend id={id} className="unseen">
          Countries to tick
        </legend>
        {found.map((code) => (
          <label key={code}>
            <input type="checkbox" checked={ticked.includes(code)} onChange={() => toggle(code)} />
            {nameFor(code)} {isMarked && shown.includes(code) && <span className="hint">shown</span>}
          </label>
        ))}
        {found.length === 0 && <p>No country is called so.</p>}
      </fieldset>
    </>
  );
}
