import * as Plot from '@observablehq/plot';
import { sourceNameOf } from '../source-names.ts';
import type { Colours } from './colours.ts';
import { captionOf, labelOf, unitInWords } from './figure-words.ts';
import type { Figure } from './figures.ts';
import { earlierTime, isOld, newestOf, stripes } from './latest.ts';
import { type NumberScale, sharedScale, shortColumn } from './numbers.ts';
import { type BarsPicture, MAX_BARS } from './picture.ts';
import {
  axisWords,
  idIn,
  inGroup,
  type Look,
  type Plotted,
  plotted,
  shortened,
  thinned,
  tickLabels,
} from './plot.ts';
import { svgElement } from './svg-element.ts';
import { CHARACTER, fitted, NARROW, widthOf } from './text-width.ts';

/** Pixels from one bar to the next, and those of a narrow picture, with a line of words above each. */
const BAR_HEIGHT = 20;
const NARROW_BAR_HEIGHT = 36;
const WORDS_HEIGHT = 17;
/** Pixels beside the bars of a narrow picture. */
const NARROW_MARGIN = 8;
/** Least room for a number beside a bar, in pixels. */
const NUMBER_WIDTH = 58;
/** Part of the width that the bars have at the least: with less, the axis says the scale of the numbers for all. */
const BARS_SHARE = 0.35;

/** Bars from which on each has its rank: fewer are counted at a glance. */
const RANKED = 10;
/** Pixels between a rank and the name of its bar. */
const RANK_GAP = 8;

/** Names of bars that tell them from each other, as far as their sources do. */
export function barNames(bars: readonly Figure[]): readonly string[] {
  const byLabel = Map.groupBy(bars, labelOf);
  return bars.map((figure) => {
    const label = labelOf(figure);
    const isAlone = byLabel.get(label)?.length === 1 || figure.source === null;
    return isAlone ? label : `${label}, ${sourceNameOf(figure)}`;
  });
}

/** Ranks of bars from the highest down, equal values the same; empty if there are few. */
function ranksOf(bars: readonly Figure[]): readonly string[] {
  if (bars.length < RANKED) return [];
  const ranks = new Map<number, string>();
  for (const [i, { value }] of bars.entries()) if (!ranks.has(value)) ranks.set(value, String(i + 1));
  return bars.map(({ value }) => ranks.get(value) ?? '');
}

/** Height of bars and their axis, in pixels. */
export const barsHeight = ({ bars }: Pick<BarsPicture, 'bars'>, isNarrow: boolean): number =>
  Math.min(bars.length, MAX_BARS) * (isNarrow ? NARROW_BAR_HEIGHT : BAR_HEIGHT) + 62;

/** Returns the reach of the scale: bars of one year are as long as they would be in another, and those of zeros have no length. */
function reachOf(
  values: readonly number[],
  scaleOf = values,
): { readonly domain: readonly [number, number] } {
  const least = scaleOf.reduce((a, b) => Math.min(a, b), 0);
  const most = scaleOf.reduce((a, b) => Math.max(a, b), 0);
  return { domain: [least, least === most ? 1 : most] };
}

/**
 * Draws bars from the highest down, each with its number; those below zero have a colour of their own. Of latest figures, one
 * that isn't of the newest time has its own beside the number.
 */
export function drawBars(picture: BarsPicture, look: Look, scale: NumberScale | null = null): Plotted {
  const { bars, unit, scaleOf, isLatest = true } = picture;
  const { width, colours } = look;
  const isNarrow = width < NARROW;
  const shown = bars.slice(0, MAX_BARS).map((figure, i) => ({ figure, row: String(i) }));
  type Row = (typeof shown)[number];
  const mostCharacters = Math.floor((width * 0.36) / CHARACTER);
  const wholeNames = barNames(bars);
  const names = wholeNames.slice(0, MAX_BARS).map((name) => shortened(name, mostCharacters));
  const ranks = ranksOf(bars);
  const focus = shown.find(({ row }) => wholeNames[Number(row)] === look.focus)?.row ?? null;
  const hasNegative = shown.some(({ figure }) => figure.value < 0);
  const hasPositive = shown.some(({ figure }) => figure.value > 0);
  const ranksWidth = ranks.length === 0 ? 0 : widthOf(String(shown.length)) + RANK_GAP;
  const namesWidth = Math.max(0, ...names.map(widthOf)) + ranksWidth + 14;
  const marginLeft = isNarrow ? NARROW_MARGIN : namesWidth;
  const ticks = Math.max(2, (width - marginLeft) / 90);
  const value = ({ figure }: Row) => figure.value;
  const values = shown.map(value);
  const newest = isLatest ? newestOf(bars) : null;
  const numbers = shortColumn(values.map((one) => one / (scale?.step ?? 1)));
  const numberOf = ({ figure, row }: Row) => {
    const number = numbers[Number(row)] ?? '';
    const time = earlierTime(figure, newest);
    return time === '' ? number : `${number} (${time})`;
  };
  const longest = Math.max(0, ...shown.map((row) => numberOf(row).length));
  const numberWidth = Math.max(NUMBER_WIDTH, longest * CHARACTER + 6);
  const sides = [hasNegative, hasPositive].filter(Boolean).length;
  const barsWidth = width - namesWidth - 16 - sides * numberWidth;
  const shared = scale === null && barsWidth < width * BARS_SHARE ? sharedScale(values) : null;
  if (shared !== null) return drawBars(picture, look, shared);
  const besideBars = (rows: readonly Row[], isAbove: boolean) =>
    Plot.text(rows, {
      x: value,
      y: 'row',
      text: numberOf,
      textAnchor: isAbove ? 'start' : 'end',
      dx: isAbove ? 4 : -4,
      fill: colours.text,
    });
  const aboveBars = (side: 'left' | 'right', text: (row: Row) => string) =>
    Plot.text(shown, {
      frameAnchor: side,
      y: 'row',
      text,
      textAnchor: side === 'left' ? 'start' : 'end',
      dx: side === 'left' ? 3 : 0,
      dy: (WORDS_HEIGHT - NARROW_BAR_HEIGHT) / 2,
      fill: colours.text,
      ...inGroup('above'),
    });
  const nameAbove = (row: Row) => {
    const at = Number(row.row);
    const name = [ranks[at], wholeNames[at]].filter(Boolean).join('. ');
    return fitted(name, width - 2 * NARROW_MARGIN - widthOf(numberOf(row)) - 10);
  };
  const insetTop = isNarrow ? WORDS_HEIGHT : 0;
  const old = shown.filter(({ figure }) => isOld(figure, newest));
  const striped = idIn(look, 'stripes');
  const svg = plotted(
    {
      height: barsHeight({ bars }, isNarrow),
      marginLeft,
      marginRight: isNarrow ? NARROW_MARGIN : 16,
      marginTop: 34,
      x: {
        axis: 'top',
        label: axisWords(unitInWords(unit), width, scale),
        nice: true,
        ...reachOf(values, scaleOf),
        ticks,
        tickFormat: tickLabels({ scale }),
        insetLeft: hasNegative && !isNarrow ? numberWidth : 0,
        insetRight: hasPositive && !isNarrow ? numberWidth : 0,
      },
      y: {
        label: null,
        domain: shown.map(({ row }) => row),
        ...(isNarrow ? { axis: null } : { tickFormat: (row: string) => names[Number(row)] ?? '' }),
        tickSize: 0,
        padding: isNarrow ? 0.1 : 0.2,
      },
      marks: [
        Plot.barX(shown, {
          x: value,
          y: 'row',
          fill: ({ figure, row }: Row) =>
            focus !== null && focus !== row
              ? colours.other
              : figure.value < 0
                ? colours.below
                : colours.above,
          fillOpacity: ({ figure }: Row) => (figure.isModelled ? 0.55 : 1),
          insetTop,
        }),
        Plot.barX(old, { x: value, y: 'row', insetTop, fill: `url(#${striped})`, ...inGroup('old') }),
        ...(isNarrow
          ? [aboveBars('left', nameAbove), aboveBars('right', numberOf)]
          : [
              ...[true, false].map((isAbove) =>
                besideBars(
                  shown.filter(({ figure }) => figure.value >= 0 === isAbove),
                  isAbove,
                ),
              ),
              ...(ranks.length === 0 ? [] : [rankColumn(shown, ranks, ranksWidth - marginLeft, colours)]),
            ]),
        Plot.ruleX([0], { stroke: colours.muted }),
      ],
    },
    look,
  );
  if (old.length > 0) svg.prepend(svgElement('defs', {}, stripes(striped, colours)));
  thinned(svg, 'x');
  if (focus !== null) strengthen(svg, Number(focus));
  const [x, y] = [svg.scale('x'), svg.scale('y')];
  svg.spots = {
    all: shown.map(({ figure, row }) => ({
      x: Number(x?.apply(figure.value)),
      y: Number(y?.apply(row)) + Number(y?.bandwidth) / 2,
      line: '',
      words: captionOf(figure),
    })),
    areRows: true,
  };
  return svg;
}

/** Writes ranks below each other at the left edge. */
function rankColumn(
  rows: readonly { readonly row: string }[],
  ranks: readonly string[],
  right: number,
  { muted }: Colours,
): Plot.Markish {
  return Plot.text(rows, {
    frameAnchor: 'left',
    y: 'row',
    text: ({ row }) => ranks[Number(row)] ?? '',
    textAnchor: 'end',
    dx: right - RANK_GAP,
    fill: muted,
    ...inGroup('ranks'),
  });
}

/** Writes the name of the bar that stands out in bold type. */
function strengthen(svg: Plotted, bar: number): void {
  const names = svg.querySelectorAll('[aria-label="y-axis tick label"] text, g.above text');
  names[bar]?.setAttribute('font-weight', '600');
  names[bar]?.classList.add('stands-out');
}
