import { describe, expect, it } from 'vitest';
import { openProgram, type ProgramOptions, type Reply } from '../support/program.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever the sandbox sends
type Rows = any[];

const SIGNALS = '/v1/countries/{code}/signals';
const PROFILE = '/v1/countries/{code}/profile';
const OFFICES = '/v1/government/structure/{code}';
const TICKERS = '/v1/markets/tickers';

/** Asks a service whose answers on one route are something else than usual. */
async function askOver(
  route: string,
  // biome-ignore lint/suspicious/noExplicitAny: as the sandbox has it
  patch: (data: any) => unknown,
  query: string,
  options: ProgramOptions = {},
): Promise<Reply> {
  await using program = await openProgram(options);
  program.sandbox.faults.set({
    kind: 'shape',
    route,
    patch: (body) => {
      const changed = patch(body.data);
      return changed === undefined ? body : { ...body, data: changed };
    },
  });
  return await program.ask(query);
}

const warningsOf = ({ extensions }: Reply) =>
  (extensions.warnings ?? []) as {
    code: string;
    path: unknown;
    route: string;
    count: number;
    detail: string;
  }[];

const leftOut = (path: unknown[], route: string, detail: string, count = 1) => ({
  code: 'ROWS_LEFT_OUT',
  message: `What can't be read of the service's answer is left out (${detail}).`,
  path,
  route,
  count,
  detail,
});

describe('a snapshot', () => {
  const query = `{ country(code: "KE") { snapshot: signals {
    observations { period } rates: fxRates { rate } commodityBenchmarks { commodityKey } disasterAlerts { eventKey } record
  } } }`;

  it.each([
    [
      'period',
      'observations',
      'observations',
      (data: Record<string, Rows>) => delete data.observations?.[1].period,
    ],
    [
      'commodity_key',
      'commodityBenchmarks',
      'commodity_benchmarks',
      (data: Record<string, Rows>) => delete data.commodity_benchmarks?.[1].commodity_key,
    ],
  ])('a snapshot loses no more than the row without a %s', async (field, name, block, spoil) => {
    const whole = (await askOver(SIGNALS, () => undefined, query)).data.country.snapshot;
    const reply = await askOver(SIGNALS, (data) => void spoil(data), query);
    const { snapshot } = reply.data.country;
    expect(reply.errors).toEqual([]);
    expect(snapshot[name]).toEqual(whole[name].toSpliced(1, 1));
    expect({ ...snapshot, [name]: 0, record: 0 }).toEqual({ ...whole, [name]: 0, record: 0 });
    expect(snapshot.record[block]).toHaveLength(whole[name].length);
    expect(warningsOf(reply)).toEqual([
      leftOut(
        ['country', 'snapshot', name],
        SIGNALS,
        `data.${block}[1].${field}: expected string, received undefined`,
      ),
    ]);
    expect(reply.upstream.byRoute).toEqual({ [SIGNALS]: 1 });
  });

  it('a snapshot loses no more than a block that is no list, by the name that the operation gives it', async () => {
    const reply = await askOver(SIGNALS, (data) => ({ ...data, fx_rates: 'none' }), query);
    expect(reply.errors).toEqual([]);
    expect(reply.data.country.snapshot).toMatchObject({ rates: [], record: { fx_rates: 'none' } });
    expect(reply.data.country.snapshot.disasterAlerts).toHaveLength(1);
    expect(warningsOf(reply)).toEqual([
      leftOut(['country', 'snapshot', 'rates'], SIGNALS, 'data.fx_rates: expected array, received string'),
    ]);
  });

  it('a snapshot warns of nothing that nobody asked for', async () => {
    const spoil = (data: object) => ({ ...data, fx_rates: 'none' });
    const reply = await askOver(
      SIGNALS,
      spoil,
      '{ country(code: "KE") { signals { observations { year } } } }',
    );
    expect(reply.extensions).not.toHaveProperty('warnings');
  });

  it('a snapshot tells of each country by its place in the list, and again from what is held', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    program.sandbox.faults.set({
      kind: 'shape',
      route: SIGNALS,
      patch: (body) => (body.data.country.code === 'ug' ? body : { data: { ...body.data, fx_rates: null } }),
    });
    const text = '{ countries(codes: ["KE", "UG", "TZ"]) { signals { fxRates { rate } } } }';
    for (const calls of [3, 0, 0]) {
      const reply = await program.ask(text);
      expect(warningsOf(reply).map(({ path }) => path)).toEqual([
        ['countries', 0, 'signals', 'fxRates'],
        ['countries', 2, 'signals', 'fxRates'],
      ]);
      expect(reply.upstream.calls).toBe(calls);
    }
  });

  it('a snapshot has the name of its country and measures from the lists, where it names none', async () => {
    const nameless = (data: { observations: Rows }) => ({
      ...data,
      country: { code: 'ke' },
      observations: data.observations.map(({ metric_name: _, ...row }) => row),
    });
    const text =
      '{ country(code: "KE") { signals { observations { country { code name } indicator { key name } } } } }';
    const usual = await askOver(SIGNALS, () => undefined, text);
    const reply = await askOver(SIGNALS, nameless, text);
    expect(reply.data).toEqual(usual.data);
    expect(reply.upstream.byRoute).toEqual({ [SIGNALS]: 1, '/v1/countries': 1, '/v1/indicators': 1 });
  });
});

describe('a profile', () => {
  const query = '{ country(code: "KE") { profile { indicators { key } record } } }';

  it('a profile loses no more than an indicator without a key', async () => {
    const reply = await askOver(PROFILE, (data) => void delete data.indicators[2].metric_key, query);
    expect(reply.errors).toEqual([]);
    expect(reply.data.country.profile.indicators).toHaveLength(
      reply.data.country.profile.record.indicators.length - 1,
    );
    expect(warningsOf(reply)).toEqual([
      leftOut(
        ['country', 'profile', 'indicators'],
        PROFILE,
        'data.indicators[2].metric_key: expected string, received undefined',
      ),
    ]);
  });

  it('a profile is all of a body that has nothing we know', async () => {
    await using program = await openProgram();
    const body = { first: { a: 1 }, second: { b: 2 } };
    program.sandbox.faults.set({ kind: 'shape', route: PROFILE, patch: () => body });
    const reply = await program.ask(query);
    expect(reply.errors).toEqual([]);
    expect(reply.data.country.profile).toEqual({ indicators: [], record: body });
    expect(warningsOf(reply)).toHaveLength(1);
  });
});

describe('a country whose row has no code', () => {
  const spoil = (rows: Rows) => {
    const row = rows.find(({ id }) => id === 'ke');
    delete row.id;
    delete row.iso3;
  };
  const detail = /^data\[\d+\]\.id: expected string, received undefined$/;

  it('a country whose row has no code is left out of the list, and the others stand', async () => {
    const reply = await askOver('/v1/countries', spoil, '{ all: countries { code name } }');
    expect(reply.errors).toEqual([]);
    expect(reply.data.all).toHaveLength(53);
    expect(warningsOf(reply)).toEqual([
      expect.objectContaining({
        code: 'ROWS_LEFT_OUT',
        path: ['all'],
        route: '/v1/countries',
        count: 1,
        detail: expect.stringMatching(detail),
      }),
    ]);
  });

  it('a country whose row has no code is left out of those that are named', async () => {
    const text = '{ countries(codes: ["NG", "KE"]) { code } }';
    const reply = await askOver('/v1/countries', spoil, text);
    expect(reply.errors).toEqual([]);
    expect(reply.data).toEqual({ countries: [{ code: 'NG' }] });
    expect(warningsOf(reply)).toMatchObject([{ code: 'ROWS_LEFT_OUT', path: ['countries'], count: 1 }]);
  });

  it('a country whose row has no code fails where it alone is looked up, field by field', async () => {
    const text = `{ country(code: "KE") { name capital profile { indicators { key } } }
      other: country(code: "NG") { name } none: country(code: "ZZ") { name } }`;
    const reply = await askOver('/v1/countries', spoil, text);
    expect(reply.data).toMatchObject({
      country: { name: null, capital: null, profile: { indicators: expect.any(Array) } },
      other: { name: 'Nigeria' },
      none: null,
    });
    expect(reply.errors.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['none'], 'UPSTREAM_INVALID_RESPONSE'],
      [['country', 'name'], 'UPSTREAM_INVALID_RESPONSE'],
      [['country', 'capital'], 'UPSTREAM_INVALID_RESPONSE'],
    ]);
    expect(reply.upstream.byRoute).toEqual({ '/v1/countries': 1, [PROFILE]: 1 });
  });

  it('a country whose row has no code is said to be missing from the figures of all countries', async () => {
    const text = '{ observations(metricKeys: ["population_total"], latest: true) { value } }';
    const reply = await askOver('/v1/countries', spoil, text);
    expect(reply.errors).toEqual([]);
    expect(warningsOf(reply)).toMatchObject([{ path: ['observations'], route: '/v1/countries', count: 1 }]);
  });

  it('a country whose row has no code keeps its code where the name alone is missing', async () => {
    const nameless = (rows: Rows) => void delete rows.find(({ id }) => id === 'ke').name;
    const reply = await askOver('/v1/countries', nameless, '{ country(code: "KE") { code name capital } }');
    expect(reply.errors).toEqual([]);
    expect(reply.data.country).toEqual({ code: 'KE', name: null, capital: 'Nairobi' });
  });
});

describe('a row without a key', () => {
  it('a row without a key of the catalogue is left out, and lookups of what is not there fail', async () => {
    const spoil = (rows: Rows) =>
      void delete rows.find(({ metric_key: key }) => key === 'population_total').metric_key;
    const text = `{ indicators { key } demographics: indicators(category: "demographics") { key }
      sound: indicator(key: "life_expectancy") { name } lost: indicator(key: "population_total") { name }
      observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value indicator { name category } } }`;
    const reply = await askOver('/v1/indicators', spoil, text);
    expect(reply.data.indicators).toHaveLength(206);
    expect(reply.data.sound).toEqual({ name: expect.any(String) });
    expect(reply.data.observations).toEqual([
      { value: expect.any(Number), indicator: { name: expect.any(String), category: null } },
    ]);
    expect(reply.errors.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['lost'], 'UPSTREAM_INVALID_RESPONSE'],
      [['observations', 0, 'indicator', 'category'], 'UPSTREAM_INVALID_RESPONSE'],
    ]);
    expect(warningsOf(reply)).toMatchObject([{ path: ['indicators'], count: 1 }]);
  });

  it('a row without a key of the sources is left out, and lookups of what is not there fail', async () => {
    const spoil = (rows: Rows) => void delete rows.find(({ source }) => source === 'world_bank_wdi').source;
    const text =
      '{ sources { key } source(key: "world_bank_wdi") { key } fx: source(key: "fx_usd_daily") { key } }';
    const reply = await askOver('/v1/platform/etl-status', spoil, text);
    expect(reply.data).toMatchObject({ source: null, fx: { key: 'fx_usd_daily' } });
    expect(reply.data.sources).toHaveLength(58);
    expect(reply.errors).toMatchObject([
      {
        path: ['source'],
        extensions: { code: 'UPSTREAM_INVALID_RESPONSE', route: '/v1/platform/etl-status' },
      },
    ]);
    expect(warningsOf(reply)).toMatchObject([{ path: ['sources'], count: 1 }]);
  });

  it('a row without a key of the listings is left out, and lookups of what is not there fail', async () => {
    const spoil = (rows: Rows) => {
      for (const row of rows) if (row.symbol === 'SYN003') row.symbol = 3;
    };
    const text = `{ tickers(exchangeCode: "NGX") { symbol } lost: ticker(exchangeCode: "NGX", symbol: "SYN003") { name }
      sound: ticker(exchangeCode: "NGX", symbol: "SYN004") { symbol } }`;
    const usual = await askOver(TICKERS, () => undefined, text);
    const reply = await askOver(TICKERS, spoil, text);
    expect(reply.data).toEqual({
      tickers: usual.data.tickers.filter(({ symbol }: { symbol: string }) => symbol !== 'SYN003'),
      lost: null,
      sound: { symbol: 'SYN004' },
    });
    expect(reply.errors).toMatchObject([
      { path: ['lost'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE', route: TICKERS } },
    ]);
    expect(warningsOf(reply)).toMatchObject([{ path: ['tickers'], route: TICKERS }]);
    expect(reply.upstream.byRoute).toEqual(usual.upstream.byRoute);
  });

  it('a row without a key of offices is left out, and so is a term that is none', async () => {
    const spoil = (data: { offices: Rows }) => {
      data.offices[1] = { terms: [] };
      data.offices[2].terms = ['a', ...data.offices[2].terms];
    };
    const text = '{ country(code: "KE") { offices { name terms { holder } record } } }';
    const reply = await askOver(OFFICES, spoil, text);
    expect(reply.errors).toEqual([]);
    const { offices } = reply.data.country;
    expect(offices[1].record.terms).toHaveLength(offices[1].terms.length + 1);
    expect(warningsOf(reply)).toEqual([
      leftOut(
        ['country', 'offices'],
        OFFICES,
        'data.offices[1].office_name: expected string, received undefined',
      ),
      leftOut(
        ['country', 'offices', 1, 'terms'],
        OFFICES,
        'data.offices[2].terms[0]: expected object, received string',
      ),
    ]);
  });

  it('a row without a key leaves nothing of a list, and then the list fails', async () => {
    const spoil = (rows: Rows) => rows.map(() => ({}));
    const reply = await askOver('/v1/platform/etl-status', spoil, '{ sources { key } health { status } }');
    expect(reply.data).toEqual({ sources: null, health: { status: 'ok' } });
    expect(reply.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
  });
});

describe('listings that do not say what they are filtered by', () => {
  const symbols = (reply: Reply) => reply.data.list.map(({ symbol }: { symbol: string }) => symbol);

  it.each([
    ['country_code', 'tickers(countryCode: "NG")'],
    ['instrument_type', 'tickers(exchangeCode: "NGX", instrumentType: "EQUITY")'],
  ])(
    'listings that do not say what they are filtered by are left out by their %s, and said to be',
    async (field, asked) => {
      const text = `{ list: ${asked} { symbol } }`;
      const usual = await askOver(TICKERS, () => undefined, text);
      const reply = await askOver(TICKERS, (rows: Rows) => rows.map(({ [field]: _, ...row }) => row), text);
      expect(symbols(usual).length).toBeGreaterThan(0);
      expect(symbols(reply)).toEqual([]);
      expect(warningsOf(reply)).toMatchObject([
        { path: ['list'], route: TICKERS, detail: `${field}: expected string, received undefined` },
      ]);
      expect(usual.extensions).not.toHaveProperty('warnings');
    },
  );
});

describe('a source that etl-status does not list', () => {
  const spoil = (rows: Rows) => rows.filter(({ source }) => source !== 'world_bank_wdi');

  it('a source that etl-status does not list fails by its record alone, and the figures stand', async () => {
    const text = `{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) {
      value source { key nextRun record } country { record } } }`;
    const reply = await askOver('/v1/platform/etl-status', spoil, text);
    expect(reply.data.observations).toEqual([
      {
        value: expect.any(Number),
        source: { key: 'world_bank_wdi', nextRun: null, record: null },
        country: { record: expect.objectContaining({ id: 'ke' }) },
      },
    ]);
    expect(reply.errors).toMatchObject([
      { path: ['observations', 0, 'source', 'record'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
    ]);
  });
});

describe('a row of a country that has no known code', () => {
  it.each([
    [
      'a list',
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }',
      'observations',
    ],
    [
      'a figure',
      '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
      'country',
    ],
  ])('a row of a country that has no known code is warned of below %s', async (_what, query, field) => {
    const reply = await askOver(
      '/v1/data',
      (data) => [...data, { ...data[0], country_code: 'atlantis' }],
      query,
    );
    expect(reply.errors).toEqual([]);
    expect(reply.upstream.calls).toBe(1);
    expect(warningsOf(reply)).toMatchObject([{ code: 'ROWS_LEFT_OUT', route: '/v1/data', count: 1 }]);
    expect(String(warningsOf(reply)[0]?.path)).toContain(field);
  });
});
