import { z } from 'zod';
import { definePlugin, onOff, type PluginHost } from '../../plugin/index.ts';
import { uncached } from './uncached.ts';

/** For a gateway that serves a file in place of a service or the sandbox. */
const FROM_FILE = {
  COUNTRY_DATA_URL: 'http://service.invalid',
  CACHE_URL: 'memory:',
  STALE_IF_ERROR_SECONDS: '31536000',
};

export const offline = definePlugin({
  name: 'offline',
  settings: {
    /** True if no call leaves, whoever asks for whatever: what is cached answers, however old. */
    OFFLINE: onOff.default(false),
    /** File of what a gateway has recorded, to answer any key; undefined for what is cached under the key that asks. */
    OFFLINE_FIXTURES: z.string().min(1).optional(),
  },
  remarks: ({ OFFLINE: isOn, OFFLINE_FIXTURES: file }, _given, { cacheUrl }) =>
    isOn && file === undefined && (cacheUrl === 'memory:' || cacheUrl === 'none')
      ? [
          'OFFLINE is on, and CACHE_URL names no store that lasts: nothing is cached, so nothing can be answered.',
        ]
      : [],
  errors: ({ OFFLINE: isOn, OFFLINE_FIXTURES: file }) =>
    file !== undefined && isOn !== 'on' ? ['OFFLINE_FIXTURES: needs OFFLINE=on'] : [],
  serveOptions: [
    {
      flags: '--offline [file]',
      description: 'send nothing: answer from CACHE_URL, or whichever key asks from a file of record',
      settings: (file) => ({ OFFLINE: 'on', ...(file !== '' && { ...FROM_FILE, OFFLINE_FIXTURES: file }) }),
    },
  ],
  commands: [
    {
      name: 'fill',
      description:
        'fetch figures, lists and records into CACHE_URL, as slowly as the plan takes it; tells the price first',
      load: async () => (await import('./fill.ts')).addFill,
    },
    {
      name: 'record',
      description:
        'run a command beside a gateway, and write what the service has answered into a file of fixtures',
      load: async () => (await import('./record.ts')).addRecord,
    },
  ],
  async findings(host, key) {
    const { knownFigures } = await import('./known-figures.ts');
    const found = await knownFigures(host, key);
    return found === null ? [] : [{ name: 'figures', ...found }];
  },
  async open({ OFFLINE: isOn, OFFLINE_FIXTURES: file }, host) {
    return {
      ...(file !== undefined && (await fixturesIn(file, host))),
      offline: { isAlways: isOn, ...uncached },
      // Its presence tells other plugins that `x-offline` is heeded.
      api: () => ({}),
      // Also stops calls that no operation makes, such as a subscription's look at the sources.
      ...(isOn && {
        async call(call) {
          throw uncached.ofCall(call);
        },
      }),
    };
  },
});

async function fixturesIn(file: string, host: PluginHost) {
  const { readFixtures, serveFixtures } = await import('./fixtures.ts');
  return serveFixtures(await readFixtures(file, host));
}
