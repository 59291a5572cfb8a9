import { openKeptStore } from '../cache/kept-store.ts';
import { ConfigError } from '../config/config.ts';
import { files } from '../gateway/files-view.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import type { CommandHost as ByEntrance } from '../plugin/definition.ts';
import { CommandError, formatted, graphqlIn } from './formats.ts';
import { settingsOf } from './strange-settings.ts';

/** What commands of plugins by the entrance may use. */
export const commandView = (host: CommandHost): ByEntrance => ({
  env: host.env,
  settings(warn = console.error, unheeded = []) {
    const heeded = Object.entries(host.env).filter(([name]) => !unheeded.includes(name));
    const config = settingsOf(Object.fromEntries(heeded), host.plugins, warn);
    return {
      cacheUrl: config.cacheUrl,
      own: (plugin) => config.plugins[plugin] ?? {},
      hasDocuments: config.trustedDocuments !== undefined,
      bodyBytes: config.maxBodyBytes,
      openStore: (url = config.cacheUrl) => openKeptStore(url, config.cacheTimeoutMs),
      openService: async (given) => (await import('./command-service.ts')).openService(config, given, host),
      openUnasked: async () => (await import('./command-service.ts')).openUnasked(config, host),
    };
  },
  error: (message) => new CommandError(message),
  settingsError: (message, options) => new ConfigError(message, options),
  formatted,
  graphqlIn,
  files,
});
