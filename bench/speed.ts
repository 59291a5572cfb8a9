import { parse } from 'graphql';
import { cover } from '../src/observations/planner/cover.ts';
import { openProgram } from '../test/support/program.ts';
import { createPlainGateway } from './plain-gateway.ts';

const metricsOf = (count: number) =>
  [
    'population_total',
    'life_expectancy',
    'gdp_current_usd',
    'internet_users_pct',
    'fertility_rate_births_per_woman',
    'forest_area_pct',
    'gini_index',
    'idps_total',
    'rail_lines_km',
    'road_network_km',
    'median_age_years',
    'cattle_stock_heads',
    'birth_rate_per_1000',
    'pm25_exposure_ug_m3',
    'tax_revenue_pct_gdp',
    'hiv_prevalence_pct',
    'solar_capacity_mw',
    'arable_land_pct',
  ].slice(0, count);
const allCountries = (count: number) =>
  `{ countries { code ${metricsOf(count)
    .map(
      (key, i) =>
        `f${i}: observation(metricKey: "${key}") { value year period unit valueStatus isModelled retrievedAt source { key } }`,
    )
    .join(' ')} } }`;

const OPERATIONS: Readonly<Record<string, string>> = {
  'one figure': '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
  'two depths':
    '{ country(code: "KE") { observation(metricKey: "population_total") { value } } countries { observation(metricKey: "life_expectancy") { value } } }',
  '54 × 3 figures': allCountries(3),
  '54 × 18 figures': allCountries(18),
};

const LATENCY_MS = 20;
const PASSES = 25;

/** Runs passes one after the other. Returns their median and mean CPU time, in milliseconds. */
async function measure(pass: () => Promise<unknown>): Promise<{ median: number; cpu: number }> {
  for (let i = 0; i < 5; i += 1) await pass();
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let i = 0; i < PASSES; i += 1) {
    const startedAt = performance.now();
    await pass();
    times.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    median: times.sort((a, b) => a - b)[Math.floor(PASSES / 2)] ?? 0,
    cpu: (user + system) / 1000 / PASSES,
  };
}

/** Compares Country Graph over HTTP with bare execution of a hand-written gateway, which is therefore at an advantage. */
export async function printSpeed(): Promise<void> {
  await using program = await openProgram({ sandbox: { latencyMs: LATENCY_MS } });
  const { sandbox, service } = program;
  const plain = createPlainGateway(service.url);
  console.log(`## Time of an operation, over a service with ${LATENCY_MS} ms of latency\n`);
  console.log(
    'Ours is called over HTTP; plain is executed in this process, without parsing, validation, pricing or HTTP.',
  );
  console.log('CPU is the CPU time of this process, which also runs the service.\n');
  console.log('| operation       | ours : plain, median | ours : plain, CPU | explained : run |');
  console.log('|-----------------|---------------------:|------------------:|----------------:|');
  for (const [name, query] of Object.entries(OPERATIONS)) {
    const document = parse(query);
    const ours = await measure(() => program.ask(query));
    const theirs = await measure(() => plain.run(document, sandbox.keys.team));
    const explained = await measure(() => program.ask(query, { headers: { 'x-explain': '1' } }));
    const ratio = (a: number, b: number) => (a / b).toFixed(2);
    console.log(
      `| ${name.padEnd(15)} | ${ratio(ours.median, theirs.median).padStart(20)} | ${ratio(ours.cpu, theirs.cpu).padStart(17)} | ${ratio(explained.median, ours.median).padStart(15)} |`,
    );
  }
  await plain.close();

  const pairs = Array.from({ length: 54 * 207 }, (_, i) => ({
    countryCode: `c${i % 54}`,
    metricKey: `m${Math.floor(i / 54)}`,
  }));
  const limits = { maxRows: 1000, maxCodes: 250, maxAddress: 6000 };
  const { median } = await measure(async () => cover(pairs, limits, () => 1));
  console.log(
    `\nThe planner covers ${pairs.length} demands with ${cover(pairs, limits, () => 1).length} calls in ${median.toFixed(1)} ms.\n`,
  );
}
