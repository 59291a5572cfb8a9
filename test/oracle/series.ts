import { compare, newerFirst } from './choices.ts';
import type { Dice } from './dice.ts';
import { cased, type Habits, pruned } from './habits.ts';
import { oddNumber } from './odd-numbers.ts';
import { type Frequency, OPAQUE_WORDS, type Slot, STEPS, shifted, spelledAs } from './periods.ts';
import { spelledTime } from './times.ts';
import type { CountryFact, IndicatorFact, Json, RowFact } from './world.ts';

interface Drawing {
  readonly dice: (...words: (string | number)[]) => Dice;
  readonly habits: Habits;
  readonly countries: readonly CountryFact[];
  readonly indicators: readonly IndicatorFact[];
  readonly shade: number;
}

export function drawRows(drawing: Drawing): RowFact[] {
  const { habits, countries, indicators } = drawing;
  const rows: RowFact[] = [];
  const withData = indicators.filter((indicator) => indicator.hasData);
  const most = habits.size === 'full' ? 12 : 30;
  withData.forEach((indicator, at) => {
    countries.forEach((country, nth) => {
      const isLong = habits.longSeries > 0 && at === 0 && nth < 2;
      rows.push(...drawSeries(drawing, country, indicator, isLong ? habits.longSeries : most, isLong));
    });
  });
  return ordered(rows, habits);
}

function drawSeries(
  { dice: diceOf, habits, shade }: Drawing,
  country: CountryFact,
  indicator: IndicatorFact,
  most: number,
  isLong: boolean,
): RowFact[] {
  const dice = diceOf('series', country.code, indicator.key);
  if (!isLong && dice.chance(0.2)) return [];
  const frequency = isLong && most > 60 ? 'month' : frequencyOf(diceOf, indicator.key, habits);
  const count = isLong ? most : dice.between(1, most);
  const lastYear = dice.between(2019, 2025);
  const isStock = diceOf('stock', indicator.key).chance(0.4);
  const hasPlaces = habits.places && diceOf('places', indicator.key).chance(0.5);
  const hasReleases = habits.releases && diceOf('releases', indicator.key).chance(0.5);
  const spelling = createSpelling(diceOf, habits, country.code, indicator.key);
  const row = (slot: Slot, place: string | null, release: string | null, further: Json = {}) =>
    rowOf(habits, { dice, shade, country, indicator, isStock, ...spelling(slot), place, release, further });
  const isSilent = habits.nullRows && dice.chance(0.05);
  const endsInNull = habits.nullRows && dice.chance(0.25);
  const rows: RowFact[] = [];
  const more = diceOf('more', country.code, indicator.key);
  const isShared = habits.severalSources && diceOf('shared', indicator.key).chance(0.7);
  slotsBefore(lastYear, frequency, count).forEach((slot, age) => {
    if (age > 0 && dice.chance(0.1)) return;
    const isNull = isSilent || (endsInNull && age === 0) || (habits.nullRows && dice.chance(0.06));
    const value = isNull ? { value: null } : {};
    rows.push(row(slot, null, hasReleases ? 'release 1' : null, value));
    const first = rows.at(-1);
    if (hasReleases && dice.chance(0.3)) rows.push(row(slot, null, 'release 2', value));
    const other = indicator.sources.find((source) => source !== rows.at(-1)?.source);
    const isOther = !isLong && !hasReleases && other !== undefined && dice.chance(0.08);
    if (isOther) rows.push(row(slot, null, null, { source: other }));
    if (isShared && first !== undefined && !isOther) rows.push(...sharedBy(first, indicator, more, habits));
    if (hasPlaces && dice.chance(0.25)) rows.push(row(slot, `City of ${country.code}`, null));
  });
  if (hasPlaces && dice.chance(0.4)) {
    rows.push(row({ frequency, year: lastYear + 1, nth: 1 }, `Port of ${country.code}`, null));
  }
  if (habits.blends && !isLong && diceOf('blend', indicator.key).chance(0.6)) {
    rows.push(...blended(rows, more, (slot) => row(slot, null, null)));
  }
  const kept = shade === 0 ? rows : rows.filter(() => !dice.chance(0.1));
  return habits.oddNumbers === 'none' ? kept : kept.map((one) => oddly(one, more, habits));
}

/** The same periods as other sources tell them. */
function sharedBy(row: RowFact, indicator: IndicatorFact, dice: Dice, habits: Habits): RowFact[] {
  const others = indicator.sources.filter((source) => source !== row.source && dice.chance(0.5));
  return others.map((source) => {
    const value = row.value === null || dice.chance(0.05) ? null : row.value + dice.between(1, 40);
    const retrievedAt = timestamp(dice.below(864e5 * 20));
    return withRecord(habits, { ...row, source, value, retrievedAt, low: null, high: null });
  });
}

/** Further figures of a series of some frequency: its sums, or its parts. */
const BLENDS: Readonly<Partial<Record<Frequency, readonly Frequency[]>>> = {
  month: ['quarter', 'year'],
  quarter: ['half', 'year'],
  half: ['year'],
  week: ['month'],
  year: ['quarter'],
  fiscal: ['year'],
  day: ['year'],
};

/** Figures of other frequencies, of the newest years of a series. */
function blended(rows: readonly RowFact[], dice: Dice, make: (slot: Slot) => RowFact): RowFact[] {
  const frequency = rows[0]?.slot.frequency ?? 'year';
  const years = [...new Set(rows.filter(({ place }) => place === null).map(({ year }) => year))];
  const newest = years.sort((a, b) => b - a).slice(0, 3);
  return (BLENDS[frequency] ?? []).flatMap((other) =>
    newest.flatMap((year) =>
      Array.from({ length: STEPS[other] }, (_, i) => ({ frequency: other, year, nth: i + 1 }))
        .filter(() => dice.chance(0.7))
        .map(make),
    ),
  );
}

function oddly(row: RowFact, dice: Dice, habits: Habits): RowFact {
  if (row.value === null || !dice.chance(0.04)) return row;
  return withRecord(habits, { ...row, raw: oddNumber(row.value, habits.oddNumbers, dice) });
}

interface Spelled {
  readonly slot: Slot;
  readonly way: number;
}

/** Spelling of the periods of one series; some of them, by words that say nothing of days. */
function createSpelling(
  diceOf: Drawing['dice'],
  habits: Habits,
  code: string,
  key: string,
): (slot: Slot) => Spelled {
  const dice = diceOf('spelling', code, key);
  const common = habits.periods === 'usual' ? 0 : dice.below(100);
  const hasOpaque = habits.opaquePeriods && diceOf('opaque', key).chance(0.4);
  return (slot) => {
    const way = habits.periods === 'any way' ? dice.below(100) : common;
    // Two periods of one year are never told by the same words.
    const isOpaque = hasOpaque && STEPS[slot.frequency] <= OPAQUE_WORDS && dice.chance(0.25);
    return { slot: isOpaque ? { ...slot, frequency: 'opaque' } : slot, way };
  };
}

const ALL_FREQUENCIES = ['year', 'fiscal', 'half', 'quarter', 'month', 'week', 'day'] as const;

function frequencyOf(diceOf: Drawing['dice'], key: string, { frequency, frequencies }: Habits): Frequency {
  if (frequencies === 'all') return diceOf('frequencies', key).pick(ALL_FREQUENCIES);
  const dice = diceOf('frequency', key);
  return frequency === 'annual' ? 'year' : dice.pick(['year', 'quarter', 'month'] as const);
}

/** Periods before the end of a year, so many, the newest first: its last, and those before it. */
function slotsBefore(lastYear: number, frequency: Frequency, count: number): Slot[] {
  const step = STEPS[frequency];
  return Array.from({ length: count }, (_, age) => {
    return { frequency, year: lastYear - Math.floor(age / step), nth: step - (age % step) };
  });
}

interface RowDrawing {
  readonly dice: Dice;
  readonly shade: number;
  readonly country: CountryFact;
  readonly indicator: IndicatorFact;
  readonly isStock: boolean;
  readonly slot: Slot;
  readonly way: number;
  readonly place: string | null;
  readonly release: string | null;
  readonly further: Json;
}

function rowOf(habits: Habits, drawing: RowDrawing): RowFact {
  const { dice, country, indicator, slot, way, place } = drawing;
  const drawn = dice.chance(0.08) ? 0 : dice.between(-50, 100_000) / 10;
  const isEstimate = dice.chance(0.2);
  return withRecord(habits, {
    country: country.code,
    countryName: country.name,
    metric: indicator.key,
    metricName: indicator.name,
    year: slot.year,
    period: spelledAs(slot, way),
    slot,
    way,
    asOfPeriod: drawing.isStock ? `${slot.year}-07-01` : null,
    place,
    value: drawn + drawing.shade * 1000,
    unit: indicator.unit,
    source: dice.pick(indicator.sources),
    status: isEstimate ? dice.pick(['estimated', 'projected', 'modelled']) : 'reported',
    low: isEstimate ? drawn - 5 : null,
    high: isEstimate ? drawn + 5 : null,
    release: drawing.release,
    retrievedAt: timestamp(dice.below(864e5 * 20)),
    raw: null,
    ...drawing.further,
  });
}

function timestamp(ms: number): string {
  return new Date(Date.UTC(2026, 5, 20) + ms).toISOString().replace('Z', '456Z');
}

export function withRecord(habits: Habits, row: Omit<RowFact, 'record'>): RowFact {
  const record = {
    country_code: cased(row.country, habits),
    country_name: row.countryName,
    metric_key: row.metric,
    metric_name: row.metricName,
    year: row.year,
    period: row.period,
    value: row.value,
    unit: row.unit,
    source: row.source,
    value_status: row.status,
    retrieved_at: spelledTime(row.retrievedAt, habits.retrievalTimes),
    ...pruned(habits, {
      as_of_period: row.asOfPeriod,
      location_name: row.place ?? habits.blankPlace,
      estimate_low: row.low,
      estimate_high: row.high,
      dataset_version: row.release,
    }),
  };
  return { ...row, record };
}

/** A figure of the same series a year later. */
export function yearLater({
  slot,
  way,
  asOfPeriod,
}: RowFact): Pick<RowFact, 'year' | 'slot' | 'period' | 'asOfPeriod'> {
  const next = shifted(slot, 1);
  const asOf = asOfPeriod === null ? null : `${next.year}-07-01`;
  return { year: next.year, slot: next, period: spelledAs(next, way), asOfPeriod: asOf };
}

export function ordered(rows: readonly RowFact[], { order, within, bySource }: Habits): RowFact[] {
  const keys = {
    country: (row: RowFact) => `${row.country} ${row.metric}`,
    metric: (row: RowFact) => `${row.metric} ${row.country}`,
    year: (row: RowFact) => `${row.year} ${row.period}`,
  }[order];
  const inSeries = {
    falling: newerFirst,
    rising: (a: RowFact, b: RowFact) => newerFirst(b, a),
    appended: () => 0,
    none: (a: RowFact, b: RowFact) => compare(scrambled(a), scrambled(b)),
  }[within];
  const keyed = rows.map((row) => ({ row, key: `${bySource ? row.source : ''} ${keys(row)}` }));
  return keyed.sort((a, b) => compare(a.key, b.key) || inSeries(a.row, b.row)).map(({ row }) => row);
}

/** Sorts as good as not at all: by the fraction of the second. */
function scrambled({ retrievedAt, period }: RowFact): string {
  return retrievedAt.slice(-8) + period;
}
