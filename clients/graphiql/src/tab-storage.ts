import { forTheSession } from './origin-storage.ts';

const PREFIX = 'country-graph:kept:';

/** State that a page goes on with when it is loaded again in the same tab of the browser. The key is kept elsewhere, if at all. */
export const tabStorage = {
  /** @returns the value under the name; null if there is none, or it can't be read */
  read<T>(name: string): T | null {
    try {
      return JSON.parse(forTheSession.getItem(PREFIX + name) ?? 'null') as T | null;
    } catch {
      return null;
    }
  },
  write(name: string, value: unknown): void {
    forTheSession.setItem(PREFIX + name, JSON.stringify(value));
  },
  remove(name: string): void {
    forTheSession.removeItem(PREFIX + name);
  },
  clear(): void {
    for (const name of forTheSession.names(PREFIX)) forTheSession.removeItem(name);
  },
};
