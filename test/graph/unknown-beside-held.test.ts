import { describe, expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const ROWS = ['ke', 'ug'].flatMap((country_code) =>
  ['one', 'two'].flatMap((metric_key) =>
    [2023, 2024].map((year) => {
      const named = { country_code, metric_key, year, period: `${year}`, value: year, location_name: null };
      return { ...SENT_ROW, ...named, as_of_period: null };
    }),
  ),
);

const COUNTRIES = ['KE', 'UG'];
const METRICS = ['ONE', 'TWO'];

/** A service that answers an unknown name among others by a 404 that names nothing; `isDown` does so to any call. */
async function open(env: Record<string, string> = {}) {
  const state = { isDown: false };
  const service = await openFixedService({
    rows: ROWS,
    refuses: (codes, keys) =>
      state.isDown ||
      codes.some((code) => !COUNTRIES.includes(code)) ||
      keys.some((key) => !METRICS.includes(key)),
  });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:', ...env } });
  return {
    state,
    ask: program.ask,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const row = 'year country { code } indicator { key }';
const observations = (codes: string, keys: string, further = '') =>
  `observations(countryCodes: ${codes}, metricKeys: ${keys}${further}) { ${row} }`;

/** An operation with an unknown name, those that hold parts of it, and the rows that it answers. */
const CASES: readonly (readonly [name: string, text: string, held: readonly string[], rows: number])[] = [
  [
    'a country beside a latest figure',
    `{ ${observations('["KE", "ZZ"]', '["one"]', ', latest: true')} }`,
    [`{ ${observations('["KE"]', '["one"]', ', latest: true')} }`],
    1,
  ],
  [
    'a country beside a series',
    `{ ${observations('["ZZ", "KE", "UG"]', '["one", "two"]')} }`,
    [`{ ${observations('["KE", "UG"]', '["one", "two"]')} }`],
    8,
  ],
  [
    'a metric of a country',
    `{ country(code: "KE") { observations(metricKeys: ["one", "none"]) { ${row} } } }`,
    ['{ country(code: "KE") { observations(metricKeys: ["one"]) { year } } }'],
    2,
  ],
  [
    'two metrics, and a figure that is not held',
    `{ ${observations('["KE"]', '["one", "none", "two", "nil"]', ', latest: true')} }`,
    [`{ ${observations('["KE"]', '["one"]', ', latest: true')} }`],
    2,
  ],
  [
    'a country beside a figure of another metric',
    `{ ${observations('["KE", "ZZ"]', '["two"]', ', latest: true')} }`,
    [
      `{ ${observations('["KE"]', '["one"]')} }`,
      `{ ${observations('["KE"]', '["two"]', ', latest: true')} }`,
    ],
    1,
  ],
];

const rowsOf = (data: { observations?: unknown[]; country?: { observations: unknown[] } }) =>
  data.observations ?? data.country?.observations;

describe('a name that the service answers by a 404 without words', () => {
  it.each(CASES)(
    'a name that the service answers by a 404 without words fails alone, whatever is held: %s',
    async (_, text, held, count) => {
      await using cold = await open();
      const first = await cold.ask(text);
      expect(first.errors).toEqual([]);
      expect(rowsOf(first.data)).toHaveLength(count);

      await using warm = await open();
      for (const part of held) await warm.ask(part);
      const later = await warm.ask(text);
      expect({ data: later.data, errors: later.errors }).toEqual({ data: first.data, errors: [] });
      // The call that is refused, twice, and one that shows that the route is there: one more than where nothing is held.
      expect(later.upstream.calls).toBeLessThanOrEqual(first.upstream.calls + 1);
      expect((await warm.ask(text)).upstream.calls).toBe(0);
    },
  );

  it('a name that the service answers by a 404 without words costs three calls beside a held figure: itself, one that shows the route, and itself again', async () => {
    await using program = await open();
    const [, text = '', held = []] = CASES[0] ?? [];
    for (const part of held) await program.ask(part);
    expect((await program.ask(text)).upstream.calls).toBe(3);
  });

  it('a name that the service answers by a 404 without words is no word on the figure if all calls are answered so: then the route may be gone', async () => {
    await using program = await open();
    await program.ask(`{ ${observations('["KE"]', '["one"]', ', latest: true')} }`);
    program.state.isDown = true;
    const { data, errors, upstream } = await program.ask(
      `{ ${observations('["UG"]', '["one"]', ', latest: true')} }`,
    );
    expect(data).toEqual({ observations: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
    expect(upstream.calls).toBe(2);
  });

  it('a name that the service answers by a 404 without words is found in the catalogue if it is that of an indicator, and nothing has ever come', async () => {
    await using program = await open();
    const { data, errors, upstream } = await program.ask(
      '{ indicator(key: "none") { observation(countryCode: "KE") { value } } }',
    );
    expect({ data, errors }).toEqual({ data: { indicator: null }, errors: [] });
    expect(upstream.byRoute).toEqual({ '/v1/data': 1, '/v1/indicators': 1 });
  });

  it('a name that the service answers by a 404 without words is no word on the figure if nothing has ever come', async () => {
    await using program = await open();
    const { errors, upstream } = await program.ask(`{ ${observations('["ZZ"]', '["one"]')} }`);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
    expect(upstream.calls).toBe(1);
  });
});
