import { createStore } from './store.ts';

const NAME = 'country-graph:key';

/** The key is kept for the session, and longer only where the person asks for it. */
export const apiKey = createStore(localStorage.getItem(NAME) ?? sessionStorage.getItem(NAME) ?? '');
export const isRemembered = createStore(localStorage.getItem(NAME) !== null);

export function keepKey(key: string, remember: boolean): void {
  apiKey.set(key);
  isRemembered.set(remember);
  localStorage.removeItem(NAME);
  sessionStorage.removeItem(NAME);
  if (key !== '') (remember ? localStorage : sessionStorage).setItem(NAME, key);
}
