import { type Frequency, periodOf } from '../../periods.ts';
import { atOnce } from '../turns.ts';
import type { Figure } from './figures.ts';

/** One line: the figures of one country, indicator and place over time. */
export interface Line {
  /** Tells it from all other lines of its picture. */
  readonly name: string;
  /** A name for places with little room: the code of the country, or the name. */
  readonly shortName: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly line: string;
  /** The year, with the part of it that a period says. */
  readonly at: number;
  /** Null if the row of a year, quarter or month is missing between two that are there: a gap, no zero. */
  readonly value: number | null;
  readonly isModelled: boolean;
  readonly low: number | null;
  readonly high: number | null;
  readonly figure: Figure | null;
}

interface Drawable {
  /** Tells it from the other pictures of a response. */
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly figures: readonly Figure[];
}

export interface LinesPicture extends Drawable {
  readonly kind: 'lines';
  readonly lines: readonly Line[];
}

export interface BarsPicture extends Drawable {
  readonly kind: 'bars';
  /** Figures from the highest down. */
  readonly bars: readonly Figure[];
  /** The figures of whole countries, one each, if they are enough for a map. */
  readonly map: readonly Figure[] | null;
  /** Values that scales reach over, if these figures are one year of several; left out if they are all. */
  readonly scaleOf?: readonly number[];
}

/** Single values that would each be a picture of one bar: a table. */
export interface ValuesPicture extends Drawable {
  readonly kind: 'values';
}

/** A drawable part of a response. */
export type Picture = LinesPicture | BarsPicture | ValuesPicture;

/** Countries from which on latest values of one indicator are better seen on a map. */
export const MAP_COUNTRIES = 10;

/** More bars than this are not drawn; the table has them all. */
export const MAX_BARS = 60;

/** Lines that have a colour and a label of their own; the others of a picture are grey. */
export const MAX_COLOURED = 8;

/** Pictures that are shown at once. */
export const MAX_PICTURES = 12;

/** Number of pictures of one or two bars from which on a table says the same. */
const SMALL_PICTURES = 6;

/**
 * Pictures of figures: series as lines, latest values as bars or a map, and figures with nothing to stand
 * beside them as a table. Figures of different units never share an axis.
 */
export function picturesOf(figures: readonly Figure[]): Picture[] {
  return atOnce(pictureSteps(figures));
}

/** The same, an indicator a step. */
export function* pictureSteps(figures: readonly Figure[]): Generator<void, Picture[]> {
  const pictures: Picture[] = [];
  const bars: BarsPicture[] = [];
  const deduped = dedupe(figures);
  yield;
  for (const [unit, all] of Map.groupBy(deduped, ({ unit, indicator }) => unit ?? indicator)) {
    yield;
    const series = Map.groupBy(all, ({ country, indicator, place }) =>
      JSON.stringify([country, indicator, place]),
    );
    const over: Figure[][] = [];
    const single: Figure[] = [];
    for (const rows of series.values()) {
      if (rows.length > 1 && new Set(rows.map(momentOf)).size > 1) over.push(rows);
      else single.push(...rows);
    }
    pictures.push(...linesOf(unit, over));
    for (const [indicator, rows] of Map.groupBy(single, (one) => one.indicator)) {
      bars.push(barsOf(unit, indicator, rows));
      yield;
    }
  }
  const small = bars.filter(({ figures: rows }) => rows.length <= 2);
  const asTable = bars.filter(
    (one) => one.figures.length === 1 || (small.length >= SMALL_PICTURES && small.includes(one)),
  );
  pictures.push(...bars.filter((one) => !asTable.includes(one)));
  if (asTable.length > 0) pictures.unshift(valuesOf(asTable.flatMap((one) => one.figures)));
  return pictures;
}

/** The same figure may stand in several places of a response. */
function dedupe(figures: readonly Figure[]): Figure[] {
  const key = ({ country, indicator, year, period, place }: Figure) =>
    JSON.stringify([country, indicator, year, period, place]);
  return [...new Map(figures.map((figure) => [key(figure), figure])).values()];
}

/** The country or the indicator that all figures have in common; else their unit. */
function titleOf(figures: readonly Figure[], unit: string): string {
  const indicators = new Set(figures.map(({ indicatorName }) => indicatorName));
  const countries = new Set(figures.map(({ countryName }) => countryName));
  const [indicator] = indicators;
  const [country] = countries;
  if (indicators.size === 1 && indicator !== undefined)
    return countries.size === 1 && country ? `${indicator}, ${country}` : indicator;
  return countries.size === 1 && country ? `${country}: ${indicators.size} indicators` : unit;
}

/** Indicators of one unit share a picture while their lines can be told apart; else each has its own. */
function linesOf(unit: string, series: readonly (readonly Figure[])[]): LinesPicture[] {
  if (series.length === 0) return [];
  const byIndicator = Map.groupBy(series, ([first]) => first?.indicator ?? '');
  if (byIndicator.size > 1 && series.length > MAX_COLOURED)
    return [...byIndicator.values()].map((some) => linesPicture(unit, some));
  return [linesPicture(unit, series)];
}

function linesPicture(unit: string, series: readonly (readonly Figure[])[]): LinesPicture {
  const figures = series.flat();
  const taken = new Set<string>();
  const lines = series.map((rows) => {
    const first = rows[0] as Figure;
    const named = nameOf(first, series);
    const name = taken.has(named) ? `${named} (${[first.country, first.indicator].join(' ')})` : named;
    taken.add(name);
    const isOfCountry = name === first.countryName && /^[A-Z]{2}$/.test(first.country);
    return lineOf(name, isOfCountry ? first.country : name, rows);
  });
  const key = `lines ${unit} ${figures[0]?.indicator}`;
  return { kind: 'lines', key, title: titleOf(figures, unit), unit, lines, figures };
}

/**
 * @param rows of one indicator
 * @param least countries that make a map
 */
export function barsOf(
  unit: string,
  indicator: string,
  rows: readonly Figure[],
  least = MAP_COUNTRIES,
): BarsPicture {
  const bars = rows.toSorted((a, b) => b.value - a.value);
  // Gives each country one colour: of several national figures, that of the newest.
  const national = new Map<string, Figure>();
  for (const figure of bars) {
    if (!figure.isNational || figure.country === '') continue;
    const there = national.get(figure.country);
    if (there === undefined || momentOf(figure) >= momentOf(there)) national.set(figure.country, figure);
  }
  const map = national.size >= least ? [...national.values()] : null;
  const key = `bars ${unit} ${indicator}`;
  return { kind: 'bars', key, title: titleOf(bars, unit), unit, bars, figures: bars, map };
}

function valuesOf(figures: readonly Figure[]): ValuesPicture {
  const countries = [...new Set(figures.map(({ countryName }) => countryName))].filter((name) => name !== '');
  const title = countries.length === 1 ? `${countries[0]}: single figures` : 'Single figures';
  return { kind: 'values', key: 'values', title, unit: '', figures };
}

/** A name that tells a line from the others: common parts are left out. */
function nameOf(figure: Figure, all: readonly (readonly Figure[])[]): string {
  const differ = (of: (figure: Figure) => string | null) =>
    new Set(all.map(([first]) => (first ? of(first) : null))).size > 1;
  const parts = [
    differ(({ country }) => country) ? figure.countryName : null,
    differ(({ indicator }) => indicator) ? figure.indicatorName : null,
    figure.place,
  ].filter((part) => part !== null && part !== '');
  return parts.length > 0 ? parts.join(', ') : figure.countryName || figure.indicatorName;
}

function lineOf(name: string, shortName: string, rows: readonly Figure[]): Line {
  const sorted = rows.toSorted((a, b) => momentOf(a) - momentOf(b));
  const points: Point[] = [];
  let before: Figure | null = null;
  for (const figure of sorted) {
    const at = momentOf(figure);
    if (before !== null) {
      // Adds a point of its own for a missing year, quarter or month, which a line would bridge otherwise.
      const step = Math.max(stepOf(before), stepOf(figure));
      if (at - momentOf(before) > step * 1.5) points.push(gapAt(name, momentOf(before) + step));
    }
    const { value, isModelled, low, high } = figure;
    points.push({ line: name, at, value, isModelled, low, high, figure });
    before = figure;
  }
  return { name, shortName, points };
}

function gapAt(line: string, at: number): Point {
  return { line, at, value: null, isModelled: false, low: null, high: null, figure: null };
}

/** Years from one figure to the next of the same kind. Days and ranges come as they come: a year is a gap. */
const STEPS: Readonly<Record<Frequency, number>> = {
  year: 1,
  half: 1 / 2,
  third: 1 / 3,
  quarter: 1 / 4,
  month: 1 / 12,
  week: 7 / 365,
  day: 1,
  span: 1,
};

export function stepOf(figure: Pick<Figure, 'year' | 'period'>): number {
  return STEPS[periodOf(figure)?.frequency ?? 'year'];
}

/**
 * The moment of a figure in years: the year, or the point in it at which a part of it begins, or a day lies.
 */
export function momentOf({ year, period }: Pick<Figure, 'year' | 'period'>): number {
  const read = periodOf({ year, period });
  if (read === null) return year ?? 0;
  const [of, month, day] = read.firstDay.split('-').map(Number) as [number, number, number];
  // A fiscal year, or a day that ends one in another year, is still of its year.
  const isOfYear = read.frequency === 'year' || read.frequency === 'day' || read.frequency === 'span';
  if (isOfYear && year !== null && (of !== year || read.frequency === 'year')) return year;
  return of + (month - 1) / 12 + (day - 1) / 366;
}

/** Lines in the order of their last figure, from the highest down. */
export function ranked(lines: readonly Line[]): Line[] {
  const last = ({ points }: Line) => points.findLast(({ value }) => value !== null)?.value ?? 0;
  return lines.toSorted((a, b) => last(b) - last(a));
}

/** Splits the lines of a picture into those with a colour and the others below them. */
export function coloured(picture: LinesPicture, chosen: readonly string[]): { top: Line[]; others: Line[] } {
  if (picture.lines.length <= MAX_COLOURED) return { top: [...picture.lines], others: [] };
  const byRank = ranked(picture.lines);
  const wanted = byRank.filter(({ name }) => chosen.includes(name)).slice(0, MAX_COLOURED);
  const rest = byRank.filter((line) => !wanted.includes(line));
  const top = byRank.filter(
    (line) => wanted.includes(line) || rest.slice(0, MAX_COLOURED - wanted.length).includes(line),
  );
  return { top, others: byRank.filter((line) => !top.includes(line)) };
}
