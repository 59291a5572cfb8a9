import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draws } from '../support/draws.ts';
import { openProgram, type Program } from '../support/program.ts';

interface Figure {
  readonly country: string;
  readonly metric: string;
  readonly year: number;
  /** Text after the year in the period, and its last day. */
  readonly part: readonly [suffix: string, end: string];
  readonly place: string | null;
  readonly source: string;
  readonly release: string | null;
  readonly value: number | null;
  /** Seconds of the time of retrieval: revisions differ by it alone. */
  readonly second: number;
}

const YEAR = ['', '12-31'] as const;
const PARTS = [YEAR, YEAR, YEAR, ['-Q4', '12-31'], ['-Q3', '09-30']] as const;
const CODES = ['KE', 'TZ', 'UG'] as const;

const nameOf = (row: Figure) => JSON.stringify(Object.values(row));
const newestLast = (a: Figure, b: Figure) =>
  a.year - b.year ||
  a.part[1].localeCompare(b.part[1]) ||
  Number(a.place === null) - Number(b.place === null);

/** A service over rows that may change between operations. It sends them in another order each time. */
class Service {
  rows: readonly Figure[] = [];
  /** Decides which of several figures of the newest period is the latest. */
  taste = 0;
  /** True if it gives all of them as the latest. */
  givesAll = false;
  /** True if it gives the figure of a place as the latest, if there is one for the newest period. */
  prefersPlaces = false;
  readonly targets: string[] = [];
  #turn = 0;
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://service');
    this.targets.push(`${url.pathname}${decodeURIComponent(url.search)}`);
    const lists: Record<string, readonly object[]> = {
      '/v1/countries': CODES.map((id) => ({ id, name: id })),
      '/v1/indicators': ['m', 'n'].map((key) => ({ metric_key: key, name: key, unit: 'persons' })),
    };
    const data = lists[url.pathname] ?? this.#figures(url.searchParams);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data, meta: { total: data.length } }));
  });

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The requests for figures since the last look. */
  calls(): string[] {
    return this.targets.splice(0).filter((target) => target.startsWith('/v1/data'));
  }

  #figures(query: URLSearchParams) {
    const names = (name: string) => query.get(name)?.split(',') ?? [];
    const years = ['start_year', 'end_year'].map((name) => Number(query.get(name) ?? Number.NaN));
    let found = this.rows.filter(
      ({ country, metric, year }) =>
        names('country_codes').includes(country) &&
        names('metric_keys').includes(metric) &&
        !(year < (years[0] ?? 0)) &&
        !(year > (years[1] ?? 0)),
    );
    if (query.get('latest') === 'true') {
      const pairs = Map.groupBy(found, ({ country, metric }) => `${country} ${metric}`);
      found = [...pairs.values()].flatMap((rows) => {
        const [newest] = rows.toSorted(newestLast).slice(-1);
        const alike = rows.filter((row) => newest !== undefined && newestLast(row, newest) === 0);
        const ofPeriod = rows.filter((row) => row.year === newest?.year && row.part === newest.part);
        if (this.givesAll) return ofPeriod;
        const ofPlace = this.prefersPlaces ? ofPeriod.find(({ place }) => place !== null) : undefined;
        if (ofPlace !== undefined) return ofPlace;
        return alike.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))[this.taste % alike.length] ?? [];
      });
    }
    this.#turn += 7;
    const scatter = (row: Figure) => (((row.value ?? 0) + 1) * 7919 * this.#turn) % 1009;
    return found
      .toSorted((a, b) => scatter(a) - scatter(b))
      .map(({ country, metric, year, part, place, source, release, value, second }) => ({
        country_code: country.toLowerCase(),
        country_name: country,
        metric_key: metric,
        metric_name: metric,
        year,
        period: `${year}${part[0]}`,
        as_of_period: null,
        location_name: place,
        value,
        unit: 'persons',
        source,
        value_status: 'reported',
        dataset_version: release,
        retrieved_at: `2026-11-01T06:00:0${second}.5Z`,
      }));
  }
}

const DERIVED =
  'change growthPercent since: change(since: 2021) per(metricKey: "n") { value } rank { position of } three: rank(among: ["KE", "TZ", "UG"], direction: ASC) { position of }';
const ROW =
  'country { code } indicator { key } year period locationName source { key } datasetVersion retrievedAt value';

/** The same figures in every way that there is to ask for them; those of `latest` are one figure. */
const LATEST = [
  '{ country(code: "KE") { x: observation(metricKey: "m") { F } } }',
  '{ indicator(key: "m") { x: observation(countryCode: "KE") { F } } }',
  '{ x: observations(countryCodes: ["KE"], metricKeys: ["m"], latest: true, scope: NATIONAL) { F } }',
  '{ x: observations(countryCodes: ["UG", "TZ", "KE"], metricKeys: ["n", "m"], latest: true, scope: NATIONAL) { F } }',
  '{ country(code: "KE") { x: observation(metricKey: "m") { F } observations(metricKeys: ["n", "m"]) { value } } }',
];
const LISTS = [
  '{ x: observations(countryCodes: ["KE"], metricKeys: ["m"]) { F } }',
  '{ x: observations(countryCodes: ["TZ", "KE", "UG"], metricKeys: ["n", "m"]) { F } }',
  '{ x: observations(countryCodes: ["KE"], metricKeys: ["m"], fromYear: 2023, toYear: 2023) { F } }',
  '{ x: observations(countryCodes: ["KE"], metricKeys: ["m"], fromYear: 2022, orderBy: [{ field: VALUE }]) { F } }',
  '{ country(code: "KE") { x: observations(metricKeys: ["m"], latest: true, toYear: 2023) { F } } }',
];

const figure = fc.record({
  country: fc.constantFrom('KE', 'KE', 'TZ', 'UG'),
  metric: fc.constantFrom('m', 'm', 'n'),
  year: fc.constantFrom(2021, 2022, 2023, 2023),
  part: fc.constantFrom(...PARTS),
  place: fc.constantFrom(null, null, null, null, 'Nairobi'),
  source: fc.constantFrom('a', 'b'),
  release: fc.constantFrom(null, null, '1'),
  value: fc.integer({ min: 1, max: 40 }),
  second: fc.constantFrom(1, 1, 2),
});
const services = fc.record({
  rows: fc.uniqueArray(figure, { minLength: 4, maxLength: 24, selector: nameOf }),
  taste: fc.nat(5),
  order: fc.shuffledSubarray([...LATEST, ...LISTS], { minLength: LATEST.length + LISTS.length }),
});

describe('several figures of a country, metric and period', () => {
  const service = new Service();
  let holding: Program;
  let plain: Program;
  let keys = 0;
  beforeAll(async () => {
    const upstreamUrl = await service.listen();
    holding = await openProgram({ upstreamUrl, env: { CACHE_URL: 'memory:', CACHE_RENEWAL: 'off' } });
    plain = await openProgram({ upstreamUrl });
  });
  afterAll(async () => {
    await holding[Symbol.asyncDispose]();
    await plain[Symbol.asyncDispose]();
    service.close();
  });
  const newKey = () => `key-${keys++}`;

  /** The rows that an operation answers, by all that is sent of them. */
  async function rowsOf(program: Program, text: string, fields: string, key: string) {
    const { data, errors } = await program.ask(text.replace('F', `${ROW} ${fields}`), { key });
    expect(errors).toEqual([]);
    const { x } = data.country ?? data.indicator ?? data;
    const rows = (Array.isArray(x) ? x : [x]).filter((row) => row !== null);
    return new Map<string, string>(
      rows.map(({ change, growthPercent, since, per, rank, three, ...row }) => [
        JSON.stringify(row),
        JSON.stringify({ change, growthPercent, since, per, rank, three }),
      ]),
    );
  }

  it('several figures of a country, metric and period come to the same figures and the same derived ones in whatever order and way they are asked for', async () => {
    await fc.assert(
      fc.asyncProperty(services, async ({ rows, taste, order }) => {
        Object.assign(service, { rows, taste });
        const heldKey = newKey();
        const derived = new Map<string, Set<string>>();
        const latest = new Set<string>();
        for (const text of order) {
          const asked = [
            await rowsOf(holding, text, '', heldKey),
            await rowsOf(plain, text, '', newKey()),
            ...[
              await rowsOf(holding, text, DERIVED, heldKey),
              await rowsOf(holding, text, DERIVED, newKey()),
              await rowsOf(plain, text, DERIVED, newKey()),
            ].map((found) => {
              for (const [row, value] of found) derived.set(row, (derived.get(row) ?? new Set()).add(value));
              return found;
            }),
          ];
          if (!LATEST.includes(text)) continue;
          for (const found of asked) {
            const own = [...found.keys()].filter((row) => /"KE".*"key":"m"/.test(row));
            expect(own.length).toBeLessThanOrEqual(1);
            latest.add(own.join());
          }
        }
        expect(latest.size).toBeLessThanOrEqual(1);
        for (const [row, values] of derived) expect([row, ...values]).toHaveLength(2);
      }),
      { numRuns: draws(12, 4), endOnFailure: true },
    );
  });

  const of = (country: string, year: number, source: string, further: Partial<Figure> = {}): Figure => ({
    ...{ country, metric: 'm', year, part: YEAR, place: null, source, release: null, value: year, second: 1 },
    ...further,
  });
  const observation = (further = '') =>
    `{ country(code: "KE") { observation(metricKey: "m") { value source { key } ${further} } } }`;
  const warning = (path: readonly (string | number)[], taken: RegExp) => ({
    code: 'SEVERAL_FIGURES',
    message: expect.stringMatching(taken),
    path,
    sources: ['a', 'b'],
  });
  async function ask(program: Program, text: string, key: string) {
    service.calls();
    const { data, errors, extensions, upstream } = await program.ask(text, { key });
    expect(errors).toEqual([]);
    const calls = service.calls();
    expect(upstream.byRoute['/v1/data'] ?? 0).toBe(calls.length);
    return { data, calls, warnings: extensions.warnings };
  }

  it('several figures of a country, metric and period cost one more call where a series is asked for too, and are warned of from then on', async () => {
    service.rows = [2022, 2023].flatMap((year) => [of('KE', year, 'a'), of('KE', year, 'b', { value: 5 })]);
    service.taste = 1;
    const key = newKey();
    const first = await ask(holding, observation(), key);
    expect([first.calls.length, first.warnings]).toEqual([1, undefined]);
    expect(first.data.country.observation).toEqual({ value: 5, source: { key: 'b' } });
    const told = [
      warning(
        ['country', 'observation'],
        /^KE m has several figures for 2023, of a, b\. Taken is that of b: /,
      ),
    ];
    // The service’s choice is held, and one of the newest rows.
    const beside = await ask(holding, observation('change'), key);
    expect(beside.calls).toEqual(['/v1/data?country_codes=KE&limit=1000&metric_keys=m']);
    expect(beside.data.country.observation).toEqual({ value: 5, source: { key: 'b' }, change: 0 });
    expect(beside.warnings).toEqual(told);
    for (const text of [observation('change'), observation()]) {
      const again = await ask(holding, text, key);
      expect([again.calls, again.warnings]).toEqual([[], told]);
    }
    const cold = await ask(plain, observation('change'), newKey());
    expect(cold.calls).toEqual([
      '/v1/data?country_codes=KE&limit=1000&metric_keys=m',
      '/v1/data?country_codes=KE&latest=true&limit=1000&metric_keys=m',
    ]);
    expect([cold.data, cold.warnings]).toEqual([beside.data, told]);
    // Shows another key no warning of this one.
    expect((await ask(holding, observation(), newKey())).warnings).toBeUndefined();
    // A list has them all: nothing is taken.
    const list = await ask(
      holding,
      '{ observations(countryCodes: ["KE"], metricKeys: ["m"]) { value } }',
      key,
    );
    expect([list.data.observations.length, list.calls, list.warnings]).toEqual([4, [], undefined]);
  });

  it('several figures of a country, metric and period leave nothing of a choice that is no longer there', async () => {
    service.rows = [of('KE', 2023, 'a'), of('KE', 2023, 'b', { value: 5 })];
    service.taste = 1;
    const key = newKey();
    await ask(holding, observation(), key);
    service.rows = [of('KE', 2023, 'a'), of('KE', 2023, 'b', { value: 6 })];
    await ask(holding, '{ observations(countryCodes: ["KE"], metricKeys: ["m"], maxAge: 0) { value } }', key);
    const { data, calls } = await ask(holding, observation(), key);
    expect([data.country.observation.value, calls.length]).toEqual([6, 1]);
    expect((await ask(holding, observation(), key)).calls).toEqual([]);
  });

  it('several figures of a country, metric and period are taken by one order where the service’s choice can’t be known, with a warning', async () => {
    service.taste = 1;
    const rows = [of('KE', 2022, 'b'), of('KE', 2022, 'a'), of('KE', 2023, 'b', { place: 'Nairobi' })];
    const upTo =
      '{ observations(countryCodes: ["KE"], metricKeys: ["m"], latest: true, toYear: 2022) { source { key } } }';
    const byRule = / Taken is that of a: the first by the order/;
    for (const some of [rows, rows.toReversed()]) {
      service.rows = some;
      // The latest row is that of a place.
      const national = await ask(plain, observation(), newKey());
      expect(national.data.country.observation.source.key).toBe('a');
      expect(national.warnings).toEqual([warning(['country', 'observation'], byRule)]);
      const earlier = await ask(plain, upTo, newKey());
      expect(earlier.data.observations).toEqual([{ source: { key: 'a' } }]);
      expect(earlier.warnings).toEqual([warning(['observations'], byRule)]);
    }
  });

  it('several figures of a country, metric and period of an operand’s newest period are decided by one call for all of them, and by none in other years', async () => {
    service.taste = 1;
    const values = { a: { KE: 1, TZ: 0, UG: 2 }, b: { KE: 5, TZ: 4, UG: 3 } };
    service.rows = (['a', 'b'] as const).flatMap((source) =>
      CODES.flatMap((code) =>
        [2022, 2023].map((year) => of(code, year, source, { value: values[source][code] })),
      ),
    );
    const ranks = (years: string) =>
      `{ observations(countryCodes: ["KE"], metricKeys: ["m"], ${years}) { year source { key } rank(among: ["UG", "TZ"]) { position of } } }`;
    // The service chooses source b.
    const ofYears = [
      { year: 2022, source: { key: 'a' }, rank: { position: 2, of: 3 } },
      { year: 2022, source: { key: 'b' }, rank: { position: 1, of: 3 } },
      { year: 2023, source: { key: 'a' }, rank: { position: 3, of: 3 } },
      { year: 2023, source: { key: 'b' }, rank: { position: 1, of: 3 } },
    ];
    const { data, calls, warnings } = await ask(plain, ranks('latest: false'), newKey());
    expect(data.observations).toEqual(expect.arrayContaining(ofYears));
    expect(calls.map((call) => /latest=true/.test(call))).toEqual([false, true]);
    expect(calls[1]).toContain('country_codes=TZ,UG&');
    expect(warnings).toHaveLength(2);
    expect(warnings).toContainEqual(
      warning(['observations', expect.any(Number), 'rank'] as never, /^TZ m .* Taken is that of b/),
    );
    for (const year of [2022, 2023]) {
      const one = await ask(plain, ranks(`fromYear: ${year}, toYear: ${year}`), newKey());
      expect(one.data.observations).toEqual(
        expect.arrayContaining(ofYears.filter((row) => row.year === year)),
      );
    }
  });

  it('several figures of a country, metric and period that the service gives as the latest are one, by the order of figures', async () => {
    service.rows = [of('KE', 2023, 'b'), of('KE', 2023, 'a'), of('KE', 2023, 'a', { place: 'Nairobi' })];
    service.givesAll = true;
    const list =
      '{ observations(countryCodes: ["KE"], metricKeys: ["m"], latest: true) { locationName source { key } } }';
    const key = newKey();
    for (const count of [1, 0]) {
      const { data, calls, warnings } = await ask(holding, list, key);
      expect(data.observations).toEqual([{ locationName: null, source: { key: 'a' } }]);
      expect(calls).toHaveLength(count);
      expect(warnings).toEqual([warning(['observations'], /Taken is that of a: the first by the order/)]);
    }
    service.givesAll = false;
  });

  it.each([
    ['one figure', ['a']],
    ['several', ['a', 'b']],
  ])(
    'several figures of a country, metric and period leave the figure of a place the latest, where the service chooses that, beside %s of the country',
    async (_, sources) => {
      service.rows = [
        ...sources.map((source) => of('KE', 2023, source)),
        of('KE', 2023, 'c', { place: 'Nairobi' }),
      ];
      service.prefersPlaces = true;
      const key = newKey();
      const list = '{ observations(countryCodes: ["KE"], metricKeys: ["m"], latest: true) { locationName } }';
      // The series that the figure of the country is taken from leaves the service's choice.
      for (const [further, count] of [['', 2] as const, ['year', 0] as const]) {
        const { data, calls } = await ask(holding, observation(further), key);
        expect([data.country.observation.source.key, calls.length]).toEqual(['a', count]);
      }
      const { data, calls } = await ask(holding, list, key);
      expect([data.observations, calls]).toEqual([[{ locationName: 'Nairobi' }], []]);
      service.prefersPlaces = false;
    },
  );

  it('several figures of a country, metric and period stand further back where the latest row holds no value: they are taken from the series, and held', async () => {
    service.rows = [of('KE', 2022, 'b'), of('KE', 2022, 'a'), of('KE', 2023, 'a', { value: null })];
    for (const further of ['', 'change']) {
      const key = newKey();
      for (const count of [2, 0]) {
        const { data, calls } = await ask(holding, observation(further), key);
        expect(data.country.observation).toMatchObject({ value: 2022, source: { key: 'a' } });
        expect(calls).toHaveLength(count);
      }
    }
  });
});
