import { describe, expect, it } from 'vitest';
import { decodeSignals } from '../../src/service/records/observations.ts';
import { lackOf } from './failure-of.ts';

const ROUTE = '/v1/countries/{code}/signals';

const RECEIVED_AT = Date.UTC(2026, 0, 1);
const decode = (body: unknown) => decodeSignals(body, ROUTE, 'ke', RECEIVED_AT);

const rate = {
  metric_key: 'policy_rate_pct',
  metric_name: 'Policy rate',
  category: 'economy',
  frequency: 'monthly',
  year: 2026,
  period: '2026-01',
  location_name: null,
  value: 9.25,
  unit: 'percent',
  source: 'cbk_ke_signals',
  value_status: 'reported',
  freshness: 'current',
  retrieved_at: '2026-01-02T03:04:05Z',
};
const fx = {
  source_code: 'fx_usd_daily',
  base_currency: 'USD',
  quote_currency: 'KES',
  country_codes: ['ke', 'KEN', 7],
  rate_date: '2026-01-02',
  rate: '129.25',
};
const tea = { commodity_key: 'tea_mombasa', price_value: 2.5, price_date: '2026-01-01' };
const flood = {
  event_key: 'gdacs-1',
  event_type: 'FL',
  name: 'Flood in Kenya',
  description: 'Flood',
  alert_level: 'Green',
  alert_score: 1,
  severity_value: 0,
  severity_text: 'Magnitude 0',
  severity_unit: '',
  event_from_at: '2026-01-01T00:00:00Z',
  event_to_at: null,
  report_url: 'https://example.org/1',
  source: 'gdacs',
};
const kenya = {
  country: { code: 'ke', name: 'Kenya', capital: 'Nairobi', region: 'East Africa' },
  observations: [rate, { ...rate, value: null }],
  fx_rates: [fx],
  commodity_benchmarks: [tea],
  disaster_alerts: [flood],
  markets: { tickers: [] },
};

describe('decodeSignals', () => {
  it('decodeSignals says every field in our words and keeps what was sent', () => {
    const record = decode({ data: kenya });
    expect(record).toEqual({
      countryCode: 'KE',
      observations: [
        {
          countryCode: 'KE',
          countryName: 'Kenya',
          metricKey: 'policy_rate_pct',
          metricName: 'Policy rate',
          year: 2026,
          period: '2026-01',
          asOfPeriod: null,
          locationName: null,
          value: 9.25,
          unit: 'percent',
          source: 'cbk_ke_signals',
          valueStatus: 'reported',
          isModelled: false,
          estimateLow: null,
          estimateHigh: null,
          datasetVersion: null,
          retrievedAt: '2026-01-02T03:04:05Z',
          fetchedAtMs: RECEIVED_AT,
          record: rate,
        },
      ],
      fxRates: [
        {
          sourceCode: 'fx_usd_daily',
          baseCurrency: 'USD',
          quoteCurrency: 'KES',
          countryCodes: ['KE'],
          rateDate: '2026-01-02',
          rate: 129.25,
          record: fx,
        },
      ],
      commodityBenchmarks: [
        { commodityKey: 'tea_mombasa', priceValue: 2.5, priceDate: '2026-01-01', record: tea },
      ],
      disasterAlerts: [
        {
          eventKey: 'gdacs-1',
          eventType: 'FL',
          name: 'Flood in Kenya',
          description: 'Flood',
          alertLevel: 'Green',
          alertScore: 1,
          severityValue: 0,
          severityText: 'Magnitude 0',
          severityUnit: null,
          eventFromAt: '2026-01-01T00:00:00Z',
          eventToAt: null,
          reportUrl: 'https://example.org/1',
          source: 'gdacs',
          record: flood,
        },
      ],
      record: kenya,
    });
    expect(record.record).toBe(kenya);
    expect(record.observations[0]?.record).toBe(rate);
    expect(record.fxRates[0]?.record).toBe(fx);
    expect(record.commodityBenchmarks[0]?.record).toBe(tea);
    expect(record.disasterAlerts[0]?.record).toBe(flood);
  });

  it.each([[{ data: {} }], [{ data: { observations: null, fx_rates: [] } }], [{ country_code: 'ke' }]])(
    'decodeSignals has empty lists where nothing is covered: %j',
    (body) => {
      expect(decode(body)).toMatchObject({
        countryCode: 'KE',
        observations: [],
        fxRates: [],
        commodityBenchmarks: [],
        disasterAlerts: [],
      });
    },
  );

  it('decodeSignals reads optional fields of the wrong type as null', () => {
    const body = {
      fx_rates: [{ rate: 'x', country_codes: 'ke', base_currency: 7 }],
      commodity_benchmarks: [{ commodity_key: 'tea', price_value: {} }],
      disaster_alerts: [{ event_key: 'e', name: 7, alert_score: 'high' }],
    };
    expect(decode(body)).toMatchObject({
      fxRates: [{ rate: null, countryCodes: [], baseCurrency: null }],
      commodityBenchmarks: [{ priceValue: null }],
      disasterAlerts: [{ name: null, alertScore: null }],
    });
  });

  const wrong: [signals: object, detail: string][] = [
    [{ observations: {} }, 'data.observations: expected array, received object'],
    [{ observations: [7] }, 'data.observations[0]: expected object, received number'],
    [
      { observations: [rate, { ...rate, year: '2026' }] },
      'data.observations[1].year: expected number, received string',
    ],
    [{ observations: [{}] }, 'data.observations[0].metric_key: expected string, received undefined'],
    [{ fx_rates: 'none' }, 'data.fx_rates: expected array, received string'],
    [{ fx_rates: [null] }, 'data.fx_rates[0]: expected object, received null'],
    [
      { commodity_benchmarks: [{}] },
      'data.commodity_benchmarks[0].commodity_key: expected string, received undefined',
    ],
    [
      { disaster_alerts: [{ event_key: 7 }] },
      'data.disaster_alerts[0].event_key: expected string, received number',
    ],
  ];
  it.each(wrong)('decodeSignals leaves out what is wrong in %j, and says so', (signals, detail) => {
    const decoded = decode({ data: { ...kenya, ...signals } });
    const lists = [
      decoded.observations,
      decoded.fxRates,
      decoded.commodityBenchmarks,
      decoded.disasterAlerts,
    ];
    expect(lists.map(lackOf).filter((lack) => lack !== null)).toEqual([{ count: 1, detail }]);
    expect(decoded.record).toEqual({ ...kenya, ...signals });
  });

  it('decodeSignals keeps the other rows of the block, and the other blocks', () => {
    const decoded = decode({ data: { ...kenya, observations: [{ ...rate, period: undefined }, rate, 7] } });
    expect(decoded.observations).toHaveLength(1);
    expect(lackOf(decoded.observations)).toEqual({
      count: 2,
      detail: 'data.observations[0].period: expected string, received undefined',
    });
    expect(decoded.commodityBenchmarks).toHaveLength(1);
    expect(lackOf(decoded.commodityBenchmarks)).toBeNull();
  });

  it.each([undefined, null])(
    'decodeSignals tells of a block that is %j: only an empty list says that there is nothing',
    (block) => {
      const { fxRates } = decode({ data: { ...kenya, fx_rates: block } });
      expect(fxRates).toEqual([]);
      expect(lackOf(fxRates)).toEqual({
        count: 1,
        detail: `data.fx_rates: expected array, received ${block}`,
      });
      expect(lackOf(decode({ data: { ...kenya, fx_rates: [] } }).fxRates)).toBeNull();
    },
  );

  it('decodeSignals says what the countries of a rate lack', () => {
    const [known] = decode({ data: kenya }).fxRates;
    expect(lackOf(known?.countryCodes ?? [])).toEqual({
      count: 1,
      detail: 'data.fx_rates[0].country_codes[2]: expected code of a country, received number',
    });
    const [unknown] = decode({ data: { fx_rates: [{ ...fx, country_codes: undefined }] } }).fxRates;
    expect(lackOf(unknown?.countryCodes ?? [])).toMatchObject({ count: 1 });
  });
});
