import { openKeptStore } from '../cache/kept-store.ts';
import { ConfigError } from '../config/config.ts';
import { files } from '../gateway/files-view.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import { PUBLISHED_PLANS } from '../keys/ledger.ts';
import type { CommandHost as ByEntrance } from '../plugin/definition.ts';
import { type Clock, systemClock } from '../shared/async/clock.ts';
import { CommandError, formatted, graphqlIn, operationFrom } from './formats.ts';
import { onParentLost } from './lost-parent.ts';
import { settingsOf } from './strange-settings.ts';

/** What commands of plugins by the entrance may use. */
export const commandView = (host: CommandHost, clock: Clock = systemClock): ByEntrance => ({
  env: host.env,
  settings(warn = console.error, unheeded = []) {
    const heeded = Object.entries(host.env).filter(([name]) => !unheeded.includes(name));
    const config = settingsOf(Object.fromEntries(heeded), host.plugins, warn);
    return {
      cacheUrl: config.cacheUrl,
      own: (plugin) => config.plugins[plugin] ?? {},
      hasDocuments: config.trustedDocuments !== undefined,
      documents: () => documentsIn(config.trustedDocuments),
      bodyBytes: config.maxBodyBytes,
      openStore: (url = config.cacheUrl) => openKeptStore(url, config.cacheTimeoutMs),
      openService: async (given) => (await import('./command-service.ts')).openService(config, given, host),
      openUnasked: async () => (await import('./command-service.ts')).openUnasked(config, host),
      openFilling: async (terms) =>
        (await import('./filling/filling.ts')).openFilling(config, terms, host, clock),
      openRecording: async (given) => (await import('./recording.ts')).openRecording(config, given, host),
    };
  },
  error: (message) => new CommandError(message),
  settingsError: (message, options) => new ConfigError(message, options),
  formatted,
  graphqlIn,
  operationIn: operationFrom,
  documentsIn,
  plans: PUBLISHED_PLANS,
  onParentLost: (lost) => onParentLost(host.env, lost),
  files,
});

async function documentsIn(path: string | undefined) {
  if (path === undefined) return [];
  const { openTrusted } = await import('../graphql/request/trusted.ts');
  const { trusted, stop } = await openTrusted(path);
  stop();
  return trusted ?? [];
}
