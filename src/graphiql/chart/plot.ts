import { africa } from 'virtual:africa';
import * as Plot from '@observablehq/plot';
import type { Figure } from './figures.ts';
import { MAX_BARS, type Picture, type Point } from './picture.ts';

const HEIGHT = 320;
const BAR_HEIGHT = 18;

/** Draws lines: gaps where rows are missing, modelled points hollow, bounds as a band. */
export function drawLines({ lines, unit }: Extract<Picture, { kind: 'lines' }>, width: number): SVGElement {
  const points = lines.flatMap((line) => line.points);
  const there = points.filter((point) => point.value !== null);
  const bounded = lines
    .filter((line) => line.points.some(({ low }) => low !== null))
    .flatMap((line) => line.points);
  return plotted({
    width,
    height: HEIGHT,
    marginLeft: 64,
    x: { label: 'year', tickFormat: (year: number) => String(Math.round(year * 10) / 10) },
    y: { label: unit, grid: true, nice: true, tickFormat: 's' },
    color: lineColours(lines.map(({ name }) => name)),
    marks: [
      Plot.areaY(bounded, {
        x: 'at',
        y1: 'low',
        y2: 'high',
        z: 'line',
        fill: 'line',
        fillOpacity: 0.18,
      }),
      Plot.lineY(points, {
        x: 'at',
        y: 'value',
        z: 'line',
        stroke: 'line',
        strokeWidth: 1.8,
      }),
      Plot.dot(there, {
        x: 'at',
        y: 'value',
        stroke: 'line',
        fill: (point: Point) => (point.isModelled ? 'var(--pane-background, white)' : point.line),
        r: 2.6,
        title: (point: Point) => captionOf(point.figure),
      }),
    ],
  });
}

export function drawBars({ bars, unit }: Extract<Picture, { kind: 'bars' }>, width: number): SVGElement {
  const shown = bars.slice(0, MAX_BARS);
  const names = shown.map(labelOf);
  return plotted({
    width,
    height: shown.length * BAR_HEIGHT + 60,
    marginLeft: Math.min(190, 24 + Math.max(...names.map((name) => name.length)) * 6.4),
    x: { label: unit, grid: true, nice: true, tickFormat: 's' },
    y: { label: null, domain: names },
    marks: [
      Plot.barX(shown, {
        x: 'value',
        y: labelOf,
        fill: 'var(--bar, #b3418b)',
        fillOpacity: (figure: Figure) => (figure.isModelled ? 0.45 : 0.9),
        title: captionOf,
      }),
      Plot.ruleX([0]),
    ],
  });
}

type Shape = (typeof africa.features)[number];

/** Draws Africa. A country without a figure is grey. */
export function drawMap(picture: Extract<Picture, { kind: 'bars' }>, width: number): SVGElement {
  const byCode = new Map(picture.bars.map((figure) => [figure.country, figure]));
  const figureOf = (shape: Shape) => byCode.get(shape.properties.code);
  return plotted({
    width,
    height: Math.min(560, width * 1.05),
    projection: { type: 'mercator', domain: africa, inset: 6 },
    color: mapColours(picture),
    marks: [
      Plot.geo(africa.features, {
        fill: (shape: Shape) => figureOf(shape)?.value ?? null,
        stroke: 'white',
        strokeWidth: 0.6,
        title: (shape: Shape) => captionOf(figureOf(shape) ?? null) || `${shape.properties.code}: no figure`,
      }),
    ],
  });
}

/** What the colours of a map mean. */
export function drawMapLegend(picture: Extract<Picture, { kind: 'bars' }>, width: number): Element {
  return Plot.legend({ color: mapColours(picture), width: Math.min(width, 320) }) as Element;
}

function mapColours({
  bars,
  unit,
}: Extract<Picture, { kind: 'bars' }>): Plot.ScaleOptions & Plot.LegendOptions {
  const values = bars.map(({ value }) => value);
  return {
    type: spread(bars) > 50 ? 'log' : 'linear',
    domain: [Math.min(...values), Math.max(...values)],
    scheme: 'YlGnBu',
    label: unit,
    unknown: '#c9c9c9',
    tickFormat: '~s',
  };
}

/** How many times the smallest the largest is; 1 where some are not above zero. */
function spread(figures: readonly Figure[]): number {
  const values = figures.map(({ value }) => value);
  const least = Math.min(...values);
  return least > 0 ? Math.max(...values) / least : 1;
}

function plotted(options: Plot.PlotOptions): SVGElement {
  const drawn = Plot.plot({ ...options, style: { background: 'transparent', fontSize: '12px' } });
  return drawn as unknown as SVGElement;
}

export function labelOf({ countryName, indicatorName, place }: Figure): string {
  return [countryName || indicatorName, place].filter((part) => part !== null && part !== '').join(', ');
}

export function captionOf(figure: Figure | null): string {
  if (figure === null) return '';
  const { value, unit, year, period, isModelled, isStale } = figure;
  return [
    `${labelOf(figure)}: ${value.toLocaleString('en')} ${unit ?? ''}`.trim(),
    period ?? year,
    isModelled ? 'modelled' : null,
    isStale ? 'past its time' : null,
  ]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}

function lineColours(names: readonly string[]): Plot.ScaleOptions {
  return { domain: [...names], scheme: 'Observable10', type: 'categorical' };
}

/** The colours of lines, in the order that Plot gives them. */
export function colourOf(names: readonly string[]): (name: string) => string {
  const scale = Plot.scale({ color: { domain: [...names], scheme: 'Observable10', type: 'categorical' } });
  return (name) => String(scale?.apply(name));
}
