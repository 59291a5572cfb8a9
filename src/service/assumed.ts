import { COVERED_COUNTRIES } from './records/countries.ts';

/** The year of a figure if any year will do. */
export const ASSUMED_YEAR = 2000;

/** An indicator of the assumed catalogue. */
export const ASSUMED_METRIC = 'indicator_1';

const DOCUMENTED_INDICATORS = 207;
const DOCUMENTED_SOURCES = 59;

/** Listings of an answer without `limit`, which is cut there. */
const DEFAULT_TICKERS = 100;

/** Listings of a list that was not cut: more than an answer without `limit` holds. */
const ASSUMED_TICKERS = 200;

/** Lists every country, by its code alone. */
export function assumedCountries(): unknown {
  return [...COVERED_COUNTRIES].map((code) => ({ id: code, name: code }));
}

export function assumedIndicators(): unknown {
  return numbered(DOCUMENTED_INDICATORS).map((n) => ({ metric_key: `indicator_${n}`, name: `${n}` }));
}

export function assumedSources(): unknown {
  return numbered(DOCUMENTED_SOURCES).map((n) => ({ source: `source_${n}` }));
}

/** @param target of the call, whose filters its listings pass */
export function assumedTickers(target: string): unknown {
  const codes = [...COVERED_COUNTRIES];
  const { searchParams } = new URL(target, 'http://service');
  const count = searchParams.has('limit') ? ASSUMED_TICKERS : DEFAULT_TICKERS;
  return numbered(count).map((n) => ({
    exchange_code: searchParams.get('exchange_code') ?? 'X',
    symbol: `${n}`,
    country_code: searchParams.get('country_code') ?? codes[n % codes.length],
    instrument_type: searchParams.get('instrument_type'),
  }));
}

export function assumedFigure(countryCode: string, metricKey: string, year = ASSUMED_YEAR): object {
  return {
    country_code: countryCode,
    country_name: countryCode,
    metric_key: metricKey,
    metric_name: metricKey,
    year,
    period: `${year}`,
    value: 1,
    unit: '',
    source: 'source_1',
    value_status: 'reported',
    retrieved_at: '2000-01-01T00:00:00Z',
  };
}

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
