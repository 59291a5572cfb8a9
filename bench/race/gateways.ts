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

/** No two operations want the same figure. */
const WANTED = countries.flatMap(({ code }) => METRICS.map((metric) => ({ code, metric }))).slice(0, COUNT);

export interface GatewaysResult {
  readonly operations: number;
  /** Calls that one gateway takes for them; and two, each of which is asked for all of them at the same time. */
  readonly ofOne: number;
  readonly ofTwo: number;
  readonly wrong: number;
}

/**
 * Calls that two gateways over one Redis send for operations that both are asked at once; null if there is no
 * Redis.
 */
export async function measureGateways(): Promise<GatewaysResult | null> {
  if (!hasRedis) return null;
  console.error('Two gateways on one Redis');
  await using upstream = await startUpstream(LATENCY);
  await using redis = await startRedis();
  /** However busy the machine is, the operations that are sent at once are a batch. */
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

/**
 * Has a gateway load the code that runs operations, and learn that the key is good; it holds no wanted figure
 * then.
 */
async function warmUp(gateway: Running): Promise<void> {
  for (let i = 0; i < 10; i += 1) await isAnswered(gateway, { code: 'ZW', metric: 'median_age_years' });
}

/** Asks until it is answered: a busy machine may make it refuse. */
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
