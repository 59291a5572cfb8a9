import { describe, expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const row = (given: object) => ({
  ...SENT_ROW,
  metric_key: 'm',
  as_of_period: null,
  location_name: null,
  estimate_low: null,
  estimate_high: null,
  unit: 'index',
  ...given,
});

async function ask(rows: readonly object[], query: string, env: Readonly<Record<string, string>> = {}) {
  await using service = await openFixedService({ rows: rows as never });
  await using program = await openProgram({ upstreamUrl: service.url, env });
  return await program.ask(query);
}

const codesIn = (extensions: { warnings?: readonly { code: string }[] }) =>
  (extensions.warnings ?? []).map(({ code }) => code);

const GROWTH = '{ country(code: "KE") { observation(metricKey: "m") { period growthPercent } } }';

const two = (number: number) => String(number).padStart(2, '0');

describe('periods of figures', () => {
  it.for([
    ['2024Q3', '2023Q1'],
    ['2024-Q3', '2023'],
    ['2024M09', '2023M03'],
    ['2024H2', '2023H1'],
    ['2024-W05', '2023-W40'],
    ['Q3 2024', 'Q1 2023'],
    ['2024', '2022/23'],
    ['FY2024', '2023'],
    ['2024-01-01/2024-09-30', '2023-Q3'],
    ['2024-09-01', '2023-09-02'],
    ['2024-02-29', '2023-02-28'],
    ['2020-W53', '2019-W52'],
    ['round two', '2023'],
    ['round two', 'round one'],
    ['Sep 2024', '2023M9'],
  ] as const)('the period %s is not compared with %s', async ([own, other]) => {
    const rows = [row({ period: own, value: 12 }), row({ period: other, year: 2023, value: 10 })];
    const { data, extensions, upstream } = await ask(rows, GROWTH);
    expect(data.country.observation).toEqual({ period: own, growthPercent: null });
    expect(codesIn(extensions)).toContain('NOT_COMPARABLE');
    expect(codesIn(extensions).includes('UNREADABLE_PERIOD')).toBe(['round two', 'Sep 2024'].includes(own));
    expect(upstream.calls).toBe(1);
  });

  it.for([
    ['2024Q3', '2023-Q3'],
    ['2024-09', '2023M9'],
    ['2024-H2', '2023S2'],
    ['2024-W05', 'W05 2023'],
    ['2023/24', 'FY2023'],
    ['2024', '2023-01-01/2023-12-31'],
    ['2024A', '2023'],
    ['annual', '2023'],
    ['2024-02', '2023-02-01/2023-02-28'],
    ['round two', 'round two'],
  ] as const)('the period %s is compared with %s', async ([own, other]) => {
    const rows = [
      row({ period: own, value: 12 }),
      row({ period: other, year: 2023, value: 10 }),
      row({ period: '2023-11-17', year: 2023, value: 1 }),
    ];
    const { data, extensions } = await ask(rows, GROWTH);
    expect(data.country.observation.growthPercent).toBeCloseTo(20);
    expect(codesIn(extensions)).not.toContain('NOT_COMPARABLE');
  });

  it('a quarter is divided by that quarter, though the year stands beside it', async () => {
    const of = { metric_key: 'people', unit: 'persons' };
    const rows = [
      row({ period: '2024Q3', value: 12 }),
      row({ ...of, period: '2024', value: 5 }),
      row({ ...of, period: '2024-Q3', value: 4 }),
    ];
    const query =
      '{ country(code: "KE") { observation(metricKey: "m") { per(metricKey: "people") { value } } } }';
    const { data } = await ask(rows, query);
    expect(data.country.observation.per).toEqual({ value: 3 });
  });

  it.for([
    (m: number) => `2024M${two(m)}`,
    (m: number) => `2024M${m}`,
    (m: number) => `2024-M${two(m)}`,
    (m: number) => `M${two(m)} 2024`,
    (m: number) => `2024-${two(m)}-15T00:00:00`,
  ])('the latest of twelve months is the last one, in any order of rows', async (spell) => {
    const months = Array.from({ length: 12 }, (_, i) => row({ period: spell(i + 1), value: i + 1 }));
    const query =
      '{ country(code: "KE") { observations(metricKeys: ["m"], latest: true, toYear: 2024) { period value } } }';
    for (const rows of [months, months.toReversed(), [...months.slice(7), ...months.slice(0, 7)]]) {
      const { data, extensions } = await ask(rows, query);
      expect(data.country.observations).toEqual([{ period: spell(12), value: 12 }]);
      expect(extensions.warnings).toBeUndefined();
    }
  });

  it('periods of figures that no rule reads are passed on, and told once of an indicator, cold and held', async () => {
    const odd = `${'round '.repeat(200)}two`;
    const rows = [
      row({ period: 'round three' }),
      row({ period: odd, year: 2023 }),
      row({ period: '2022', year: 2022 }),
    ];
    await using service = await openFixedService({ rows: rows as never });
    await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
    const query = '{ observations(countryCodes: ["KE"], metricKeys: ["m"]) { period } }';
    for (const calls of [1, 0, 0]) {
      const { data, extensions, upstream } = await program.ask(query);
      expect(data.observations.map(({ period }: { period: string }) => period)).toEqual([
        '2022',
        odd,
        'round three',
      ]);
      expect(extensions.warnings).toEqual([
        {
          code: 'UNREADABLE_PERIOD',
          message: expect.stringContaining('A figure of m is for a period that no rule reads'),
          path: ['observations'],
          name: 'm',
          detail: expect.stringMatching(/^round .{400,600}$/),
        },
      ]);
      expect(upstream.calls).toBe(calls);
    }
    const single = await program.ask('{ country(code: "KE") { observation(metricKey: "m") { period } } }');
    expect(codesIn(single.extensions)).toEqual(['UNREADABLE_PERIOD']);
  });
});
