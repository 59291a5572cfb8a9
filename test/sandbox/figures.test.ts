import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countries, countryByCode } from '../../src/sandbox/catalogue/countries.ts';
import { indicatorByKey, indicators } from '../../src/sandbox/catalogue/indicators.ts';
import { sourceByKey } from '../../src/sandbox/catalogue/sources.ts';
import { tickers } from '../../src/sandbox/catalogue/tickers.ts';
import { newestOf, type Observation, runsOf, seriesOf } from '../../src/sandbox/series.ts';
import { draws } from '../support/draws.ts';

const anyCountry = fc.constantFrom(...countries);
const anyIndicator = fc.constantFrom(...indicators);
const PERIOD = /^\d{4}(-Q[1-4]|-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$/;

function series(country: string, metric: string): readonly Observation[] {
  const [where, what] = [countryByCode.get(country), indicatorByKey.get(metric)];
  if (!where || !what) throw new Error(`no such pair: ${country} ${metric}`);
  return seriesOf(where, what);
}

describe('the catalogues', () => {
  it('the catalogues of the sandbox name each thing once, and only sources that exist', () => {
    expect(indicatorByKey.size).toBe(indicators.length);
    expect(countryByCode.size).toBe(countries.length);
    expect(new Set(tickers.map((t) => `${t.exchange_code}:${t.symbol}`)).size).toBe(tickers.length);
    for (const source of indicators.flatMap((i) => i.sources)) expect(sourceByKey.has(source)).toBe(true);
    expect(indicatorByKey.has('median_income_usd')).toBe(false);
  });
});

describe('figures', () => {
  it('figures of the sandbox are plausible, ordered, and one for each period and place', () => {
    fc.assert(
      fc.property(anyCountry, anyIndicator, (country, indicator) => {
        const rows = seriesOf(country, indicator);
        const seen = new Set<string>();
        let lastYear = 0;
        for (const row of rows) {
          expect(Number.isFinite(row.value)).toBe(true);
          expect(Object.is(row.value, -0)).toBe(false);
          expect(row.period).toMatch(PERIOD);
          expect(row.year).toBeGreaterThanOrEqual(Math.max(1950, lastYear));
          expect(row.year).toBeLessThanOrEqual(2025);
          expect(row.dataset_version).toMatch(/^synthetic-/);
          if (indicator.shape === 'share') expect(row.value).toSatisfy((v: number) => v >= 0 && v <= 100);
          if (indicator.shape !== 'rate') expect(row.value).toBeGreaterThanOrEqual(0);
          if (row.estimate_low != null) expect(row.estimate_low).toBeLessThanOrEqual(row.value);
          if (row.estimate_high != null) expect(row.estimate_high).toBeGreaterThanOrEqual(row.value);
          // No row is newer than the last run of its source.
          expect(Date.parse(row.retrieved_at)).toBeLessThanOrEqual(Date.parse(runsOf(row.source).last));
          seen.add(`${row.period} ${row.location_name ?? ''}`);
          lastYear = row.year;
        }
        expect(seen.size).toBe(rows.length);
      }),
      { numRuns: draws(150) },
    );
  });

  it('figures of the sandbox grow smoothly where people are counted', () => {
    for (const { code } of countries) {
      const people = series(code, 'population_total').map((row) => row.value);
      for (let i = 1; i < people.length; i++) {
        expect((people[i] as number) / (people[i - 1] as number)).toBeGreaterThan(1);
        expect((people[i] as number) / (people[i - 1] as number)).toBeLessThan(1.05);
      }
    }
  });

  it('figures of the sandbox are the same for ever', () => {
    const row = newestOf(series('ng', 'gdp_current_usd'));
    expect(row).toMatchObject({
      year: 2024,
      value: 230201138768,
      retrieved_at: '2026-07-24T03:03:04.087390Z',
    });
    expect(newestOf(series('ke', 'life_expectancy'))).toMatchObject({
      value: 66.77,
      value_status: 'modelled',
    });
    expect(series('so', 'idps_total').at(-1)).toMatchObject({
      period: '2025-08',
      location_name: 'Western Region',
    });
  });
});

describe('awkward members', () => {
  it('the sandbox has awkward members: zeros that are figures', () => {
    expect(newestOf(series('ke', 'idps_total'))).toMatchObject({ value: 0, value_status: 'reported' });
    expect(series('ml', 'fish_catch_marine_t').every((row) => row.value === 0)).toBe(true);
  });

  it('the sandbox has awkward members: gaps, series that begin late or end early, and pairs without rows', () => {
    const years = series('ke', 'literacy_adult_pct').map((row) => row.year);
    expect(years.length).toBeLessThan((years.at(-1) ?? 0) - (years[0] ?? 0));
    expect(series('ss', 'population_total')[0]?.year).toBe(2011);
    expect(series('er', 'gdp_current_usd').at(-1)?.year).toBe(2011);
    expect(series('tz', 'inflation_cpi_latest_yoy_pct')).toEqual([]);
    expect(series('ke', 'median_wealth_usd')).toEqual([]);
  });

  it('the sandbox has awkward members: a newest row that is for a place', () => {
    const rows = series('so', 'idps_total');
    expect(newestOf(rows)?.location_name).toBeTypeOf('string');
    expect(rows.filter((row) => !row.location_name).at(-1)?.year).toBe(2024);
  });

  it('the sandbox has awkward members: periods of every kind, and series of more than 900 and 2,000 rows', () => {
    expect(series('ke', 'unemployment_rate_quarterly_pct')).toEqual([]);
    expect(series('za', 'unemployment_rate_quarterly_pct')[0]?.period).toBe('2008-Q1');
    expect(series('ke', 'inflation_cpi_latest_yoy_pct')[0]?.period).toBe('1981-01');
    expect(series('ke', 'policy_rate_pct').at(-1)?.period).toMatch(/^2025-\d\d-\d\d$/);
    expect(series('ma', 'rainfall_monthly_mm').length).toBeGreaterThan(900);
    expect(series('ke', 'rainfall_monthly_mm').length).toBeGreaterThan(2_000);
  });

  it('the sandbox has awkward members: years that the period doesn’t begin with, and stocks taken after the year', () => {
    expect(newestOf(series('ke', 'gdp_current_usd'))).toMatchObject({ year: 2024, period: '2025-06-30' });
    const stock = countries
      .map(({ code }) => newestOf(series(code, 'refugees_hosted_total')))
      .find((row) => row?.year === 2024);
    expect(stock).toMatchObject({ period: '2024', as_of_period: '2025-06-30' });
  });

  it('the sandbox has awkward members: every status, bounds on some, and members absent as well as null', () => {
    const statuses = new Set(
      ['population_total', 'life_expectancy', 'literacy_adult_pct'].flatMap((metric) =>
        series('ke', metric).map((row) => row.value_status),
      ),
    );
    expect(statuses).toEqual(new Set(['reported', 'estimated', 'projected', 'modelled', 'imputed']));
    expect(newestOf(series('ke', 'life_expectancy'))?.estimate_low).toBeTypeOf('number');
    expect(series('ke', 'gdp_current_usd')[0]).toMatchObject({ as_of_period: null, location_name: null });
    expect(series('ke', 'policy_rate_pct')[0]).not.toHaveProperty('location_name');
  });
});
