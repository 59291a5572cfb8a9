import { keepKey } from './api-key.ts';
import { kept } from './kept.ts';
import { forGood } from './origin-storage.ts';

const PREFIX = 'graphiql:';

/** Where GraphiQL keeps its tabs and settings. Whoever has it cleared means the key, too. */
export const storage = {
  getItem(name: string) {
    const text = forGood.getItem(name);
    return text === null || isReadable(name.slice(PREFIX.length), text) ? text : null;
  },
  setItem(name: string, value: string) {
    forGood.setItem(name, value);
  },
  removeItem: forGood.removeItem,
  get length() {
    return forGood.names(PREFIX).length;
  },
  clear() {
    for (const name of forGood.names(PREFIX)) forGood.removeItem(name);
    keepKey('', false);
    kept.clear();
  },
};

/** GraphiQL takes for granted that these are as it wrote them, and shows nothing at all where they aren't. */
function isReadable(name: string, text: string): boolean {
  if (!['tabState', 'queries', 'favorites'].includes(name)) return true;
  try {
    const kept: unknown = JSON.parse(text);
    if (typeof kept !== 'object' || kept === null) return false;
    if (name === 'tabState') return true;
    const list: unknown = Object.getOwnPropertyDescriptor(kept, name)?.value;
    return Array.isArray(list) && list.every((item) => typeof item?.query === 'string');
  } catch {
    return false;
  }
}
