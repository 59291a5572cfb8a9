import type { Country } from './catalogue/countries.ts';
import { currencies } from './catalogue/currencies.ts';
import { officesOf } from './catalogue/government.ts';
import { type Indicator, indicatorByKey } from './catalogue/indicators.ts';
import { tickers } from './catalogue/tickers.ts';
import { fraction, mix, pick, seedOf } from './seed.ts';
import { newestOf, runsOf, seriesOf } from './series.ts';

const SIGNAL_KEYS = [
  'population_total',
  'gdp_current_usd',
  'gdp_growth_annual_pct',
  'inflation_cpi_latest_yoy_pct',
  'policy_rate_pct',
  'overnight_interbank_rate_pct',
  'interbank_7d_rate_pct',
  'official_exchange_rate_latest_lcu_per_usd',
  'mobile_subscriptions_per_100',
  'access_electricity_pct',
  'rainfall_monthly_mm',
  'life_expectancy',
  'refugees_hosted_total',
  'asylum_seekers_hosted_total',
  'idps_total',
  'stateless_total',
  'food_insecure_ipc3_total',
];

const PROFILE_KEYS = [
  'population_total',
  'gdp_current_usd',
  'gdp_per_capita_current_usd',
  'inflation_cpi_latest_yoy_pct',
  'life_expectancy',
  'literacy_adult_pct',
  'mobile_subscriptions_per_100',
  'access_electricity_pct',
];

const COMMODITIES: Record<string, number> = {
  brent_crude: 71.4,
  cocoa: 8120,
  coffee_arabica: 6900,
  copper: 9650,
  gold: 3340,
};

function latestOf(country: Country, keys: readonly string[]) {
  return keys.flatMap((key) => {
    const indicator = indicatorByKey.get(key) as Indicator;
    const row = newestOf(seriesOf(country, indicator));
    return row ? [{ row, indicator }] : [];
  });
}

/** The snapshot of `/v1/countries/{code}/signals`. Blocks without coverage are empty arrays. */
export function signalsOf(country: Country) {
  const { code, name, capital, region } = country;
  const seed = seedOf(`signals/${code}`);
  const currency = currencies.get(country.currency);
  const rate = indicatorByKey.get('official_exchange_rate_latest_lcu_per_usd') as Indicator;
  const fx = newestOf(seriesOf(country, rate));
  const alerted = ['cd', 'et', 'ke', 'mg', 'mz', 'ng', 'so'].includes(code);
  return {
    country: { code, name, capital, region },
    observations: latestOf(country, SIGNAL_KEYS).map(({ row, indicator }) => ({
      metric_key: row.metric_key,
      metric_name: row.metric_name,
      category: indicator.category,
      // The snapshot knows three words for it, the catalogue six.
      frequency: ['annual', 'monthly'].includes(indicator.frequency) ? indicator.frequency : 'ad_hoc',
      year: row.year,
      period: row.period,
      ...(indicator.frequency === 'annual' && !indicator.stock
        ? {}
        : { as_of_period: row.as_of_period ?? null }),
      location_name: row.location_name ?? null,
      value: row.value,
      unit: row.unit,
      source: row.source,
      value_status: row.value_status,
      freshness: indicator.frequency === 'annual' ? 'recent' : 'current',
      retrieved_at: row.retrieved_at,
    })),
    fx_rates:
      fx && currency
        ? [
            {
              source_code: fx.source,
              base_currency: 'USD',
              quote_currency: currency.code,
              country_codes: [code],
              rate_date: fx.period,
              rate: fx.value,
            },
          ]
        : [],
    commodity_benchmarks: Object.entries(COMMODITIES).map(([commodity_key, price_value]) => ({
      commodity_key,
      price_value,
      price_date: '2026-07-23',
    })),
    disaster_alerts: alerted
      ? [
          {
            event_key: `SYN-${code.toUpperCase()}-1`,
            event_type: pick(['FL', 'DR', 'TC'], seed, 1),
            name: `Synthetic event in ${name}`,
            description: null,
            alert_level: pick(['Green', 'Orange', 'Red'], seed, 2),
            alert_score: 1 + (mix(seed, 3) % 3),
            severity_value: Math.round(fraction(seed, 4) * 1000) / 10,
            severity_text: 'Invented severity',
            severity_unit: 'index',
            event_from_at: '2026-07-01T00:00:00Z',
            event_to_at: code === 'so' ? null : '2026-07-20T18:00:00.5Z',
            report_url: `https://alerts.example/${code}/1`,
            source: 'gdacs_alerts',
          },
        ]
      : [],
    markets: tickers.filter((t) => t.country_code === code && t.instrument_type === 'INDEX'),
    trade: [],
    government: officesOf(country)
      .slice(0, 2)
      .flatMap((office) =>
        office.terms
          .slice(0, 1)
          .map((term) => ({ office_name: office.office_name, role_type: office.role_type, ...term })),
      ),
  };
}

/** The answer of `/v1/countries/{code}/profile`: the reference record and the newest of a few figures. */
export function profileOf(country: Country) {
  return {
    ...country.record,
    indicators: latestOf(country, PROFILE_KEYS).map(({ row, indicator }) => ({
      metric_key: row.metric_key,
      metric_name: row.metric_name,
      category: indicator.category,
      year: row.year,
      period: row.period,
      value: row.value,
      unit: row.unit,
      source: row.source,
      value_status: row.value_status,
      retrieved_at: row.retrieved_at,
    })),
  };
}

/** A row of `/v1/platform/etl-status`. One source has never run well, and one has no next run. */
export function refreshOf(key: string, name: string, cadence: string, run?: string) {
  const { last, next } = runsOf(key);
  const never = key === 'policy_documents';
  return {
    source: key,
    name,
    schedule: cadence,
    status: never ? 'failed' : 'ok',
    last_successful_refresh: run ?? (never ? null : last),
    next_run: key === 'afrobarometer_rounds' ? null : next,
  };
}
