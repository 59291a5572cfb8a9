import { useEffect, useState } from 'react';
import { callsOf, explained } from '../price.ts';
import { SETTLED_MS } from '../turns.ts';
import { variablesIn, type Written } from '../variables.ts';

/**
 * Calls of an operation in words, once it has stayed the same for a moment; empty until they are known.
 * @param written null if there is nothing to be priced
 */
export function usePrice(written: Written | null, operationName: string | undefined): string {
  const [price, setPrice] = useState('');
  const { query, variables = '' } = written ?? {};
  useEffect(() => {
    setPrice('');
    if (query === undefined) return;
    const leaving = new AbortController();
    const ask = () =>
      explained({ query, variables: variablesIn(variables) ?? {}, operationName }, leaving.signal).then(
        (plan) => setPrice(plan === null ? '' : callsOf(plan)),
        () => {},
      );
    const timer = setTimeout(() => void ask(), SETTLED_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [query, variables, operationName]);
  return price;
}
