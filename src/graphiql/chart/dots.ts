import * as Plot from '@observablehq/plot';
import type { Figure } from './figures.ts';
import { rankingOf, yearsIn } from './measured.ts';
import { fullNumber, shortNumber } from './numbers.ts';
import type { BarsPicture, LinesPicture, Picture } from './picture.ts';
import { CHARACTER, inGroup, type Look, labelOf, type Plotted, plotted, shortened } from './plot.ts';

/** Countries with a figure of each of two indicators. */
export interface Pair {
  readonly x: Figure;
  readonly y: Figure;
}

export type Mapped = BarsPicture & {
  readonly map: readonly Figure[];
  /** Its years; null where the latest figures are all there is. */
  readonly series: LinesPicture | null;
};

const isMapped = (picture: BarsPicture): picture is BarsPicture & { readonly map: readonly Figure[] } =>
  picture.map !== null;

/** Pictures of enough countries to be set against each other, by their latest figures. */
export function mappedIn(pictures: readonly Picture[]): Mapped[] {
  return pictures.flatMap((picture): Mapped[] => {
    if (picture.kind === 'values') return [];
    const series = picture.kind === 'lines' ? picture : null;
    const latest = picture.kind === 'lines' ? rankingOf(picture, null) : picture;
    return isMapped(latest) ? [{ ...latest, series }] : [];
  });
}

/** The figures of a year. */
export function inYear(mapped: Mapped, year: number): Mapped {
  const there = mapped.series === null ? mapped : rankingOf(mapped.series, year);
  return { ...mapped, ...there, map: there.map ?? [] };
}

/** Years that both have figures of; none where one has the latest alone. */
export function commonYears(x: Mapped, y: Mapped): readonly number[] {
  if (x.series === null || y.series === null) return [];
  const others = new Set(yearsIn(y.series));
  return yearsIn(x.series).filter((year) => others.has(year));
}

export function pairsOf(x: Mapped, y: Mapped): readonly Pair[] {
  const byCode = new Map(y.map.map((figure) => [figure.country, figure]));
  return x.map.flatMap((figure) => {
    const other = byCode.get(figure.country);
    return other === undefined ? [] : [{ x: figure, y: other }];
  });
}

/** Tells if the values of a scale can be drawn by logarithm. */
export function isPositive({ scaleOf, map }: Mapped): boolean {
  return (scaleOf ?? map.map(({ value }) => value)).every((value) => value > 0);
}

export const titleOf = (x: Mapped, y: Mapped) => `${y.title} against ${x.title}`;

export const subtitleOf = (pairs: readonly Pair[], year: number | null) =>
  `${pairs.length} countries, ${year ?? 'latest figures'}`;

/** Says what the dots show, for those who don't see them. */
export function wordsOf(pairs: readonly Pair[], x: Mapped, y: Mapped): string {
  return `${titleOf(x, y)}: a dot for each of ${pairs.length} countries. The tables below have the figures.`;
}

/** Scales stay as they are from year to year. */
const reachOf = ({ scaleOf }: Mapped) =>
  scaleOf === undefined
    ? {}
    : { domain: [scaleOf.reduce((a, b) => Math.min(a, b)), scaleOf.reduce((a, b) => Math.max(a, b))] };

/** Draws a dot a country. */
export function drawScatter(pairs: readonly Pair[], x: Mapped, y: Mapped, look: Look): Plotted {
  const { width, colours, isLog = false } = look;
  const type = isLog ? ('log' as const) : ('linear' as const);
  const height = Math.round(Math.min(520, Math.max(280, width * 0.66)));
  const at = { x: (pair: Pair) => pair.x.value, y: (pair: Pair) => pair.y.value };
  const label = ({ title, unit }: Mapped) =>
    shortened(title === unit ? title : `${title}, ${unit}`, width / CHARACTER - 4);
  return plotted(
    {
      height,
      marginLeft: 62,
      marginTop: 28,
      marginBottom: 40,
      marginRight: 20,
      x: { type, label: label(x), ...reachOf(x), nice: true, ticks: width / 110, tickFormat: shortNumber },
      y: { type, label: label(y), ...reachOf(y), nice: true, ticks: height / 60, tickFormat: shortNumber },
      marks: [
        Plot.gridX({ stroke: colours.grid, strokeOpacity: 1, ticks: width / 110 }),
        Plot.gridY({ stroke: colours.grid, strokeOpacity: 1, ticks: height / 60 }),
        Plot.dot(pairs, { ...at, r: 4, fill: colours.above, ...inGroup('points') }),
        Plot.text(pairs, {
          ...at,
          text: (pair: Pair) => pair.x.country,
          dy: -9,
          fontSize: 10,
          fill: colours.muted,
        }),
        Plot.tip(
          pairs,
          Plot.pointer({
            ...at,
            title: (pair: Pair) =>
              [
                labelOf(pair.x),
                `${fullNumber(pair.x.value)} ${x.unit}, ${pair.x.year ?? ''}`,
                `${fullNumber(pair.y.value)} ${y.unit}, ${pair.y.year ?? ''}`,
              ].join('\n'),
            fill: colours.ground,
            stroke: colours.outline,
            lineHeight: 1.25,
          }),
        ),
      ],
    },
    look,
  );
}
