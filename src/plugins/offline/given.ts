import { keyFrom } from '../../cli/given-key.ts';
import type { Config } from '../../config/config.ts';
import type { CommandHost } from '../../gateway/plugin.ts';
import { LONGEST_MS } from '../../keys/tenant-cache.ts';
import type { Clock } from '../../shared/async/clock.ts';

/** Settings of a gateway that asks, and whose store keeps what it is given for as long as it can. */
export function lasting(config: Config): Config {
  const longestSeconds = LONGEST_MS / 1000;
  return {
    ...config,
    staleIfErrorSeconds: longestSeconds,
    authTtlSeconds: longestSeconds,
    plugins: { ...config.plugins, offline: { OFFLINE: false } },
  };
}

/** Returns the key of a command's options, or else the one that a gateway has of its own; undefined if none is given. */
export function keyOf(
  { key, keyFile }: { readonly key?: string | undefined; readonly keyFile?: string | undefined },
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const given = key ?? env.COUNTRY_DATA_KEY;
  if (given !== undefined || keyFile !== undefined) return keyFrom(given, keyFile);
  return keyFrom(undefined, env.COUNTRY_DATA_KEY_FILE, 'COUNTRY_DATA_KEY_FILE');
}

/** What a fill has around it: a terminal or none, and a clock. */
export interface Surroundings extends Pick<CommandHost, 'env' | 'plugins' | 'openSandbox'> {
  readonly clock: Clock;
  /** True if the reader sees a bar grow. */
  readonly isTerminal: boolean;
  /** Writes to standard output, and to standard error. */
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** Asks somebody; null if nobody is there. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}
