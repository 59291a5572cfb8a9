import { describe, expect, it } from 'vitest';
import { start } from './start.ts';

const PROTECTED = [
  '/v1/platform/etl-status',
  '/v1/countries',
  '/v1/countries/ke/profile',
  '/v1/countries/ke/signals',
  '/v1/data?country_code=ke&metric_key=population_total',
  '/v1/indicators',
  '/v1/markets/tickers',
  '/v1/government/structure/ke',
];

describe('the ten routes', () => {
  it('the sandbox answers the public ones without a key', async () => {
    const { send } = await start();
    for (const path of ['/health', '/v1/platform/version']) {
      expect((await send(path, { key: null })).status).toBe(200);
    }
  });

  it('the sandbox answers the protected ones with one', async () => {
    const { send } = await start();
    for (const path of PROTECTED) {
      const response = await send(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.json()).toHaveProperty('data');
    }
  });

  it('the sandbox has 54 countries, 207 indicators, 59 sources and more than 250 listings, 189 of them on one exchange', async () => {
    const { json } = await start();
    expect((await json('/v1/countries')).data).toHaveLength(54);
    expect((await json('/v1/indicators')).data).toHaveLength(207);
    const { data: sources } = await json('/v1/platform/etl-status');
    expect(sources).toHaveLength(59);
    expect(new Set(sources.map((s: { source: string }) => s.source)).size).toBe(59);
    expect((await json('/v1/markets/tickers')).data).toHaveLength(100);
    expect((await json('/v1/markets/tickers?limit=500')).data.length).toBeGreaterThan(250);
    expect((await json('/v1/markets/tickers?exchange_code=NGX&limit=500')).data).toHaveLength(189);
  });

  it('the sandbox gives countries their reference record, with holes in some', async () => {
    const { data } = await (await start()).json('/v1/countries');
    const byId = new Map(data.map((country: { id: string }) => [country.id, country]));
    expect(byId.get('ke')).toEqual({
      id: 'ke',
      iso3: 'KEN',
      name: 'Kenya',
      official_name: 'Republic of Kenya',
      capital: 'Nairobi',
      region: 'East Africa',
      subregion: 'Eastern Africa',
      area_km2: 580367,
      timezone: 'Africa/Nairobi',
      calling_code: '+254',
      flag: '🇰🇪',
      coordinates: { latitude: 1, longitude: 38 },
      borders: ['et', 'so', 'ss', 'tz', 'ug'],
      currencies: [{ code: 'KES', name: 'Kenyan shilling' }],
      languages: [
        { code: 'en', name: 'English' },
        { code: 'sw', name: 'Swahili' },
      ],
    });
    expect(byId.get('so')).toMatchObject({ capital: null });
    expect(byId.get('so')).not.toHaveProperty('languages');
    expect(byId.get('er')).toMatchObject({ languages: ['Tigrinya', 'Arabic', 'English'] });
  });

  it('the sandbox names neighbours that name it back', async () => {
    const { data } = await (await start()).json('/v1/countries');
    const borders = new Map<string, string[]>(
      data.map((c: { id: string; borders?: string[] }) => [c.id, c.borders ?? []]),
    );
    for (const [id, others] of borders) for (const other of others) expect(borders.get(other)).toContain(id);
  });

  it('the sandbox filters indicators by category and by whether there is data', async () => {
    const { json } = await start();
    const { data: energy } = await json('/v1/indicators?category=energy');
    expect(new Set(energy.map((i: { category: string }) => i.category))).toEqual(new Set(['energy']));
    const { data: empty } = await json('/v1/indicators?has_data=false');
    expect(empty.length).toBeGreaterThan(0);
    expect((await json('/v1/indicators?has_data=true')).data.length).toBe(207 - empty.length);
    const keys = empty.map((i: { metric_key: string }) => i.metric_key).join();
    expect((await json(`/v1/data?metric_keys=${keys}`)).meta.total).toBe(0);
  });

  it('the sandbox states every block of the signals, empty where nothing is covered', async () => {
    const { json } = await start();
    const blocks = [
      'observations',
      'fx_rates',
      'commodity_benchmarks',
      'disaster_alerts',
      'markets',
      'trade',
      'government',
    ];
    for (const code of ['ke', 'ss']) {
      const { data } = await json(`/v1/countries/${code}/signals`);
      expect(data.country.code).toBe(code);
      for (const block of blocks) expect(data[block]).toBeInstanceOf(Array);
    }
    const { data } = await json('/v1/countries/ss/signals');
    expect(data.disaster_alerts).toEqual([]);
    expect(data.government).toEqual([]);
  });

  it('the sandbox lists offices with terms, or terms that name their office', async () => {
    const nested = (await (await start()).json('/v1/government/structure/KE')).data;
    const flat = (await (await start({ government: 'terms' })).json('/v1/government/structure/ke')).data;
    expect(nested.country).toEqual({ code: 'ke', name: 'Kenya', region: 'East Africa' });
    expect(nested.offices[0]).toMatchObject({
      office_name: 'President of Kenya',
      role_type: 'head_of_state',
    });
    expect(nested.offices[0].terms[0].leader_name).toMatch(/^Synthetic Holder KE \d{3}$/);
    const count = nested.offices.reduce((n: number, o: { terms: unknown[] }) => n + o.terms.length, 0);
    expect(flat.terms).toHaveLength(count);
    expect(flat.terms[0]).toMatchObject({ office_name: 'President of Kenya', role_type: 'head_of_state' });
    const { json } = await start();
    expect((await json('/v1/government/structure/ss')).data.offices).toEqual([]);
    const { data: libya } = await json('/v1/government/structure/ly');
    expect(libya.offices[0].terms.slice(0, 2)).toMatchObject([
      { status: 'disputed', end_date: null },
      { status: 'disputed', end_date: null },
    ]);
  });

  it('the sandbox answers 404 for a country or a path it doesn’t know, and 405 for other methods', async () => {
    const { send } = await start();
    for (const path of [
      '/v1/countries/XX/profile',
      '/v1/countries/xx/signals',
      '/v1/government/structure/xx',
    ]) {
      const response = await send(path);
      expect([response.status, await response.json()]).toEqual([404, { detail: 'country not found: xx' }]);
    }
    expect((await send('/v1/nothing')).status).toBe(404);
    expect((await send('/v1/countries', { method: 'POST' })).status).toBe(405);
  });
});

describe('the list of countries', () => {
  it('the list of countries has a strong ETag, and is not sent again to whoever has it', async () => {
    const { send, sandbox } = await start();
    const first = await send('/v1/countries');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers.get('cache-control')).toBe('private, max-age=300');

    const second = await send('/v1/countries', { headers: { 'if-none-match': `"other", ${etag}` } });
    expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await send('/v1/countries', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    // A 304 is a request like any other.
    expect(sandbox.usage('team')).toEqual({ minute: 3, month: 3 });
    expect(sandbox.log.map(({ status, conditional }) => [status, conditional])).toEqual([
      [200, false],
      [304, true],
      [200, true],
    ]);
  });
});

describe('variants', () => {
  it.each([
    ['data', 'data', 'data'],
    ['other', 'results', 'result'],
  ] as const)('the sandbox wraps as %s', async (wrap, list, object) => {
    const { json } = await start({ wrap });
    expect((await json('/v1/indicators'))[list]).toHaveLength(207);
    expect((await json('/v1/countries/ke/profile'))[object].id).toBe('ke');
    expect(Object.keys(await json('/v1/data?country_code=ke'))).toEqual([list, 'meta']);
  });

  it('the sandbox wraps nothing when bare', async () => {
    const { json } = await start({ wrap: 'bare' });
    expect(await json('/v1/indicators')).toHaveLength(207);
    expect(await json('/v1/data?country_code=ke')).toHaveLength(100);
    expect((await json('/v1/countries/ke/profile')).id).toBe('ke');
  });

  it('the sandbox writes country codes in upper case everywhere, and nothing else', async () => {
    const { json } = await start({ codeCase: 'upper' });
    const { data: profile } = await json('/v1/countries/ke/profile');
    expect(profile).toMatchObject({
      id: 'KE',
      borders: ['ET', 'SO', 'SS', 'TZ', 'UG'],
      languages: [{ code: 'en' }, { code: 'sw' }],
    });
    expect((await json('/v1/data?country_code=ke')).data[0].country_code).toBe('KE');
    const { data: signals } = await json('/v1/countries/ke/signals');
    expect(signals.country.code).toBe('KE');
    expect(signals.fx_rates[0].country_codes).toEqual(['KE']);
    expect((await json('/v1/government/structure/ke')).data.country.code).toBe('KE');
    expect((await json('/v1/markets/tickers?exchange_code=NSE')).data[0].country_code).toBe('KE');
  });
});

describe('the log', () => {
  it('the log of the sandbox says what was asked, under which key, and how it ended', async () => {
    const { send, sandbox } = await start();
    await send('/v1/data?country_code=ke&latest=true', { key: sandbox.keys.analystSecond });
    await send('/v1/indicators', { key: 'nobody' });
    await send('/health', { key: null });
    expect(sandbox.log.map(({ receivedAt, aborted, ...rest }) => rest)).toEqual([
      {
        method: 'GET',
        path: '/v1/data',
        route: '/v1/data',
        query: { country_code: 'ke', latest: 'true' },
        key: 'analystSecond',
        conditional: false,
        status: 200,
      },
      {
        method: 'GET',
        path: '/v1/indicators',
        route: '/v1/indicators',
        query: {},
        key: 'unknown',
        conditional: false,
        status: 401,
      },
      {
        method: 'GET',
        path: '/health',
        route: '/health',
        query: {},
        key: null,
        conditional: false,
        status: 200,
      },
    ]);
    sandbox.log.clear();
    expect(sandbox.log).toHaveLength(0);
  });
});
