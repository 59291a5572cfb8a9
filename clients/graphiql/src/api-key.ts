import { forGood, forTheSession } from './origin-storage.ts';
import { createStore } from './store.ts';

const NAME = 'country-graph:key';

/** The key is kept for the session, and longer only if the person asks for it. */
export const apiKey = createStore(forGood.getItem(NAME) ?? forTheSession.getItem(NAME) ?? '');
export const isPersistent = createStore(forGood.getItem(NAME) !== null);

export function keepKey(key: string, remember: boolean): void {
  forGood.removeItem(NAME);
  forTheSession.removeItem(NAME);
  const isStored = key === '' || (remember ? forGood : forTheSession).setItem(NAME, key);
  apiKey.set(key);
  // Leaves the box empty if the browser keeps nothing.
  isPersistent.set(remember && isStored);
}
