/**
 * `npm run workers`: how many operations a second two workers answer, against one, from what is held. The load and the service
 * take time of the same cores, so what counts is how many they would answer if each had a core of its own: operations for
 * each second of processor time that the gateway's processes took. Ends with exit code 1 where that is less than 1.7 times
 * as many. It wants a machine that does nothing else. `--seconds 3` for a short form, `--workers 4` for more.
 */
import { parseArgs } from 'node:util';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { childrenOf } from '../test/support/descendants.ts';
import { startServing } from '../test/support/serving.ts';
import { Connection } from './overload/connection.ts';
import { cpuMsOf } from './race/child.ts';

const LEAST_FACTOR = 1.7;
const CONNECTIONS = 16;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, workers: { type: 'string', default: '2' } },
});
const seconds = Number(values.seconds);

/** Takes milliseconds to answer, and some kilobytes. */
const QUERY = `{ countries { name ${[
  'population_total',
  'life_expectancy',
  'gdp_current_usd',
  'inflation_cpi',
]
  .map((metric, i) => `m${i}: observation(metricKey: "${metric}") { value year source { key } }`)
  .join(' ')} } }`;
const BODY = JSON.stringify({ query: QUERY });
const HEADERS = 'authorization: Bearer demo-team\r\n';

const sandbox = createSandbox();
const service = await sandbox.listen();

interface Rate {
  /** Operations a second. */
  readonly perSecond: number;
  /** Operations for each second of processor time of the gateway. */
  readonly perCoreSecond: number;
}

async function rateOf(workers: string): Promise<Rate> {
  const env = {
    COUNTRY_DATA_URL: service.url,
    WORKERS: workers,
    // Each operation is run.
    ANSWERS_MAX_BYTES: '0',
    GRAPHIQL: 'off',
    LOG_LEVEL: 'silent',
    NODE_ENV: 'production',
  };
  const { child, url } = await startServing({ env });
  const connections = Array.from({ length: CONNECTIONS }, () => new Connection(url));
  let answered = 0;
  let isOver = false;
  const load = async (connection: Connection) => {
    while (!isOver) {
      const { status } = await connection.ask(BODY, HEADERS);
      // What is refused as too much comes back at once, and is no answer.
      if (status === 200) answered += 1;
    }
  };
  for (const connection of connections) await connection.ask(BODY, HEADERS);
  const loads = connections.map(load);
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait((seconds * 1000) / 2);
  const pids = [child.pid, ...childrenOf(child.pid)];
  const cpuMs = () => pids.map(cpuMsOf).reduce((sum, ms) => sum + ms, 0);
  const [before, cpuBefore, startedAt] = [answered, cpuMs(), performance.now()] as const;
  await wait(seconds * 1000);
  const operations = answered - before;
  const rate = {
    perSecond: operations / ((performance.now() - startedAt) / 1000),
    perCoreSecond: operations / ((cpuMs() - cpuBefore) / 1000),
  };
  isOver = true;
  await Promise.all(loads);
  for (const connection of connections) connection.close();
  child.kill('SIGKILL');
  return rate;
}

const one = await rateOf('1');
const several = await rateOf(values.workers);
const factor = (several.perCoreSecond / one.perCoreSecond) * Number(values.workers);
const told = ({ perSecond, perCoreSecond }: Rate) =>
  `${perSecond.toFixed(0)} operations a second, ${perCoreSecond.toFixed(0)} for each second of a core`;
console.log(`1 worker: ${told(one)}; ${values.workers} workers: ${told(several)}`);
console.log(
  `${(several.perSecond / one.perSecond).toFixed(2)} times as many beside the load, ${factor.toFixed(2)} with a core for each`,
);
await sandbox.close();
process.exit(factor >= LEAST_FACTOR ? 0 : 1);
