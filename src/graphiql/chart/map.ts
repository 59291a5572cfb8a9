import { africa } from 'virtual:africa';
import * as Plot from '@observablehq/plot';
import { nameOf } from './countries.ts';
import { legendTicks, mapScale } from './map-scale.ts';
import { shortNumber } from './numbers.ts';
import type { BarsPicture } from './picture.ts';
import { captionOf, inGroup, type Look, type Plotted, plotted, svgElement } from './plot.ts';

/** Below this width, in pixels, the legend stands below the map, not on the sea. */
const NARROW = 520;
const LEGEND_HEIGHT = 84;

type Shape = (typeof africa.features)[number];

let drawn = 0;

/**
 * Draws Africa by national figures. Countries without one are hatched; islands too small to see have a disc.
 */
export function drawMap({ map, unit, scaleOf }: BarsPicture, look: Look): Plotted {
  const { width, colours } = look;
  const figures = map ?? [];
  const byCode = new Map(figures.map((figure) => [figure.country, figure]));
  const figureOf = ({ properties: { code } }: Shape) => byCode.get(code);
  const scale = mapScale(scaleOf ?? figures.map(({ value }) => value), colours);
  const colourOf = (shape: Shape) => scale.colourOf(figureOf(shape)?.value ?? 0);
  const [known, unknown] = [true, false].map((isKnown) =>
    africa.features.filter((shape) => (figureOf(shape) !== undefined) === isKnown),
  ) as [Shape[], Shape[]];
  if (!look.isAlone) drawn += 1;
  const hatch = look.isAlone ? 'hatch' : `hatch-${drawn}`;
  const isNarrow = width < NARROW;
  const longitude = ({ properties: { centre } }: Shape) => centre[0];
  const latitude = ({ properties: { centre } }: Shape) => centre[1];
  const islands = (shapes: readonly Shape[]) => shapes.filter(({ properties: { isSmall } }) => isSmall);
  const disc = { x: longitude, y: latitude, r: isNarrow ? 5 : 7, stroke: colours.text, strokeWidth: 0.8 };
  const outline = { stroke: colours.outline, strokeWidth: 0.6 };
  const height = isNarrow ? width * 0.95 + LEGEND_HEIGHT : Math.min(width * 0.86, look.room ?? 640, 640);
  const svg = plotted(
    {
      height: Math.round(height),
      margin: 0,
      marginBottom: isNarrow ? LEGEND_HEIGHT : 0,
      projection: { type: 'azimuthal-equal-area', rotate: [-18, -2], domain: africa, inset: 12 },
      marks: [
        Plot.geo(unknown, { fill: `url(#${hatch})`, ...outline, ...inGroup('without-figure') }),
        Plot.geo(known, { fill: colourOf, ...outline, ...inGroup('with-figure') }),
        Plot.dot(islands(unknown), { ...disc, fill: `url(#${hatch})`, ...inGroup('islands-without') }),
        Plot.dot(islands(known), { ...disc, fill: colourOf, ...inGroup('islands') }),
        ...[true, false].map((isWest) =>
          Plot.text(
            islands(africa.features as Shape[]).filter((shape) => isInGulf(shape) === isWest),
            {
              x: longitude,
              y: latitude,
              text: ({ properties: { code } }: Shape) => code,
              textAnchor: isWest ? 'end' : 'start',
              dx: (isNarrow ? 7 : 10) * (isWest ? -1 : 1),
              fontSize: isNarrow ? 9 : 11,
              fill: colours.muted,
            },
          ),
        ),
        Plot.tip(
          africa.features,
          Plot.pointer({
            x: longitude,
            y: latitude,
            title: (shape: Shape) => {
              const figure = figureOf(shape);
              const { code } = shape.properties;
              return figure === undefined ? `${nameOf(code) ?? code}\nno figure` : captionOf(figure);
            },
            maxRadius: 60,
            fill: colours.ground,
            stroke: colours.outline,
            lineHeight: 1.25,
          }),
        ),
      ],
    },
    look,
  );
  svg.prepend(svgElement('defs', {}, hatching(hatch, look)));
  const top = isNarrow ? height - LEGEND_HEIGHT + 14 : height - LEGEND_HEIGHT - 22;
  svg.append(legendOf(scale, unit, hatch, { x: isNarrow ? 10 : 14, y: top, look }));
  return svg;
}

/** True if the continent lies to the east of an island: its code stands on the other side. */
function isInGulf({ properties: { centre } }: Shape): boolean {
  return centre[0] > 0 && centre[0] < 20;
}

function hatching(id: string, { colours }: Look): SVGElement {
  return svgElement(
    'pattern',
    { id, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svgElement('rect', { width: 5, height: 5, fill: colours.ground }),
    svgElement('rect', { width: 1.4, height: 5, fill: colours.muted }),
  );
}

/** A legend of the colours of the map, and of the hatching. */
function legendOf(
  scale: ReturnType<typeof mapScale>,
  unit: string,
  hatch: string,
  { x, y, look: { width, colours } }: { readonly x: number; readonly y: number; readonly look: Look },
): SVGElement {
  const ramp = `${hatch}-ramp`;
  const length = Math.min(220, width < NARROW ? width - 30 : width * 0.27);
  const stops = Array.from({ length: 21 }, (_, i) =>
    svgElement('stop', { offset: i / 20, 'stop-color': scale.colourOf(scale.valueAt(i / 20)) }),
  );
  const ticks = legendTicks(scale, 46 / length);
  const tick = (value: number) => {
    const at = scale.placeOf(value) * length;
    // Keeps words at an end from going beyond it.
    const anchor = at < 12 ? 'start' : at > length - 12 ? 'end' : 'middle';
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
    svgElement('text', { x: 0, y: 0 }, unit),
    svgElement('rect', { x: 0, y: 8, width: length, height: 11, fill: `url(#${ramp})` }),
    ...ticks.flatMap(tick),
    svgElement('rect', {
      class: 'swatch-none',
      x: 0,
      y: 46,
      width: 18,
      height: 11,
      fill: `url(#${hatch})`,
      stroke: colours.outline,
    }),
    svgElement('text', { x: 25, y: 56 }, 'no figure'),
  );
}
