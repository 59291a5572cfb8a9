import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { openProgram, type ProgramOptions } from '../../support/program.ts';

const BOTH = { EXTRA_ROUTES: 'trade,policy' };
const open = ({ env, ...options }: ProgramOptions = {}) =>
  openProgram({ ...options, env: { ...BOTH, ...env } });

const FLOWS = '/v1/trade/flows';
const ALL_ROUTES = [
  '/v1/trade/overview/{code}',
  FLOWS,
  '/v1/trade/partners',
  '/v1/trade/products',
  '/v1/policies',
  '/v1/policies/country/{code}',
];
/** Takes each route of a country once. */
const EVERY_FIELD = `tradeOverview { record } tradeFlows { year } tradePartners { partnerCode } tradeProducts { productCode }
  policies { title } policyOverview { activePolicyCount }`;

const explain = { headers: { 'x-explain': '1' } };

describe('routes that are not asked for', () => {
  const namesIn = async (env: Record<string, string>) => {
    await using program = await openProgram({ env });
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    return parse(sdl)
      .definitions.flatMap((one) => ('name' in one && one.name ? [one.name.value] : []))
      .filter((name) => /^(?!federation__).*(trade|polic)/i.test(name));
  };

  it('routes that are not asked for are not in the schema, whichever they are', async () => {
    expect(await namesIn({})).toEqual([]);
    const trade = await namesIn({ EXTRA_ROUTES: 'trade' });
    expect(trade).toContain('TradeFlow');
    expect(trade.join()).not.toMatch(/polic/i);
    expect(await namesIn({ EXTRA_ROUTES: 'policy' })).toContain('Policy');
  });

  it('routes that are not asked for cost nothing: a field of theirs is no field', async () => {
    await using program = await openProgram();
    const { errors } = await program.ask(`{ country(code: "KE") { ${EVERY_FIELD} } }`);
    expect(errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(program.requests()).toEqual([]);
  });
});

describe('the price', () => {
  it('the price of extra routes is one call a country and route, and what is paid', async () => {
    await using program = await open();
    const query = `{ countries(codes: ["KE", "GH"]) { ${EVERY_FIELD} } }`;
    const { extensions } = await program.ask(query, explain);
    expect(extensions.explain).toMatchObject({ calls: 12 });
    expect(program.requests()).toEqual([]);
    const { errors, upstream } = await program.ask(query);
    expect(errors).toEqual([]);
    expect(upstream.calls).toBe(12);
    expect(program.requests()).toHaveLength(12);
  });

  it.for([
    '{ country(code: "NG") { tradeFlows { year } } }',
    '{ tradeFlows(reporterCode: "NG") { year } }',
    '{ country(code: "ZA") { policies { title } } }',
  ])(
    'the price of extra routes has what a long list takes within its range, and is just that once it was seen: %s',
    async (query) => {
      await using program = await open();
      const priceOf = async () => {
        const { calls, least, most } = (await program.ask(query, explain)).extensions.explain as Record<
          string,
          number
        >;
        return { calls, least, most };
      };
      expect(await priceOf()).toEqual({ calls: 1, least: 1, most: 60 });
      expect((await program.ask(query)).upstream.calls).toBe(3);
      expect(await priceOf()).toEqual({ calls: 3, least: 3, most: 3 });
      expect((await program.ask(query)).upstream.calls).toBe(3);
    },
  );

  it.for(['{ countries { tradeOverview { record } } }', '{ countries { policies { title } } }'])(
    'the price of extra routes is refused unsent where it is too much: %s',
    async (query) => {
      await using program = await open({ env: { MAX_UPSTREAM_CALLS: '20' } });
      const { errors } = await program.ask(query);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
      expect(program.requests()).toEqual([]);
    },
  );

  it('the price of extra routes is that of one call for whatever stands several times', async () => {
    await using program = await open();
    const { errors } = await program.ask(`{
      a: country(code: "KE") { tradeOverview(top: 3) { record } policies { title } }
      b: country(code: "ke") { tradeOverview(top: 3) { record } policies { publishedAt } }
    }`);
    expect(errors).toEqual([]);
    expect(program.requests().sort()).toEqual([
      'GET /v1/policies?country_code=KE&limit=500',
      'GET /v1/trade/overview/KE?top_limit=3',
    ]);
  });

  it.for([
    ['tradeOverview(top: 21) { record }', 'top is from 1 to 20; this is 21.'],
    ['policyOverview(top: 0) { record }', 'top is from 1 to 20; this is 0.'],
    ['tradeFlows(fromYear: 2025, toYear: 2020) { year }', 'fromYear (2025) is after toYear (2020).'],
    ['policies(fromYear: 20) { title }', 'fromYear is a year from 1900 to 2100; this is 20.'],
    ['policies(search: " ") { title }', '`search` is empty: leave it out to ask for all.'],
  ])(
    'the price of extra routes is nothing where an argument makes no sense: %s',
    async ([field, message]) => {
      await using program = await open();
      const { errors } = await program.ask(`{ country(code: "KE") { ${field} } }`);
      expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(program.requests()).toEqual([]);
    },
  );
});

describe('a service without the routes', () => {
  it('a service without the routes is asked for each once, by whichever key, and everything else stands', async () => {
    await using program = await open({ sandbox: { absentRoutes: ALL_ROUTES } });
    const query = `{ countries(codes: ["KE", "GH", "NG"]) { capital ${EVERY_FIELD} } }`;
    const first = await program.ask(query);
    expect(first.errors).toHaveLength(18);
    expect(new Set(first.errors.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['UPSTREAM_ROUTE_ABSENT']),
    );
    expect(new Set(first.errors.map(({ extensions }) => extensions.route))).toEqual(new Set(ALL_ROUTES));
    expect(first.data.countries).toMatchObject([
      { capital: 'Nairobi', policies: null, tradeOverview: null },
      { capital: 'Accra' },
      { capital: 'Abuja' },
    ]);
    expect(first.upstream.calls).toBe(7);
    expect(program.requests()).toHaveLength(7);

    const again = await program.ask(query, { key: program.sandbox.keys.analyst });
    expect(again.errors).toHaveLength(18);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });

  it('a service without the routes is not one that knows nothing of a country', async () => {
    await using program = await open();
    const query = '{ countries(codes: ["XX", "KE"]) { code tradeOverview { country { code } } } }';
    const { data, errors } = await program.ask(query);
    expect(errors).toEqual([]);
    expect(data.countries.at(-1)).toEqual({ code: 'KE', tradeOverview: { country: { code: 'KE' } } });
  });
});

describe('a list that fills an answer', () => {
  it('a list that fills an answer is completed by exports, imports and years', async () => {
    await using program = await open();
    const { data, extensions } = await program.ask(
      '{ country(code: "NG") { tradeFlows { year flowType record } } }',
    );
    const rows: { record: object }[] = data.country.tradeFlows;
    expect(extensions.warnings).toBeUndefined();
    expect(rows).toHaveLength(12 * 11 * 6 * 2);
    expect(new Set(rows.map(({ record }) => JSON.stringify(record))).size).toBe(rows.length);
    expect(program.requests()).toEqual([
      `GET ${FLOWS}?limit=1000&reporter_country_code=NG`,
      `GET ${FLOWS}?flow_type=export&limit=1000&reporter_country_code=NG`,
      `GET ${FLOWS}?flow_type=import&limit=1000&reporter_country_code=NG`,
    ]);
  });

  it('a list that fills an answer is completed by years where the count of the service proves it', async () => {
    await using program = await open();
    const { data, extensions } = await program.ask('{ country(code: "ZA") { policies { title } } }');
    expect(extensions.warnings).toMatchObject([
      { code: 'ROWS_LEFT_OUT', route: '/v1/policies', count: 1, path: ['country', 'policies'] },
    ]);
    const titles = data.country.policies.map(({ title }: { title: string }) => title);
    // The one without a day is beyond the first answer, and no range of years has it.
    expect(new Set(titles).size).toBe(619);
    expect(program.requests()).toHaveLength(3);
  });

  it('a list that fills an answer says so where nothing completes it', async () => {
    await using program = await open({ sandbox: { extras: 'ignore' } });
    const { data, extensions } = await program.ask('{ tradeFlows { year } }');
    expect(data.tradeFlows).toHaveLength(100);
    expect(extensions.warnings).toMatchObject([
      { code: 'ROWS_LEFT_OUT', route: FLOWS, path: ['tradeFlows'] },
    ]);
    expect(program.requests()).toHaveLength(2);
  });

  it('a list that fills an answer stays within what the operation may send', async () => {
    await using program = await open({ env: { MAX_UPSTREAM_CALLS: '2' } });
    const { data, errors, extensions } = await program.ask('{ country(code: "NG") { tradeFlows { year } } }');
    expect(errors).toEqual([]);
    expect(data.country.tradeFlows).toHaveLength(1000);
    expect(extensions.warnings).toMatchObject([{ code: 'ROWS_LEFT_OUT', route: FLOWS }]);
    expect(program.requests()).toHaveLength(2);
  });
});

it('records of extra routes are read whatever they lack', async () => {
  await using program = await open();
  program.sandbox.faults.set({
    kind: 'shape',
    patch: ({ data }) => ({ data: Array.isArray(data) ? data.map(() => ({ odd: 1 })) : { odd: 1 } }),
  });
  const { data, errors } = await program.ask(`{ country(code: "KE") {
    tradeOverview { country { code } record }
    tradeFlows(productCode: "0901", flowType: EXPORT, fromYear: 2025) { reporterCode partnerCode productCode flowType year record }
    tradePartners { partnerCode record } tradeProducts { productCode record }
    policies { wikidataId title documentType status publishedAt source { key } country { code } record }
    policyOverview { country { code } latestPolicy { title } activePolicyCount recentPolicies { title } record } } }`);
  expect(errors).toEqual([]);
  const odd = { record: { odd: 1 } };
  const { country } = data;
  expect(country.tradeOverview).toEqual({ country: { code: 'KE' }, ...odd });
  expect(country.policyOverview).toEqual({
    country: { code: 'KE' },
    latestPolicy: null,
    activePolicyCount: null,
    recentPolicies: [],
    ...odd,
  });
  expect(country.tradeFlows[0]).toEqual({
    reporterCode: null,
    partnerCode: null,
    productCode: null,
    flowType: null,
    year: null,
    ...odd,
  });
  expect(country.tradePartners[0]).toEqual({ partnerCode: null, ...odd });
  expect(country.tradeProducts[0]).toEqual({ productCode: null, ...odd });
  expect(country.policies[0]).toMatchObject({ title: null, source: null, country: { code: 'KE' }, ...odd });
});
