import { namesIn, SOURCES } from '../../../src/shared/source-names.ts';
import { apiKey } from './api-key.ts';
import { send } from './send.ts';
import { loadSettings } from './settings.ts';
import { setCachedNames } from './source-names.ts';

/** The key under which the list of sources was found cached, or is being looked for; null if none was. */
let askedBy: string | null = null;

/** Takes the names of sources from the gateway's cache, if it has them: no call is sent. */
export async function learnSourceNames(): Promise<void> {
  const { hasOffline, trusted } = await loadSettings();
  const key = apiKey.get();
  if (!hasOffline || trusted !== null || key === '' || askedBy === key) return;
  askedBy = key;
  const { data } = await send({ query: SOURCES }, { 'x-offline': '1' });
  if (askedBy !== key) return;
  const names = namesIn(data);
  // Looks again with the next picture: the list may be cached by then.
  if (names === null) askedBy = null;
  else setCachedNames(names);
}

// Another key may have another list.
apiKey.subscribe(() => {
  askedBy = null;
  setCachedNames(new Map());
});
