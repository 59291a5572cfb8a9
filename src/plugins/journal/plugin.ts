import { z } from 'zod';
import { definePlugin, messageOf, remarksOnIdle, wholeNumber } from '../../plugin/index.ts';

export const journal = definePlugin({
  name: 'journal',
  settings: {
    /** File that figures are recorded in; undefined records none. */
    JOURNAL_FILE: z.string().min(1).optional(),
    /** Megabytes of it, beyond which the oldest revisions are dropped. */
    JOURNAL_MB: wholeNumber(1, 1_000_000).default(100),
  },
  remarks: ({ JOURNAL_FILE: path }, given) =>
    path === undefined ? remarksOnIdle(['JOURNAL_MB'], given, 'without JOURNAL_FILE') : [],
  async open({ JOURNAL_FILE: path, JOURNAL_MB: mb }, host) {
    if (path === undefined) return null;
    const { openJournal } = await import('./recorded.ts');
    try {
      return openJournal(path, mb, host);
    } catch (error) {
      const words = `JOURNAL_FILE: ${path} can't hold the journal: ${messageOf(error)}`;
      throw host.settingsError(words, { cause: error });
    }
  },
});
