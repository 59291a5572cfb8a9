import { setTimeout as pause } from 'node:timers/promises';
import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { hasRedis, startRedis } from '../../test/support/redis.ts';
import { LATENCY } from './delayed.ts';
import { OURS_DEFAULT, type Running, startServer } from './servers.ts';
import { startUpstream } from './service.ts';

const METRICS = ['population_total', 'life_expectancy', 'gdp_current_usd', 'urban_population_pct'];
const COUNT = 200;

const QUERY =
  'query ($code: CountryCode!, $metric: String!) { country(code: $code) { name observation(metricKey: $metric) { value } } }';

/** No two operations request the same figure. */
const WANTED = countries.flatMap(({ code }) => METRICS.map((metric) => ({ code, metric }))).slice(0, COUNT);

export interface GatewaysResult {
  readonly operations: number;
  /** Calls of one gateway for them; and of two, both of which get all of them at the same time. */
  readonly ofOne: number;
  readonly ofTwo: number;
  readonly wrong: number;
}

/** Upstream calls of two gateways that share a Redis and get the same operations at once; null without Redis. */
export async function measureGateways(): Promise<GatewaysResult | null> {
  if (!hasRedis) return null;
  console.error('Two gateways on one Redis');
  await using upstream = await startUpstream(LATENCY);
  await using redis = await startRedis();
  // Wide enough that all operations make one batch, even on a busy machine.
  const gathering = { BATCH_WINDOW_MS: '1000', MAX_CONCURRENT_OPERATIONS: '2000', CACHE_TIMEOUT_MS: '2000' };
  let wrong = 0;
  const callsOf = async (count: number, env: Readonly<Record<string, string>>) => {
    await using stack = new AsyncDisposableStack();
    const start = () => startServer(OURS_DEFAULT, upstream.url, { env: { ...gathering, ...env } });
    const gateways = await Promise.all(Array.from({ length: count }, start));
    for (const { child } of gateways) stack.use(child);
    for (const gateway of gateways) await warmUp(gateway);
    const before = await upstream.calls();
    const asked = gateways.flatMap((gateway) => WANTED.map((wanted) => isAnswered(gateway, wanted)));
    wrong += (await Promise.all(asked)).filter((isRight) => !isRight).length;
    return (await upstream.calls()) - before;
  };
  const ofOne = await callsOf(1, {});
  const ofTwo = await callsOf(2, { CACHE_URL: redis.url });
  return { operations: COUNT, ofOne, ofTwo, wrong };
}

/** Has a gateway load its code and learn that the key is accepted. It caches no figure that is requested later. */
async function warmUp(gateway: Running): Promise<void> {
  for (let i = 0; i < 10; i += 1) await isAnswered(gateway, { code: 'ZW', metric: 'median_age_years' });
}

/** Retries after a 503, which a busy machine may cause. Returns true if the response is right. */
async function isAnswered(
  { child }: Running,
  variables: { readonly code: string; readonly metric: string },
): Promise<boolean> {
  for (;;) {
    const response = await fetch(child.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
      body: JSON.stringify({ query: QUERY, variables }),
    });
    const text = await response.text();
    if (response.status !== 503) return text.startsWith('{"data":{"country":{"name":"');
    await pause(100);
  }
}
