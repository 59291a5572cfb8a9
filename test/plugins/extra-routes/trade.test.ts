import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/plugins/extra-routes/trade.ts';
import { failureOf, lackOf, NO_LISTS, NO_OBJECTS } from '../../records/failure-of.ts';

const { tradeFlows, tradeOverview, tradePartners, tradeProducts } = endpoints;
const KE = { code: 'ke' };
const NOW = 0;

const flow = {
  reporter_country_code: 'ke',
  partner_country_code: 'cn',
  product_code: '0902',
  flow_type: 'export',
  year: 2024,
  value: 12.5,
  extra: { whatever: ['there', 1] },
};

describe('tradeFlows', () => {
  const decode = (body: unknown) => tradeFlows.decode(body, {}, NOW);
  const nothing = { reporterCode: null, partnerCode: null, productCode: null, flowType: null, year: null };

  it.for([[[flow]], [{ data: [flow] }], [{ flows: [flow] }]])(
    'tradeFlows says every field in our words and keeps what was sent: %j',
    ([body]) => {
      const { rows } = decode(body);
      expect(rows).toEqual([
        {
          reporterCode: 'KE',
          partnerCode: 'CN',
          productCode: '0902',
          flowType: 'export',
          year: 2024,
          record: flow,
        },
      ]);
      expect(rows[0]?.record).toBe(flow);
    },
  );

  it.for([
    ['nothing at all', {}, {}],
    ['nulls', Object.fromEntries(Object.keys(flow).map((name) => [name, null])), {}],
    ['lists', Object.fromEntries(Object.keys(flow).map((name) => [name, []])), {}],
    ['codes under other names', { reporter: 'ke', partner: 'cn' }, { reporterCode: 'KE', partnerCode: 'CN' }],
    ['a code of three letters', { reporter_country_code: 'KEN' }, { reporterCode: 'KE' }],
    ['no codes of countries', { reporter_country_code: 404, partner_country_code: 'World' }, {}],
    ['a product that is a number', { product_code: 902 }, { productCode: '902' }],
    ['a year that is a text', { year: '2024' }, { year: 2024 }],
    ['a year that is no whole one', { year: 2024.5 }, {}],
    ['a year beyond any', { year: 20_240 }, {}],
    ['a word of its own', { flow_type: 're-export' }, { flowType: 're-export' }],
  ] as const)('tradeFlows reads a row of %s', ([, row, read]) => {
    const { rows } = decode({ data: [row] });
    expect(rows).toEqual([{ ...nothing, ...read, record: row }]);
    expect(lackOf(rows)).toBeNull();
  });
});

describe.for([
  ['partners', tradePartners, 'partner_country_code', 'cn', { partnerCode: 'CN' }, { partnerCode: null }],
  ['products', tradeProducts, 'product_code', '0902', { productCode: '0902' }, { productCode: null }],
] as const)('%s', ([, endpoint, name, value, read, unread]) => {
  const decode = (body: unknown) => endpoint.decode(body, KE, NOW);

  it('rows of trade are named, and kept as they were sent', () => {
    const row = { [name]: value, total_value: 1, extra: [] };
    const { rows } = decode({ data: [row] });
    expect(rows).toEqual([{ ...read, record: row }]);
    expect(rows[0]?.record).toBe(row);
  });

  it.for([{}, { [name]: null }, { [name]: [] }, { [name]: '' }])('rows of trade have no name: %j', (row) => {
    expect(decode({ data: [row] }).rows).toEqual([{ ...unread, record: row }]);
  });
});

describe.for([
  ['flows', tradeFlows],
  ['partners', tradePartners],
  ['products', tradeProducts],
] as const)('a list of %s', ([, endpoint]) => {
  const decode = (body: unknown) => endpoint.decode(body, KE, NOW);

  it('a list of trade may be empty', () => {
    expect(decode({ data: [] }).rows).toEqual([]);
  });

  it('a list of trade lacks what is no row, and says so', () => {
    const { rows } = decode({ data: [flow, 7, null] });
    expect(rows).toHaveLength(1);
    expect(lackOf(rows)).toEqual({ count: 2, detail: 'data[1]: expected object, received number' });
  });

  it.for(NO_LISTS)('a list of trade is none: %j', ([body, detail]) => {
    const { code, fields } = failureOf(() => decode(body));
    expect([code, fields.detail]).toEqual(['UPSTREAM_INVALID_RESPONSE', detail]);
  });
});

describe('tradeOverview', () => {
  const decode = (body: unknown, code = 'ke') => tradeOverview.decode(body, { code }, NOW);

  it.for([
    [{ country: { code: 'ug' }, total_exports: 1 }, 'UG'],
    [{ country_code: 'ug' }, 'UG'],
    [{ country: { name: 'Uganda' } }, 'KE'],
    [{ country: 'ug' }, 'UG'],
    [{ country: null }, 'KE'],
    [{}, 'KE'],
  ] as const)('tradeOverview is of a country, and kept as it was sent: %j', ([overview, countryCode]) => {
    const decoded = decode({ data: overview }, countryCode.toLowerCase());
    expect(decoded).toEqual({ countryCode, record: overview });
    expect(decoded.record).toBe(overview);
  });

  it.for(NO_OBJECTS)('tradeOverview is no object: %j', ([body, detail]) => {
    const { code, fields } = failureOf(() => decode(body));
    expect([code, fields.detail]).toEqual(['UPSTREAM_INVALID_RESPONSE', detail]);
  });
});
