import { africa } from 'virtual:africa';
import * as Plot from '@observablehq/plot';
import { nameOf } from './countries.ts';
import { detailOf, MIDDLE } from './detail.ts';
import { captionOf } from './figure-words.ts';
import type { Figure } from './figures.ts';
import { type Box, boxAt, type Ground, overlap, placedNames } from './labels.ts';
import { isOld, newestOf, stripes, TOLERANCE_YEARS, timeIn } from './latest.ts';
import { legendHeight, legendOf, type Swatch } from './map-legend.ts';
import { mapScale } from './map-scale.ts';
import type { BarsPicture } from './picture.ts';
import { idIn, inGroup, type Look, type Plotted, plotted } from './plot.ts';
import { svgElement } from './svg-element.ts';
import { NARROW } from './text-width.ts';

/** The part of the width that a legend beside the map may take. */
const LEGEND_PART = 0.4;
/** Pixels between the continent and the edges of its drawing. */
const INSET = 12;
/** Size, in pixels, of the boxes that stand for borders and coasts, which no words may cover. */
const CELL = 4;

type Shape = (typeof africa.features)[number];

/**
 * Draws Africa by national figures. Countries without one are hatched; islands too small to see have a disc.
 * @param left pixels that the map leaves to a legend that would lie on it otherwise
 */
export function drawMap(picture: BarsPicture, look: Look, left = 0): Plotted {
  const { map, unit, scaleOf, isLatest = true } = picture;
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
  const swatches: readonly Swatch[] = [
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
  const below = legendHeight(swatches);
  const room = look.room ?? 640;
  // On a phone that lies there is room for the legend beside the map alone.
  const isNarrow = width < NARROW && room > width * 0.7;
  const longitude = ({ properties: { centre } }: Shape) => centre[0];
  const latitude = ({ properties: { centre } }: Shape) => centre[1];
  const islands = (shapes: readonly Shape[]) => shapes.filter(({ properties: { isSmall } }) => isSmall);
  const disc = { x: longitude, y: latitude, r: isNarrow ? 5 : 7, stroke: colours.text, strokeWidth: 0.8 };
  const height = isNarrow ? width * 0.95 + below : Math.min(width * 0.86, room, 640);
  const marginBottom = isNarrow ? below : 0;
  const geometry = geometryAt(width - left, height - marginBottom);
  const outline = { geometry, stroke: colours.outline, strokeWidth: 0.6 };
  const svg = plotted(
    {
      height: Math.round(height),
      margin: 0,
      marginBottom,
      marginLeft: left,
      projection: {
        type: 'azimuthal-equal-area',
        rotate: [-MIDDLE.longitude, -MIDDLE.latitude],
        domain: africa,
        inset: INSET,
      },
      marks: [
        Plot.geo(unknown, { fill: `url(#${hatch})`, ...outline, ...inOutlines('without-figure') }),
        Plot.geo(covered, { fill: colourOf, ...outline, ...inOutlines('with-figure') }),
        Plot.geo(old, { geometry, fill: `url(#${striped})`, ...inOutlines('old') }),
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
  const { legend, boxes } = legendOf(scale, unit, `${hatch}-ramp`, swatches, {
    x: isNarrow ? 10 : 14,
    y: isNarrow ? height - below + 14 : height - below - 22,
    length: Math.min(260, isNarrow ? width - 30 : width * 0.27),
    room: isNarrow ? width - 20 : width * LEGEND_PART - 14,
    colours,
  });
  const discs = africa.features.flatMap(({ properties: { isSmall } }, i) => {
    const { x, y } = places[i] as Place;
    return isSmall ? [boxAt(x, y, 2 * disc.r, 2 * disc.r)] : [];
  });
  const land = landIn(svg);
  if (left === 0 && boxes.some((box) => [...land, ...discs].some((other) => overlap(box, other))))
    return drawMap(
      picture,
      look,
      Math.min(width * LEGEND_PART, Math.max(...boxes.map(({ right }) => right))),
    );
  // As the notes name it, where it has a figure.
  const nameOfShape = (shape: Shape) =>
    figureOf(shape)?.countryName || (nameOf(shape.properties.code) ?? shape.properties.code);
  nameIslands(svg, look, places, { taken: [...boxes, ...land], dot: disc.r }, nameOfShape);
  svg.prepend(
    svgElement('defs', {}, hatching(hatch, look), ...(old.length > 0 ? [stripes(striped, colours)] : [])),
  );
  svg.append(legend);
  return svg;
}

/** Returns a function for the outline of a country, as finely as a map of such a size shows it. */
function geometryAt(width: number, height: number) {
  const { extent } = africa;
  const radius = Math.min((width - 2 * INSET) / extent.width, (height - 2 * INSET) / extent.height);
  return ({ geometry }: Shape) => ({ ...geometry, coordinates: detailOf(geometry.coordinates, radius) });
}

/** A group of outlines, drawn to a tenth of a pixel: further digits are a third of a file. */
function inOutlines(name: string): { readonly render: Plot.RenderFunction } {
  const { render } = inGroup(name);
  return {
    render: (index, scales, values, dimensions, context, next) =>
      render(index, scales, values, dimensions, { ...context, path: () => context.path().digits(1) }, next),
  };
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

/** Boxes along the borders and coasts of a map, in its pixels, but for islands that have a disc. */
function landIn(svg: Plotted): readonly Box[] {
  const cells = new Map<string, Box>();
  const add = (x: number, y: number) => {
    const [column, row] = [Math.round(x / CELL), Math.round(y / CELL)];
    cells.set(`${column} ${row}`, boxAt(column * CELL, row * CELL, CELL, CELL));
  };
  for (const path of svg.querySelectorAll('g.without-figure > path, g.with-figure > path')) {
    if (africa.features[Number(path.getAttribute('data-spot'))]?.properties.isSmall !== false) continue;
    for (const ring of path.getAttribute('d')?.split('M') ?? []) {
      let before: readonly [x: number, y: number] | undefined;
      for (const [, x, y] of ring.matchAll(/([-\d.]+),([-\d.]+)/g)) {
        const to = [Number(x), Number(y)] as const;
        const from = before ?? to;
        const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / CELL);
        for (let step = 0; step <= steps; step += 1) {
          const part = step / Math.max(steps, 1);
          add(from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1]));
        }
        before = to;
      }
    }
  }
  return [...cells.values()];
}

/** Names the islands that are too small to see, or writes their codes where a name has no room. */
function nameIslands(
  svg: Plotted,
  { width, colours }: Look,
  places: readonly Place[],
  ground: Ground,
  nameOfShape: (shape: Shape) => string,
): void {
  const small = africa.features.flatMap((shape, i) => {
    const { code, isSmall, centre } = shape.properties;
    return isSmall
      ? [
          {
            code,
            name: nameOfShape(shape),
            isInGulf: centre[0] > 0 && centre[0] < 20,
            ...(places[i] as Place),
          },
        ]
      : [];
  });
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
    for (const label of placedNames(some, texts, within, ground))
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
