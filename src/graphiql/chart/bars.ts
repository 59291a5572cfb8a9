import * as Plot from '@observablehq/plot';
import { nameOfSource } from '../source-names.ts';
import { shortNumber } from './numbers.ts';
import { type BarsPicture, MAX_BARS } from './picture.ts';
import {
  CHARACTER,
  captionOf,
  type Look,
  labelOf,
  type Plotted,
  plotted,
  shortened,
  tickLabel,
} from './plot.ts';

const BAR_HEIGHT = 20;
/** Least room for a number beside a bar, in pixels. */
const NUMBER_WIDTH = 58;

/** Returns the reach of the scale: bars of one year are as long as they would be in another, and those of zeros have no length. */
function reachOf(
  values: readonly number[],
  scaleOf = values,
): { readonly domain: readonly [number, number] } {
  const least = scaleOf.reduce((a, b) => Math.min(a, b), 0);
  const most = scaleOf.reduce((a, b) => Math.max(a, b), 0);
  return { domain: [least, least === most ? 1 : most] };
}

/** Draws bars from the highest down, each with its number; those below zero have a colour of their own. */
export function drawBars({ bars, unit, scaleOf }: BarsPicture, look: Look): Plotted {
  const { width, colours } = look;
  const shown = bars.slice(0, MAX_BARS).map((figure, i) => ({ figure, row: String(i) }));
  type Row = (typeof shown)[number];
  const mostCharacters = Math.floor((width * 0.36) / CHARACTER);
  const byLabel = Map.groupBy(bars, labelOf);
  const names = shown.map(({ figure }) => {
    const label = labelOf(figure);
    const isAlone = byLabel.get(label)?.length === 1 || figure.source === null;
    return shortened(isAlone ? label : `${label}, ${nameOfSource(figure.source)}`, mostCharacters);
  });
  const hasNegative = shown.some(({ figure }) => figure.value < 0);
  const hasPositive = shown.some(({ figure }) => figure.value > 0);
  const marginLeft = Math.max(0, ...names.map((name) => name.length)) * CHARACTER + 14;
  const ticks = Math.max(2, (width - marginLeft) / 90);
  const value = ({ figure }: Row) => figure.value;
  const values = shown.map(value);
  const longest = Math.max(0, ...values.map((one) => shortNumber(one, values).length));
  const numberWidth = Math.max(NUMBER_WIDTH, longest * CHARACTER + 6);
  const numbers = (rows: readonly Row[], isAbove: boolean) =>
    Plot.text(rows, {
      x: value,
      y: 'row',
      text: ({ figure }: Row) => shortNumber(figure.value, values),
      textAnchor: isAbove ? 'start' : 'end',
      dx: isAbove ? 4 : -4,
      fill: colours.text,
    });
  return plotted(
    {
      height: shown.length * BAR_HEIGHT + 62,
      marginLeft,
      marginRight: 16,
      marginTop: 34,
      x: {
        axis: 'top',
        label: unit,
        nice: true,
        ...reachOf(values, scaleOf),
        ticks,
        tickFormat: tickLabel,
        insetLeft: hasNegative ? numberWidth : 0,
        insetRight: hasPositive ? numberWidth : 0,
      },
      y: {
        label: null,
        domain: shown.map(({ row }) => row),
        tickFormat: (row: string) => names[Number(row)] ?? '',
        tickSize: 0,
        padding: 0.2,
      },
      marks: [
        Plot.gridX({ stroke: colours.grid, strokeOpacity: 1, ticks }),
        Plot.barX(shown, {
          x: value,
          y: 'row',
          fill: ({ figure }: Row) => (figure.value < 0 ? colours.below : colours.above),
          fillOpacity: ({ figure }: Row) => (figure.isModelled ? 0.55 : 1),
        }),
        numbers(
          shown.filter(({ figure }) => figure.value >= 0),
          true,
        ),
        numbers(
          shown.filter(({ figure }) => figure.value < 0),
          false,
        ),
        Plot.ruleX([0], { stroke: colours.muted }),
        Plot.tip(
          shown,
          Plot.pointerY({
            x: value,
            y: 'row',
            title: ({ figure }: Row) => captionOf(figure),
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
