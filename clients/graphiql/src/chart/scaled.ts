import { fullNumber } from './numbers.ts';
import type { BarsPicture, Line, LinesPicture, Picture, Point } from './picture.ts';

/** Sizes of values, but for zero, of which a scale can be made: beyond, their differences and ratios are no numbers. */
const SIZES = { least: 1e-100, most: 1e100 };

type Keeps = (value: number) => boolean;

const isOfSize: Keeps = (value) => {
  const size = Math.abs(value);
  return size === 0 || (size >= SIZES.least && size <= SIZES.most);
};

/** A scale by logarithm or a linear one, the values that it can show, and words on those that it can't. */
export interface Scaling {
  readonly isLog: boolean;
  readonly keeps: Keeps;
  readonly remarks: readonly string[];
}

/**
 * Decides the scale of groups of values, such as the two of a dot: a group is shown whole or not at all.
 * @param wantsLog true if it is to be logarithmic, which it is if that can show anything
 */
export function scalingOf(groups: readonly (readonly number[])[], wantsLog: boolean): Scaling {
  const ofSize = groups.filter((group) => group.every(isOfSize));
  const positive = ofSize.filter((group) => group.every((value) => value > 0));
  const isLog = wantsLog && positive.length > 0;
  const [beyond, below] = [groups.length - ofSize.length, ofSize.length - positive.length];
  const remarks = [
    ...(beyond > 0 ? [`${figures(beyond)} too large or too small to be drawn.`] : []),
    ...(isLog && below > 0
      ? [`${figures(below)} zero or less, which a logarithmic scale has no place for.`]
      : []),
    ...(wantsLog && !isLog ? ['The scale is linear, since no figure is above zero.'] : []),
  ];
  return { isLog, keeps: (value) => isOfSize(value) && (!isLog || value > 0), remarks };
}

const figures = (count: number) => (count === 1 ? '1 figure is' : `${fullNumber(count)} figures are`);

/** Returns a picture without the values that its scale can't show, and with words on them; a table if that leaves none. */
export function scaled(picture: LinesPicture | BarsPicture, wantsLog: boolean): Picture {
  const values =
    picture.kind === 'lines'
      ? picture.lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []))
      : picture.bars.map(({ value }) => value);
  const scaling = scalingOf(
    values.map((value) => [value]),
    wantsLog && picture.kind === 'lines',
  );
  const described = { ...picture, remarks: scaling.remarks, isLog: scaling.isLog };
  const scaledPicture =
    described.kind === 'lines' ? scaledLines(described, scaling) : scaledBars(described, scaling);
  const isEmpty =
    scaledPicture.kind === 'lines' ? scaledPicture.lines.length === 0 : scaledPicture.bars.length === 0;
  return isEmpty ? { ...described, kind: 'values' } : scaledPicture;
}

function scaledLines(picture: LinesPicture, { keeps }: Scaling): LinesPicture {
  const lines = picture.lines.map(
    ({ points, ...line }): Line => ({ ...line, points: points.map((point) => scaledPoint(point, keeps)) }),
  );
  return { ...picture, lines: lines.filter(({ points }) => points.some(({ value }) => value !== null)) };
}

function scaledPoint(point: Point, keeps: Keeps): Point {
  const { value, low, high } = point;
  const isBounded = low !== null && high !== null && keeps(low) && keeps(high);
  return {
    ...point,
    value: value !== null && keeps(value) ? value : null,
    low: isBounded ? low : null,
    high: isBounded ? high : null,
  };
}

function scaledBars({ bars, map, scaleOf, ...picture }: BarsPicture, { keeps }: Scaling): BarsPicture {
  const shownOf = <Of extends { readonly value: number }>(those: readonly Of[]) =>
    those.filter(({ value }) => keeps(value));
  const places = map === null ? [] : shownOf(map);
  return {
    ...picture,
    bars: shownOf(bars),
    map: places.length > 0 ? places : null,
    ...(scaleOf !== undefined && { scaleOf: scaleOf.filter(keeps) }),
  };
}
