import { openKeptStore } from '../cache/kept-store.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import type { CommandHost as ByEntrance } from '../plugin/definition.ts';
import { CommandError, formatted } from './formats.ts';
import { settingsOf } from './strange-settings.ts';

/** What commands of plugins by the entrance may use. */
export const commandView = ({ env, plugins }: CommandHost): ByEntrance => ({
  settings() {
    const { cacheUrl, cacheTimeoutMs } = settingsOf(env, plugins, console.error);
    return { cacheUrl, openStore: () => openKeptStore(cacheUrl, cacheTimeoutMs) };
  },
  error: (message) => new CommandError(message),
  formatted,
});
