import { describe, expect, it } from 'vitest';
import { decodeTickers } from '../../src/service/records/reference.ts';
import { failureOf, lackOf } from './failure-of.ts';

const ROUTE = '/v1/markets/tickers';

const dangote = {
  exchange_code: 'ngx',
  symbol: ' DANGCEM ',
  security_name: 'Dangote Cement',
  instrument_type: 'EQUITY',
  sector: 'Industrial Goods',
  industry: 'Building Materials',
  country_code: 'ng',
  latest_trade_date: '2026-01-02',
  latest_close_price: 480.5,
  latest_change_percent: 0,
};

const only = (row: object) => decodeTickers([{ exchange_code: 'NGX', symbol: 'X', ...row }], ROUTE).rows[0];

describe('decodeTickers', () => {
  it('decodeTickers says every field in our words and keeps the row', () => {
    const { rows, received } = decodeTickers({ data: [dangote] }, ROUTE);
    expect(rows).toEqual([
      {
        exchangeCode: 'NGX',
        symbol: 'DANGCEM',
        name: 'Dangote Cement',
        instrumentType: 'EQUITY',
        sector: 'Industrial Goods',
        industry: 'Building Materials',
        countryCode: 'NG',
        session: '2026-01-02',
        closePrice: 480.5,
        changePercent: 0,
        record: dangote,
      },
    ]);
    expect(rows[0]?.record).toBe(dangote);
    expect(received).toBe(1);
  });

  it.each([
    [
      {},
      {
        name: null,
        instrumentType: null,
        countryCode: null,
        session: null,
        closePrice: null,
        changePercent: null,
      },
    ],
    [{ name: 'Ex' }, { name: 'Ex' }],
    [{ session: '2026-01-02' }, { session: '2026-01-02' }],
    [{ latest_close_price: '480.50' }, { closePrice: 480.5 }],
    [{ latest_close_price: '' }, { closePrice: null }],
    [{ latest_close_price: 'n/a' }, { closePrice: null }],
    [{ latest_close_price: Number.POSITIVE_INFINITY }, { closePrice: null }],
    [{ latest_change_percent: true }, { changePercent: null }],
    [{ country_code: 'NGA' }, { countryCode: 'NG' }],
    [{ country_code: 'Nigeria' }, { countryCode: null }],
    [
      { sector: 7, industry: [] },
      { sector: null, industry: null },
    ],
  ])('decodeTickers reads %j', (row, expected) => {
    expect(only(row)).toMatchObject(expected);
  });

  const wrong: [row: unknown, detail: string][] = [
    [{ symbol: 'X' }, 'data[0].exchange_code: expected string, received undefined'],
    [{ exchange_code: 'NGX', symbol: ' ' }, 'data[0].symbol: expected string, received empty string'],
    [{ exchange_code: 'NGX', symbol: 7 }, 'data[0].symbol: expected string, received number'],
    [7, 'data[0]: expected object, received number'],
  ];
  it.each(wrong)('decodeTickers leaves %j out, and says so', (row, detail) => {
    const { rows, received } = decodeTickers({ data: [row, dangote] }, ROUTE);
    expect(rows.map(({ symbol }) => symbol)).toEqual(['DANGCEM']);
    expect(received).toBe(2);
    expect(lackOf(rows)).toEqual({ count: 1, detail });
    expect(failureOf(() => decodeTickers({ data: [row] }, ROUTE)).fields).toEqual({ route: ROUTE, detail });
  });
});
