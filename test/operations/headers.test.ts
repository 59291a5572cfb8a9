import { describe, expect, it } from 'vitest';
import { open, type Sent } from './exchange.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';

const asked = (query: string, others: Omit<Sent, 'body'> = {}): Sent => ({
  method: 'GET',
  body: { query },
  ...others,
});
const cacheControlOf = async (program: Awaited<ReturnType<typeof open>>, sent: Sent) =>
  (await program.send(sent)).headers['cache-control'];

describe('Cache-Control', () => {
  it('Cache-Control says for how long an answer holds, whoever makes it', async () => {
    await using program = await open();
    expect(await cacheControlOf(program, asked(FIGURE))).toBe('private, max-age=300');
    program.pass(100);
    expect(await cacheControlOf(program, asked(FIGURE))).toBe('private, max-age=200');
    program.pass(50);
    const { headers } = await program.send(asked(FIGURE));
    expect(headers).toMatchObject({
      'cache-control': 'private, max-age=150',
      vary: 'Authorization, Accept, X-Explain, X-Offline, X-Absences, X-Snapshot, Accept-Encoding',
    });
    expect(program.repeats()).toEqual([false, false, true]);
    program.pass(149.5);
    expect(await cacheControlOf(program, asked(FIGURE))).toBe('private');
    program.pass(1);
    expect(await cacheControlOf(program, asked(FIGURE))).toBe('private, max-age=300');
    expect(program.requests()).toHaveLength(2);
  });

  it('Cache-Control names all that forms differ by wherever a cache may keep the answer, be it by its tag alone', async () => {
    await using program = await open();
    const varies = 'Authorization, Accept, X-Explain, X-Offline, X-Absences, X-Snapshot, Accept-Encoding';
    for (const query of ['{ quota { plan } }', FIGURE]) {
      const { headers } = await program.send(asked(query));
      expect([headers.vary, typeof headers.etag]).toEqual([varies, 'string']);
      const held = { 'if-none-match': String(headers.etag), accept: 'application/graphql-response+json' };
      expect((await program.send(asked(query, { headers: held }))).headers.vary).toContain(varies);
    }
    expect((await program.send(asked('{ node(id: "none") { id } }'))).headers.vary).toBe('Authorization');
    expect(program.requests()).toHaveLength(1);
  });

  it('Cache-Control holds for no longer than the first of all that was read', async () => {
    await using program = await open();
    await program.send({ body: { query: '{ countries { name } }' } });
    program.pass(100);
    const both = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';
    for (let i = 0; i < 3; i += 1)
      expect(await cacheControlOf(program, asked(both))).toBe('private, max-age=200');
    expect(program.repeats().at(-1)).toBe(true);
  });

  it('Cache-Control stays with what stands for the answer', async () => {
    await using program = await open();
    const { headers } = await program.send(asked(FIGURE));
    program.pass(60);
    const etag = String(headers.etag);
    expect(await program.send(asked(FIGURE, { headers: { 'if-none-match': etag } }))).toMatchObject({
      status: 304,
      headers: { etag, 'cache-control': 'private, max-age=240' },
    });
  });

  it.for<[string, string, string]>([
    [
      'insists on figures of now',
      FIGURE.replace('"population_total"', '"population_total", maxAge: 0'),
      'private',
    ],
    [
      'insists on newer ones',
      FIGURE.replace('"population_total"', '"population_total", maxAge: 20'),
      'private, max-age=20',
    ],
    ['tells what is never held', '{ health { status } }', 'private'],
    ['tells what is spent', '{ quota { callsThisMinute } countries { name } }', 'private'],
    ['read nothing', '{ __typename }', 'private'],
    ['warns', '{ countries(codes: ["KE", "XX"]) { name } }', 'private'],
    ['has an error', '{ observations(fromYear: 2, toYear: 1) { value } countries { name } }', 'no-store'],
  ])(
    "Cache-Control names no time that isn't known, nor of what isn't whole: an answer that %s",
    async ([, query, expected]) => {
      await using program = await open();
      for (let i = 0; i < 3; i += 1) expect(await cacheControlOf(program, asked(query))).toBe(expected);
    },
  );

  it('Cache-Control names none where old figures stand in for new ones, and where nothing is held', async () => {
    await using program = await open({ env: { CACHE_TTL_SECONDS: '60' } });
    await program.send(asked(FIGURE));
    program.pass(100);
    program.sandbox.faults.set({ kind: 'status', status: 500 });
    const old = await program.send(asked(FIGURE));
    expect(JSON.parse(old.text).extensions.upstream.stale).toHaveLength(1);
    expect(old.headers['cache-control']).toBe('private');
    await using holding = await open({ env: { CACHE_URL: 'none' } });
    for (let i = 0; i < 3; i += 1) expect(await cacheControlOf(holding, asked(FIGURE))).toBe('private');
  });
});

describe('RateLimit', () => {
  it('RateLimit is told once the service has named the plan', async () => {
    await using program = await open();
    const { free } = program.sandbox.keys;
    const figure = (year: number) =>
      asked(`{ country(code: "KE") { observation(metricKey: "m_${year}") { value } } }`, { key: free });
    for (let i = 0; i < 5; i += 1)
      expect((await program.send(figure(i))).headers).not.toHaveProperty('ratelimit');
    const month = 31 * 86_400;
    const untilApril = (Date.parse('2026-04-01') - Date.parse('2026-03-10T12:00:30Z')) / 1000;
    const policy = `"minute";q=5;w=60, "month";q=1000;w=${month}`;
    expect((await program.send(figure(5))).headers).toMatchObject({
      ratelimit: `"minute";r=0;t=30, "month";r=994;t=${untilApril}`,
      'ratelimit-policy': policy,
    });
    program.pass(40);
    // Repeated answers tell it too.
    for (const left of [4, 4, 4]) {
      expect((await program.send({ key: free, body: { query: FIGURE } })).headers).toMatchObject({
        ratelimit: `"minute";r=${left};t=50, "month";r=993;t=${untilApril - 40}`,
        'ratelimit-policy': policy,
      });
    }
    expect(program.repeats().at(-1)).toBe(true);
    const other = await program.send({ body: { query: FIGURE } });
    expect(other.headers).not.toHaveProperty('ratelimit');
  });
});

describe('Server-Timing', () => {
  const durations = (value: unknown) =>
    /^upstream;dur=([\d.]+), cache;dur=([\d.]+)$/.exec(String(value))?.slice(1).map(Number) ?? [];

  it('Server-Timing tells how long the service and the store were waited for', async () => {
    await using program = await open();
    const took: number[][] = [];
    for (let i = 0; i < 3; i += 1) {
      const { timing } = await program.send(asked(FIGURE));
      took.push(durations(timing));
    }
    expect(took[0]?.[0]).toBeGreaterThan(0);
    expect(took.map(([upstream]) => upstream).slice(1)).toEqual([0, 0]);
    expect(took.every(([, cache = -1]) => cache >= 0)).toBe(true);
    const { timing } = await program.send(asked('{ countries { name } }'));
    expect(durations(timing)[0]).toBeGreaterThan(0);
  });
});
