import { type Frequency, periodOf } from '../../../../src/shared/periods.ts';
import { sourceNameOf } from '../source-names.ts';
import { atOnce } from '../turns.ts';
import { type Asked, missingAmong } from './asked.ts';
import type { Figure } from './figures.ts';

/** One line: the figures of one country, indicator and place over time, one for each. */
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
  /** Names of the countries that were asked for and have no figure of it; empty if all have. */
  readonly missing?: string;
  /** Words on figures that its scale can't show, if there are any. */
  readonly remarks?: readonly string[];
  /** True if its scale is logarithmic. */
  readonly isLog?: boolean;
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
  /** False if its figures are those of one year that somebody has chosen. */
  readonly isLatest?: boolean;
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

/** Lines that each have a band of their bounds: those of more would lie over each other. */
export const MAX_BANDS = 3;

/** Pictures that are shown at once. */
export const MAX_PICTURES = 12;

/** Number of pictures of one or two bars from which on a table says the same. */
const SMALL_PICTURES = 6;

/**
 * Pictures of figures: series as lines, latest values as bars or a map, and figures with nothing to stand
 * beside them as a table. Figures of different units never share an axis.
 */
export function picturesOf(figures: readonly Figure[], asked: readonly Asked[] = []): Picture[] {
  return atOnce(pictureSteps(figures, asked));
}

/** The same, an indicator a step. */
export function* pictureSteps(
  figures: readonly Figure[],
  asked: readonly Asked[],
): Generator<void, Picture[]> {
  const pictures: Picture[] = [];
  const bars: BarsPicture[] = [];
  const deduped = dedupe(figures);
  yield;
  for (const [unit, all] of Map.groupBy(deduped, ({ unit, indicator }) => unit ?? indicator)) {
    yield;
    const over: Figure[][] = [];
    const single: Figure[] = [];
    for (const series of seriesOf(all)) {
      const isOverTime = series.some((rows) => new Set(rows.map(momentOf)).size > 1);
      if (isOverTime) over.push(...series);
      else single.push(...series.flat());
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
  const missingOf = missingAmong(asked, deduped);
  return pictures.map((picture) => ({ ...picture, missing: missingOf(picture.figures) }));
}

/** Drops figures that stand in several places of a response. One that names no source is that of equal ones that do. */
function dedupe(figures: readonly Figure[]): Figure[] {
  const key = ({ country, indicator, year, period, place, value }: Figure, source: string | null) =>
    JSON.stringify([country, indicator, year, period, place, value, source]);
  const whole = (figure: Figure) => key(figure, `${figure.source} ${figure.release}`);
  const all = [...new Map(figures.map((figure) => [whole(figure), figure])).values()];
  const named = all.filter(({ source }) => source !== null);
  if (named.length === 0 || named.length === all.length) return all;
  const namedKeys = new Set(named.map((figure) => key(figure, null)));
  return all.filter((figure) => figure.source !== null || !namedKeys.has(key(figure, null)));
}

type Trait = (figure: Figure) => string | null;

/** Traits by which figures of one time are told apart, one after the other. */
const TRAITS: readonly Trait[] = [({ source }) => source, ({ release }) => release];

/** Names the time of a figure: by its period, with the year if that is missing in it; empty if neither is known. */
export function timeOf({ year, period }: Figure): string {
  if (period === null) return String(year ?? '');
  return year === null || periodOf({ year: null, period }) !== null ? period : `${year} ${period}`;
}

const subjectOf = ({ country, indicator, place }: Figure) => JSON.stringify([country, indicator, place]);

/**
 * Series by country, indicator and place: one, or several if there are several figures of one time. Then each source has
 * its own, and each release of a source; of those that have both in common, the highest of each time stand together.
 */
export function seriesOf(figures: readonly Figure[]): Figure[][][] {
  return [...Map.groupBy(figures, subjectOf).values()].map((rows) => apart(rows, TRAITS));
}

function apart(rows: Figure[], [trait, ...rest]: readonly Trait[]): Figure[][] {
  if (rows.length === 1 || new Set(rows.map(timeOf)).size === rows.length) return [rows];
  if (trait !== undefined) return [...Map.groupBy(rows, trait).values()].flatMap((some) => apart(some, rest));
  const downwards = [...Map.groupBy(rows, timeOf).values()].map((some) =>
    some.toSorted((a, b) => b.value - a.value),
  );
  const most = Math.max(...downwards.map(({ length }) => length));
  return Array.from({ length: most }, (_, i) => downwards.flatMap((some) => some[i] ?? []));
}

/** The country or the indicator that all figures have in common; otherwise their unit. */
function titleOf(figures: readonly Figure[], unit: string): string {
  const indicators = new Set(figures.map(({ indicatorName }) => indicatorName));
  const countries = new Set(figures.map(({ countryName }) => countryName));
  const [indicator] = indicators;
  const [country] = countries;
  if (indicators.size === 1 && indicator !== undefined)
    return countries.size === 1 && country ? `${indicator}, ${country}` : indicator;
  return countries.size === 1 && country ? `${country}: ${indicators.size} indicators` : unit;
}

/** Indicators of one unit share a picture while their lines can be told apart; otherwise each has its own. */
function linesOf(unit: string, series: readonly (readonly Figure[])[]): LinesPicture[] {
  if (series.length === 0) return [];
  const byIndicator = Map.groupBy(series, ([first]) => first?.indicator ?? '');
  if (byIndicator.size > 1 && series.length > MAX_COLOURED)
    return [...byIndicator.values()].map((some) => linesPicture(unit, some));
  return [linesPicture(unit, series)];
}

function linesPicture(unit: string, series: readonly (readonly Figure[])[]): LinesPicture {
  const figures = series.flat();
  const firsts = series.flatMap(([first]) => first ?? []);
  const names = namesOf(firsts);
  const lines = series.map((rows, i) => {
    const { country, countryName } = firsts[i] as Figure;
    const name = names[i] as string;
    return lineOf(name, name === countryName && /^[A-Z]{2}$/.test(country) ? country : name, rows);
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
  // Gives each country one colour: of several national figures, that of the newest; of several of one time, the lowest.
  const national = new Map<string, Figure>();
  for (const figure of bars) {
    if (!figure.isNational || figure.country === '') continue;
    const nationalFigure = national.get(figure.country);
    if (nationalFigure === undefined || momentOf(figure) >= momentOf(nationalFigure))
      national.set(figure.country, figure);
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

/**
 * Names that tell lines from each other: common parts are left out.
 * @param firsts first figure of each line
 */
function namesOf(firsts: readonly Figure[]): string[] {
  const differ = (of: Trait, among = firsts) => new Set(among.map(of)).size > 1;
  const bySubject = Map.groupBy(firsts, subjectOf);
  const areCountries = differ(({ country }) => country);
  const areIndicators = differ(({ indicator }) => indicator);
  const taken = new Set<string>();
  return firsts.map((figure) => {
    const { country, countryName, indicator, indicatorName, place, source, release } = figure;
    const parts = [areCountries && countryName, areIndicators && indicatorName, place].filter(Boolean);
    const rivals = bySubject.get(subjectOf(figure)) ?? [];
    const ofSource = rivals.filter((one) => one.source === source);
    const named = [
      ...(parts.length > 0 ? parts : [countryName || indicatorName]),
      ofSource.length < rivals.length && sourceNameOf(figure),
      differ((one) => one.release, ofSource) && release,
    ];
    const label = named.filter(Boolean).join(', ');
    const whole = taken.has(label) && rivals.length === 1 ? `${label} (${country} ${indicator})` : label;
    let name = whole;
    for (let i = 2; taken.has(name); i += 1) name = `${whole} ${i}`;
    taken.add(name);
    return name;
  });
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
  quarter: 1 / 4,
  month: 1 / 12,
  week: 7 / 365,
  day: 1,
  span: 1,
};

function stepOf(figure: Pick<Figure, 'year' | 'period'>): number {
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
export function coloured(picture: LinesPicture, chosen: readonly string[]): { top: Line[]; rest: Line[] } {
  if (picture.lines.length <= MAX_COLOURED) return { top: [...picture.lines], rest: [] };
  const byRank = ranked(picture.lines);
  const wanted = byRank.filter(({ name }) => chosen.includes(name)).slice(0, MAX_COLOURED);
  const rest = byRank.filter((line) => !wanted.includes(line));
  const top = byRank.filter(
    (line) => wanted.includes(line) || rest.slice(0, MAX_COLOURED - wanted.length).includes(line),
  );
  return { top, rest: byRank.filter((line) => !top.includes(line)) };
}
