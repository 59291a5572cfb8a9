import * as Plot from '@observablehq/plot';
import { shortNumber, timeLabel } from './numbers.ts';
import { type Line, type LinesPicture, type Point, ranked } from './picture.ts';
import {
  captionOf,
  inGroup,
  type Look,
  type Plotted,
  plotted,
  shortened,
  svgElement,
  tickLabel,
  tickRoom,
} from './plot.ts';

/** Size of one picture in pixels; they fill the width. */
const LEAST_WIDTH = 130;
const HEIGHT = 84;
/** Pixels beside the values of one scale for all, unless its labels need more. */
const SHARED = 46;

const timeBelow = (at: number, textAnchor: 'start' | 'end', isInOneYear: boolean) =>
  Plot.axisX({
    anchor: 'bottom',
    ticks: [at],
    tickFormat: (moment: number) => (isInOneYear ? timeLabel(moment, 1 / 12) : String(Math.floor(moment))),
    label: null,
    textAnchor,
  });

/** Lowest and highest value of a line. */
function reachOf({ points }: Line): readonly [number, number] {
  const values = points.flatMap(({ value }) => value ?? []);
  return [Math.min(...values), Math.max(...values)];
}

/** Draws each line in a frame of its own, the highest first: on a scale of its own, or all on one. */
export function drawMultiples(picture: LinesPicture, look: Look, shared = SHARED): Plotted {
  const { width, colours, isShared = false } = look;
  const { isLog = false } = picture;
  const margin = isShared ? shared : 10;
  const title = isShared ? 16 : 30;
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
  const columns = Math.max(1, Math.floor((width - margin) / LEAST_WIDTH));
  const place = new Map(lines.map(({ name }, i) => [name, [i % columns, Math.floor(i / columns)] as const]));
  const points = lines.flatMap((line) => line.points);
  const fx = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[0];
  const fy = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[1];
  const names = lines.map(({ name }) => ({ line: name }));
  const most = Math.floor((width - margin) / columns / 7);
  const moments = points.map(({ at }) => at);
  const [from, to] = [moments.reduce((a, b) => Math.min(a, b)), moments.reduce((a, b) => Math.max(a, b))];
  const isInOneYear = Math.floor(from) === Math.floor(to);
  const svg = plotted(
    {
      height: Math.ceil(lines.length / columns) * (HEIGHT + title) + 48 + title,
      marginLeft: margin,
      marginRight: 10,
      marginTop: title,
      marginBottom: 48,
      fx: { axis: null, padding: 0.08 },
      fy: { axis: null, padding: (title + 8) / (HEIGHT + title + 8) },
      y: isShared
        ? { ticks: 2, tickFormat: tickLabel, label: null, type: isLog ? 'log' : 'linear', nice: true }
        : { axis: null, domain: [-0.06, 1.06] },
      marks: [
        ...(isShared
          ? [Plot.axisY({ anchor: 'left', ticks: 2, tickFormat: tickLabel, label: null, tickSize: 3 })]
          : []),
        // The last year of one picture stands beside the first of the next.
        timeBelow(from, 'start', isInOneYear),
        ...(from < to ? [timeBelow(to, 'end', isInOneYear)] : []),
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
          text: ({ line }: { readonly line: string }) => shortened(line, most),
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
                text: ({ line }: { readonly line: string }) => {
                  const [low, high] = (reaches.get(line) ?? [0, 0]).map((end, _, both) =>
                    shortNumber(end, both),
                  );
                  return low === high ? low : `${low} to ${high}`;
                },
                frameAnchor: 'top-left',
                dy: -13,
                fontSize: 11,
                fill: colours.muted,
              }),
            ]),
        Plot.tip(
          points.filter(({ value }) => value !== null),
          Plot.pointer({
            x: 'at',
            y: height,
            fx,
            fy,
            title: (point: Point) => (point.figure === null ? '' : captionOf(point.figure)),
            fill: colours.ground,
            stroke: colours.outline,
            lineHeight: 1.25,
          }),
        ),
      ],
    },
    look,
  );
  const room = isShared ? tickRoom(svg, 'y') : 0;
  if (room > margin) return drawMultiples(picture, look, room);
  const words = isShared
    ? 'One scale for all.'
    : 'Each has a scale of its own, from its lowest value to its highest.';
  svg.append(
    svgElement(
      'text',
      {
        class: 'scales',
        x: margin,
        y: Number(svg.getAttribute('height')) - 6,
        'font-size': 12,
        'text-anchor': 'start',
        fill: colours.muted,
      },
      shortened(words, Math.floor((width - margin) / 5.6)),
    ),
  );
  return svg;
}
