import * as Plot from '@observablehq/plot';
import { captionOf } from './figure-words.ts';
import { shortRange } from './numbers.ts';
import { type Line, type LinesPicture, type Point, ranked } from './picture.ts';
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
  wrapped,
} from './plot.ts';
import { svgElement } from './svg-element.ts';
import { CHARACTER } from './text-width.ts';
import { endNames } from './time-axis.ts';

/** Size of one picture in pixels; they fill the width. */
const LEAST_WIDTH = 130;
const HEIGHT = 84;
/** Pixels from one line of words to the next. */
const LINE = 14;
/** Of one scale for all, unless its labels need more. */
const AXIS: LeftAxis = { left: 46, scale: null };

const timeBelow = (at: number, name: string, textAnchor: 'start' | 'end') =>
  Plot.axisX({
    anchor: 'bottom',
    ticks: [at],
    tickFormat: () => name,
    label: null,
    textAnchor,
  });

/** Lowest and highest value of a line. */
function reachOf({ points }: Line): readonly [number, number] {
  const values = points.flatMap(({ value }) => value ?? []);
  return [Math.min(...values), Math.max(...values)];
}

/** A name in two lines at the most. */
function twoLines(name: string, most: number): string {
  const [first = '', ...rest] = wrapped(name, most);
  return [first, ...(rest.length > 0 ? [rest.join(' ')] : [])]
    .map((part) => shortened(part, most))
    .join('\n');
}

/** Draws each line in a frame of its own, the highest first: on a scale of its own, or all on one. */
export function drawSmallPictures(picture: LinesPicture, look: Look, axis = AXIS): Plotted {
  const { width, colours, isShared = false } = look;
  const { isLog = false } = picture;
  const margin = isShared ? axis.left : 10;
  const lines = ranked(picture.lines);
  const reaches = new Map(lines.map((line) => [line.name, reachOf(line)]));
  /** Stretches each line from the bottom of its frame to the top, on a scale of its own. */
  const height = ({ line, value }: Point) => {
    if (isShared || value === null) return value;
    const [low, high] = (reaches.get(line) ?? [0, 0]).map((end) => (isLog ? Math.log(end) : end)) as [
      number,
      number,
    ];
    return low === high ? 0.5 : ((isLog ? Math.log(value) : value) - low) / (high - low);
  };
  const captions = new Map(lines.map(({ name }) => [name, shortRange(...(reaches.get(name) ?? [0, 0]))]));
  const longest = isShared ? 0 : Math.max(...[...captions.values()].map((text) => text.length));
  const least = Math.max(LEAST_WIDTH, longest * CHARACTER + 10);
  const columns = Math.max(1, Math.floor((width - margin) / least));
  const place = new Map(lines.map(({ name }, i) => [name, [i % columns, Math.floor(i / columns)] as const]));
  const points = lines.flatMap((line) => line.points);
  const fx = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[0];
  const fy = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[1];
  const names = lines.map(({ name }) => ({ line: name }));
  const most = Math.floor((((width - margin) / columns) * 0.92) / CHARACTER);
  const titles = new Map(lines.map(({ name }) => [name, twoLines(name, most)]));
  const hasTwo = [...titles.values()].some((text) => text.includes('\n'));
  const title = (isShared ? 16 : 30) + (hasTwo ? LINE : 0);
  const words = wrapped(
    isShared
      ? `${axisWords('One scale for all', width, axis.scale)}.`
      : 'Each has a scale of its own, from its lowest value to its highest.',
    Math.floor((width - margin) / CHARACTER),
  );
  const below = 34;
  const above = LINE * words.length + 4;
  const moments = points.map(({ at }) => at);
  const [from, to] = [moments.reduce((a, b) => Math.min(a, b)), moments.reduce((a, b) => Math.max(a, b))];
  const [first, last] = endNames(points, ((width - margin) / columns) * 0.92);
  const svg = plotted(
    {
      height: Math.ceil(lines.length / columns) * (HEIGHT + title) + below + title + above,
      marginLeft: margin,
      marginRight: 10,
      marginTop: title + above,
      marginBottom: below,
      fx: { axis: null, padding: 0.08 },
      fy: { axis: null, padding: (title + 8) / (HEIGHT + title + 8) },
      y: isShared
        ? { ticks: 2, tickFormat: tickLabels(axis), label: null, type: isLog ? 'log' : 'linear', nice: true }
        : { axis: null, domain: [-0.06, 1.06] },
      marks: [
        ...(isShared
          ? [Plot.axisY({ anchor: 'left', ticks: 2, tickFormat: tickLabels(axis), label: null, tickSize: 3 })]
          : []),
        // The last year of one picture stands beside the first of the next.
        timeBelow(from, first, 'start'),
        ...(from < to ? [timeBelow(to, last, 'end')] : []),
        Plot.frame({ stroke: colours.grid }),
        Plot.lineY(points, {
          x: 'at',
          y: height,
          z: 'line',
          fx,
          fy,
          stroke: colours.above,
          strokeWidth: 1.6,
          ...inGroup('top'),
        }),
        Plot.text(names, {
          fx,
          fy,
          text: ({ line }: { readonly line: string }) => titles.get(line) ?? '',
          lineHeight: LINE / 12,
          frameAnchor: 'top-left',
          dy: 3 - title,
          fill: colours.text,
        }),
        ...(isShared
          ? []
          : [
              Plot.text(names, {
                fx,
                fy,
                text: ({ line }: { readonly line: string }) => captions.get(line) ?? '',
                frameAnchor: 'top-left',
                dy: -13,
                fontSize: 11,
                fill: colours.muted,
              }),
            ]),
      ],
    },
    look,
  );
  const roomier = isShared ? roomierAxis(svg, axis, look) : null;
  if (roomier !== null) return drawSmallPictures(picture, look, roomier);
  const [fxs, fys, x, y] = (['fx', 'fy', 'x', 'y'] as const).map((name) => svg.scale(name));
  svg.spots = {
    all: points.flatMap((point) =>
      point.figure === null
        ? []
        : [
            {
              x: Number(fxs?.apply(fx(point))) - margin + Number(x?.apply(point.at)),
              y: Number(fys?.apply(fy(point))) - title - above + Number(y?.apply(height(point))),
              line: point.line,
              words: captionOf(point.figure),
            },
          ],
    ),
    areRows: false,
  };
  for (const [i, row] of words.entries())
    svg.append(
      svgElement(
        'text',
        {
          class: 'scales',
          x: margin,
          y: LINE * (i + 1),
          'font-size': 12,
          'text-anchor': 'start',
          fill: colours.muted,
        },
        row,
      ),
    );
  return svg;
}
