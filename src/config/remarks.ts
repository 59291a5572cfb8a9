import type { Config } from './config.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Waits within an operation, in milliseconds. */
const WAITS = [
  ['RATE_LIMIT_WAIT_MS', 'rateLimitWaitMs'],
  ['UPSTREAM_TIMEOUT_MS', 'upstreamTimeoutMs'],
  ['BATCH_HOLD_MS', 'batchHoldMs'],
  ['BATCH_WINDOW_MS', 'batchWindowMs'],
] as const;

const OF_THE_CACHE = ['CACHE_TTL_SECONDS', 'STALE_IF_ERROR_SECONDS', 'CACHE_MAX_BYTES', 'CACHE_TIMEOUT_MS'];

/** A remark on each of some settings that is given though it does nothing. */
export function remarksOnIdle(names: readonly string[], given: Env, because: string): readonly string[] {
  return names.filter((name) => given[name]).map((name) => `${name} does nothing ${because}`);
}

/**
 * Lists settings that others keep from doing what they say. They don't refuse the start, since the gateway does what
 * the stricter one says. Defaults are not remarked on, which nobody has chosen.
 */
export function remarksOnSettings(env: Env, config: Config): readonly string[] {
  const { operationTimeoutMs, cacheUrl, corsOrigins } = config;
  const cut = WAITS.filter(([name, key]) => env[name] && config[key] > operationTimeoutMs);
  const idle = cacheUrl === 'none' ? OF_THE_CACHE.filter((name) => Number(env[name]) > 0) : [];
  const isAny = corsOrigins.includes('*') && corsOrigins.length > 1;
  return [
    ...cut.map(
      ([name, key]) =>
        `${name} (${config[key]}) is longer than OPERATION_TIMEOUT_MS (${operationTimeoutMs}), which ends an operation first`,
    ),
    ...remarksOnIdle(idle, env, 'with CACHE_URL=none'),
    ...(isAny ? ['CORS_ORIGINS allows all origins by *, so the others do nothing'] : []),
  ];
}
