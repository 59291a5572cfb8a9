import type { Country } from './catalogue/countries.ts';
import { currencies } from './catalogue/currencies.ts';
import type { Frequency, Indicator } from './catalogue/indicators.ts';
import { intervalOf, sourceByKey, timestamp } from './catalogue/sources.ts';
import { fraction, mix, pick, seedOf, wave } from './seed.ts';

/** A row of `/v1/data`, in the spelling of the service. Lean sources leave members out instead of stating null. */
export interface Observation {
  country_code: string;
  country_name: string;
  metric_key: string;
  metric_name: string;
  year: number;
  period: string;
  as_of_period?: string | null;
  location_name?: string | null;
  value: number;
  unit: string;
  source: string;
  value_status: 'reported' | 'estimated' | 'projected' | 'modelled' | 'imputed';
  estimate_low?: number | null;
  estimate_high?: number | null;
  dataset_version: string;
  retrieved_at: string;
}

/** Bears the word that tells every reader of a row that its figure is invented. */
const DATASET_VERSION = 'synthetic-2026.1';

/** The last year with figures. Fixed: the sandbox must say the same in ten years as today. */
const AS_OF_YEAR = 2025;

const DATA_STARTS: Record<string, number> = { er: 1993, ss: 2011 };
const DATA_ENDS: Record<string, number> = { 'er/gdp_current_usd': 2011 };
const THINLY_COVERED = new Set(['er', 'so', 'ss']);
const FISCAL_YEAR_ENDS_IN_JUNE = new Set(['bw', 'eg', 'et', 'ke', 'mw', 'rw', 'tz', 'ug']);
const CENTRAL_BANK: Record<string, string> = {
  eg: 'cbe_eg_signals',
  gh: 'bank_of_ghana_signals',
  ke: 'cbk_ke_signals',
  ma: 'bank_al_maghrib_signals',
  ng: 'cbn_ng_signals',
  tz: 'bank_of_tanzania_signals',
  ug: 'bank_of_uganda_signals',
  za: 'sarb_za_signals',
};
const PLACES = ['Northern Region', 'Eastern Region', 'Southern Region', 'Western Region'];

/** A period for which there is, or may be, a figure. */
interface Slot {
  readonly year: number;
  readonly period: string;
  /** Its last day, or the last day of its month: it orders rows within a year. */
  readonly end: string;
  /** The time of the figure in years: 2024.5 is the middle of 2024. */
  readonly at: number;
}

const slots = new Map<string, readonly Slot[]>();

/** All periods of a frequency from January of `from` (or its month) to month `lastMonth` of `until`. */
function slotsOf(
  frequency: Frequency,
  from: number,
  until: number,
  lastMonth: number,
  firstMonth = 1,
): readonly Slot[] {
  const key = `${frequency} ${from} ${until} ${lastMonth} ${firstMonth}`;
  const known = slots.get(key);
  if (known) return known;
  const made: Slot[] = [];
  const two = (n: number) => String(n).padStart(2, '0');
  if (frequency === 'daily' || frequency === 'weekly') {
    const last = Date.UTC(until, lastMonth, 0);
    for (let day = Date.UTC(from, firstMonth - 1, 1); day <= last; day += 86_400_000) {
      const date = new Date(day);
      const weekday = date.getUTCDay();
      if (frequency === 'weekly' ? weekday !== 4 : weekday === 0 || weekday === 6) continue;
      const period = date.toISOString().slice(0, 10);
      const year = date.getUTCFullYear();
      made.push({ year, period, end: period, at: year + (day - Date.UTC(year, 0, 1)) / 31_557_600_000 });
    }
  } else {
    for (let year = from; year <= until; year++) {
      if (frequency === 'annual') {
        made.push({ year, period: String(year), end: `${year}-12-31`, at: year + 0.5 });
        continue;
      }
      for (let month = year === from ? firstMonth : 1; month <= 12; month++) {
        if (year === until && month > lastMonth) break;
        const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
        const end = `${year}-${two(month)}-${lastDay}`;
        const at = year + (month - 0.5) / 12;
        if (frequency === 'monthly') made.push({ year, period: `${year}-${two(month)}`, end, at });
        else if (frequency === 'quarterly' && month % 3 === 0) {
          made.push({ year, period: `${year}-Q${month / 3}`, end, at: at - 1 / 12 });
        } else if (frequency === 'ad_hoc' && month % 2 === 1) {
          const day = `${year}-${two(month)}-${two(5 + ((year + month * 7) % 20))}`;
          made.push({ year, period: day, end: day, at });
        }
      }
    }
  }
  slots.set(key, made);
  return made;
}

const logit = (pct: number) => Math.log(pct / (100 - pct));
const percent = (x: number) => 100 / (1 + Math.exp(-x));

/** Progress of the country in most measures, 0 to 1. */
function development(country: Country): number {
  return Math.min(1, Math.max(0, Math.log(country.income / 250) / Math.log(17_500 / 250)));
}

function populationAt(country: Country, at: number): number {
  const growth = 0.012 + 0.017 * (1 - development(country)) + 0.003 * fraction(seedOf(country.code), 1);
  return country.population * Math.exp(-growth * (AS_OF_YEAR + 0.5 - at));
}

function incomeAt(country: Country, at: number): number {
  const seed = seedOf(`income/${country.code}`);
  const growth = 0.02 + 0.03 * fraction(seed, 1);
  return country.income * Math.exp(-growth * (AS_OF_YEAR + 0.5 - at) + 0.12 * wave(seed, at / 4));
}

/** The value of a measure at a time, before rounding, by country and place; a smooth curve for each pair. */
function curveOf(country: Country, indicator: Indicator): (at: number) => number {
  const seed = seedOf(`${country.code}/${indicator.key}`);
  const { start, end, spread, shape, from } = indicator;
  const own = (2 * fraction(seed, 1) - 1) * spread;
  const pace = 0.85 + 0.3 * development(country);
  // Slows a country that has come further than is typical: a curve that has risen a thousandfold must not
  // rise so for ten years more.
  const way = (at: number) => {
    const gone = Math.max(0, (at - from) / (AS_OF_YEAR + 0.5 - from)) ** 0.85 * pace;
    return gone > 1 ? 1 + (gone - 1) / 4 : gone;
  };
  const share = (at: number) =>
    percent(logit(start) + (logit(end) - logit(start)) * way(at) + 2 * own + 0.08 * wave(seed, at / 3));
  switch (shape) {
    case 'population':
      return (at) => populationAt(country, at);
    case 'income':
      return (at) => incomeAt(country, at);
    case 'gdp':
      return (at) => populationAt(country, at) * incomeAt(country, at);
    case 'share':
      return share;
    case 'people':
      return (at) => (populationAt(country, at) * share(at)) / 100;
    case 'money':
      // Leaves out logistic curves for shares of GDP above 100 (purchasing power): none reaches so far.
      if (Math.max(start, end) >= 100) {
        return (at) =>
          (populationAt(country, at) * incomeAt(country, at) * (start + (end - start) * way(at))) / 100;
      }
      return (at) => (populationAt(country, at) * incomeAt(country, at) * share(at)) / 100;
    case 'level':
      return (at) => start * (end / start) ** way(at) * Math.exp(2 * own + 0.03 * wave(seed, at / 2));
    case 'rate':
      return (at) => start + end * (own + 0.7 * wave(seed, at) + 0.3 * wave(seed ^ 1, at * 6));
    case 'season': {
      const mean = start * (1 + own);
      return (at) =>
        Math.max(
          0,
          mean + (end / 2) * Math.sin(2 * Math.PI * at + own * 9) + (end / 4) * wave(seed, at * 12),
        );
    }
    case 'exchange': {
      const now = currencies.get(country.currency)?.perDollar ?? 1;
      const slide = country.currency === 'XOF' || country.currency === 'XAF' ? 0.005 : 0.06;
      return (at) => now * Math.exp(-slide * (AS_OF_YEAR + 0.5 - at) + 0.02 * wave(seed, at * 5));
    }
  }
}

const WHOLE = new Set(['population', 'people', 'gdp', 'money']);

function rounded(value: number, indicator: Indicator): number {
  if (WHOLE.has(indicator.shape) || Math.abs(value) >= 10_000) return Math.round(value);
  const places = Math.abs(value) >= 1 ? 100 : 10_000;
  // Adding zero turns the -0 that rounding leaves into 0.
  return Math.round(value * places) / places + 0;
}

/**
 * The year up to which the figure is zero: for a country without a coast, or one that the thing reached late
 * or never.
 */
function zeroUntil(country: Country, indicator: Indicator, seed: number): number {
  if (indicator.marine && country.landlocked) return Number.POSITIVE_INFINITY;
  if (indicator.places.includes(country.code) || fraction(seed, 2) >= indicator.zero) {
    return Number.NEGATIVE_INFINITY;
  }
  // Begins things that everybody has by now within a decade; of the other countries, half have never had it.
  if (indicator.cover === 1 && indicator.shape === 'level') return indicator.from + (mix(seed, 3) % 6);
  if (indicator.key === 'internet_users_pct') return indicator.from + (mix(seed, 3) % 6);
  return fraction(seed, 4) < 0.5 ? Number.POSITIVE_INFINITY : indicator.from + (mix(seed, 3) % 30);
}

function sourceOf(country: Country, indicator: Indicator, year: number): string {
  if (indicator.key === 'official_exchange_rate_latest_lcu_per_usd') {
    if (country.currency === 'XOF') return 'bceao_fx_rates';
    if (country.currency === 'XAF') return 'beac_fx_rates';
  }
  if (indicator.sources[0] === 'cbk_ke_signals') return CENTRAL_BANK[country.code] ?? 'imf_ifs';
  const [recent = '', older = recent] = indicator.sources;
  return year < 1990 ? older : recent;
}

function statusOf(indicator: Indicator, slot: Slot, seed: number): Observation['value_status'] {
  switch (indicator.method) {
    case 'projected':
      return slot.year >= 2025 ? 'projected' : slot.year === 2024 ? 'estimated' : 'reported';
    case 'modelled':
      return 'modelled';
    case 'survey':
      return fraction(seed, slot.year + 5000) < 0.2 ? 'imputed' : 'reported';
    case 'official':
      return indicator.frequency === 'annual' && slot.year >= 2024 && fraction(seed, 5) < 0.3
        ? 'estimated'
        : 'reported';
  }
}

/** True if a period of the series has no row: surveys come every few years, others lack one now and then. */
function isGap(indicator: Indicator, seed: number, i: number): boolean {
  if (indicator.cover === 1 || indicator.frequency === 'daily') return false;
  return fraction(seed, i + 9000) < (indicator.method === 'survey' ? 0.62 : 0.02);
}

function isCovered(country: Country, indicator: Indicator): boolean {
  if (!indicator.hasData) return false;
  if (indicator.only) return indicator.only.includes(country.code);
  if (indicator.cover === 1) return true;
  const cover = THINLY_COVERED.has(country.code) ? indicator.cover * 0.6 : indicator.cover;
  return fraction(seedOf(`cover/${country.code}/${indicator.key}`), 0) < cover;
}

function build(country: Country, indicator: Indicator): Observation[] {
  if (!isCovered(country, indicator)) return [];
  const seed = seedOf(`rows/${country.code}/${indicator.key}`);
  const { frequency } = indicator;
  const annual = frequency === 'annual';
  const from = Math.max(indicator.from, DATA_STARTS[country.code] ?? 0);
  const newest =
    indicator.method === 'projected' ? AS_OF_YEAR : annual ? AS_OF_YEAR - (mix(seed, 6) % 3) : AS_OF_YEAR;
  const fiscal = indicator.fiscal && FISCAL_YEAR_ENDS_IN_JUNE.has(country.code);
  // A fiscal year bears the name of the year in which it began: the last one that has ended began the year before.
  const until = Math.min(
    newest,
    fiscal ? AS_OF_YEAR - 1 : indicator.until,
    DATA_ENDS[`${country.code}/${indicator.key}`] ?? AS_OF_YEAR,
  );
  const lastMonth = 6 + (mix(seed, 7) % 6);
  const curve = curveOf(country, indicator);
  const zeroEnd = zeroUntil(country, indicator, seed);
  const bounds = 0.03 + 0.09 * fraction(seed, 8);
  const rows: Observation[] = [];
  /** Rows of one source are of one run. */
  const runs = new Map<string, string>();
  const retrievedAtOf = (source: string, lean: boolean, refreshedAt: number) => {
    let retrievedAt = runs.get(source);
    if (retrievedAt === undefined) {
      const run = seedOf(`${source}/${indicator.key}`);
      // Seconds before the source's last run ended, so that no row is newer than etl-status says.
      retrievedAt = timestamp(refreshedAt - 1 - (run % 240), run % 1_000_000, lean ? 3 : 6);
      runs.set(source, retrievedAt);
    }
    return retrievedAt;
  };

  const push = (slot: Slot, place: string | null, factor: number, isNewest: boolean) => {
    const source = sourceOf(country, indicator, slot.year);
    const { lean = false, refreshedAt = 0 } = sourceByKey.get(source) ?? {};
    const whole = curve(slot.at) * factor;
    const value = slot.year < zeroEnd ? 0 : rounded(whole, indicator);
    const status = value === 0 ? 'reported' : statusOf(indicator, slot, seed);
    const bounded = status === 'modelled' || (status === 'estimated' && indicator.method === 'projected');
    const cap = indicator.shape === 'share' ? 100 : Number.POSITIVE_INFINITY;
    const margin = Math.abs(value) * bounds;
    const low = bounded ? rounded(value - margin, indicator) : null;
    const high = bounded ? Math.min(cap, rounded(value + margin, indicator)) : null;
    const midYear = indicator.shape === 'population' ? `${slot.year}-07-01` : slot.end;
    const asOf = indicator.stock
      ? indicator.late && isNewest && slot.year < AS_OF_YEAR
        ? `${slot.year + 1}-06-30`
        : midYear
      : null;
    rows.push({
      country_code: country.code,
      country_name: country.name,
      metric_key: indicator.key,
      metric_name: indicator.name,
      year: slot.year,
      period: fiscal ? `${slot.year + 1}-06-30` : slot.period,
      ...(lean && asOf === null ? {} : { as_of_period: asOf }),
      ...(lean && place === null ? {} : { location_name: place }),
      value,
      unit: indicator.unit,
      source,
      value_status: status,
      ...(lean && low === null ? {} : { estimate_low: low, estimate_high: high }),
      dataset_version: DATASET_VERSION,
      retrieved_at: retrievedAtOf(source, lean, refreshedAt),
    });
  };

  const national = slotsOf(frequency, from, until, lastMonth);
  national.forEach((slot, i) => {
    const isNewest = i === national.length - 1;
    if (isNewest || !isGap(indicator, seed, i)) push(slot, null, 1, isNewest);
  });
  if (!indicator.places.includes(country.code)) return rows;

  const [year = AS_OF_YEAR, month = 1] = indicator.placesFrom.split('-').map(Number);
  const local = slotsOf(
    frequency === 'quarterly' ? 'quarterly' : 'monthly',
    year,
    AS_OF_YEAR,
    lastMonth,
    month,
  );
  const places = [country.capital, ...PLACES];
  for (const slot of local) {
    places.forEach((place, i) => {
      const weight = 0.6 + 0.8 * fraction(seed, 100 + i);
      push(slot, place, indicator.shape === 'season' ? weight : weight / places.length, false);
    });
  }
  return rows.sort(inOrder);
}

/** The last day of a period as written: `2024` → `2024-12-31`, `2024-Q2` → `2024-06-31`, `2024-03` → `2024-03-31`. */
function endOf(period: string): string {
  if (period.length === 4) return `${period}-12-31`;
  const quarter = /^(\d{4})-Q([1-4])$/.exec(period);
  if (quarter) return `${quarter[1]}-${String(Number(quarter[2]) * 3).padStart(2, '0')}-31`;
  return period.length === 7 ? `${period}-31` : period;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows of one series, oldest first: year, the period's end, the whole country before its places, name of the place. */
function inOrder(a: Observation, b: Observation): number {
  return (
    a.year - b.year ||
    compare(endOf(a.period), endOf(b.period)) ||
    compare(a.location_name ?? '', b.location_name ?? '')
  );
}

// A series is made when it is first asked for. All of them together would be half a million rows: past the
// bound everything is forgotten, which costs time and nothing else, since the next making gives the same rows.
const MAX_ROWS_HELD = 250_000;
const held = new Map<string, readonly Observation[]>();
let rowsHeld = 0;

/** The series of a pair, oldest first; empty if the country has no figures. Shared: not to be changed. */
export function seriesOf(country: Country, indicator: Indicator): readonly Observation[] {
  const key = `${country.code}/${indicator.key}`;
  let rows = held.get(key);
  if (!rows) {
    if (rowsHeld > MAX_ROWS_HELD) {
      held.clear();
      rowsHeld = 0;
    }
    rows = build(country, indicator);
    held.set(key, rows);
    rowsHeld += rows.length;
  }
  return rows;
}

/** The newest of rows in series order: greatest year, then period's end; the whole country before its places. */
export function newestOf(rows: readonly Observation[]): Observation | undefined {
  let first = rows.length - 1;
  const last = rows[first];
  if (!last) return undefined;
  const end = endOf(last.period);
  while (first > 0 && rows[first - 1]?.year === last.year && endOf(rows[first - 1]?.period ?? '') === end)
    first--;
  return rows[first];
}

/** The last good run of a source and the run to come, as etl-status states them. */
export function runsOf(key: string): { last: string; next: string } {
  const source = sourceByKey.get(key);
  if (!source) throw new Error(`no source ${key}`);
  const digits = pick([0, 3, 6] as const, seedOf(`digits/${key}`));
  const microseconds = mix(seedOf(key), 9) % 1_000_000;
  return {
    last: timestamp(source.refreshedAt, microseconds, digits),
    next: timestamp(source.refreshedAt + intervalOf(source), 0, 0),
  };
}
