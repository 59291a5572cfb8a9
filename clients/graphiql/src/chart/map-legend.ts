import type { Colours } from './colours.ts';
import { unitInWords } from './figure-words.ts';
import type { Box } from './labels.ts';
import { legendTicks, type MapScale } from './map-scale.ts';
import { shortNumber } from './numbers.ts';
import { shortened } from './plot.ts';
import { svgElement } from './svg-element.ts';
import { CHARACTER, widthOf } from './text-width.ts';

/** Pixels from the unit, in the first line, to the first swatch, and of each swatch. */
const SWATCHES = 46;
const SWATCH_HEIGHT = 18;
const SWATCH_TEXT = 25;
/** Pixels of a line of text above its base. */
const ABOVE = 11;
/** Pixels between the words of two ticks. */
const TICK_GAP = 10;

/** What lies over the colours of a map, or stands for none. */
export interface Swatch {
  readonly className: string;
  readonly fill: string;
  readonly words: string;
}

interface At {
  readonly x: number;
  /** Of the base of the first line. */
  readonly y: number;
  /** Pixels of the ramp, and those that the unit may take. */
  readonly length: number;
  readonly room: number;
  readonly colours: Colours;
}

/** Height of a legend, in pixels, with its distance from the edge of the drawing. */
export const legendHeight = (swatches: readonly Swatch[]) => 66 + swatches.length * SWATCH_HEIGHT;

/**
 * A legend of the colours of a map, and of what lies over them.
 * @param ramp a name for its colours that nothing else of the page has
 * @returns the legend, and the boxes of the drawing that it takes
 */
export function legendOf(
  scale: MapScale,
  unit: string,
  ramp: string,
  swatches: readonly Swatch[],
  { x, y, length, room, colours }: At,
): { readonly legend: SVGElement; readonly boxes: readonly Box[] } {
  const stops = Array.from({ length: 21 }, (_, i) =>
    svgElement('stop', { offset: i / 20, 'stop-color': scale.colourOf(scale.valueAt(i / 20)) }),
  );
  const widest = (values: readonly number[]) =>
    Math.max(...values.map((value) => widthOf(shortNumber(value, values)))) + TICK_GAP;
  const ticks = legendTicks(scale, widest(legendTicks(scale, 46 / length)) / length);
  const tick = (value: number) => {
    const at = scale.placeOf(value) * length;
    const half = widthOf(shortNumber(value, ticks)) / 2;
    // Keeps words at an end from going beyond it.
    const middle = Math.max(half, Math.min(at, length - half));
    return [
      svgElement('line', { x1: at, x2: at, y1: 18, y2: 23, stroke: colours.text }),
      svgElement('text', { x: middle, y: 34, 'text-anchor': 'middle' }, shortNumber(value, ticks)),
    ];
  };
  const words = shortened(unitInWords(unit), Math.max(room, length) / CHARACTER);
  const box = (top: number, bottom: number, right: number): Box => ({
    left: x,
    right: x + right,
    top: y + top,
    bottom: y + bottom,
  });
  const legend = svgElement(
    'g',
    {
      class: 'map-legend',
      transform: `translate(${x},${y})`,
      fill: colours.text,
      'font-size': 12,
      'text-anchor': 'start',
    },
    svgElement('defs', {}, svgElement('linearGradient', { id: ramp }, ...stops)),
    svgElement('text', { x: 0, y: 0 }, words),
    svgElement('rect', { x: 0, y: 8, width: length, height: 11, fill: `url(#${ramp})` }),
    ...ticks.flatMap(tick),
    ...swatches.flatMap(({ className, fill, words }, i) => [
      ...[scale.colourOf(scale.most), fill].map((of, layer) =>
        svgElement('rect', {
          ...(layer === 1 && { class: className }),
          x: 0,
          y: SWATCHES + i * SWATCH_HEIGHT,
          width: 18,
          height: ABOVE,
          fill: of,
          stroke: colours.outline,
        }),
      ),
      svgElement('text', { x: SWATCH_TEXT, y: SWATCHES + 10 + i * SWATCH_HEIGHT }, words),
    ]),
  );
  const boxes = [
    box(-ABOVE, 4, widthOf(words)),
    box(8, 38, length),
    ...swatches.map(({ words }, i) => {
      const top = SWATCHES + i * SWATCH_HEIGHT;
      return box(top, top + 14, SWATCH_TEXT + widthOf(words));
    }),
  ];
  return { legend, boxes };
}
