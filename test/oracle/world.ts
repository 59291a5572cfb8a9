import { createDice, type Dice } from './dice.ts';
import { cased, type Habits, pruned } from './habits.ts';
import { AFRICA, CATEGORIES, EXCHANGES, INSTRUMENTS, INVENTED, METRICS, SOURCES } from './names.ts';
import type { Slot } from './periods.ts';
import { drawRows } from './series.ts';
import { spelledTime } from './times.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface CountryFact {
  readonly code: string;
  readonly iso3: string;
  readonly name: string;
  readonly officialName: string | null;
  readonly capital: string | null;
  readonly region: string | null;
  readonly subregion: string | null;
  readonly record: Json;
}

export interface IndicatorFact {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly category: string;
  readonly hasData: boolean;
  readonly sources: readonly string[];
  readonly record: Json;
}

export interface SourceFact {
  readonly key: string;
  lastSuccessfulRefresh: string;
  readonly nextRun: string | null;
  record: Json;
}

/** A row of `/v1/data`. Without a value it is a row, but no figure. */
export interface RowFact {
  readonly country: string;
  readonly countryName: string;
  readonly metric: string;
  readonly metricName: string;
  readonly year: number;
  readonly period: string;
  readonly asOfPeriod: string | null;
  readonly place: string | null;
  readonly value: number | null;
  readonly unit: string;
  readonly source: string;
  readonly status: string;
  readonly low: number | null;
  readonly high: number | null;
  readonly release: string | null;
  /** UTC, however the service spells it. */
  readonly retrievedAt: string;
  /** The period as the world knows it, and the way in which it is spelled. */
  readonly slot: Slot;
  readonly way: number;
  /** Text in place of the value, if that is odd; else null. */
  readonly raw: string | null;
  readonly record: Json;
}

export interface TickerFact {
  readonly exchangeCode: string;
  readonly symbol: string;
  readonly name: string;
  readonly instrumentType: string;
  readonly sector: string | null;
  readonly industry: string | null;
  readonly country: string | null;
  readonly session: string;
  readonly closePrice: number | null;
  readonly changePercent: number | null;
  readonly record: Json;
}

export interface ProfileFact {
  readonly code: string;
  readonly indicators: readonly Json[];
  readonly record: Json;
}

export interface SignalsFact {
  readonly code: string;
  readonly rows: readonly RowFact[];
  readonly fxRates: readonly Json[];
  readonly commodities: readonly Json[];
  readonly disasters: readonly Json[];
  readonly record: Json;
}

export interface OfficeFact {
  readonly code: string;
  readonly name: string;
  readonly roleType: string | null;
  readonly terms: readonly Json[];
  readonly record: Json;
}

export interface GovernmentFact {
  readonly offices: readonly OfficeFact[];
  readonly record: Json;
}

/** All that one service holds, as one key sees it. */
export interface World {
  readonly countries: CountryFact[];
  readonly indicators: IndicatorFact[];
  readonly sources: SourceFact[];
  readonly rows: RowFact[];
  readonly tickers: TickerFact[];
  readonly profiles: Map<string, ProfileFact>;
  readonly signals: Map<string, SignalsFact>;
  readonly governments: Map<string, GovernmentFact>;
}

const FIRST_REFRESH_MS = Date.UTC(2026, 6, 20);

/** `shade` tells keys apart: under another one figures, prices and profiles differ, and some rows are missing. */
export function drawWorld(seed: number, service: number, habits: Habits, shade: number): World {
  const dice = (...words: (string | number)[]) => createDice(seed, service, ...words);
  const countries = drawCountries(dice('countries'), habits);
  const sources = drawSources(dice('sources'), habits);
  const indicators = drawIndicators(dice('indicators'), habits, sources);
  const rows = drawRows({ dice, habits, countries, indicators, shade });
  return {
    countries,
    indicators,
    sources,
    rows,
    tickers: drawTickers(dice('tickers'), habits, countries, shade),
    profiles: drawProfiles(dice('profiles'), habits, countries, rows, shade),
    signals: drawSignals(dice('signals'), habits, countries, rows, sources),
    governments: drawGovernments(dice('governments'), habits, countries),
  };
}

function drawCountries(dice: Dice, habits: Habits): CountryFact[] {
  const real = [...AFRICA.keys()];
  const codes =
    habits.size === 'full'
      ? real
      : habits.size === 'small'
        ? [...dice.some(real, dice.between(6, 14)), ...dice.some(INVENTED, dice.below(4))]
        : [...dice.some(real, dice.between(1, 3)), ...dice.some(INVENTED, dice.between(0, 2))];
  return codes.map((code) => {
    const maybe = (value: string) => (dice.chance(0.8) ? value : null);
    const fact = {
      code,
      iso3: AFRICA.get(code) ?? `${code}X`,
      name: `Country of ${code}`,
      officialName: maybe(`The Republic of ${code}`),
      capital: maybe(`City of ${code}`),
      region: maybe(dice.pick(['West Africa', 'East Africa', 'North Africa'])),
      subregion: maybe(dice.pick(['Western Africa', 'Eastern Africa'])),
    };
    const record = pruned(habits, {
      [habits.countryKey]: cased(code, habits),
      iso3: fact.iso3,
      name: fact.name,
      official_name: fact.officialName,
      capital: fact.capital,
      region: fact.region,
      subregion: fact.subregion,
      area_km2: dice.between(400, 2_000_000),
      languages: [{ code: 'en', name: 'English' }],
    });
    return { ...fact, record };
  });
}

function drawSources(dice: Dice, habits: Habits): SourceFact[] {
  return dice.some(SOURCES, dice.between(3, SOURCES.length)).map((key, i) => {
    const nextRun = dice.chance(0.8) ? new Date(FIRST_REFRESH_MS + 864e5 * (i + 2)).toISOString() : null;
    const isUnreadable = habits.unreadableTimes && nextRun !== null && i % 2 === 0;
    const refreshed = new Date(FIRST_REFRESH_MS + 3_600_000 * i).toISOString();
    return sourceOf(key, refreshed, isUnreadable ? UNREADABLE : nextRun, habits);
  });
}

/** A text that no rule reads as a time. */
export const UNREADABLE = 'on Mondays';

function sourceOf(key: string, refreshed: string, nextRun: string | null, habits: Habits): SourceFact {
  const record = {
    [habits.etlKey]: key,
    [habits.etlRefresh]: spelledTime(refreshed, habits.times),
    next_run: nextRun === null || nextRun === UNREADABLE ? nextRun : spelledTime(nextRun, habits.times),
    state: 'ok',
  };
  return { key, lastSuccessfulRefresh: refreshed, nextRun, record };
}

function drawIndicators(dice: Dice, habits: Habits, sources: readonly SourceFact[]): IndicatorFact[] {
  const keys: string[] = dice.some(METRICS, dice.between(5, METRICS.length));
  if (habits.hasTwinKeys) keys.push('Twin_Metric', 'twin_metric');
  return keys.map((key) => {
    const own = dice.some(
      sources.map((source) => source.key),
      dice.between(1, 3),
    );
    const fact = {
      key,
      name: `Name of ${key}`,
      unit: dice.pick(['persons', 'percent', 'US dollars']),
      category: dice.pick(CATEGORIES),
      hasData: !dice.chance(0.12),
      sources: own,
    };
    const record: Record<string, unknown> = {
      [habits.catalogueKey]: key,
      [habits.catalogueKey === 'metric_key' ? 'metric_name' : 'name']: fact.name,
      unit: fact.unit,
    };
    if (habits.catalogueCategory) record.category = fact.category;
    if (habits.catalogueHasData) record.has_data = fact.hasData;
    if (habits.catalogueSources === 'strings') record.sources = own;
    if (habits.catalogueSources === 'objects') record.sources = own.map((name) => ({ key: name }));
    if (habits.catalogueSources === 'one') record.source = own[0];
    return { ...fact, record };
  });
}

function drawTickers(
  dice: Dice,
  habits: Habits,
  countries: readonly CountryFact[],
  shade: number,
): TickerFact[] {
  const exchanges = dice.some(EXCHANGES, dice.between(1, 3));
  const main = exchanges[0] as string;
  return Array.from({ length: habits.tickers }, (_, i) => {
    const country = dice.chance(0.8) ? dice.pick(countries).code : null;
    const fact = {
      exchangeCode: dice.chance(0.6) ? main : dice.pick(exchanges),
      symbol: `SYM${i}`,
      name: `Security ${i}`,
      instrumentType: dice.pick(INSTRUMENTS),
      sector: dice.chance(0.7) ? 'Financials' : null,
      industry: dice.chance(0.5) ? 'Banks' : null,
      country,
      session: `2026-07-${dice.between(10, 23)}`,
      closePrice: dice.chance(0.1) ? 0 : dice.between(1, 9999) / 100 + shade,
      changePercent: dice.chance(0.9) ? dice.between(-300, 300) / 100 : null,
    };
    return { ...fact, record: tickerRecord(fact, habits) };
  });
}

export function tickerRecord(fact: Omit<TickerFact, 'record'>, habits: Habits): Json {
  return {
    exchange_code: fact.exchangeCode,
    symbol: fact.symbol,
    security_name: fact.name,
    instrument_type: fact.instrumentType,
    ...pruned(habits, { sector: fact.sector, industry: fact.industry }),
    country_code: fact.country === null ? null : cased(fact.country, habits),
    latest_trade_date: fact.session,
    latest_close_price: fact.closePrice,
    latest_change_percent: fact.changePercent,
  };
}

function drawProfiles(
  dice: Dice,
  _habits: Habits,
  countries: readonly CountryFact[],
  rows: readonly RowFact[],
  shade: number,
): Map<string, ProfileFact> {
  const profiles = new Map<string, ProfileFact>();
  for (const country of countries) {
    const isThere = dice.chance(0.85);
    const own = rows.filter((row) => row.country === country.code && row.raw === null);
    const indicators = dice.some(own, dice.between(0, 4)).map((row) => ({
      metric_key: row.metric,
      metric_name: row.metricName,
      unit: row.unit,
      value: row.value,
      year: row.year,
      period: row.period,
      source: row.source,
    }));
    // One item a metric, as a profile has it.
    const once = [...new Map(indicators.map((item) => [item.metric_key, item])).values()];
    const record = { ...country.record, shade, indicators: once };
    if (isThere) profiles.set(country.code, { code: country.code, indicators: once, record });
  }
  return profiles;
}

/** A figure in the form in which a country's snapshot has it. */
export function inSnapshot(row: RowFact): RowFact {
  const { country_code, country_name, estimate_low, estimate_high, ...rest } = row.record;
  return { ...row, low: null, high: null, record: { ...rest, freshness: 'recent', category: 'economy' } };
}

function drawSignals(
  dice: Dice,
  habits: Habits,
  countries: readonly CountryFact[],
  rows: readonly RowFact[],
  sources: readonly SourceFact[],
): Map<string, SignalsFact> {
  const signals = new Map<string, SignalsFact>();
  for (const country of countries) {
    if (dice.chance(0.12)) continue;
    const source = dice.pick(sources).key;
    const own = rows.filter((row) => row.country === country.code && row.value !== null && row.raw === null);
    const observations = dice.some(own, dice.between(0, 5)).map(inSnapshot);
    const fxRates = dice.chance(0.6)
      ? [
          {
            source_code: source,
            base_currency: 'USD',
            quote_currency: 'XOF',
            country_codes: dice.some(countries, 2).map(({ code }) => cased(code, habits)),
            rate_date: '2026-07-22',
            rate: 600.5,
          },
        ]
      : [];
    const commodities = dice.chance(0.5)
      ? [{ commodity_key: 'cocoa', price_value: 0, price_date: '2026-07-01' }]
      : [];
    const disasters = dice.chance(0.5)
      ? [
          {
            event_key: `EV-${country.code}`,
            event_type: 'flood',
            name: 'Flood',
            alert_level: 'green',
            alert_score: 0.5,
            event_from_at: spelledTime('2026-07-01T00:00:00Z', habits.times),
            event_to_at: null,
            source,
          },
        ]
      : [];
    const record = {
      country: { code: cased(country.code, habits), name: country.name },
      observations: observations.map((row) => row.record),
      fx_rates: fxRates,
      commodity_benchmarks: commodities,
      disaster_alerts: disasters,
      markets: [],
    };
    signals.set(country.code, {
      code: country.code,
      rows: observations,
      fxRates,
      commodities,
      disasters,
      record,
    });
  }
  return signals;
}

function drawGovernments(
  dice: Dice,
  habits: Habits,
  countries: readonly CountryFact[],
): Map<string, GovernmentFact> {
  const governments = new Map<string, GovernmentFact>();
  for (const country of countries) {
    if (dice.chance(0.12)) continue;
    const offices: OfficeFact[] = Array.from({ length: dice.below(4) }, (_, i) => {
      // Two ministers may hold offices of one name.
      const name = i === 0 ? 'President' : 'Minister of State';
      const roleType = i === 0 ? 'head_of_state' : `minister_${i}`;
      const terms = Array.from({ length: dice.between(1, 3) }, (_, nth) => ({
        leader_name: `Holder ${country.code} ${i} ${nth}`,
        start_date: `20${10 + nth}-01-02`,
        end_date: dice.chance(0.5) ? `20${12 + nth}-01-02` : null,
        status: dice.pick(['current', 'former', 'disputed']),
        ...(habits.offices === 'flat' ? { office_name: name, role_type: roleType } : {}),
      }));
      return {
        code: country.code,
        name,
        roleType,
        terms,
        record: { office_name: name, role_type: roleType, terms },
      };
    });
    const country_ = { code: cased(country.code, habits), name: country.name };
    const record =
      habits.offices === 'nested'
        ? { country: country_, offices: offices.map((office) => office.record) }
        : { country: country_, terms: offices.flatMap((office) => office.terms) };
    governments.set(country.code, { offices, record });
  }
  return governments;
}
