import { lineOf } from './child.ts';
import { median } from './load.ts';
import { OURS_COLD, type Running, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { short, table } from './table.ts';

/** Metrics with a row nearly every year for nearly every country. */
const YEARLY = [
  'population_total',
  'life_expectancy',
  'population_under_15_pct',
  'median_age_years',
  'population_growth_pct',
  'urban_population_pct',
  'fertility_rate_births_per_woman',
  'fish_catch_marine_t',
  'temperature_anomaly_c',
  'population_over_65_pct',
  'gdp_per_capita_current_usd',
  'gdp_current_usd',
  'population_female_pct',
  'birth_rate_per_1000',
  'infant_mortality_per_1000',
  'under5_mortality_per_1000',
  'oda_received_usd',
  'maize_production_t',
  'cattle_stock_heads',
  'population_density_per_km2',
];

const FIELDS = '{ country { code } indicator { key } year value unit source { key } }';

const series = (metrics: number) =>
  `{ observations(metricKeys: ${JSON.stringify(YEARLY.slice(0, metrics))}, fromYear: 1976) ${FIELDS} }`;

const SIZES: readonly { readonly name: string; readonly query: string }[] = [
  { name: 'latest, 54 × 207 requested', query: `{ observations(latest: true) ${FIELDS} }` },
  { name: 'series, 2 metrics', query: series(2) },
  { name: 'series, 4 metrics', query: series(4) },
  { name: 'series, 20 metrics', query: series(20) },
];

const PASSES = 5;

export interface SizeResult {
  readonly name: string;
  readonly rows: number;
  readonly megabytes: number;
  readonly calls: number;
  /** The first response of the process. */
  readonly firstMs: number;
  readonly medianMs: number;
  /** The times of which `medianMs` is the median. */
  readonly times: readonly number[];
  readonly longestBlockMs: number;
  readonly peakRssMb: number;
}

/** Measures ours, cold, with responses of growing size, each size in a new process. */
export async function measureScale(): Promise<SizeResult[]> {
  await using upstream = await startUpstream();
  const results: SizeResult[] = [];
  for (const { name, query } of SIZES) {
    await askFresh(upstream.url, async (ours) => void (await ask(ours, query)));
    const callsBefore = await upstream.calls();
    await askFresh(upstream.url, async (ours) => {
      await longestBlockMs(ours);
      const first = await ask(ours, query);
      const calls = (await upstream.calls()) - callsBefore;
      const times: number[] = [];
      for (let pass = 0; pass < PASSES; pass += 1) times.push((await ask(ours, query)).ms);
      results.push({
        name,
        rows: first.rows,
        megabytes: first.bytes / 1e6,
        calls,
        firstMs: first.ms,
        medianMs: median(times),
        times,
        longestBlockMs: await longestBlockMs(ours),
        peakRssMb: ours.child.peakRssMb(),
      });
    });
  }
  return results;
}

async function askFresh(upstreamUrl: string, use: (ours: Running) => Promise<void>): Promise<void> {
  const nodeArgs = ['--import', './bench/race/event-loop-watch.ts'];
  // Series take one call per thousand rows.
  const ours = await startServer(OURS_COLD, upstreamUrl, { nodeArgs, env: { MAX_UPSTREAM_CALLS: '1000' } });
  await using _child = ours.child;
  await use(ours);
}

async function longestBlockMs({ child }: Running): Promise<number> {
  const line = lineOf(child, /^longest block (\S+)$/);
  child.process.kill('SIGUSR2');
  return Number((await line)[1]);
}

async function ask({ child }: Running, query: string) {
  const startedAt = performance.now();
  const response = await fetch(child.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
    body: JSON.stringify({ query }),
  });
  const body = await response.text();
  const ms = performance.now() - startedAt;
  const { data, errors } = JSON.parse(body);
  if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 500));
  return { ms, bytes: Buffer.byteLength(body), rows: data.observations.length as number };
}

export function scaleTable(results: readonly SizeResult[]): string {
  return table(
    ['response', 'rows', 'MB', 'calls', 'first ms', 'then ms', 'µs/row', 'longest block ms', 'peak RSS MB'],
    results.map((size) => [
      size.name,
      String(size.rows),
      short(size.megabytes),
      String(size.calls),
      short(size.firstMs),
      short(size.medianMs),
      short((size.medianMs / size.rows) * 1000),
      short(size.longestBlockMs),
      short(size.peakRssMb),
    ]),
  );
}
