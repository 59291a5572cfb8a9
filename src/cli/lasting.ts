import type { Config } from '../config/config.ts';
import { LONGEST_MS } from '../keys/tenant-cache.ts';

/** Settings of a gateway that keeps everything as long as the store can. */
export function lasting(config: Config): Config {
  const longestSeconds = LONGEST_MS / 1000;
  return { ...config, staleIfErrorSeconds: longestSeconds, authTtlSeconds: longestSeconds };
}
