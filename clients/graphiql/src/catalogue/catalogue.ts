import { type Answer, type Explained, messageOf } from '../answer.ts';
import { apiKey } from '../api-key.ts';
import { isOffline } from '../offline.ts';
import { explained } from '../price.ts';
import { send } from '../send.ts';
import { createStore } from '../store.ts';
import type { Searched } from './search.ts';

export interface Indicator {
  readonly key: string;
  readonly name: string | null;
  readonly unit: string | null;
  readonly category: string | null;
  readonly hasData: boolean | null;
  readonly sources: readonly { readonly key: string }[] | null;
}

/** The words that an indicator is found by. */
export const searchedIndicator = ({ key, name, unit, category }: Indicator): Searched => ({
  name: `${key} ${name ?? ''}`,
  about: `${unit ?? ''} ${category ?? ''}`,
});

export interface Country {
  readonly code: string;
  readonly name: string | null;
}

/** Calls that a question to the gateway took, and its failure if it failed. */
export interface Asked {
  /** Calls to the metered service. */
  readonly calls: number;
  /** Reason for which nothing, or not all, is there; null if all is. */
  readonly error: string | null;
}

export interface Listed<T> extends Asked {
  readonly items: readonly T[];
}

export interface Catalogue extends Asked {
  readonly indicators: readonly Indicator[];
  readonly countries: readonly Country[];
}

/** The catalogue, once somebody has asked for it. */
export const catalogue = createStore<Catalogue | null>(null);

/** Codes of the exchanges, once somebody has asked for them. */
export const exchangeCodes = createStore<Listed<string> | null>(null);

const CATALOGUE = `query Catalogue {
  indicators { key name unit category hasData sources { key } }
  countries { code name }
}`;

const EXCHANGES = 'query Exchanges { tickers { exchangeCode } }';

const COVERAGE = `query Coverage($key: String!) {
  indicator(key: $key) { observations(latest: true) { value country { code name } } }
}`;

let loading: Promise<void> | null = null;

/** Price of the catalogue, which costs nothing to ask; null if it can't be known. */
export const priceOfCatalogue = (signal: AbortSignal): Promise<Explained | null> =>
  explained({ query: CATALOGUE }, signal);

/** Asks for the catalogue, as anybody would: by GraphQL, under the key of the key field. */
export function loadCatalogue(): Promise<void> {
  if (loading !== null) return loading;
  const asked = ask().finally(() => {
    if (loading === asked) loading = null;
  });
  loading = asked;
  return asked;

  async function ask() {
    const key = apiKey.get();
    const answer = await send({ query: CATALOGUE });
    if (key !== apiKey.get()) return;
    const { indicators = null, countries = null } = (answer.data ?? {}) as Partial<Catalogue>;
    catalogue.set({
      indicators: indicators ?? [],
      countries: countries ?? [],
      calls: callsOf(answer),
      error: indicators === null || countries === null ? errorOf(answer) : null,
    });
  }
}

export async function loadExchanges(): Promise<void> {
  const key = apiKey.get();
  const answer = await send({ query: EXCHANGES });
  if (key !== apiKey.get()) return;
  const { tickers = null } = (answer.data ?? {}) as {
    readonly tickers?: readonly { readonly exchangeCode: string }[] | null;
  };
  exchangeCodes.set({
    items: [...new Set((tickers ?? []).map(({ exchangeCode }) => exchangeCode))].sort(),
    calls: callsOf(answer),
    error: tickers === null ? errorOf(answer) : null,
  });
}

/** Countries that have figures of an indicator. */
export async function countriesWith(key: string): Promise<Listed<Country>> {
  const answer = await send({ query: COVERAGE, variables: { key } });
  const { indicator = null } = (answer.data ?? {}) as {
    readonly indicator?: {
      readonly observations: readonly { readonly value: number | null; readonly country: Country }[] | null;
    } | null;
  };
  const rows = indicator?.observations ?? null;
  const countries = new Map(
    (rows ?? []).flatMap(({ value, country }) => (value === null ? [] : [[country.code, country] as const])),
  );
  return {
    items: [...countries.values()].sort((a, b) => a.code.localeCompare(b.code)),
    calls: callsOf(answer),
    error: rows === null ? errorOf(answer) : null,
  };
}

function callsOf({ extensions }: Answer): number {
  return extensions?.upstream?.calls ?? 0;
}

function errorOf({ errors = [] }: Answer): string {
  const commands = errors.flatMap(({ extensions: { command } = {} }) =>
    typeof command === 'string' ? [`\`${command}\``] : [],
  );
  if (isOffline.get() && commands.length > 0) {
    const fetches = commands.length === 1 ? 'fetches' : 'fetch';
    // Errors come as calls fail.
    return `it is not cached, and offline no call is sent. ${commands.sort().join(' and ')} ${fetches} it.`;
  }
  return errors.map(messageOf).join(' ') || 'The gateway gave no answer.';
}

// Forgets all of it with the key, and what is on its way: another one may see other things.
apiKey.subscribe(() => {
  loading = null;
  catalogue.set(null);
  exchangeCodes.set(null);
});
