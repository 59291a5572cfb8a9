import * as Plot from '@observablehq/plot';
import { nameOfSource } from '../source-names.ts';
import type { Colours } from './colours.ts';
import type { Figure } from './figures.ts';
import { fullNumber, shortNumber } from './numbers.ts';
import { timeOf } from './picture.ts';

/** Size, colours and scale of a drawing: width in pixels. */
export interface Look {
  readonly width: number;
  /**
   * The height, in pixels, that maps and lines take at the most if they can, so that a whole picture is in
   * view.
   */
  readonly room?: number;
  readonly colours: Colours;
  /** True if small pictures have one scale for all; else each has its own. */
  readonly isShared?: boolean;
  /** True if no other picture stands beside it: the same picture is the same text then. */
  readonly isAlone?: boolean;
}

/** A picture, with its scales. */
export type Plotted = SVGSVGElement & Plot.Plot;

/** Width of a character in pixels, at the most, at 12 pixels of size. */
export const CHARACTER = 6.6;

/** Labels of an axis, each of which tells its tick from the others. */
export const tickLabel = (value: number, _: number, ticks: readonly number[] = []) =>
  shortNumber(value, ticks);

/** Measures the room, in pixels, that the labels of an axis take beside their ticks. */
export function tickRoom(svg: Plotted, axis: 'x' | 'y'): number {
  const labels = [...svg.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`)];
  return Math.max(0, ...labels.map(({ textContent }) => textContent?.length ?? 0)) * CHARACTER + 12;
}

export function plotted(options: Plot.PlotOptions, { width, colours }: Look): Plotted {
  const svg = Plot.plot({
    ...options,
    width,
    style: { background: 'transparent', fontSize: '12px', fontFamily: 'system-ui, sans-serif' },
  }) as unknown as Plotted;
  svg.style.color = colours.text;
  // Gives hovers the ground that they lie on.
  svg.style.setProperty('--plot-background', colours.ground);
  svg.style.overflow = 'visible';
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

const SVG = 'http://www.w3.org/2000/svg';

export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  element.append(...children);
  return element;
}

export function labelOf({ countryName, indicatorName, place }: Figure): string {
  return [countryName || indicatorName, place].filter((part) => part !== null && part !== '').join(', ');
}

/** Words of a hover about a figure. */
export function captionOf(figure: Figure): string {
  const { value, unit, low, high, isModelled, isStale, source } = figure;
  const bounds = low !== null && high !== null ? `${fullNumber(low)} to ${fullNumber(high)}` : null;
  return [
    labelOf(figure),
    `${fullNumber(value)} ${unit ?? ''}`.trim(),
    bounds,
    [timeOf(figure), isModelled ? 'modelled' : null, isStale ? 'past its time' : null]
      .filter(Boolean)
      .join(', '),
    source === null ? null : nameOfSource(source),
  ]
    .filter((part) => part !== null && part !== '')
    .join('\n');
}

/** The longest end of a text that fits, with an ellipsis for the missing rest. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const letters = [...text].slice(0, Math.max(1, characters - 1));
  return `${letters.join('').trimEnd()}…`;
}
