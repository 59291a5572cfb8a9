import type { Config } from '../../config/config.ts';
import type { CommandHost } from '../../gateway/plugin.ts';
import { LONGEST_MS } from '../../keys/tenant-cache.ts';
import type { Clock } from '../../shared/async/clock.ts';

/** Settings of a gateway that sends calls, and keeps everything as long as the store can. */
export function lasting(config: Config): Config {
  const longestSeconds = LONGEST_MS / 1000;
  return {
    ...config,
    staleIfErrorSeconds: longestSeconds,
    authTtlSeconds: longestSeconds,
    plugins: { ...config.plugins, offline: { OFFLINE: false } },
  };
}

export interface Surroundings extends Pick<CommandHost, 'env' | 'plugins' | 'openSandbox'> {
  readonly clock: Clock;
  readonly isTerminal: boolean;
  /** To standard output. */
  readonly print: (text: string) => void;
  /** To standard error. */
  readonly note: (text: string) => void;
  /** Null if nobody is there to answer. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}
