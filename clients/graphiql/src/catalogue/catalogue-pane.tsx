import { useEffect, useRef, useState } from 'react';
import type { Explained } from '../answer.ts';
import { apiKey } from '../api-key.ts';
import { isOffline, priceWords } from '../offline.ts';
import { callsOf } from '../price.ts';
import { useStore } from '../store.ts';
import { useAsk } from '../tools.ts';
import { onceSettled, SETTLED_MS } from '../turns.ts';
import { Words } from '../words.tsx';
import { AvailabilityNote, countriesIn, useAvailable, withAvailability } from './availability.tsx';
import { type Cached, isComplete } from './available.ts';
import {
  type Asked,
  type Catalogue,
  type Country,
  catalogue,
  countriesWith,
  exchangeCodes,
  type Indicator,
  type Listed,
  loadCatalogue,
  loadExchanges,
  priceOfCatalogue,
  searchedIndicator,
} from './catalogue.ts';
import { useInsertFigure, useInsertName } from './insert.ts';
import { figureOperation } from './insertion.ts';
import { searched } from './search.ts';

/** Rows that are written out; the search finds the rest. */
const MAX_SHOWN = 300;

/** The indicators, countries and exchanges that an operation may name, to be searched and put into it. */
export function CataloguePane() {
  const loaded = useStore(catalogue);
  useStore(isOffline);
  const place = useRef<HTMLDivElement>(null);
  const key = useStore(apiKey);
  const [askedBy, setAskedBy] = useState<string | null>(null);
  const isPressed = useRef(false);
  const load = () => {
    setAskedBy(key);
    void loadCatalogue().finally(() => setAskedBy((now) => (now === key ? null : now)));
  };
  const press = () => {
    isPressed.current = true;
    load();
  };
  // Goes on from the button that has asked for the list, and is there no more.
  useEffect(() => {
    if (loaded === null || !isPressed.current) return;
    isPressed.current = false;
    place.current?.querySelector<HTMLElement>('input, button')?.focus();
  }, [loaded]);
  if (loaded === null)
    return askedBy === key ? (
      <p role="status">Asking for the catalogue …</p>
    ) : (
      <Offer load={load} press={press} />
    );
  return (
    <div ref={place}>
      <Took asked={loaded} what="The catalogue" />
      {loaded.error !== null && (
        <button type="button" onClick={() => void loadCatalogue()}>
          Ask again
        </button>
      )}
      {loaded.indicators.length > 0 && <Indicators {...loaded} />}
      {loaded.countries.length > 0 && (
        <Names
          title="Countries"
          names={loaded.countries.map(({ code, name }) => ({ name: code, about: name ?? '' }))}
          named="country"
        />
      )}
      <Exchanges />
    </div>
  );
}

/** Offers the catalogue, with its price; one that takes no call, as all do offline, comes by itself. */
function Offer({ load, press }: { readonly load: () => void; readonly press: () => void }) {
  const key = useStore(apiKey);
  const [firstKey] = useState(key);
  const [price, setPrice] = useState<Explained | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once a key
  useEffect(() => {
    setPrice(null);
    if (key === '') return;
    const ask = async (signal: AbortSignal) => {
      const plan = await priceOfCatalogue(signal).catch(() => null);
      if (signal.aborted) return;
      if (plan?.most === 0 || isOffline.get()) load();
      else setPrice(plan);
    };
    return onceSettled(ask, key === firstKey ? 0 : SETTLED_MS);
  }, [key]);
  return (
    <>
      <p>All indicators and countries, to search, to put into an operation, and to draw.</p>
      <p>
        <button type="button" className="primary" onClick={press}>
          Load the catalogue{price !== null && priceWords(`${callsOf(price)}, cached afterwards`)}
        </button>
      </p>
    </>
  );
}

function Took({ asked: { calls, error }, what }: { readonly asked: Asked; readonly what: string }) {
  if (error !== null) {
    return (
      <p className="fault" role="status">
        {what} is not to be had: <Words text={error} />
      </p>
    );
  }
  const took = calls === 0 ? 'no call: it was cached' : calls === 1 ? 'one call' : `${calls} calls`;
  return (
    <p className="took" role="status" data-calls={calls}>
      {what} took {took}.
    </p>
  );
}

const valuesOf = (all: readonly (string | null)[]) =>
  [...new Set(all)].filter((value) => value !== null).sort();

function Indicators({ indicators, countries }: Pick<Catalogue, 'indicators' | 'countries'>) {
  const [search, setSearch] = useState('');
  const [category, setCategory] = useState('');
  const [source, setSource] = useState('');
  const [own, setOwn] = useState('');
  const known = useAvailable(countriesIn(own, countries).map(({ code }) => code));
  const found = searched(indicators, search, searchedIndicator).filter(
    (one) =>
      (category === '' || one.category === category) &&
      (source === '' || (one.sources ?? []).some(({ key }) => key === source)),
  );
  const matches = known === null ? found : withAvailability(found, known, search !== '');
  const codes = known?.codes ?? [];
  return (
    <section aria-label="Indicators">
      <h2>Indicators</h2>
      <div className="filters">
        <input
          type="search"
          aria-label="Search indicators"
          placeholder="Name, key or unit"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <input
          type="search"
          aria-label="Countries that have figures"
          placeholder="My countries: KE, Ghana"
          value={own}
          onChange={(event) => setOwn(event.target.value)}
        />
        <Choice
          label="Category"
          value={category}
          values={valuesOf(indicators.map((one) => one.category))}
          onChange={setCategory}
        />
        <Choice
          label="Source"
          value={source}
          values={valuesOf(indicators.flatMap(({ sources }) => (sources ?? []).map(({ key }) => key)))}
          onChange={setSource}
        />
      </div>
      <p role="status">
        {matches.length} of {indicators.length} indicators
        {codes.length > 0 && ` in ${codes.join(', ')}`}
      </p>
      {known !== null && <AvailabilityNote known={known} />}
      <ul className="entries">
        {matches.slice(0, MAX_SHOWN).map((indicator) => (
          <IndicatorEntry
            key={indicator.key}
            indicator={indicator}
            cached={known?.byKey.get(indicator.key)}
            isKnown={known !== null && isComplete(known)}
          />
        ))}
      </ul>
      {matches.length > MAX_SHOWN && <p>The first {MAX_SHOWN}: search for the others.</p>}
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{label}: any</option>
      {values.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

interface IndicatorEntryProps {
  readonly indicator: Indicator;
  readonly cached: Cached | undefined;
  /** True if its countries are cached. */
  readonly isKnown: boolean;
}

function IndicatorEntry({ indicator, cached, isKnown }: IndicatorEntryProps) {
  const { key, name, unit, category, hasData, sources } = indicator;
  const insert = useInsertFigure();
  const ask = useAsk();
  return (
    <li>
      <div className="entry-head">
        <strong>{name ?? key}</strong>
        {hasData !== false && (
          <button
            type="button"
            aria-label={`Draw ${key}`}
            title={`A map of its latest figures${priceWords('one call, if they are not cached')}`}
            onClick={() => ask({ query: figureOperation(key) })}
          >
            Draw
          </button>
        )}
        <button type="button" aria-label={`Insert ${key}`} onClick={() => insert(key)}>
          Insert
        </button>
      </div>
      <code>{key}</code>
      <div className="hint">
        {[unit, category, ...(sources ?? []).map((source) => source.key)].filter(Boolean).join(' · ')}
        {cached !== undefined && ` · ${countriesOf(cached.countryCount)}, newest ${cached.lastYear}`}
      </div>
      {hasData === false ? (
        <div className="hint">The service holds no figures of it.</div>
      ) : (
        <Coverage of={key} isKnown={isKnown} />
      )}
    </li>
  );
}

const countriesOf = (count: number) => (count === 1 ? '1 country' : `${count} countries`);

/** Countries that have figures: the service is asked only once somebody wants to know. */
function Coverage({ of: key, isKnown }: { readonly of: string; readonly isKnown: boolean }) {
  const [coverage, setCoverage] = useState<Listed<Country> | 'asking' | null>(null);
  async function ask() {
    setCoverage('asking');
    setCoverage(await countriesWith(key));
  }
  if (coverage === null) {
    const words = `Which countries?${isKnown ? '' : priceWords('one call')}`;
    return (
      <button type="button" className="link" aria-label={`${words}: ${key}`} onClick={() => void ask()}>
        {words}
      </button>
    );
  }
  if (coverage === 'asking') return <p role="status">Asking …</p>;
  return (
    <>
      <Took asked={coverage} what="This" />
      {coverage.error === null && (
        <p className="coverage" data-countries={coverage.items.length}>
          {countriesOf(coverage.items.length)}:{' '}
          {coverage.items.map(({ code, name }) => name ?? code).join(', ') || 'none'}
        </p>
      )}
    </>
  );
}

function Exchanges() {
  const exchanges = useStore(exchangeCodes);
  if (exchanges === null || exchanges.error !== null) {
    return (
      <section aria-label="Exchanges">
        <h2>Exchanges</h2>
        {exchanges !== null && <Took asked={exchanges} what="This" />}
        <button type="button" className="link" onClick={() => void loadExchanges()}>
          Ask for their codes{priceWords('a call for every few hundred listings')}
        </button>
      </section>
    );
  }
  return (
    <>
      <Names
        title="Exchanges"
        names={exchanges.items.map((name) => ({ name, about: '' }))}
        named="exchange"
      />
      <Took asked={exchanges} what="This" />
    </>
  );
}

interface NamesProps {
  readonly title: string;
  readonly names: readonly { readonly name: string; readonly about: string }[];
  readonly named: 'country' | 'exchange';
}

function Names({ title, names, named }: NamesProps) {
  const insert = useInsertName();
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className="names">
        {names.map(({ name, about }) => (
          <li key={name}>
            <button type="button" title={`Insert ${name}`} onClick={() => insert(named, name)}>
              {name} {about !== '' && <span className="hint">{about}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
