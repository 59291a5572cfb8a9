import * as Plot from '@observablehq/plot';
import { shortNumber } from './numbers.ts';
import { type LinesPicture, type Point, ranked } from './picture.ts';
import { captionOf, inGroup, type Look, type Plotted, plotted, shortened } from './plot.ts';

/** Size of one picture in pixels; they fill the width. */
const LEAST_WIDTH = 130;
const HEIGHT = 84;
const TITLE = 16;

const yearBelow = (at: number, textAnchor: 'start' | 'end') =>
  Plot.axisX({
    anchor: 'bottom',
    ticks: [at],
    tickFormat: (moment: number) => String(Math.floor(moment)),
    label: null,
    textAnchor,
  });

/** Draws each line in a frame of its own, all on the same scales, the highest first. */
export function drawMultiples(picture: LinesPicture, look: Look): Plotted {
  const { width, colours, isLog = false } = look;
  const margin = 46;
  const lines = ranked(picture.lines);
  const columns = Math.max(1, Math.floor((width - margin) / LEAST_WIDTH));
  const place = new Map(lines.map(({ name }, i) => [name, [i % columns, Math.floor(i / columns)] as const]));
  const points = lines.flatMap((line) => line.points);
  const fx = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[0];
  const fy = ({ line }: Pick<Point, 'line'>) => place.get(line)?.[1];
  const names = lines.map(({ name }) => ({ line: name }));
  const most = Math.floor((width - margin) / columns / 7);
  const moments = points.map(({ at }) => at);
  const [from, to] = [moments.reduce((a, b) => Math.min(a, b)), moments.reduce((a, b) => Math.max(a, b))];
  return plotted(
    {
      height: Math.ceil(lines.length / columns) * (HEIGHT + TITLE) + 30 + TITLE,
      marginLeft: margin,
      marginRight: 10,
      marginTop: TITLE,
      fx: { axis: null, padding: 0.08 },
      fy: { axis: null, padding: 0.26 },
      y: { ticks: 2, tickFormat: shortNumber, label: null, type: isLog ? 'log' : 'linear', nice: true },
      marks: [
        Plot.axisY({ anchor: 'left', ticks: 2, tickFormat: shortNumber, label: null, tickSize: 3 }),
        // The last year of one picture stands beside the first of the next.
        yearBelow(from, 'start'),
        ...(from < to ? [yearBelow(to, 'end')] : []),
        Plot.frame({ stroke: colours.grid }),
        Plot.lineY(points, {
          x: 'at',
          y: 'value',
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
          dy: -13,
          fill: colours.text,
        }),
        Plot.tip(
          points.filter(({ value }) => value !== null),
          Plot.pointer({
            x: 'at',
            y: 'value',
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
}
