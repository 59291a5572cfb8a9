import { createHash } from 'node:crypto';
import { openProgram } from '../test/support/program.ts';
import { createAddressCache } from './address-cache.ts';

const OPERATIONS = 5_000;
const SEED = 20_261_121;
const START = Date.parse('2026-11-10T00:00:00Z');
const DAY_SECONDS = 86_400;
const TTL_SECONDS = 300;

/** Countries and indicators, the most popular first. */
const CODES = [
  'NG',
  'ZA',
  'KE',
  'EG',
  'GH',
  'ET',
  'MA',
  'TZ',
  'UG',
  'RW',
  'CI',
  'SN',
  'DZ',
  'AO',
  'CM',
  'TN',
  'CD',
  'ZM',
  'ZW',
  'MZ',
  'BW',
  'NA',
  'ML',
  'BF',
  'BJ',
  'TG',
  'NE',
  'TD',
  'GA',
  'MG',
];
const KEYS = [
  'population_total',
  'gdp_current_usd',
  'inflation_cpi_latest_yoy_pct',
  'official_exchange_rate_latest_lcu_per_usd',
  'life_expectancy',
  'policy_rate_pct',
  'gdp_growth_annual_pct',
  'mobile_subscriptions_per_100',
  'internet_users_pct',
  'access_electricity_pct',
  'refugees_hosted_total',
  'fertility_rate_births_per_woman',
  'forest_area_pct',
  'gini_index',
  'tax_revenue_pct_gdp',
  'arable_land_pct',
];

/** Runs of sources on that day, including weekly and monthly ones that are due. */
const RUNS: readonly (readonly [hour: number, source: string])[] = [
  [1.5, 'fx_usd_daily'],
  [3.1, 'commodity_prices_daily'],
  [3.4, 'cbn_ng_signals'],
  [3.5, 'cbk_ke_signals'],
  [3.6, 'sarb_za_signals'],
  [3.7, 'cbe_eg_signals'],
  [4.2, 'bceao_fx_rates'],
  [4.3, 'beac_fx_rates'],
  [9.0, 'unhcr_displacement_signals'],
  [13.5, 'fx_usd_daily'],
  [17.2, 'imf_ifs'],
];

/** One view of a dashboard. */
interface View {
  readonly atMs: number;
  readonly codes: readonly string[] | null;
  readonly keys: readonly string[];
  readonly isSeries: boolean;
  readonly hasList: boolean;
}

/** A seeded generator of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A day of dashboard views: most of them in office hours, of a few popular countries and figures. */
function viewsOfTheDay(): View[] {
  const random = createRandom(SEED);
  const popular = <T>(all: readonly T[]): T => all[Math.floor(all.length * random() ** 2.2)] as T;
  const some = <T>(all: readonly T[], count: number) =>
    [...new Set(Array.from({ length: count }, () => popular(all)))].sort();
  const secondOfDay = () =>
    random() < 0.2 ? random() * DAY_SECONDS : (6 + ((random() + random() + random()) / 3) * 14) * 3600;
  const kinds: readonly (() => Omit<View, 'atMs'>)[] = [
    // A country's card.
    () => ({ codes: some(CODES, 1), keys: KEYS.slice(0, 6), isSeries: false, hasList: true }),
    () => ({ codes: some(CODES, 1), keys: KEYS.slice(0, 6), isSeries: false, hasList: true }),
    // A comparison over time.
    () => ({
      codes: some(CODES, 2 + Math.floor(random() * 4)),
      keys: some(KEYS, 1),
      isSeries: true,
      hasList: false,
    }),
    // A map.
    () => ({ codes: null, keys: some(KEYS, 1), isSeries: false, hasList: true }),
    // An arbitrary selection.
    () => ({
      codes: some(CODES, 1 + Math.floor(random() * 6)),
      keys: some(KEYS, 1 + Math.floor(random() * 4)),
      isSeries: random() < 0.3,
      hasList: false,
    }),
    () => ({
      codes: some(CODES, 1 + Math.floor(random() * 3)),
      keys: some(KEYS, 1 + Math.floor(random() * 3)),
      isSeries: false,
      hasList: false,
    }),
  ];
  return Array.from({ length: OPERATIONS }, () => ({
    atMs: START + Math.floor(secondOfDay() * 1000),
    ...(kinds[Math.floor(random() * kinds.length)] as () => Omit<View, 'atMs'>)(),
  })).sort((a, b) => a.atMs - b.atMs);
}

function queryOf({ codes, keys, isSeries, hasList }: View): string {
  const figures = isSeries
    ? `observations(metricKeys: ${JSON.stringify(keys)}) { year value }`
    : keys.map((key, i) => `f${i}: observation(metricKey: "${key}") { value year }`).join(' ');
  const list = codes === null ? '' : `(codes: ${JSON.stringify(codes)})`;
  return `{ countries${list} { code ${hasList ? 'name' : ''} ${figures} } }`;
}

interface Way {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Lifetime of responses without `cache-control` in a cache by URL in front of the service; without it, there is no such cache. */
  readonly addressesForMs?: number;
}

const WAYS: readonly Way[] = [
  { name: 'no cache', env: { CACHE_URL: 'none' } },
  { name: 'URLs, as headers allow', env: { CACHE_URL: 'none' }, addressesForMs: 0 },
  {
    name: `URLs, each for ${TTL_SECONDS} s`,
    env: { CACHE_URL: 'none' },
    addressesForMs: TTL_SECONDS * 1000,
  },
  { name: 'entries', env: { CACHE_RENEWAL: 'off' } },
  { name: 'entries and etl-status', env: {} },
];

/** Replays the day. Returns the calls that reached the service, by route, and a digest of all responses. */
async function replay(
  { env, addressesForMs }: Way,
  views: readonly View[],
): Promise<{ byRoute: Record<string, number>; answers: string }> {
  let nowMs = START;
  const clock = { now: () => nowMs, sleep: async () => {} };
  await using service = await openProgram({ clock, sandbox: { now: clock.now } });
  const cache =
    addressesForMs === undefined
      ? undefined
      : await createAddressCache(service.service.url, { now: clock.now, ttlMs: addressesForMs });
  await using program = await openProgram({
    clock,
    upstreamUrl: cache?.url ?? service.service.url,
    env: { CACHE_URL: 'memory:', CACHE_TTL_SECONDS: String(TTL_SECONDS), BATCH_WINDOW_MS: '0', ...env },
  });
  const byRoute: Record<string, number> = {};
  const answers = createHash('sha256');
  const count = () => {
    for (const { route } of service.sandbox.log) byRoute[String(route)] = (byRoute[String(route)] ?? 0) + 1;
    service.sandbox.log.clear();
  };
  const runs = [...RUNS];
  for (const view of views) {
    while (runs[0] !== undefined && START + runs[0][0] * 3_600_000 <= view.atMs) {
      nowMs = START + runs[0][0] * 3_600_000;
      service.sandbox.refresh(runs[0][1]);
      runs.shift();
    }
    nowMs = view.atMs;
    const { data, errors } = await program.ask(queryOf(view));
    answers.update(JSON.stringify(data));
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    count();
  }
  await cache?.close();
  return { byRoute, answers: answers.digest('hex') };
}

/** Calls of a gateway that sends one call per field, so that URLs repeat, and caches each response for the same time. */
function callsByField(views: readonly View[], allCodes: readonly string[]): number {
  const freshUntilMs = new Map<string, number>();
  let calls = 0;
  const ask = (address: string, atMs: number) => {
    if ((freshUntilMs.get(address) ?? 0) > atMs) return;
    freshUntilMs.set(address, atMs + TTL_SECONDS * 1000);
    calls += 1;
  };
  for (const { atMs, codes, keys, isSeries, hasList } of views) {
    if (hasList || codes === null) ask('countries', atMs);
    for (const code of codes ?? allCodes) for (const key of keys) ask(`${isSeries} ${code} ${key}`, atMs);
  }
  return calls;
}

/** Prints the upstream calls of one key on a replayed day, with several kinds of caches. */
export async function printDay(): Promise<void> {
  const views = viewsOfTheDay();
  console.log(`## Upstream calls of ${OPERATIONS} dashboard operations on one day, one key (seed ${SEED})\n`);
  console.log(
    `Cached values live for ${TTL_SECONDS} s; ${RUNS.length} runs of sources change figures meanwhile.\n`,
  );
  console.log('| what is cached                    |  calls | of data | of etl-status | : entries |');
  console.log('|-----------------------------------|-------:|--------:|--------------:|--------:|');
  await using service = await openProgram();
  const { data } = await service.ask('{ countries { code } }');
  const rows: [name: string, calls: number, data: number, etl: number][] = [];
  rows.push([
    `URLs, one call per field, ${TTL_SECONDS} s`,
    callsByField(
      views,
      data.countries.map(({ code }: { code: string }) => code),
    ),
    Number.NaN,
    0,
  ]);
  const seen = new Set<string>();
  for (const way of WAYS) {
    const { byRoute, answers } = await replay(way, views);
    seen.add(answers);
    const calls = Object.values(byRoute).reduce((sum, n) => sum + n, 0);
    rows.push([way.name, calls, byRoute['/v1/data'] ?? 0, byRoute['/v1/platform/etl-status'] ?? 0]);
  }
  if (seen.size > 1) throw new Error('The responses differ between kinds of caches.');
  const entries = rows.find(([name]) => name === 'entries')?.[1] ?? 1;
  for (const [name, calls, ofData, ofEtl] of rows) {
    const shown = Number.isNaN(ofData) ? '' : String(ofData);
    console.log(
      `| ${name.padEnd(33)} | ${String(calls).padStart(6)} | ${shown.padStart(7)} | ${String(ofEtl).padStart(13)} | ${(calls / entries).toFixed(2).padStart(7)} |`,
    );
  }
  console.log('');
}
