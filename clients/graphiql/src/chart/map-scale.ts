import * as Plot from '@observablehq/plot';
import type { Colours } from './colours.ts';

/** Colours of a map by value, and the words of its legend. */
export interface MapScale {
  readonly kind: 'sequential' | 'diverging';
  /** True if equal lengths of the legend are equal amounts. */
  readonly isEven: boolean;
  readonly least: number;
  readonly most: number;
  colourOf(value: number): string;
  /** Place of a value between the least and the most: 0 to 1. */
  placeOf(value: number): number;
  valueAt(place: number): number;
}

/** Ratio of the largest value to the median, from which on most countries would have one colour. */
const HEAVY_TAIL = 20;

/** Colours from the least to the most; if some are negative, of two hues that meet at zero. */
export function mapScale(
  values: readonly number[],
  { mapScheme, mapAroundZero }: Pick<Colours, 'mapScheme' | 'mapAroundZero'>,
): MapScale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const { to, back, isEven } = transformOf(values);
  const kind = least < 0 ? 'diverging' : 'sequential';
  const [low, high] = [to(least), to(most)];
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  // Of one value only, everything has the colour of the middle.
  const domain = kind === 'diverging' ? [-reach, reach] : low === high ? [low - 1, high + 1] : [low, high];
  const scale = Plot.scale({
    color:
      kind === 'diverging'
        ? {
            type: 'diverging',
            domain,
            pivot: 0,
            ...(mapAroundZero ? { range: mapAroundZero } : { scheme: 'RdBu' }),
          }
        : { type: 'linear', domain, scheme: 'YlGnBu', range: mapScheme },
  });
  return {
    kind,
    isEven,
    least,
    most,
    colourOf: (value) => String(scale?.apply(to(value))),
    placeOf: (value) => (low === high ? 0.5 : (to(value) - low) / (high - low)),
    valueAt: (place) => back(low + place * (high - low)),
  };
}

/** Straight, unless a few are so large that the others could not be told apart: then by logarithm. */
function transformOf(values: readonly number[]): {
  to(value: number): number;
  back(place: number): number;
  readonly isEven: boolean;
} {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const largest = sizes.at(-1) ?? 0;
  if (median === 0 || largest / median < HEAVY_TAIL)
    return { to: (value) => value, back: (place) => place, isEven: true };
  if (Math.min(...values) > 0) return { to: Math.log10, back: (place) => 10 ** place, isEven: false };
  return {
    to: (value) => Math.sign(value) * Math.log1p(Math.abs(value) / median),
    back: (place) => Math.sign(place) * Math.expm1(Math.abs(place)) * median,
    isEven: false,
  };
}

/** Round values to write below a legend, `apart` (a part of its width) from each other. */
export function legendTicks({ least, most, isEven, placeOf }: MapScale, apart: number): number[] {
  if (least === most) return [least];
  const ticks: number[] = [];
  for (const value of [0, ...(isEven ? evenSteps(least, most) : powers(least, most))]) {
    if (value < least || value > most) continue;
    if (ticks.every((other) => Math.abs(placeOf(other) - placeOf(value)) >= apart)) ticks.push(value);
  }
  return ticks.length >= 2 ? ticks.sort((a, b) => a - b) : [least, most];
}

/** Up to six values a round step from each other. */
function evenSteps(least: number, most: number): number[] {
  const span = most - least;
  const power = 10 ** Math.floor(Math.log10(span));
  const step = [0.2, 0.5, 1, 2].map((digit) => digit * power).find((one) => span / one <= 5) ?? span;
  const first = Math.ceil(least / step);
  const count = Math.floor(most / step) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Powers of ten and, after them, twice and five times those; the largest first. */
function powers(least: number, most: number): number[] {
  const largest = Math.floor(Math.log10(Math.max(Math.abs(least), Math.abs(most))));
  const tens = Array.from({ length: 12 }, (_, i) => 10 ** (largest - i));
  return [1, 2, 5].flatMap((digit) => tens.flatMap((ten) => [digit * ten, -digit * ten]));
}
