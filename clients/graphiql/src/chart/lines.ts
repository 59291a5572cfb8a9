import * as Plot from '@observablehq/plot';
import type { Colours } from './colours.ts';
import { captionOf, unitInWords } from './figure-words.ts';
import { BAND, FADED } from './opacities.ts';
import { coloured, type Line, type LinesPicture, MAX_BANDS, type Point } from './picture.ts';
import {
  axisWords,
  inGroup,
  type LeftAxis,
  type Look,
  type Plotted,
  plotted,
  roomierAxis,
  shortened,
  tickLabels,
} from './plot.ts';
import { svgElement } from './svg-element.ts';
import { CHARACTER, NARROW, widthOf } from './text-width.ts';
import { timeTicks } from './time-axis.ts';

/** Part of the width that the names beside lines may have: with less room, they are the codes of their countries. */
const NAMES_SHARE = 0.34;
const LABEL_HEIGHT = 14;
/** Unless its labels need more. */
const AXIS: LeftAxis = { left: 62, scale: null };
const NARROW_AXIS: LeftAxis = { left: 30, scale: null };
/** Points that are each drawn, at the most; beyond, only those that a line doesn't show. */
const MAX_DOTS = 1000;
/** Pixels between the points of a line, below which they would hide it. */
const DOT_ROOM = 7;

/** The names that have a colour before all others: the line that stands out is among them, so that it is in view. */
export function chosenOf({ highlight, focus }: Choice): readonly string[] {
  return focus === null || highlight.includes(focus) ? highlight : [focus, ...highlight];
}

interface Choice {
  readonly highlight: readonly string[];
  readonly focus: string | null;
}

/** Colours of the lines that have one, by name. */
export function lineColours(
  picture: LinesPicture,
  chosen: readonly string[],
  { lines }: Colours,
): { readonly top: readonly Line[]; readonly rest: readonly Line[]; colourOf(name: string): string } {
  const { top, rest } = coloured(picture, chosen);
  const byName = new Map(top.map(({ name }, i) => [name, lines[i % lines.length] as string]));
  return { top, rest, colourOf: (name) => byName.get(name) ?? '' };
}

/**
 * Draws lines: gaps for missing rows, modelled points hollow, bounds as a band, names at the ends of lines.
 */
export function drawLines(
  picture: LinesPicture,
  chosen: readonly string[],
  look: Look,
  axis = look.width < NARROW ? NARROW_AXIS : AXIS,
): Plotted {
  const { width, colours } = look;
  const { left: marginLeft } = axis;
  const { top, rest, colourOf } = lineColours(picture, chosen, colours);
  const points = top.flatMap((line) => line.points);
  const focus = top.some(({ name }) => name === look.focus) ? look.focus : null;
  const bounded = top.filter(
    ({ name, points: ownPoints }) =>
      (top.length <= MAX_BANDS || name === focus) && ownPoints.some(({ low }) => low !== null),
  );
  // On a telephone the legend alone has the names: both would leave a third of the width to the lines.
  const isNamed = top.length > 1 && (width >= NARROW || look.hasLegend === false);
  const labels = isNamed ? endLabels(top, width) : [];
  const isFaded = (name: string) => focus !== null && focus !== name;
  const opacityOf = (name: string) => (isFaded(name) ? FADED.line : 1);
  const all = picture.lines.flatMap((line) => line.points.filter(({ value }) => value !== null));
  const height = Math.round(Math.min(520, look.room ?? 520, Math.max(260, width * 0.5)));
  const marginRight = isNamed ? Math.max(...labels.map(widthOf)) + 18 : 16;
  const { ticks, labelOf, domain } = timeTicks(all, width - marginLeft - marginRight);
  const present = points.filter(({ value }) => value !== null);
  const mostPoints = Math.max(...top.map((line) => line.points.length));
  const isRoomy = present.length <= MAX_DOTS && mostPoints * DOT_ROOM <= width - marginLeft - marginRight;
  const withDots = isRoomy ? present : top.flatMap(alone);
  const bounds = bounded.flatMap((line) => line.points.flatMap(({ low, high }) => [low, high]));
  const values = [...all.map(({ value }) => value), ...bounds].filter((value) => value !== null);
  const { isFromZero, begin } = picture.isLog ? LOG : beginOf(values, axis, look.axis ?? null);
  const svg = plotted(
    {
      height,
      marginLeft,
      marginTop: 28,
      marginRight,
      x: { domain, ticks, tickFormat: labelOf, label: null, inset: 6 },
      y: {
        label: axisWords(unitInWords(picture.unit), width, axis.scale, begin),
        labelAnchor: 'top',
        nice: true,
        zero: isFromZero,
        ticks: height / 56,
        tickFormat: tickLabels(axis),
        type: picture.isLog ? 'log' : 'linear',
      },
      marks: [
        Plot.gridY({ stroke: colours.grid, strokeOpacity: 1, ticks: height / 56 }),
        ...(all.some(({ value }) => (value ?? 0) < 0) ? [Plot.ruleY([0], { stroke: colours.muted })] : []),
        Plot.lineY(
          rest.flatMap((line) => line.points),
          { x: 'at', y: 'value', z: 'line', stroke: colours.other, strokeWidth: 1, ...inGroup('others') },
        ),
        Plot.areaY(
          bounded.flatMap((line) => line.points),
          {
            x: 'at',
            y1: 'low',
            y2: 'high',
            z: 'line',
            fill: (point: Point) => colourOf(point.line),
            fillOpacity: (point: Point) => (isFaded(point.line) ? FADED.band : BAND),
            ...inGroup('bands'),
          },
        ),
        Plot.lineY(points, {
          x: 'at',
          y: 'value',
          z: 'line',
          stroke: (point: Point) => colourOf(point.line),
          strokeOpacity: (point: Point) => opacityOf(point.line),
          strokeWidth: 2,
          ...inGroup('top'),
        }),
        Plot.dot(rest.flatMap(alone), { x: 'at', y: 'value', fill: colours.other, r: 2 }),
        Plot.dot(withDots, {
          x: 'at',
          y: 'value',
          stroke: (point: Point) => colourOf(point.line),
          fill: (point: Point) => (point.isModelled ? colours.ground : colourOf(point.line)),
          opacity: (point: Point) => opacityOf(point.line),
          r: 2.6,
          ...inGroup('points'),
        }),
      ],
    },
    look,
  );
  const roomier = roomierAxis(svg, axis, look);
  if (roomier !== null) return drawLines(picture, chosen, look, roomier);
  if (isNamed) labelEnds(svg, top, labels, colourOf, { right: width - marginRight, height, isFaded });
  nameParts(svg, 'g.top path', top.map(nameOf));
  nameParts(svg, 'g.others path', rest.map(nameOf));
  nameParts(svg, 'g.bands path', bounded.map(nameOf));
  nameParts(
    svg,
    'g.points circle',
    withDots.map(({ line }) => line),
  );
  const [x, y] = [svg.scale('x'), svg.scale('y')];
  svg.spots = {
    all: all.flatMap(({ line, at, value, figure }) =>
      figure === null
        ? []
        : [{ x: Number(x?.apply(at)), y: Number(y?.apply(value)), line, words: captionOf(figure) }],
    ),
    areRows: false,
  };
  return svg;
}

const LOG = { isFromZero: false, begin: '' };

/**
 * Unless somebody has chosen, an axis begins at zero if the least value is below a third of the most. Elsewhere it says where it
 * begins, as long as nothing is below zero.
 */
function beginOf(values: readonly number[], axis: LeftAxis, chosen: Look['axis'] = null): typeof LOG {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const isFromZero = chosen === null ? least < most / 3 : chosen === 'zero';
  if (least <= 0) return { isFromZero: chosen === 'zero', begin: '' };
  if (isFromZero) return { isFromZero, begin: '' };
  const [from = 0] = Plot.scale({ y: { type: 'linear', domain: [least, most], nice: true } })?.domain ?? [];
  return { isFromZero: false, begin: from > 0 ? `from ${tickLabels(axis)(from, 0, [from, most])}` : '' };
}

/** Names at the ends of lines, or the codes of their countries where names would leave too little room. */
function endLabels(lines: readonly Line[], width: number): readonly string[] {
  const most = Math.floor((width * NAMES_SHARE) / CHARACTER);
  const fits = lines.every(({ name }) => name.length <= most);
  return lines.map(({ name, shortName }) => shortened(fits ? name : shortName, most));
}

const nameOf = ({ name }: Line) => name;

/** Gives the parts of lines their names, by which a pointer or a legend finds them. */
function nameParts(svg: Plotted, selector: string, names: readonly string[]): void {
  for (const [i, part] of svg.querySelectorAll(selector).entries())
    part.setAttribute('data-line', names[i] ?? '');
}

/** Points that stand between two gaps, which no line shows. */
function alone({ points }: Line): Point[] {
  const isThere = (at: number) => points[at] !== undefined && points[at].value !== null;
  return points.filter((_, i) => isThere(i) && !isThere(i - 1) && !isThere(i + 1));
}

/** Writes names at the ends of lines, apart from each other. */
function labelEnds(
  svg: Plotted,
  lines: readonly Line[],
  labels: readonly string[],
  colourOf: (name: string) => string,
  {
    right,
    height,
    isFaded,
  }: { readonly right: number; readonly height: number; isFaded(name: string): boolean },
): void {
  const x = svg.scale('x');
  const y = svg.scale('y');
  const ends = lines.flatMap((line, i) => {
    const end = line.points.findLast(({ value }) => value !== null);
    if (end === undefined) return [];
    return [
      {
        name: line.name,
        text: labels[i] ?? '',
        x: Number(x?.apply(end.at)),
        y: Number(y?.apply(end.value)),
      },
    ];
  });
  const placed = apart(
    ends.map((end) => end.y),
    LABEL_HEIGHT,
    24,
    height - 30,
  );
  const group = svgElement('g', { class: 'ends', 'font-size': 12, 'text-anchor': 'start' });
  for (const [i, end] of ends.entries()) {
    const to = placed[i] as number;
    const colour = colourOf(end.name);
    group.append(
      svgElement('path', {
        d: `M${end.x + 4},${end.y}L${right + 2},${end.y}L${right + 7},${to}`,
        fill: 'none',
        stroke: colour,
        'stroke-opacity': 0.5,
        'stroke-width': 1,
      }),
      svgElement(
        'text',
        { x: right + 9, y: to, dy: '0.35em', fill: colour, opacity: isFaded(end.name) ? FADED.name : 1 },
        end.text,
      ),
    );
  }
  svg.append(group);
}

/**
 * Moves places apart until they are `least` from each other, in their order, and within bounds if there is
 * room.
 */
function apart(places: readonly number[], least: number, from: number, to: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const placed = [...places];
  let before = from - least;
  for (const i of order) {
    before = Math.max(placed[i] ?? 0, before + least);
    placed[i] = before;
  }
  let after = to + least;
  for (const i of order.toReversed()) {
    after = Math.min(placed[i] ?? 0, after - least);
    placed[i] = after;
  }
  return placed;
}
