import { messageOf } from '../../plugin/index.ts';
import { createFetching } from './fetching.ts';
import { type Filling, type Host, UNHEEDED } from './given.ts';

type Settings = ReturnType<Host['settings']>;

/**
 * Says whether the latest figures are all cached for a key, or what the fill would take that caches them. Sends nothing.
 * @returns null if there is no store to fill
 */
export async function knownFigures(
  host: Host,
  key: string | undefined,
): Promise<{ readonly isWell: boolean | null; readonly text: string } | null> {
  const settings = host.settings(() => {}, UNHEEDED);
  if (!(await isThere(settings.cacheUrl))) return null;
  const problems: string[] = [];
  try {
    const filling = await opened(settings, key, (problem) => problems.push(problem));
    try {
      const { calls, cached, figures } = await createFetching(filling, host).priceOf([], LATEST);
      if (problems.length > 0) throw new Error(problems[0]);
      if (calls === 0) return { isWell: true, text: `all latest ones are known${await sinceOf(filling)}` };
      const words = `${cached} of the ${figures} latest ones are known; country-graph fill --all --latest brings the others, by up to ${calls} call(s)`;
      return { isWell: null, text: words };
    } finally {
      await filling.stop();
    }
  } catch (error) {
    return { isWell: null, text: `not looked at: ${messageOf(error)}` };
  }
}

const LATEST = { all: true, latest: true } as const;

const opened = (settings: Settings, key: string | undefined, note: (words: string) => void) =>
  settings.openFilling({
    key,
    keyFile: undefined,
    plan: 'free',
    leave: 0,
    everyMs: null,
    note,
    onCall() {},
    onRows() {},
    onSpent: async () => 0,
  });

/** Empty if no plugin answers what is cached. */
async function sinceOf({ gateway, key }: Filling): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const { data } = JSON.parse(await gateway.ask({ query: '{ availability { asOf } }' }, { headers }));
  const times: readonly string[] = data?.availability?.map(({ asOf }: { asOf: string }) => asOf) ?? [];
  const [oldest] = [...times].sort();
  return oldest === undefined ? '' : `, complete since ${oldest}`;
}

async function isThere(cacheUrl: string): Promise<boolean> {
  const isFile = cacheUrl.startsWith('sqlite:');
  return isFile ? isReadable(cacheUrl.slice('sqlite:'.length)) : cacheUrl.startsWith('redis');
}

/** To open a damaged file for a gateway would set it aside, and one that isn't there would be made. */
async function isReadable(path: string): Promise<boolean> {
  // Node announces it as experimental, so it is loaded for such a store alone.
  const { DatabaseSync } = await import('node:sqlite');
  try {
    const file = new DatabaseSync(path, { readOnly: true });
    file.prepare('PRAGMA schema_version').get();
    file.close();
    return true;
  } catch {
    return false;
  }
}
