import * as Plot from '@observablehq/plot';
import { sourceNameOf } from '../source-names.ts';
import { amountOf, labelOf } from './figure-words.ts';
import type { Figure } from './figures.ts';
import { type Box, placedNames } from './labels.ts';
import { rankingOf, yearsIn } from './measured.ts';
import { type BarsPicture, type LinesPicture, type Picture, timeOf } from './picture.ts';
import {
  axisWords,
  inGroup,
  type LeftAxis,
  type Look,
  type Plotted,
  plotted,
  roomierAxis,
  thinned,
  tickLabel,
  tickLabels,
} from './plot.ts';
import { scalingOf } from './scaled.ts';
import { svgElement } from './svg-element.ts';
import { widthOf } from './text-width.ts';

/** Countries with a figure of each of two indicators. */
export interface Pair {
  readonly x: Figure;
  readonly y: Figure;
}

export type Mapped = BarsPicture & {
  readonly map: readonly Figure[];
  /** Its years; null if there are only the latest figures. */
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

function inYear(mapped: Mapped, year: number): Mapped {
  const series = mapped.series === null ? mapped : rankingOf(mapped.series, year);
  return { ...mapped, ...series, map: series.map ?? [] };
}

/** Years that both have figures of; none if one has the latest alone. */
export function commonYears(x: Mapped, y: Mapped): readonly number[] {
  if (x.series === null || y.series === null) return [];
  const otherYears = new Set(yearsIn(y.series));
  return yearsIn(x.series).filter((year) => otherYears.has(year));
}

export function pairsOf(x: Mapped, y: Mapped): readonly Pair[] {
  const byCode = new Map(y.map.map((figure) => [figure.country, figure]));
  const pairs = x.map.flatMap((figure) => {
    const other = byCode.get(figure.country);
    return other === undefined ? [] : [{ x: figure, y: other }];
  });
  // Names find room one after the other, and arrow keys go along.
  return pairs.toSorted((a, b) => a.x.value - b.x.value || (a.x.country < b.x.country ? -1 : 1));
}

/** Returns the dots of a year, or of the latest figures, that scales can show, the kind of scales, and words on those left out. */
export function scaledPairs(x: Mapped, y: Mapped, year: number | null, wantsLog: boolean) {
  const all = year === null ? pairsOf(x, y) : pairsOf(inYear(x, year), inYear(y, year));
  const values = (pair: Pair) => [pair.x.value, pair.y.value];
  const { isLog, keeps, remarks } = scalingOf(all.map(values), wantsLog);
  return { pairs: all.filter((pair) => values(pair).every(keeps)), isLog, remarks };
}

/** True if the values of a scale can be drawn by logarithm. */
export function isPositive({ scaleOf, map }: Mapped): boolean {
  return (scaleOf ?? map.map(({ value }) => value)).every((value) => value > 0);
}

export const titleOf = (x: Mapped, y: Mapped) => `${y.title} against ${x.title}`;

export const subtitleOf = (pairs: readonly Pair[], year: number | null) =>
  `${pairs.length} countries, ${year ?? 'latest figures'}`;

/** Puts the dots into words, for readers who don't see them. */
export function wordsOf(pairs: readonly Pair[], x: Mapped, y: Mapped): string {
  return `${titleOf(x, y)}: a dot for each of ${pairs.length} countries.`;
}

/** Scales stay as they are from year to year. */
function reachOf({ scaleOf = [] }: Mapped, wantsLog: boolean) {
  const { keeps } = scalingOf(
    scaleOf.map((value) => [value]),
    wantsLog,
  );
  const values = scaleOf.filter(keeps);
  if (values.length === 0) return {};
  return { domain: [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))] };
}

/** Pixels between the dots and the edges of a drawing. */
const EDGES = { right: 20, top: 28, bottom: 40 };
const AXIS: LeftAxis = { left: 62, scale: null };

/** As of other drawings; logarithmic if both values of each dot are above zero. */
type ScatterLook = Look & { readonly isLog?: boolean };

/** Draws a dot a country. */
export function drawScatter(
  pairs: readonly Pair[],
  x: Mapped,
  y: Mapped,
  look: ScatterLook,
  axis = AXIS,
): Plotted {
  const { width, colours, isLog = false } = look;
  const { left } = axis;
  const type = isLog ? ('log' as const) : ('linear' as const);
  const height = Math.round(Math.min(520, look.room ?? 520, Math.max(280, width * 0.66)));
  const at = { x: (pair: Pair) => pair.x.value, y: (pair: Pair) => pair.y.value };
  const label = ({ title, unit }: Mapped, scale: LeftAxis['scale'] = null) =>
    axisWords(title === unit ? title : `${title}, ${unit}`, width, scale);
  const svg = plotted(
    {
      height,
      marginLeft: left,
      marginTop: EDGES.top,
      marginBottom: EDGES.bottom,
      marginRight: EDGES.right,
      x: {
        type,
        label: label(x),
        ...reachOf(x, isLog),
        nice: !isLog,
        ticks: width / 110,
        tickFormat: tickLabel,
      },
      y: {
        type,
        label: label(y, axis.scale),
        ...reachOf(y, isLog),
        nice: !isLog,
        ticks: height / 60,
        tickFormat: tickLabels(axis),
      },
      marks: [
        Plot.gridX({ stroke: colours.grid, strokeOpacity: 1, ticks: width / 110 }),
        Plot.gridY({ stroke: colours.grid, strokeOpacity: 1, ticks: height / 60 }),
        Plot.dot(pairs, { ...at, r: 4, fill: colours.above, ...inGroup('points') }),
      ],
    },
    look,
  );
  const roomier = roomierAxis(svg, axis, look);
  if (roomier !== null) return drawScatter(pairs, x, y, look, roomier);
  const within = { left, right: width, top: 0, bottom: height - EDGES.bottom };
  labelDots(svg, pairs, within, colours.muted);
  thinned(svg, 'x');
  const places = placesOf(svg, pairs);
  svg.spots = {
    all: pairs.map((pair, i) => ({
      ...(places[i] as { readonly x: number; readonly y: number }),
      line: '',
      words: captionOfPair(pair, x, y),
    })),
    areRows: false,
  };
  return svg;
}

/** Describes a dot line by line. */
function captionOfPair(pair: Pair, x: Mapped, y: Mapped): string {
  const words = (figure: Figure, { title }: Mapped) => {
    const { value, unit, isModelled } = figure;
    return [
      `${title}: ${amountOf(value, unit)}`,
      timeOf(figure),
      isModelled ? 'modelled' : '',
      sourceNameOf(figure),
    ]
      .filter((part) => part !== '')
      .join(', ');
  };
  return [labelOf(pair.x), words(pair.x, x), words(pair.y, y)].join('\n');
}

/** Places in a drawing, in pixels, of the dots of pairs. */
function placesOf(svg: Plotted, pairs: readonly Pair[]): { readonly x: number; readonly y: number }[] {
  const [x, y] = [svg.scale('x'), svg.scale('y')];
  return pairs.map((pair) => ({ x: Number(x?.apply(pair.x.value)), y: Number(y?.apply(pair.y.value)) }));
}

/** Height, in pixels, of the words of the axis at the left, which stand at the top edge of a drawing. */
const TITLE_HEIGHT = 18;

/** The ground below the words of the axis at the left, from one edge of a drawing to where they end. */
function titleBox(svg: Plotted): Box {
  const words = svg.querySelector('[aria-label="y-axis label"]')?.textContent ?? '';
  return { left: 0, right: widthOf(words), top: 0, bottom: TITLE_HEIGHT };
}

/** Names the dots that there is room to name, by their codes where a name has none; the pointer and the arrow keys name the others. */
function labelDots(svg: Plotted, pairs: readonly Pair[], within: Box, fill: string): void {
  const places = placesOf(svg, pairs);
  const group = svgElement('g', { class: 'names', 'font-size': 11, 'text-anchor': 'middle', fill });
  const texts = pairs.map(({ x: { country, countryName } }) => [countryName, country]);
  for (const label of placedNames(places, texts, within, { taken: [titleBox(svg)] }))
    if (label !== null)
      group.append(svgElement('text', { x: label.x, y: label.y, dy: '0.35em' }, label.text));
  svg.append(group);
}
