import type { Config } from '../config/config.ts';
import { startedOf } from '../gateway/adapted-plugin.ts';
import type { GatewayParts } from '../gateway/gateway-parts.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import type { CommandGateway, CommandKey, CommandService } from '../plugin/definition.ts';
import { createLog } from '../server/log.ts';
import { ownBuild } from '../shared/own-version.ts';
import { openAskedService } from './asked-service.ts';
import { openComposed } from './composed.ts';
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
    openGateway: (documents) => openGateway({ config, plugins, upstreamUrl, observer: log }, documents),
  };
}

/** Opens a gateway that keeps nothing and sends nothing. */
export function openUnasked(config: Config, { plugins }: CommandHost): Promise<CommandGateway> {
  const observer = { operation() {}, attempt() {}, problem() {} };
  const upstreamUrl = 'http://127.0.0.1';
  return openGateway({ config: { ...config, cacheUrl: 'memory:' }, plugins, upstreamUrl, observer });
}

async function openGateway(parts: GatewayParts, documents?: readonly string[]): Promise<CommandGateway> {
  const { gateway, stop } = await openComposed(parts, documents);
  return { gateway: startedOf(gateway), release: ownBuild().version, stop };
}
