import { useEffect, useState } from 'react';
import { callsOf, explained } from '../price.ts';
import { onceSettled } from '../turns.ts';
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
    return onceSettled((signal) =>
      explained({ query, variables: variablesIn(variables) ?? {}, operationName }, signal).then(
        (plan) => setPrice(plan === null ? '' : callsOf(plan)),
        () => {},
      ),
    );
  }, [query, variables, operationName]);
  return price;
}
