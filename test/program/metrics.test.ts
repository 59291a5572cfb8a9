import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OpenedPlugins } from '../../src/gateway/opened-plugins.ts';
import { createMetrics, createSummedMetrics } from '../../src/server/metrics.ts';
import { openProgram, type Program } from '../support/program.ts';
import { hasProgram } from '../support/programs.ts';
import { tenantOf } from '../support/tenants.ts';

async function scrape({ url }: Pick<Program, 'url'>): Promise<string> {
  return (await fetch(url.replace('/graphql', '/metrics'))).text();
}

/** The values of a metric's series by their labels. */
function seriesOf(text: string, name: string): Record<string, number> {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))];
  return Object.fromEntries(lines.map(([, labels = '', value]) => [labels, Number(value)]));
}

/** A gateway as metrics see it. */
const WATCHED = {
  trusted: null,
  issued: null,
  plugins: new OpenedPlugins(new Map()),

  load: {
    underWay: 2,
    waiting: 0,
    begun: 0,
    delayed: 0,
    refused: { full: 0, late: 0 },
  },
  state: {
    lookups: {
      figures: { hits: 1, misses: 0 },
      lists: { hits: 0, misses: 0 },
      answers: { hits: 0, misses: 0 },
    },
    recentLimits: () => [],
    openCircuits: () => [{ route: '/v1/data', isOpenForAll: true, keys: 1 }],
  },
};

const FIGURE = 'query Kenya { country(code: "KE") { observation(metricKey: "population_total") { value } } }';

describe('operations', () => {
  it('operations in metrics are told apart by name, with the calls that they were billed', async () => {
    await using program = await openProgram();
    const { upstream } = await program.ask(FIGURE);
    await program.ask('{ __typename }');
    await program.ask('query Wrong { nothing }');
    expect(program.requests()).toHaveLength(upstream.calls);
    const text = await scrape(program);
    expect(seriesOf(text, 'country_graph_named_operation_duration_seconds_count')).toEqual({
      'operation="Kenya",outcome="ok"': 1,
      'operation="",outcome="ok"': 1,
      'operation="other",outcome="error"': 1,
    });
    expect(seriesOf(text, 'country_graph_named_operation_calls_total')).toEqual({
      'operation="Kenya"': upstream.calls,
    });
  });

  const event = (name: string | null, errorCodes: string[] = []) =>
    ({
      name,
      type: 'query',
      durationMs: 1,
      calls: 0,
      shared: 0,
      cached: 0,
      stale: 0,
      repeated: false,
      errorCodes,
      isProven: true,
    }) as const;
  const namesIn = async ({ text }: { text(): Promise<string> }) =>
    Object.keys(seriesOf(await text(), 'country_graph_named_operation_duration_seconds_count')).map(
      (labels) => /operation="(.*?)"/.exec(labels)?.[1],
    );

  it('operations in metrics have a bounded number of names, none of which a failure adds', async () => {
    const metrics = createMetrics();
    metrics.operation(event('Refused', ['UNAUTHENTICATED']));
    metrics.operation(event('x'.repeat(101)));
    for (let i = 0; i < 200; i++) metrics.operation({ ...event(`Anybody${i}`), isProven: false });
    for (let i = 0; i < 1_000; i++) metrics.operation(event(`Made${i}`));
    const names = new Set(await namesIn(metrics));
    expect(names.size).toBe(101);
    expect(names).toContain('Made99');
    expect(names).not.toContain('Made100');
    expect(names).not.toContain('Refused');
    const counts = seriesOf(await metrics.text(), 'country_graph_named_operation_duration_seconds_count');
    expect(counts['operation="other",outcome="ok"']).toBe(1_101);
  });

  it('operations in metrics have the names of the trusted documents as they are now', async () => {
    const gateway = { ...WATCHED, trusted: [{ id: '1', text: 'query First { __typename }' }] };
    const metrics = createMetrics();
    metrics.watch(gateway);
    metrics.operation(event('First'));
    metrics.operation(event('Second'));
    gateway.trusted = [{ id: '2', text: 'query Second { __typename }' }];
    metrics.operation(event('Second'));
    metrics.operation(event('First'));
    expect(await namesIn(metrics)).toEqual(['First', 'other', 'Second']);
  });

  it('operations in metrics have the names of the trusted documents alone, where there are any', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'country-graph-metrics-'));
    const file = join(folder, 'trusted.json');
    await writeFile(
      file,
      JSON.stringify({ one: 'query Platform { platformVersion { version } }', two: '{ __typename }' }),
    );
    try {
      await using program = await openProgram({ env: { TRUSTED_DOCUMENTS: file } });
      await program.ask('query Platform { platformVersion { version } }');
      await program.ask('{ __typename }');
      expect(program.requests()).toEqual(['GET /v1/platform/version']);
      expect(await namesIn({ text: () => scrape(program) })).toEqual(['Platform', '']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('caches', () => {
  it('metrics of caches count what was looked for by kind, and what was found', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const query =
      '{ countries { code } country(code: "KE") { observation(metricKey: "population_total") { value } } }';
    const lookups = async () => seriesOf(await scrape(program), 'country_graph_cache_lookups_total');
    const calls = [];
    for (let i = 0; i < 4; i++) calls.push((await program.ask(query)).upstream.calls);
    expect(calls).toEqual([2, 0, 0, 0]);
    expect(program.requests()).toHaveLength(2);
    const found = await lookups();
    expect(found['kind="figures",result="miss"']).toBe(1);
    expect(found['kind="lists",result="miss"']).toBe(1);
    expect(found['kind="figures",result="hit"']).toBeGreaterThan(0);
    expect(found['kind="lists",result="hit"']).toBeGreaterThan(0);
    expect(found['kind="answers",result="hit"']).toBeGreaterThan(0);
    const answered =
      Number(found['kind="answers",result="hit"']) + Number(found['kind="figures",result="hit"']);
    expect(answered).toBe(3);
  });
});

describe('batches', () => {
  it('metrics of batches tell how many operations and demands share one, and rows that nobody asked for', async () => {
    await using program = await openProgram({ env: { BATCH_WINDOW_MS: '100' } });
    const ask = (code: string, key: string) =>
      program.ask(`{ country(code: "${code}") { observation(metricKey: "${key}") { value } } }`);
    // The plan isn't known yet, so that operations wait for each other.
    await Promise.all([
      ask('KE', 'population_total'),
      ask('NG', 'life_expectancy'),
      ask('GH', 'gdp_current_usd'),
    ]);
    const requests = program.requests();
    expect(requests).toHaveLength(1);
    const text = await scrape(program);
    expect(seriesOf(text, 'country_graph_batch_operations_sum')).toEqual({ '': 3 });
    expect(seriesOf(text, 'country_graph_batch_operations_count')).toEqual({ '': 1 });
    expect(seriesOf(text, 'country_graph_batch_demands_sum')).toEqual({ '': 3 });
    const { '': received = 0 } = seriesOf(text, 'country_graph_rows_received_total');
    const { '': unwanted } = seriesOf(text, 'country_graph_rows_unwanted_total');
    expect(received).toBeGreaterThan(3);
    expect(unwanted).toBe(received - 3);
  });
});

describe('plans and circuits', () => {
  it('metrics of plans and circuits tell what is left of a plan once the service has named it, and how long a minute was waited for', async () => {
    let nowMs = Date.UTC(2026, 0, 5, 12, 0, 50);
    const clock = {
      now: () => nowMs,
      async sleep(ms: number) {
        nowMs += ms;
      },
    };
    await using program = await openProgram({
      sandbox: { now: clock.now },
      clock,
      env: { RATE_LIMIT_WAIT_MS: '20000' },
    });
    const key = program.sandbox.keys.free ?? '';
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push(await program.ask('{ sources { key } }', { key }));
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
    const text = await scrape(program);
    const left = seriesOf(text, 'country_graph_quota_remaining_calls');
    const most = seriesOf(text, 'country_graph_quota_limit_calls');
    const [minute = '', month = ''] = Object.keys(left);
    expect([minute, month]).toEqual([
      expect.stringMatching(/^key="[\w-]{8}",window="minute"$/),
      expect.stringMatching(/^key="[\w-]{8}",window="month"$/),
    ]);
    expect([left[minute], most[minute], most[month]]).toEqual([4, 5, 1000]);
    expect(left[month]).toBe(1000 - program.requests().length);
    expect(seriesOf(text, 'country_graph_minute_wait_seconds_count')).toEqual({ '': 1 });
    expect(seriesOf(text, 'country_graph_minute_wait_seconds_sum')['']).toBeCloseTo(10, 0);
    expect(text).not.toContain(key);
  });

  it('metrics of plans and circuits tell which routes are kept back', async () => {
    await using program = await openProgram({ env: { UPSTREAM_RETRIES: '0' } });
    await program.ask('{ sources { key } }');
    program.sandbox.faults.set({ kind: 'status', status: 503 });
    for (let i = 0; i < 12; i++) await program.ask('{ sources { key } }');
    expect(program.requests()).toHaveLength(11);
    expect(seriesOf(await scrape(program), 'country_graph_circuits_open')).toEqual({
      'route="/v1/platform/etl-status",scope="all"': 0,
      'route="/v1/platform/etl-status",scope="key"': 1,
    });
  });
});

describe('the sum over workers', () => {
  it('the sum of metrics over workers counts gauges once where they tell of the same thing', async () => {
    const workers = [40, 30].map((left) => {
      const metrics = createMetrics({ version: '1.2.3', commit: '1a2b3c4' });
      const limits = [{ name: 'minute', most: 60, left, windowSeconds: 60, resetSeconds: 5 }] as const;
      const state = { ...WATCHED.state, recentLimits: () => [{ tenant: tenantOf('abcdefghijkl'), limits }] };
      metrics.watch({ ...WATCHED, state });
      return { snapshot: metrics.snapshot };
    });
    const summed = createSummedMetrics({ workers, replaced: 0 }, () => 0);
    const text = await summed.text();
    const node = process.versions.node;
    expect(seriesOf(text, 'country_graph_build_info')).toEqual({
      [`version="1.2.3",commit="1a2b3c4",node="${node}"`]: 1,
    });
    expect(seriesOf(text, 'country_graph_quota_remaining_calls')).toEqual({
      'key="abcdefgh",window="minute"': 30,
    });
    expect(seriesOf(text, 'country_graph_quota_limit_calls')).toEqual({
      'key="abcdefgh",window="minute"': 60,
    });
    expect(seriesOf(text, 'country_graph_operations_under_way')).toEqual({ '': 4 });
    expect(seriesOf(text, 'country_graph_circuits_open')['route="/v1/data",scope="all"']).toBe(2);
    expect(seriesOf(text, 'country_graph_cache_lookups_total')['kind="figures",result="hit"']).toBe(2);
  });
});

describe('the format', () => {
  it.skipIf(!hasProgram('promtool'))(
    'the format of metrics is what promtool takes without a remark',
    async () => {
      await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
      await program.ask(FIGURE);
      expect(program.requests().length).toBeGreaterThan(0);
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: await scrape(program),
      });
      expect([String(stdout), String(stderr), status]).toEqual(['', '', 0]);
    },
  );
});
