import type { Config } from '../config/config.ts';
import type { CommandHost } from '../gateway/plugin.ts';

const SYNTHETIC = 'COUNTRY_DATA_URL is not set, so the embedded sandbox answers: all figures are synthetic.';

/**
 * Opens the service that a command asks: that of COUNTRY_DATA_URL or, without one, the embedded sandbox.
 * @param givenKey in place of the sandbox's own
 * @param note told if the sandbox answers
 */
export async function openAskedService(
  { countryDataUrl, plugins }: Config,
  givenKey: string | undefined,
  openSandbox: CommandHost['openSandbox'],
  note: (words: string) => void,
) {
  if (countryDataUrl !== undefined) return { url: countryDataUrl, key: givenKey, async close() {} };
  const { url, keys, close } = await openSandbox();
  // Figures that are cached under a key of one's own may be the service's.
  if (givenKey === undefined || plugins.offline?.OFFLINE !== true) note(SYNTHETIC);
  return { url, key: givenKey ?? keys.team, close };
}
