import * as Plot from '@observablehq/plot';
import type { Colours } from './colours.ts';
import { type NumberScale, sharedScale, shortNumber } from './numbers.ts';
import { CHARACTER } from './text-width.ts';
import type { Spots } from './tips.ts';

/** Size, colours and scale of a drawing: width in pixels. */
export interface Look {
  readonly width: number;
  /**
   * The height, in pixels, that maps and lines take at the most if they can, so that a whole picture is in
   * view.
   */
  readonly room?: number;
  readonly colours: Colours;
  /** True if small pictures have one scale for all; otherwise each has its own. */
  readonly isShared?: boolean;
  readonly axis?: 'zero' | 'data' | null;
  /** Name of the line that stands out: the others are faded. */
  readonly focus?: string | null;
  /** False if no legend names the lines. */
  readonly hasLegend?: boolean;
  /** True if no other picture stands beside it: the same picture is the same text then. */
  readonly isAlone?: boolean;
}

/** A picture with its scales, and the figures in it. */
export type Plotted = SVGSVGElement & Plot.Plot & { spots: Spots };

/** Labels of an axis, each of which tells its tick from the others. */
export const tickLabel = (value: number, _: number, ticks: readonly number[] = []) =>
  shortNumber(value, ticks);

/** Part of the width that labels of ticks may take: with less room they are without the word of their scale, which the axis says for all. */
const TICKS_SHARE = 0.2;
/** Pixels beside values of three digits. */
const DIGITS_WIDTH = 3 * CHARACTER + 12;

/** The values of an axis at the left. */
export interface LeftAxis {
  /** Pixels beside them. */
  readonly left: number;
  /** The scale that the axis says for all ticks; null if each says its own. */
  readonly scale: NumberScale | null;
}

/** Returns a function that labels the ticks of an axis with such a scale. */
export const tickLabels =
  ({ scale }: Pick<LeftAxis, 'scale'>): typeof tickLabel =>
  (value, i, ticks = []) =>
    scale === null
      ? tickLabel(value, i, ticks)
      : tickLabel(
          value / scale.step,
          i,
          ticks.map((tick) => tick / scale.step),
        );

/** Words of an axis, shortened to the width that there is, the scale of its values, and where it begins, unless that is zero. */
export function axisWords(words: string, width: number, scale: NumberScale | null, begin = ''): string {
  const parts = [scale === null ? '' : `in ${scale.words}`, begin];
  const room = width / CHARACTER - 4 - parts.join('').length;
  return [shortened(words, room), ...parts].filter((part) => part !== '').join(', ');
}

/** Returns the axis that the labels of a drawing ask for; null if they have room. */
export function roomierAxis(svg: Plotted, axis: LeftAxis, { width }: Look): LeftAxis | null {
  const labels = [...svg.querySelectorAll('[aria-label="y-axis tick label"] text')];
  const room = Math.max(0, ...labels.map(({ textContent }) => textContent?.length ?? 0)) * CHARACTER + 12;
  if (room <= axis.left) return null;
  const { type, domain = [] } = svg.scale('y') ?? {};
  const isScarce = room > width * TICKS_SHARE && axis.scale === null && type === 'linear';
  const scale = isScarce ? sharedScale(Array.from(domain, Number)) : null;
  return scale === null ? { ...axis, left: room } : { left: DIGITS_WIDTH, scale };
}

export function plotted(options: Plot.PlotOptions, { width, colours }: Look): Plotted {
  const svg = Plot.plot({
    ...options,
    width,
    style: { background: 'transparent', fontSize: '12px', fontFamily: 'system-ui, sans-serif' },
  }) as unknown as Plotted;
  svg.style.color = colours.text;
  svg.style.overflow = 'visible';
  svg.spots = { all: [], areRows: false };
  return svg;
}

/** Gives the group of a mark a class, so that it can be found. */
export function inGroup(name: string): { readonly render: Plot.RenderFunction } {
  return {
    render(index, scales, values, dimensions, context, next) {
      const group = next?.(index, scales, values, dimensions, context) ?? null;
      group?.classList.add(name);
      return group;
    },
  };
}

let drawn = 0;

/** Names a part of a drawing that others refer to. A page has several drawings; the same file is the same text. */
export function idIn({ isAlone = false }: Look, name: string): string {
  if (!isAlone) drawn += 1;
  return isAlone ? name : `${name}-${drawn}`;
}

/** Pixels between the labels of two ticks. */
const TICK_GAP = 8;

/** Takes labels of ticks away, one of two or more, until none lies over the next; that of zero stays. */
export function thinned(svg: Plotted, axis: 'x'): void {
  const labels = [...svg.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`)];
  const places = labels.map((label) =>
    Number(/translate\(([-\d.]+)/.exec(label.getAttribute('transform') ?? '')?.[1]),
  );
  const widths = labels.map(({ textContent }) => (textContent?.length ?? 0) * CHARACTER);
  const zero = Math.max(
    0,
    labels.findIndex(({ textContent }) => textContent === '0'),
  );
  const isShown = (i: number, step: number) => (i - zero) % step === 0;
  const fit = (step: number) => {
    const shownLabels = labels.map((_, i) => i).filter((i) => isShown(i, step));
    return shownLabels.every((i, at) => {
      const before = shownLabels[at - 1];
      if (before === undefined) return true;
      const room = Math.abs((places[i] ?? 0) - (places[before] ?? 0));
      return room >= ((widths[i] ?? 0) + (widths[before] ?? 0)) / 2 + TICK_GAP;
    });
  };
  let step = 1;
  while (step < labels.length && !fit(step)) step += 1;
  for (const [i, label] of labels.entries()) if (!isShown(i, step)) label.remove();
}

/** The longest end of a text that fits, with an ellipsis for the missing rest. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const letters = [...text].slice(0, Math.max(1, characters - 1));
  return `${letters.join('').trimEnd()}…`;
}

/** A text in lines of no more than so many characters. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The same, where a word that is longer than a line, such as an address, goes on in the next. */
export function wrappedWithin(text: string, most: number): string[] {
  const room = Math.max(2, Math.floor(most));
  return wrapped(text, room).flatMap((line) => (line.length <= room ? line : brokenUp(line, room)));
}

/** Cuts a word behind the last sign in each line, if there is one. */
function brokenUp(word: string, room: number): string[] {
  const lines: string[] = [];
  let rest = word;
  while (rest.length > room) {
    const cut = rest.slice(0, room);
    const line = cut.isWellFormed() ? cut : cut.slice(0, -1);
    const [, kept = line] = /^(.*[/.?&=_-])[^/.?&=_-]*$/.exec(line) ?? [];
    lines.push(kept);
    rest = rest.slice(kept.length);
  }
  return [...lines, rest];
}
