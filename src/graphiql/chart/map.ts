import { africa } from 'virtual:africa';
import * as Plot from '@observablehq/plot';
import { nameOf } from './countries.ts';
import type { Figure } from './figures.ts';
import { placedNames } from './labels.ts';
import { isOld, newestOf, stripes, TOLERANCE_YEARS, timeIn } from './latest.ts';
import { legendTicks, mapScale } from './map-scale.ts';
import { shortNumber } from './numbers.ts';
import type { BarsPicture } from './picture.ts';
import {
  captionOf,
  idIn,
  inGroup,
  type Look,
  type Plotted,
  plotted,
  svgElement,
  unitInWords,
} from './plot.ts';
import { CHARACTER } from './text-width.ts';

/** Below this width, in pixels, the legend stands below the map, not on the sea. */
const NARROW = 520;
const LEGEND_HEIGHT = 84;
const SWATCH_HEIGHT = 18;

type Shape = (typeof africa.features)[number];

/**
 * Draws Africa by national figures. Countries without one are hatched; islands too small to see have a disc.
 */
export function drawMap({ map, unit, scaleOf, isLatest = true }: BarsPicture, look: Look): Plotted {
  const { width, colours } = look;
  const figures = map ?? [];
  const byCode = new Map(figures.map((figure) => [figure.country, figure]));
  const figureOf = ({ properties: { code } }: Shape) => byCode.get(code);
  const scale = mapScale(scaleOf ?? figures.map(({ value }) => value), colours);
  const colourOf = (shape: Shape) => scale.colourOf(figureOf(shape)?.value ?? 0);
  const [covered, unknown] = [true, false].map((isKnown) =>
    africa.features.filter((shape) => (figureOf(shape) !== undefined) === isKnown),
  ) as [Shape[], Shape[]];
  const newest = isLatest ? newestOf(figures) : null;
  const old = covered.filter((shape) => isOld(figureOf(shape) as Figure, newest));
  const [hatch, striped] = [idIn(look, 'hatch'), idIn(look, 'stripes')];
  const legendHeight = LEGEND_HEIGHT + (old.length > 0 ? SWATCH_HEIGHT : 0);
  const room = look.room ?? 640;
  // On a phone that lies there is room for the legend beside the map alone.
  const isNarrow = width < NARROW && room > width * 0.7;
  const longitude = ({ properties: { centre } }: Shape) => centre[0];
  const latitude = ({ properties: { centre } }: Shape) => centre[1];
  const islands = (shapes: readonly Shape[]) => shapes.filter(({ properties: { isSmall } }) => isSmall);
  const disc = { x: longitude, y: latitude, r: isNarrow ? 5 : 7, stroke: colours.text, strokeWidth: 0.8 };
  const outline = { stroke: colours.outline, strokeWidth: 0.6 };
  const height = isNarrow ? width * 0.95 + legendHeight : Math.min(width * 0.86, room, 640);
  const svg = plotted(
    {
      height: Math.round(height),
      margin: 0,
      marginBottom: isNarrow ? legendHeight : 0,
      projection: { type: 'azimuthal-equal-area', rotate: [-18, -2], domain: africa, inset: 12 },
      marks: [
        Plot.geo(unknown, { fill: `url(#${hatch})`, ...outline, ...inGroup('without-figure') }),
        Plot.geo(covered, { fill: colourOf, ...outline, ...inGroup('with-figure') }),
        Plot.geo(old, { fill: `url(#${striped})`, ...inGroup('old') }),
        Plot.dot(africa.features, { x: longitude, y: latitude, r: 1, sort: null, ...inGroup('places') }),
        Plot.dot(islands(unknown), { ...disc, fill: `url(#${hatch})`, ...inGroup('islands-without') }),
        Plot.dot(islands(covered), { ...disc, fill: colourOf, ...inGroup('islands') }),
      ],
    },
    look,
  );
  const places = placesIn(svg, africa.features);
  svg.spots = {
    all: africa.features.map((shape, i) => {
      const figure = figureOf(shape);
      const { code } = shape.properties;
      const words = figure === undefined ? `${nameOf(code) ?? code}\nno figure` : captionOf(figure);
      return { ...(places[i] as Place), line: '', words };
    }),
    areRows: false,
  };
  tellSpots(svg, [
    ['without-figure', unknown],
    ['with-figure', covered],
    ['old', old],
    ['islands-without', islands(unknown)],
    ['islands', islands(covered)],
  ]);
  nameIslands(svg, look, places);
  svg.prepend(
    svgElement('defs', {}, hatching(hatch, look), ...(old.length > 0 ? [stripes(striped, colours)] : [])),
  );
  const top = isNarrow ? height - legendHeight + 14 : height - legendHeight - 22;
  const swatches = [
    { className: 'swatch-none', fill: `url(#${hatch})`, words: 'no figure' },
    ...(old.length > 0 && newest !== null
      ? [
          {
            className: 'swatch-old',
            fill: `url(#${striped})`,
            words: `over ${TOLERANCE_YEARS} years older than ${timeIn(newest)}`,
          },
        ]
      : []),
  ];
  const length = Math.min(260, isNarrow ? width - 30 : width * 0.27);
  const x = isNarrow ? 10 : 14;
  svg.append(legendOf(scale, unit, `${hatch}-ramp`, swatches, { x, y: top, length, colours }));
  return svg;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places of countries in the drawing, in its pixels: a mark of no size has been drawn for each. */
function placesIn(svg: Plotted, shapes: readonly Shape[]): readonly Place[] {
  const dots = svg.querySelector('g.places');
  const places = Array.from(dots?.children ?? [], (dot) => ({
    x: Number(dot.getAttribute('cx')),
    y: Number(dot.getAttribute('cy')),
  }));
  dots?.remove();
  return shapes.map((_, i) => places[i] ?? { x: 0, y: 0 });
}

/** Tells the shapes by the numbers of their figures, which a pointer finds them by. */
function tellSpots(
  svg: Plotted,
  groups: readonly (readonly [name: string, shapes: readonly Shape[]])[],
): void {
  const numbers = new Map(africa.features.map((shape, i) => [shape, String(i)]));
  for (const [name, shapes] of groups)
    for (const [i, part] of svg.querySelectorAll(`g.${name} > *`).entries())
      part.setAttribute('data-spot', numbers.get(shapes[i] as Shape) ?? '');
}

/** Names the islands that are too small to see, or writes their codes where a name has no room. */
function nameIslands(svg: Plotted, { width, colours }: Look, places: readonly Place[]): void {
  const small = africa.features.flatMap(({ properties: { code, isSmall, centre } }, i) =>
    isSmall
      ? [
          {
            code,
            name: nameOf(code) ?? code,
            isInGulf: centre[0] > 0 && centre[0] < 20,
            ...(places[i] as Place),
          },
        ]
      : [],
  );
  const edges = { left: 0, right: width, top: 0, bottom: Number(svg.getAttribute('height')) };
  const group = svgElement('g', {
    class: 'island-names',
    'font-size': 11,
    'text-anchor': 'middle',
    fill: colours.muted,
  });
  for (const isWest of [true, false]) {
    // In a gulf the continent lies to the east: the name stands on the other side.
    const some = small.filter(({ isInGulf }) => isInGulf === isWest);
    const within = isWest ? { ...edges, right: Math.max(...some.map(({ x }) => x)) } : edges;
    const texts = some.map(({ name, code }) => [name, code]);
    for (const label of placedNames(some, texts, within))
      if (label !== null)
        group.append(svgElement('text', { x: label.x, y: label.y, dy: '0.35em' }, label.text));
  }
  svg.append(group);
}

function hatching(id: string, { colours }: Look): SVGElement {
  return svgElement(
    'pattern',
    { id, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svgElement('rect', { width: 5, height: 5, fill: colours.ground }),
    svgElement('rect', { width: 1.4, height: 5, fill: colours.muted }),
  );
}

/** A legend of the colours of the map, and of what lies over them. */
function legendOf(
  scale: ReturnType<typeof mapScale>,
  unit: string,
  ramp: string,
  swatches: readonly { readonly className: string; readonly fill: string; readonly words: string }[],
  { x, y, length, colours }: Pick<Look, 'colours'> & Readonly<Record<'x' | 'y' | 'length', number>>,
): SVGElement {
  const stops = Array.from({ length: 21 }, (_, i) =>
    svgElement('stop', { offset: i / 20, 'stop-color': scale.colourOf(scale.valueAt(i / 20)) }),
  );
  const widest = (values: readonly number[]) =>
    Math.max(...values.map((value) => shortNumber(value, values).length)) * CHARACTER + 8;
  const ticks = legendTicks(scale, widest(legendTicks(scale, 46 / length)) / length);
  const tick = (value: number) => {
    const at = scale.placeOf(value) * length;
    const half = (shortNumber(value, ticks).length * CHARACTER) / 2;
    // Keeps words at an end from going beyond it.
    const anchor = at < half ? 'start' : at > length - half ? 'end' : 'middle';
    return [
      svgElement('line', { x1: at, x2: at, y1: 18, y2: 23, stroke: colours.text }),
      svgElement('text', { x: at, y: 34, 'text-anchor': anchor }, shortNumber(value, ticks)),
    ];
  };
  return svgElement(
    'g',
    {
      class: 'map-legend',
      transform: `translate(${x},${y})`,
      fill: colours.text,
      'font-size': 12,
      'text-anchor': 'start',
    },
    svgElement('defs', {}, svgElement('linearGradient', { id: ramp }, ...stops)),
    svgElement('text', { x: 0, y: 0 }, unitInWords(unit)),
    svgElement('rect', { x: 0, y: 8, width: length, height: 11, fill: `url(#${ramp})` }),
    ...ticks.flatMap(tick),
    ...swatches.flatMap(({ className, fill, words }, i) => [
      ...[scale.colourOf(scale.most), fill].map((of, layer) =>
        svgElement('rect', {
          ...(layer === 1 && { class: className }),
          x: 0,
          y: 46 + i * SWATCH_HEIGHT,
          width: 18,
          height: 11,
          fill: of,
          stroke: colours.outline,
        }),
      ),
      svgElement('text', { x: 25, y: 56 + i * SWATCH_HEIGHT }, words),
    ]),
  );
}
