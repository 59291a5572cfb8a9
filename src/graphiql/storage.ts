import { keepKey } from './api-key.ts';

const PREFIX = 'graphiql:';

/** Where GraphiQL keeps its tabs and settings. Whoever has it cleared means the key, too. */
export const storage = {
  getItem: (name: string) => localStorage.getItem(name),
  setItem: (name: string, value: string) => localStorage.setItem(name, value),
  removeItem: (name: string) => localStorage.removeItem(name),
  get length() {
    return ownNames().length;
  },
  clear() {
    for (const name of ownNames()) localStorage.removeItem(name);
    keepKey('', false);
  },
};

function ownNames(): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
}
