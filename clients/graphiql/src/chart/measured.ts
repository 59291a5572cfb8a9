import { differenceOf, percentAbove, percentOf } from '../../../../src/shared/decimals.ts';
import {
  type BarsPicture,
  barsOf,
  type Line,
  type LinesPicture,
  MAP_COUNTRIES,
  momentOf,
  type Point,
} from './picture.ts';
import type { Look } from './plain-look.ts';

/** Years, in order, that any line of a picture has a figure of. */
export function yearsIn({ lines }: LinesPicture): readonly number[] {
  const years = lines.flatMap(({ points }) =>
    points.flatMap(({ value, at }) => (value === null ? [] : Math.floor(at))),
  );
  return [...new Set(years)].sort((a, b) => a - b);
}

const baseOf = ({ points }: Line, year: number): number | null =>
  points.find(({ value, at }) => value !== null && Math.floor(at) === year)?.value ?? null;

/** The year that values are set against: the one that was chosen, otherwise the first that all lines have. */
export function baseYearOf(picture: LinesPicture, base: number | null): number | null {
  const years = yearsIn(picture);
  if (base !== null && years.includes(base)) return base;
  const common = years.find((year) => picture.lines.every((line) => baseOf(line, year) !== null));
  return common ?? years[0] ?? null;
}

/** Lines as somebody wants them measured; those without a figure of the base year are left out. */
export function measured(picture: LinesPicture, { measure, base }: Look): LinesPicture {
  const year = baseYearOf(picture, base);
  if (measure === 'value' || year === null) return picture;
  const lines = picture.lines.flatMap((line) => {
    const from = baseOf(line, year);
    if (from === null || (measure !== 'difference' && from === 0)) return [];
    const of = (value: number | null) => (value === null ? null : against(value, from, measure));
    const points = line.points.map(
      (point): Point => ({ ...point, value: of(point.value), low: of(point.low), high: of(point.high) }),
    );
    return [{ ...line, points }];
  });
  if (lines.length === 0) return picture;
  return { ...picture, lines, unit: unitOf(measure, year, picture.unit) };
}

function against(value: number, base: number, measure: Exclude<Look['measure'], 'value'>): number {
  if (measure === 'difference') return differenceOf(value, base);
  return measure === 'index' ? percentOf(value, base) : percentAbove(value, base);
}

function unitOf(measure: Look['measure'], year: number, unit: string): string {
  if (measure === 'index') return `index, ${year} = 100`;
  return measure === 'percent' ? `percent more or less than in ${year}` : `${unit}, difference from ${year}`;
}

/** Takes of each line the figure of a year, or the latest. */
export function rankingOf(picture: LinesPicture, year: number | null): BarsPicture {
  const figures = picture.lines.flatMap(({ points }) => {
    const figures = points.flatMap(({ figure }) => (figure === null ? [] : [figure]));
    const figure =
      year === null ? figures.at(-1) : figures.findLast((figure) => Math.floor(momentOf(figure)) === year);
    return figure === undefined ? [] : [figure];
  });
  const [first] = figures;
  // A map stays one in years of which little is known.
  const least = year === null ? MAP_COUNTRIES : 0;
  return {
    ...barsOf(picture.unit, first?.indicator ?? '', figures, least),
    key: picture.key,
    title: picture.title,
    isLatest: year === null,
    scaleOf: picture.figures.map(({ value }) => value),
  };
}
