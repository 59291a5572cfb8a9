import { describe, expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const KEYS = ['m1', 'm2', 'm3', 'm4'];
const ROWS = ['ke', 'ug'].flatMap((country_code) =>
  KEYS.flatMap((metric_key) =>
    [2023, 2024].map((year) => {
      const named = { country_code, metric_key, year, period: `${year}`, value: year };
      return { ...SENT_ROW, ...named, as_of_period: null, location_name: null };
    }),
  ),
);

/** A service with rows for every pair, whose route for figures can be lost for some calls. */
async function open() {
  let lost: readonly number[] = [];
  let count = 0;
  const service = await openFixedService({
    rows: ROWS,
    refuses(_, keys) {
      count += 1;
      return lost.includes(count) || keys.includes('NONE');
    },
  });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
  await program.ask('{ country(code: "KE") { observation(metricKey: "m1") { year } } }');
  return {
    ask: program.ask,
    /** Loses the route for some of the calls to come, counted from 1. */
    lose(calls: readonly number[]) {
      lost = calls;
      count = 0;
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const latest = (...keys: string[]) =>
  `{ observations(countryCodes: ["UG"], metricKeys: ${JSON.stringify(keys)}, latest: true) { year } }`;
const YEARS = '{ observations(countryCodes: ["UG"], metricKeys: ["m2"], fromYear: 2024) { year } }';
const BOTH =
  '{ observations(countryCodes: ["KE", "UG"], metricKeys: ["m2", "m3"], latest: true) { year value } }';
const SERIES = '{ country(code: "UG") { observations(metricKeys: ["m2", "m3"]) { year } } }';

describe('a route that is lost for a moment', () => {
  it.each<[what: string, query: string, calls: number]>([
    ['one figure', latest('m2'), 3],
    ['two figures', latest('m2', 'm3'), 3],
    ['figures of which many are new', latest('m1', 'm2', 'm3', 'm4'), 4],
    ['figures of which one half is answered', BOTH, 3],
    ['some years of a series', YEARS, 3],
    ['whole series', SERIES, 3],
  ])('a route that is lost for a moment is no word on %s', async (_, query, calls) => {
    await using program = await open();
    await using sound = await open();
    const whole = await sound.ask(query);
    program.lose([1]);
    const { data, errors, extensions, upstream } = await program.ask(query);
    expect({ data, errors }).toEqual({ data: whole.data, errors: [] });
    expect(extensions.warnings).toBeUndefined();
    expect(upstream.calls).toBe(calls);
    expect((await program.ask(query)).data).toEqual(whole.data);
  });

  it.each([2, 3, 4])(
    'a route that is lost for %i calls fails the figure, and nothing is kept',
    async (count) => {
      await using program = await open();
      program.lose(Array.from({ length: count }, (_, i) => i + 1));
      const first = await program.ask(latest('m2'));
      expect(first.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
      expect([first.upstream.calls, first.extensions.warnings]).toEqual([2, undefined]);
      program.lose([]);
      expect((await program.ask(latest('m2'))).data).toEqual({ observations: [{ year: 2024 }] });
    },
  );

  it('a route that is lost for a moment is told from a name that is never answered, which costs three calls once', async () => {
    await using program = await open();
    const { data, errors, extensions, upstream } = await program.ask(latest('none'));
    expect({ data, errors }).toEqual({ data: { observations: [] }, errors: [] });
    expect(extensions.warnings).toMatchObject([{ code: 'UNKNOWN_INDICATOR' }]);
    expect(upstream.calls).toBe(3);
    expect((await program.ask(latest('none'))).upstream.calls).toBe(0);
  });
});
