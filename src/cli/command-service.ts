import type { Config } from '../config/config.ts';
import { startedOf } from '../gateway/adapted-plugin.ts';
import { createGateway } from '../gateway/gateway.ts';
import { type CommandHost, type ComposedGateway, definePlugin } from '../gateway/plugin.ts';
import type { CommandKey, CommandService } from '../plugin/definition.ts';
import { createLog } from '../server/log.ts';
import { ownVersion } from '../shared/own-version.ts';
import { openAskedService } from './asked-service.ts';
import { keyFrom } from './given-key.ts';

/** Opens what a plugin's command asks. */
export async function openService(
  config: Config,
  { key: given, keyFile, remarks }: CommandKey,
  { openSandbox, plugins }: CommandHost,
): Promise<CommandService> {
  const givenKey = await keyFrom(given, keyFile);
  const log = createLog(config.logLevel);
  for (const words of remarks) log.warn(words);
  const { url: upstreamUrl, key, close } = await openAskedService(config, givenKey, openSandbox, log.note);
  return {
    key,
    close,
    problem: (error, where) => log.problem(error, where),
    async openGateway(documents) {
      const { promise: composed, resolve: compose } = Promise.withResolvers<ComposedGateway>();
      const asking = definePlugin({
        name: 'command',
        settings: {},
        open: () => ({ documents, start: compose }),
      });
      const gateway = await createGateway({
        config,
        plugins: [...plugins, asking],
        upstreamUrl,
        observer: log,
      });
      return { gateway: startedOf(await composed), version: ownVersion(), stop: () => gateway.stop() };
    },
  };
}
