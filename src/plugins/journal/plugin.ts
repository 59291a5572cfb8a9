import { z } from 'zod';
import {
  definePlugin,
  type GatewayRequest,
  messageOf,
  type PluginServices,
  remarksOnIdle,
  wholeNumber,
} from '../../plugin/index.ts';

export const journal = definePlugin({
  name: 'journal',
  settings: {
    /** File that figures are recorded in; undefined records none. */
    JOURNAL_FILE: z.string().min(1).optional(),
    /** Megabytes of it, beyond which the oldest revisions are dropped. */
    JOURNAL_MB: wholeNumber(1, 1_000_000).default(100),
    /** Days that a snapshot is kept. */
    JOURNAL_SNAPSHOT_DAYS: wholeNumber(1, 3_650).default(30),
  },
  remarks({ JOURNAL_FILE: path }, given, { cacheUrl }) {
    if (path === undefined)
      return remarksOnIdle(['JOURNAL_MB', 'JOURNAL_SNAPSHOT_DAYS'], given, 'without JOURNAL_FILE');
    if (cacheUrl === 'none')
      return [
        'JOURNAL_FILE is set, and CACHE_URL is none: no key counts as accepted, so none reads the journal.',
      ];
    const isForgetful = cacheUrl === 'memory:' && given.KEY_PEPPER === undefined;
    return isForgetful
      ? [
          'JOURNAL_FILE is set without KEY_PEPPER, and CACHE_URL names no store that lasts: after a restart, no key reads what it has seen.',
        ]
      : [];
  },
  async open({ JOURNAL_FILE: path, JOURNAL_MB: mb, JOURNAL_SNAPSHOT_DAYS: days }, host) {
    if (path === undefined) {
      const refuse = async (request: GatewayRequest, gateway: PluginServices) =>
        (await import('./asked-again.ts')).refuseSnapshot(request, gateway);
      return {
        request: (next, gateway) => (request) =>
          request.headers['x-snapshot'] === undefined ? next(request) : refuse(request, gateway),
      };
    }
    const { openJournal } = await import('./recorded.ts');
    try {
      return await openJournal(path, mb, days, host);
    } catch (error) {
      const words = `JOURNAL_FILE: ${path} can't hold the journal: ${messageOf(error)}`;
      throw host.settingsError(words, { cause: error });
    }
  },
});
