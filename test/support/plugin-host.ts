import { openKeptStore } from '../../src/cache/kept-store.ts';
import { SqliteFile } from '../../src/cache/sqlite-file.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { files } from '../../src/gateway/files-view.ts';
import { openSchema } from '../../src/gateway/open-schema.ts';
import { openPlugins } from '../../src/gateway/opened-plugins.ts';
import type { PluginDefinition } from '../../src/plugin/definition.ts';

/** Opens plugins without a gateway around them. */
export function openAlone(definitions: readonly PluginDefinition[], env: Readonly<Record<string, string>>) {
  const config = readConfig(env, definitions);
  const parts = { config, plugins: definitions };
  const problem = (error: unknown) => {
    throw error;
  };
  return openPlugins(parts, {
    now: Date.now,
    elapsed: () => performance.now(),
    problem,
    warn() {},
    version: () => '0.1.0',
    release: () => '0.1.0',
    files,
    settingsError: (message, options) => new ConfigError(message, options),
    openStore: () => openKeptStore(config.cacheUrl, config.cacheTimeoutMs),
    async openDatabase(file) {
      const opened = new SqliteFile({ ...file, onError: problem });
      opened.open();
      return opened;
    },
  });
}

/** Opens the schema with the parts that plugins add with these settings. */
export async function schemaOf(
  definitions: readonly PluginDefinition[],
  env: Readonly<Record<string, string>>,
) {
  const { all } = await openAlone(definitions, env);
  return openSchema(all.flatMap(({ schema }) => schema ?? []));
}
