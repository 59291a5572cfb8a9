import { useEffect, useState } from 'react';
import { counted } from '../chart/numbers.ts';
import { priceWords } from '../offline.ts';
import { callsOf } from '../price.ts';
import { onceSettled, SETTLED_MS } from '../turns.ts';
import { localTime } from '../words.tsx';
import { type Available, availableIn, isComplete } from './available.ts';
import type { Country, Indicator } from './catalogue.ts';

/** What is there, and the countries that it was asked of: all if there are none. */
export interface Known extends Available {
  readonly codes: readonly string[];
}

/** Of countries that were chosen; of the former ones until it has come, and null if the gateway doesn't tell. */
export function useAvailable(codes: readonly string[]): Known | null {
  const [known, setKnown] = useState<Known | null>(null);
  const names = codes.join();
  useEffect(() => {
    const ask = async (signal: AbortSignal) => {
      const chosen = names === '' ? [] : names.split(',');
      const found = await availableIn(chosen, signal).catch(() => null);
      if (!signal.aborted) setKnown(found && { ...found, codes: chosen });
    };
    return onceSettled(ask, names === '' ? 0 : SETTLED_MS);
  }, [names]);
  return known;
}

/** The countries that a text names by code or name, with commas between. */
export function countriesIn(text: string, all: readonly Country[]): readonly Country[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  return all.filter(({ code, name }) =>
    names.some((one) => one === code.toLowerCase() || one === name?.toLowerCase()),
  );
}

/** Without those of which, as is known, none is there; those of the most countries first, unless they were searched for. */
export function withAvailability(
  indicators: readonly Indicator[],
  known: Known,
  isSearched: boolean,
): readonly Indicator[] {
  const countOf = ({ key }: Indicator) => known.byKey.get(key)?.countryCount ?? 0;
  const hides = known.codes.length > 0 && isComplete(known);
  const there = hides ? indicators.filter((one) => countOf(one) > 0) : indicators;
  return isSearched ? there : there.toSorted((a, b) => countOf(b) - countOf(a));
}

/** Says how much is known of what is there, and how to know all of it. */
export function AvailabilityNote({ known }: { readonly known: Known }) {
  const { byKey, rest, since, codes } = known;
  if (isComplete(known) && since !== null) {
    const time = localTime(since, { dateStyle: 'long', timeStyle: 'short' });
    return <p className="hint">What is there is complete since {time}.</p>;
  }
  const selection = codes.length === 0 ? '--all' : `--countries ${codes.join()}`;
  return (
    <p className="hint">
      Figures of {counted(byKey.size, 'indicator')} are cached so far.{' '}
      <code>country-graph fill {selection} --latest</code> caches the newest of all
      {rest !== null && priceWords(callsOf(rest))}.
    </p>
  );
}
