import { keepKey } from './api-key.ts';
import { forGood } from './origin-storage.ts';
import { isOfTabs, storedTextOf } from './stored-tabs.ts';
import { tabStorage } from './tab-storage.ts';

const PREFIX = 'graphiql:';

/** Storage of GraphiQL's settings, and of its tabs, which `storeTabs` writes. To clear it clears the key, too. */
export const storage = {
  getItem(name: string) {
    const textOfTab = storedTextOf(name);
    if (textOfTab !== undefined) return textOfTab;
    const text = forGood.getItem(name);
    return text === null || isReadable(name.slice(PREFIX.length), text) ? text : null;
  },
  setItem(name: string, value: string) {
    if (!isOfTabs(name)) forGood.setItem(name, value);
  },
  removeItem: forGood.removeItem,
  get length() {
    return forGood.names(PREFIX).length;
  },
  clear() {
    for (const name of forGood.names(PREFIX)) forGood.removeItem(name);
    keepKey('', false);
    tabStorage.clear();
  },
};

/** True if an item is as GraphiQL wrote it: of damaged ones it shows nothing at all. */
function isReadable(name: string, text: string): boolean {
  if (!['tabState', 'queries', 'favorites'].includes(name)) return true;
  try {
    const stored: unknown = JSON.parse(text);
    if (typeof stored !== 'object' || stored === null) return false;
    if (name === 'tabState') return true;
    const list: unknown = Object.getOwnPropertyDescriptor(stored, name)?.value;
    return Array.isArray(list) && list.every((item) => typeof item?.query === 'string');
  } catch {
    return false;
  }
}
