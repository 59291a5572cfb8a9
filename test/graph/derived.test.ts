import { afterAll, describe, expect, it } from 'vitest';
import { difference, growth, quotient } from '../oracle/decimals.ts';
import { openProgram } from '../support/program.ts';
import { settled } from '../support/quiet.ts';

const EXPLAIN = { headers: { 'x-explain': '1' } };

interface Row {
  readonly country: { readonly code: string };
  readonly indicator: { readonly key: string };
  readonly year: number;
  readonly value: number;
  readonly unit: string;
  readonly change: number | null;
  readonly growthPercent: number | null;
  readonly since: number | null;
  readonly per: { readonly value: number; readonly unit: string; readonly year: number } | null;
  readonly rank: { readonly position: number; readonly of: number; readonly year: number } | null;
}

const DERIVED = `change growthPercent since: change(since: 2000) per(metricKey: "population_total") { value unit year } rank(among: ["KE", "NG", "ER"]) { position of year }`;

describe('derived figures', () => {
  it('derived figures of figures that are not there cost nothing, once that is known without a call', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    await program.ask('{ countries { code } indicators { key } }');
    program.sandbox.log.clear();
    const { data, upstream } = await program.ask(
      '{ observations(countryCodes: ["ZZ"], metricKeys: ["gdp_current_usd"]) { rank(among: ["GH", "NG"]) { of } } }',
    );
    expect([data, upstream.calls]).toEqual([{ observations: [] }, 0]);
    await settled(program);
    expect(program.sandbox.log).toHaveLength(0);
  });

  it('derived figures of no indicators cost nothing while another call is under way', async () => {
    await using program = await openProgram({ env: { BATCH_WINDOW_MS: '0' }, sandbox: { latencyMs: 30 } });
    await program.ask('{ indicators { key } countries { code } }');
    program.sandbox.log.clear();
    const { upstream } = await program.ask(
      '{ country(code: "NE") { code } observations(countryCodes: ["ne"], metricKeys: [], maxAge: 0) { per(metricKey: "population_total") { value } } }',
    );
    await settled(program);
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1 });
    expect(program.sandbox.log.map(({ route }) => route)).toEqual(['/v1/countries']);
  });

  it('derived figures of whole series are what anybody would work out from them, in the one call', async () => {
    await using program = await openProgram();
    const { data, errors, upstream, extensions } = await program.ask(`{
      observations(countryCodes: ["KE", "NG", "ER"], metricKeys: ["gdp_current_usd", "population_total", "gdp_growth_annual_pct"]) {
        country { code } indicator { key } year value unit ${DERIVED}
      }
    }`);
    expect([errors, upstream.byRoute]).toEqual([[], { '/v1/data': 1 }]);
    const rows: readonly Row[] = data.observations;
    expect(rows.length).toBeGreaterThan(300);
    const figureOf = (country: string, key: string, year: number) =>
      rows.find((row) => row.country.code === country && row.indicator.key === key && row.year === year);
    for (const row of rows) {
      const [code, key] = [row.country.code, row.indicator.key];
      const before = figureOf(code, key, row.year - 1);
      expect(row.change).toBe(before === undefined ? null : difference(row.value, before.value));
      expect(row.growthPercent).toBe(
        before === undefined || before.value <= 0 ? null : growth(row.value, before.value),
      );
      const of2000 = row.year > 2000 ? figureOf(code, key, 2000) : undefined;
      expect(row.since).toBe(of2000 === undefined ? null : difference(row.value, of2000.value));
      const people = figureOf(code, 'population_total', row.year);
      expect(row.per).toEqual(
        people === undefined
          ? null
          : {
              value: quotient(row.value, people.value),
              unit: `${row.unit} / ${people.unit}`,
              year: row.year,
            },
      );
      const rivals = ['KE', 'NG', 'ER'].flatMap((one) => figureOf(one, key, row.year) ?? []);
      const position = 1 + rivals.filter(({ value }) => value > row.value).length;
      expect(row.rank).toEqual({ position, of: rivals.length, year: row.year });
    }
    // Eritrea's product ends in 2011: the others are ranked without it.
    expect(figureOf('KE', 'gdp_current_usd', 2015)?.rank?.of).toBe(2);
    expect(rows.some(({ growthPercent, change }) => growthPercent === null && change !== null)).toBe(true);
    const warnings = extensions.warnings as readonly { code: string; message: string; path: unknown[] }[];
    expect(warnings.every(({ code }) => code === 'NOT_COMPARABLE')).toBe(true);
    expect(
      warnings.find(({ message }) => /^`growthPercent` is null: KE gdp_growth_annual_pct of/.test(message))
        ?.path,
    ).toEqual(['observations', expect.any(Number), 'growthPercent']);
  });

  it.for([
    [
      'observation below a country',
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { D } } }',
    ],
    [
      'observation below an indicator',
      '{ indicator(key: "gdp_current_usd") { observation(countryCode: "KE") { D } } }',
    ],
    [
      'latest rows',
      '{ observations(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"], latest: true) { D } }',
    ],
    [
      'latest rows up to a year',
      '{ observations(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"], latest: true, toYear: 2024) { D } }',
    ],
    [
      'some years',
      '{ country(code: "KE") { observations(metricKeys: ["gdp_current_usd"], fromYear: 2024, toYear: 2024) { D } } }',
    ],
    [
      'a page of nodes',
      '{ country(code: "KE") { observationsConnection(metricKeys: ["gdp_current_usd"], last: 1) { nodes { D } } } }',
    ],
    [
      'a page of edges',
      '{ indicator(key: "gdp_current_usd") { observationsConnection(countryCodes: ["KE"], last: 1) { edges { node { D } } } } }',
    ],
    [
      'a fragment',
      'query { country(code: "KE") { observation(metricKey: "gdp_current_usd") { ...F } } } fragment F on Observation { ... { D } }',
    ],
  ] as const)(
    'derived figures are the same in the one call, wherever the figure stands: %s',
    async ([, text]) => {
      await using program = await openProgram();
      const query = text.replace('D', `year ${DERIVED}`);
      const plan = await program.ask(query, EXPLAIN);
      expect(program.requests()).toEqual([]);
      const { data, errors, upstream } = await program.ask(query);
      expect([errors, upstream.byRoute]).toEqual([[], { '/v1/data': 1 }]);
      expect(program.requests()).toHaveLength(1);
      const found = JSON.stringify(data).match(/"year":2024,"change":4338796723,"growthPercent":4\.06.*/);
      expect(found?.[0]).toMatch(/"per":\{"value":1973\.38.*"rank":\{"position":2,"of":2,"year":2024\}/);
      const { least, calls, most } = plan.extensions.explain as Record<string, number>;
      expect([least, calls]).toEqual([1, 1]);
      expect(most).toBeGreaterThanOrEqual(1);
    },
  );

  it.for([
    'countries { observation(metricKey: "gdp_current_usd") { change } }',
    'countries { observation(metricKey: "gdp_current_usd") { change(since: 2015) } }',
    'countries { observation(metricKey: "gdp_current_usd") { per(metricKey: "population_total") { value operands { value } } } }',
    'countries { observation(metricKey: "population_total") { rank { position } } }',
    'country(code: "KE") { observation(metricKey: "gdp_current_usd") { rank { position of } } }',
    'observations(metricKeys: ["population_total"], latest: true) { per(metricKey: "gdp_current_usd") { value } }',
    'country(code: "KE") { signals { observations { change per(metricKey: "population_total") { value } } } }',
    'country(code: "SO") { observations(metricKeys: ["idps_total"], scope: PLACES, fromYear: 2025) { growthPercent rank { position } } }',
  ])('derived figures cost what is told beforehand: %s', async (text) => {
    await using program = await openProgram();
    const { explain } = (await program.ask(`{ ${text} }`, EXPLAIN)).extensions;
    expect(program.requests()).toEqual([]);
    const { errors, upstream } = await program.ask(`{ ${text} }`);
    expect(errors).toEqual([]);
    const { least, most } = explain as Record<string, number>;
    expect(upstream.calls).toBeGreaterThanOrEqual(least ?? Number.POSITIVE_INFINITY);
    expect(upstream.calls).toBeLessThanOrEqual(most ?? 0);
    expect(upstream.byRoute['/v1/data']).toBeLessThanOrEqual(3);
    expect(upstream.naive).toBeGreaterThanOrEqual(upstream.calls);
  });

  it('derived figures are priced with what stands below their operands', async () => {
    await using program = await openProgram();
    const text =
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { per(metricKey: "population_total") { operands { country { capital } } } } } }';
    const { explain } = (await program.ask(text, EXPLAIN)).extensions;
    const { errors, upstream } = await program.ask(text);
    expect(errors).toEqual([]);
    expect(explain).toMatchObject({ byRoute: upstream.byRoute });
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });

  it('derived figures cost nothing while all of it is held', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const text = `{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { ${DERIVED} } } }`;
    const first = await program.ask(text);
    const again = await program.ask(text.replace('since', 'other'));
    expect([first.upstream.calls, again.upstream.calls]).toEqual([1, 0]);
    expect(again.data.country.observation.per).toEqual(first.data.country.observation.per);
    expect(program.requests()).toHaveLength(1);
  });

  it('derived figures are null with a warning where the figures don’t go together', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      route: '/v1/data',
      kind: 'shape',
      patch(body) {
        const { data, meta } = body as { data: Record<string, unknown>[]; meta: unknown };
        const patched = data.map((row) => {
          if (row.metric_key === 'population_total' && row.country_code === 'ke') return { ...row, value: 0 };
          if (row.country_code === 'ng') return { ...row, unit: row.year === 2020 ? 'naira' : row.unit };
          return row;
        });
        return { data: patched, meta };
      },
    });
    const { data, errors, extensions, upstream } = await program.ask(`{
      kenya: observations(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"], fromYear: 2020, toYear: 2020) {
        per(metricKey: "population_total") { value } rank(among: ["NG"]) { position }
      }
      nigeria: observations(countryCodes: ["NG"], metricKeys: ["gdp_current_usd"], fromYear: 2021, toYear: 2021) { change }
    }`);
    expect([errors, upstream.calls]).toEqual([[], 1]);
    expect(data).toEqual({ kenya: [{ per: null, rank: null }], nigeria: [{ change: null }] });
    const warnings = extensions.warnings as readonly { code: string; message: string; path: unknown[] }[];
    expect(warnings.map(({ code, message, path }) => [code, message, path.join('.')]).sort()).toEqual([
      [
        'NOT_COMPARABLE',
        '`change` is null: NG gdp_current_usd of 2021 is in US dollars, NG gdp_current_usd of 2020 in naira.',
        'nigeria.0.change',
      ],
      [
        'NOT_COMPARABLE',
        '`per` is null: KE population_total of 2020 is 0, and nothing can be divided by it.',
        'kenya.0.per',
      ],
      [
        'NOT_COMPARABLE',
        '`rank` is null: KE gdp_current_usd of 2020 is in US dollars, NG gdp_current_usd of 2020 in naira.',
        'kenya.0.rank',
      ],
    ]);
  });

  it('derived figures fail alone where the figure that they need can’t be read', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      route: '/v1/data',
      kind: 'shape',
      patch(body) {
        const { data, meta } = body as { data: Record<string, unknown>[]; meta: unknown };
        const patched = data.map((row) =>
          row.metric_key === 'population_total' ? { ...row, value: 'many' } : row,
        );
        return { data: patched, meta };
      },
    });
    const { data, errors, upstream } = await program.ask(
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { year change per(metricKey: "population_total") { value } } } }',
    );
    expect(data.country.observation).toEqual({ year: 2024, change: 4338796723, per: null });
    expect(errors.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['country.observation.per', 'UPSTREAM_INVALID_RESPONSE'],
    ]);
    expect(upstream.calls).toBe(1);
  });

  it('derived figures warn of a key that the held catalogue lacks, and don’t ask for it', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    await program.ask('{ indicators { key } }');
    program.requests();
    const { data, extensions } = await program.ask(
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { per(metricKey: "population_totl") { value } } } }',
    );
    expect(data.country.observation).toEqual({ per: null });
    expect(extensions.warnings).toMatchObject([
      {
        code: 'UNKNOWN_INDICATOR',
        didYouMean: expect.arrayContaining(['population_total']),
        path: ['country', 'observation', 'per'],
      },
    ]);
    expect(program.requests().filter((request) => request.includes('population_totl'))).toEqual([]);
  });
});

describe('arguments that make no sense', async () => {
  const program = await openProgram();
  afterAll(() => program[Symbol.asyncDispose]());
  it.for<[field: string, says: RegExp]>([
    ['change(since: 0)', /`since` is a year/],
    ['growthPercent(since: -2015)', /`since` is a year/],
    ['change(since: 20150)', /`since` is a year/],
    ['per(metricKey: "a b") { value }', /An indicator key is one word/],
    ['per(metricKey: "") { value }', /An indicator key is one word/],
  ])('arguments that make no sense are refused before any call: %s', async ([field, says]) => {
    for (const text of [
      `{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { ${field} } } }`,
      `{ observations(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"]) { ${field} } }`,
      `{ observationsConnection(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"]) { edges { node { ${field} } } } }`,
      `{ indicator(key: "gdp_current_usd") { observation(countryCode: "KE") { ${field} } } }`,
    ]) {
      const { errors, upstream } = await program.ask(text);
      expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
      expect(errors[0]?.message).toMatch(says);
      expect(upstream.calls).toBe(0);
    }
    const literal = await program.ask(
      '{ country(code: "KE") { observation(metricKey: "gdp_current_usd") { rank(among: ["KEN"]) { position } } } }',
    );
    expect(literal.errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(program.requests()).toEqual([]);
  });
});
