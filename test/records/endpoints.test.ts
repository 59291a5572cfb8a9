import { describe, expect, it } from 'vitest';
import { endpoints as policy } from '../../src/plugins/extra-routes/policy.ts';
import { endpoints as trade } from '../../src/plugins/extra-routes/trade.ts';
import { type Endpoint, makeCall } from '../../src/service/call.ts';
import * as endpoints from '../../src/service/endpoints.ts';
import { leftOutOf } from '../../src/service/records/envelope.ts';
import { SENT_ROW } from '../support/sent-row.ts';
import { failureOf } from './failure-of.ts';

const RECEIVED_AT = Date.UTC(2026, 0, 1);

const KE = { code: 'ke' };

/** A figure as snapshots have it. */
const { country_code, country_name, ...FIGURE } = SENT_ROW;

describe('targets', () => {
  const figures = { countryCodes: ['KE'], metricKeys: ['gdp_current_usd'], latest: false };
  const cases: [call: ReturnType<typeof makeCall>, target: string, isPublic: boolean][] = [
    [makeCall(endpoints.health, {}), '/health', true],
    [makeCall(endpoints.platformVersion, {}), '/v1/platform/version', true],
    [makeCall(endpoints.etlStatus, {}), '/v1/platform/etl-status', false],
    [makeCall(endpoints.countries, {}), '/v1/countries', false],
    [makeCall(endpoints.countryProfile, KE), '/v1/countries/KE/profile', false],
    [makeCall(endpoints.countrySignals, KE), '/v1/countries/KE/signals', false],
    [makeCall(endpoints.governmentStructure, KE), '/v1/government/structure/KE', false],
    [
      makeCall(endpoints.observations, figures),
      '/v1/data?country_codes=KE&metric_keys=gdp_current_usd',
      false,
    ],
    [
      makeCall(endpoints.observations, {
        countryCodes: ['UG', 'KE', 'UG'],
        metricKeys: ['b', 'a', 'b'],
        latest: true,
        limit: 1000,
        startYear: 1950,
        endYear: 0,
      }),
      '/v1/data?country_codes=KE,UG&end_year=0&latest=true&limit=1000&metric_keys=a,b&start_year=1950',
      false,
    ],
    [makeCall(endpoints.observations, { ...figures, metricKeys: [] }), '/v1/data?country_codes=KE', false],
    [makeCall(endpoints.indicators, {}), '/v1/indicators', false],
    [
      makeCall(endpoints.indicators, { category: 'health & care', hasData: false }),
      '/v1/indicators?category=health%20%26%20care&has_data=false',
      false,
    ],
    [makeCall(endpoints.indicators, { hasData: true }), '/v1/indicators?has_data=true', false],
    [makeCall(endpoints.tickers, {}), '/v1/markets/tickers', false],
    [
      makeCall(endpoints.tickers, {
        limit: 500,
        exchangeCode: 'ngx',
        countryCode: 'ng',
        instrumentType: 'EQUITY',
      }),
      '/v1/markets/tickers?country_code=NG&exchange_code=NGX&instrument_type=EQUITY&limit=500',
      false,
    ],
    [makeCall(trade.tradeOverview, KE), '/v1/trade/overview/KE', false],
    [
      makeCall(trade.tradeOverview, { ...KE, top: 3, startYear: 2020, endYear: 2024 }),
      '/v1/trade/overview/KE?end_year=2024&start_year=2020&top_limit=3',
      false,
    ],
    [makeCall(trade.tradeFlows, {}), '/v1/trade/flows?limit=1000', false],
    [
      makeCall(trade.tradeFlows, {
        reporterCode: 'ke',
        partnerCode: 'cn',
        productCode: '0902',
        flowType: 'export',
        startYear: 2020,
        endYear: 2024,
      }),
      '/v1/trade/flows?end_year=2024&flow_type=export&limit=1000&partner_country_code=CN&product_code=0902&reporter_country_code=KE&start_year=2020',
      false,
    ],
    [makeCall(trade.tradePartners, KE), '/v1/trade/partners?reporter_country_code=KE', false],
    [makeCall(trade.tradeProducts, KE), '/v1/trade/products?reporter_country_code=KE', false],
    [makeCall(policy.policies, {}), '/v1/policies?limit=500', false],
    [
      makeCall(policy.policies, {
        countryCode: 'ke',
        documentType: 'law',
        status: 'active',
        search: 'data & more',
        startYear: 2020,
        endYear: 2024,
      }),
      '/v1/policies?country_code=KE&document_type=law&end_year=2024&limit=500&q=data%20%26%20more&start_year=2020&status=active',
      false,
    ],
    [makeCall(policy.policyOverview, KE), '/v1/policies/country/KE', false],
    [makeCall(policy.policyOverview, { ...KE, top: 3 }), '/v1/policies/country/KE?top_limit=3', false],
  ];
  it.each(cases)('the target of a call names it in one way: %j', (call, target, isPublic) => {
    expect(call.target).toBe(target);
    expect(call).toMatchObject({ target, isPublic });
  });
});

describe('the country of an answer', () => {
  const OF_COUNTRY = [
    ['countryProfile', (data: object) => endpoints.countryProfile.decode({ data }, KE, RECEIVED_AT)],
    ['countrySignals', (data: object) => endpoints.countrySignals.decode({ data }, KE, RECEIVED_AT)],
    ['tradeOverview', (data: object) => trade.tradeOverview.decode({ data }, KE, RECEIVED_AT)],
    ['policyOverview', (data: object) => policy.policyOverview.decode({ data }, KE, RECEIVED_AT)],
    [
      'governmentStructure',
      (data: object) =>
        endpoints.governmentStructure.decode(
          { data: { offices: [{ office_name: 'President' }], ...data } },
          KE,
          RECEIVED_AT,
        )[0],
    ],
  ] as const;

  it.each(OF_COUNTRY)(
    'the country of an answer of %s is the one that was asked for, and no other',
    (_, decode) => {
      for (const said of [
        {},
        { country: { code: 'ke' } },
        { country: { code: 'KEN' } },
        { country: 'Kenya' },
      ])
        expect(decode(said)?.countryCode).toBe('KE');
      for (const other of [{ country: { code: 'ug' } }, { country_code: 'UGA' }])
        expect(failureOf(() => decode(other))).toMatchObject({
          code: 'UPSTREAM_INVALID_RESPONSE',
          fields: { detail: 'data.country: expected KE, received UG' },
        });
    },
  );

  it.each([
    [
      'policies',
      (data: object[]) => policy.policies.decode({ data }, { countryCode: 'ke' }, RECEIVED_AT).rows,
    ],
    [
      'tradeFlows',
      (data: object[]) => trade.tradeFlows.decode({ data }, { reporterCode: 'ke' }, RECEIVED_AT).rows,
    ],
    ['tradePartners', (data: object[]) => trade.tradePartners.decode({ data }, KE, RECEIVED_AT).rows],
    ['tradeProducts', (data: object[]) => trade.tradeProducts.decode({ data }, KE, RECEIVED_AT).rows],
    [
      'governmentStructure',
      (data: object[]) =>
        endpoints.governmentStructure.decode(
          { data: data.map((row, i) => ({ office_name: `office ${i}`, ...row })) },
          KE,
          RECEIVED_AT,
        ),
    ],
    [
      'countrySignals',
      (data: object[]) =>
        endpoints.countrySignals.decode(
          { data: { observations: data.map((row) => ({ ...FIGURE, ...row })) } },
          KE,
          RECEIVED_AT,
        ).observations,
    ],
  ] as const)('rows of %s that say to be of another are left out', (_, decode) => {
    const named = (code: string) => ({ country_code: code, reporter_country_code: code });
    const rows = decode([named('ug'), {}, named('KEN'), named('ke')]);
    expect([rows.length, leftOutOf(rows)?.count]).toEqual([3, 1]);
  });

  it('indicators that say to be of another category are left out, and then those that don’t say', () => {
    const decode = (data: object[]) =>
      endpoints.indicators.decode({ data }, { category: 'health', hasData: true }, RECEIVED_AT);
    const row = (key: string, more: object) => ({ metric_key: key, sources: [], ...more });
    const sound = [row('a', { category: 'Health', has_data: true }), row('b', {})];
    expect(decode(sound).map(({ key }) => key)).toEqual(['a', 'b']);
    for (const other of [{ category: 'energy' }, { has_data: false }]) {
      const list = decode([...sound, row('c', other)]);
      expect([list.map(({ key }) => key), leftOutOf(list)?.count]).toEqual([['a'], 2]);
      expect(failureOf(() => decode([row('c', other)])).code).toBe('UPSTREAM_INVALID_RESPONSE');
    }
  });
});

describe('what pricing takes an answer to be', () => {
  const all = [...Object.values(endpoints), ...Object.values(trade), ...Object.values(policy)];
  const assuming = all.flatMap(({ route, assumed, decode }: Endpoint) =>
    assumed === undefined ? [] : [{ route, body: assumed(route, 'indicator_1', () => null), decode }],
  );

  it.for(assuming)('what pricing takes an answer to be is an answer of $route', ({ body, decode }) => {
    expect(leftOutOf(Object(decode(body, KE as never, RECEIVED_AT)))).toBe(null);
  });
});
