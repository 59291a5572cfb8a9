import { ConfigError } from '../config/config.ts';
import type { OfflineMode } from '../graphql/request/callers.ts';
import type { KeyHolder } from '../graphql/request/key-doors.ts';
import type { Handle, HandleRequest } from '../graphql/request/stages.ts';
import { within } from '../shared/async/within.ts';
import type { ComposedGateway, Kernel, Plugin, PluginDefinition, PluginHost, PluginHttp } from './plugin.ts';

/** Bound of `beforeStop` of all plugins. */
const LEAVING_MS = 2_000;

/** @throws ConfigError if a plugin needs another that isn't on */
export async function openPlugins(
  definitions: readonly PluginDefinition[],
  host: PluginHost,
): Promise<OpenedPlugins> {
  const { plugins } = host.config;
  const opened = await Promise.all(
    definitions.map(async ({ name, open }) => [name, await open(plugins[name] as never, host)] as const),
  );
  const byName = new Map(
    opened.flatMap(([name, plugin]) => (plugin === null ? [] : [[name, plugin] as const])),
  );
  const all = new OpenedPlugins(byName);
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

/** The plugins of one gateway, the outermost first. */
export class OpenedPlugins {
  readonly #byName: ReadonlyMap<string, Plugin>;
  readonly all: readonly Plugin[];
  #leaving: Promise<void> | null = null;

  constructor(byName: ReadonlyMap<string, Plugin>) {
    this.#byName = byName;
    this.all = [...byName.values()];
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
    for (const plugin of this.all) await plugin.start?.(gateway);
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
