import type { Config } from '../config/config.ts';
import { type Explained, explained, priceIn } from '../graphql/request/own-requests.ts';
import type { PluginDefinition } from '../plugin/definition.ts';
import { messageOf } from '../shared/errors.ts';
import { CommandError } from './formats.ts';

/** What a command opens its gateway with. */
export interface OwnGatewayParts {
  readonly config: Config;
  readonly plugins: readonly PluginDefinition[];
  /** Told of its troubles. */
  readonly note: (words: string) => void;
}

/** Nothing is sent there. */
const NOWHERE = 'http://127.0.0.1';

/** Opens the gateway of a command, with the stages that one of `serve` would have. */
export async function openOwnGateway({ config, plugins, note }: OwnGatewayParts, upstreamUrl: string) {
  const { createGateway } = await import('../gateway/gateway.ts');
  const problem = (error: unknown, where: string) => note(`${where}: ${messageOf(error)}`);
  const observer = { operation() {}, attempt() {}, warn: note, problem };
  return createGateway({ config, plugins, upstreamUrl, observer });
}

export async function sdlFor(whom: string, parts: OwnGatewayParts): Promise<string> {
  // No store is needed, so none is touched.
  const config = { ...parts.config, cacheUrl: 'memory:' };
  const gateway = await openOwnGateway({ ...parts, config }, NOWHERE);
  try {
    const { printClientSdl } = await import('../graphql/schema/sdl.ts');
    return whom === 'clients' ? printClientSdl(gateway.schema) : gateway.sdl;
  } finally {
    await gateway.stop();
  }
}

/**
 * Writes the calls of an operation as a table.
 * @param key that what is cached is cached under
 * @throws CommandError if the operation would be refused
 */
export async function priceTable(question: object, key: string, parts: OwnGatewayParts): Promise<string> {
  const gateway = await openOwnGateway(parts, NOWHERE);
  try {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await explained(gateway.handle, question, { headers });
    const price = priceIn(reply);
    if (price === null) throw new CommandError(reply.errors.map(({ message }) => message).join('\n'));
    return tableOf(price);
  } finally {
    await gateway.stop();
  }
}

function tableOf({ calls, least, most, naive, cached, byRoute, plan }: Explained): string {
  const width = Math.max(5, ...Object.keys(byRoute).map((route) => route.length));
  const row = (count: number | string, route: string, request: string) =>
    `${String(count).padStart(5)}  ${route.padEnd(width)}  ${request}`.trimEnd();
  const requests = (route: string) =>
    plan.filter((call) => call.route === route && !call.cached).map(({ target }) => target);
  const ofCache = cached === 0 ? '' : `; ${cached} answered by the cache`;
  return [
    row('calls', 'route', 'requests'),
    ...Object.entries(byRoute).flatMap(([route, count]) =>
      requests(route).map((target, i) => row(i === 0 ? count : '', i === 0 ? route : '', `GET ${target}`)),
    ),
    row(
      calls,
      'in all',
      `(at least ${least}, at most ${most}; ${naive} if each field fetched for itself${ofCache})`,
    ),
  ].join('\n');
}
