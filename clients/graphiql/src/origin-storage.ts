import { GATEWAY } from './addresses.ts';

/**
 * Gateways below several paths of one origin share its storage: names are of this one. That of a whole origin
 * adds nothing to them.
 */
const { pathname: PATH } = new URL(GATEWAY);
const SCOPE = PATH === '/' ? '' : PATH;

/**
 * Storage of this origin, as far as the browser gives any: people block it, frames and web views may have
 * none, and it may be full. Values that it doesn't take are kept for as long as the page is open.
 */
function createOriginStorage(area: 'localStorage' | 'sessionStorage') {
  const notTaken = new Map<string, string>();

  /** Any use of it may throw, its name alone too. */
  function asked<T>(ask: (storage: Storage) => T): T | null {
    try {
      const storage: Storage | null | undefined = window[area];
      return storage == null ? null : ask(storage);
    } catch {
      return null;
    }
  }

  function removeItem(name: string): void {
    notTaken.delete(name);
    asked((storage) => storage.removeItem(SCOPE + name));
  }

  return {
    getItem: (name: string): string | null =>
      notTaken.get(name) ?? asked((storage) => storage.getItem(SCOPE + name)),
    /** @returns true if it is there when the page is opened again */
    setItem(name: string, value: string): boolean {
      const isTaken = asked((storage) => {
        storage.setItem(SCOPE + name, value);
        return storage.getItem(SCOPE + name) === value;
      });
      if (isTaken === true) notTaken.delete(name);
      else notTaken.set(name, value);
      return isTaken === true;
    },
    removeItem,
    /** Names that begin so. */
    names(prefix: string): string[] {
      const storedNames = asked((storage) =>
        Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '')
          .filter((name) => name.startsWith(SCOPE + prefix))
          .map((name) => name.slice(SCOPE.length)),
      );
      return [...new Set([...(storedNames ?? []), ...notTaken.keys()])].filter((name) =>
        name.startsWith(prefix),
      );
    },
  };
}

/** Storage for longer than a session. */
export const forGood = createOriginStorage('localStorage');

export const forTheSession = createOriginStorage('sessionStorage');
