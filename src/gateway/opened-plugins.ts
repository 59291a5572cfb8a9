import type { GraphQLSchema } from 'graphql';
import { type Config, ConfigError } from '../config/config.ts';
import type { OfflineMode } from '../graphql/request/callers.ts';
import type { KeyHolder } from '../graphql/request/key-doors.ts';
import type { Handle, HandleRequest } from '../graphql/request/stages.ts';
import type { SchemaPart } from '../graphql/schema/schema.ts';
import type { PluginDefinition, PluginHost, PluginHttp } from '../plugin/definition.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import { within } from '../shared/async/within.ts';
import { messageOf } from '../shared/errors.ts';
import { FileError } from '../shared/text-files.ts';
import { adapted } from './adapted-plugin.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { type ComposedGateway, type Kernel, type Plugin, PluginError } from './plugin.ts';

/** Bound of `beforeStop` of all plugins. */
const LEAVING_MS = 2_000;

/**
 * Opens all plugins, or none: if one fails, those that are open are closed.
 * @throws ConfigError naming the plugin that can't be opened, or that needs another which isn't on
 */
export async function openPlugins(
  { config, plugins: definitions = [], own = [] }: Pick<GatewayParts, 'config' | 'plugins' | 'own'>,
  host: PluginHost,
): Promise<OpenedPlugins> {
  const opening = await Promise.allSettled(
    definitions.map((definition) =>
      naming(definition.name, 'opened', () => opened(definition, config, host)),
    ),
  );
  const byName = new Map(own.map((plugin, i) => [`the program's own ${i}`, plugin]));
  for (const [i, { name }] of definitions.entries()) {
    const one = opening[i];
    if (one?.status === 'fulfilled' && one.value !== null) byName.set(name, one.value);
  }
  const all = new OpenedPlugins(byName);
  const failed = opening.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await all.close();
    throw failed.reason;
  }
  const errors = definitions.flatMap(({ name, needs = [] }) =>
    byName.has(name) ? needs.filter((needed) => !byName.has(needed)).map((needed) => ({ name, needed })) : [],
  );
  if (errors.length === 0) return all;
  await all.close();
  const isThere = (needed: string) => definitions.some(({ name }) => name === needed);
  const lines = errors.map(
    ({ name, needed }) =>
      `The plugin ${name} needs the plugin ${needed}, which ${isThere(needed) ? 'is switched off' : 'is not there'}.`,
  );
  throw new ConfigError(lines.join('\n'));
}

async function opened(
  { name, open }: PluginDefinition,
  { plugins }: Config,
  host: PluginHost,
): Promise<Plugin | null> {
  const plugin = await open(plugins[name] as never, host);
  return plugin === null ? null : adapted(plugin);
}

/**
 * Says which plugin it is that fails at the start.
 * @param what of the plugin fails, as `opened`
 */
async function naming<Value>(name: string, what: string, work: () => PromiseOrValue<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    // Those name the setting or the file.
    const isNamed = error instanceof ConfigError || error instanceof FileError;
    if (isNamed || (error instanceof Error && 'syscall' in error)) throw error;
    throw new PluginError(`The plugin ${name} can't be ${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** The plugins of one gateway, the outermost first. */
export class OpenedPlugins {
  readonly #byName: ReadonlyMap<string, Plugin>;
  readonly all: readonly Plugin[];
  #leaving: Promise<void> | null = null;

  constructor(byName: ReadonlyMap<string, Plugin>) {
    this.#byName = byName;
    this.all = [...byName.values()];
  }

  /**
   * The graph with the parts of all plugins.
   * @throws PluginError naming the plugin whose part doesn't fit
   */
  async schema(open: (parts: readonly SchemaPart[]) => Promise<GraphQLSchema>): Promise<GraphQLSchema> {
    try {
      return await open(this.all.flatMap(({ schema = [] }) => schema));
    } catch (error) {
      // The inner ones first: a part may build on those of plugins that it needs.
      const parts: SchemaPart[] = [];
      for (const [name, { schema = [] }] of [...this.#byName].toReversed()) {
        parts.unshift(...schema);
        if (schema.length > 0) await naming(name, 'put into the graph', () => open(parts));
      }
      throw error;
    }
  }

  get http(): readonly PluginHttp[] {
    return this.all.flatMap(({ http }) => http ?? []);
  }

  api<Shape>(name: string): Shape | null {
    return (this.#byName.get(name)?.api?.() as Shape | undefined) ?? null;
  }

  /** Null if no plugin has the mode. */
  get offline(): OfflineMode | null {
    return this.all.find(({ offline }) => offline !== undefined)?.offline ?? null;
  }

  request(next: HandleRequest, kernel: Kernel): HandleRequest {
    return this.all.reduceRight((inner, plugin) => plugin.request?.(inner, kernel) ?? inner, next);
  }

  keys(kernel: Kernel): readonly KeyHolder[] {
    return this.all.flatMap((plugin) => plugin.keys?.(kernel) ?? []);
  }

  operation(next: Handle, kernel: Kernel): Handle {
    return this.all.reduceRight((inner, plugin) => plugin.operation?.(inner, kernel) ?? inner, next);
  }

  async start(gateway: ComposedGateway): Promise<void> {
    for (const [name, plugin] of this.#byName) await naming(name, 'started', () => plugin.start?.(gateway));
  }

  /** Has an effect the first time only. */
  beforeStop(): Promise<void> {
    const leave = async () => void (await Promise.all(this.all.map((plugin) => plugin.beforeStop?.())));
    this.#leaving ??= within(LEAVING_MS, leave());
    return this.#leaving;
  }

  /** In reverse order, so that each can still use those before it. */
  async close(): Promise<void> {
    for (const plugin of this.all.toReversed()) await plugin.close?.();
  }
}
