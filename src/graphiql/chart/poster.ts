import { LIGHT } from './colours.ts';
import { draw } from './drawing.ts';
import { lineColours } from './lines.ts';
import { notesOf, type Shown, subtitleOf } from './notes.ts';
import type { Picture } from './picture.ts';
import { svgElement } from './plot.ts';

/** A picture that stands for itself, in pixels; files are as wide, whatever the pane is. */
const WIDTH = 960;
const EDGE = 24;
const LEGEND_LINE = 20;

/** The whole of a picture as one drawing, on white: title, units, years, legend, sources, and whether figures are synthetic. */
export function posterOf(
  picture: Picture,
  shown: Shown,
  chosen: readonly string[],
  isSynthetic: boolean,
  isLog = false,
): SVGSVGElement | null {
  const width = WIDTH - 2 * EDGE;
  const drawing = draw(picture, shown, chosen, { width, colours: LIGHT, isLog });
  if (drawing === null) return null;
  const poster = svgElement('svg', {
    xmlns: 'http://www.w3.org/2000/svg',
    width: WIDTH,
    'font-family': 'system-ui, sans-serif',
    fill: LIGHT.text,
  });
  let y = EDGE;
  const write = (text: string, size: number, attributes: Readonly<Record<string, string>> = {}) => {
    for (const line of wrapped(text, width / (size * 0.55))) {
      y += size * 1.35;
      poster.append(svgElement('text', { x: EDGE, y, 'font-size': size, ...attributes }, line));
    }
  };
  const ground = svgElement('rect', { width: WIDTH, fill: LIGHT.ground });
  poster.append(ground);
  write(picture.title, 20, { 'font-weight': '600', class: 'title' });
  write(subtitleOf(picture, shown), 14, { fill: LIGHT.muted, class: 'subtitle' });
  y += 10;
  if (picture.kind === 'lines' && shown !== 'multiples') {
    const { legend, height } = lineLegend(picture, chosen, width);
    legend.setAttribute('transform', `translate(${EDGE},${y})`);
    poster.append(legend);
    y += height;
  }
  const height = Number(drawing.getAttribute('height'));
  drawing.setAttribute('x', String(EDGE));
  drawing.setAttribute('y', String(y));
  poster.append(drawing);
  y += height + 4;
  for (const note of notesOf(picture, shown, isSynthetic))
    write(note, 12, { fill: LIGHT.muted, class: 'note' });
  const total = Math.ceil(y + EDGE);
  poster.setAttribute('height', String(total));
  poster.setAttribute('viewBox', `0 0 ${WIDTH} ${total}`);
  ground.setAttribute('height', String(total));
  return poster;
}

function lineLegend(picture: Extract<Picture, { kind: 'lines' }>, chosen: readonly string[], width: number) {
  const { top, others, colourOf } = lineColours(picture, chosen, LIGHT);
  const entries = top.map(({ name }) => ({ name, colour: colourOf(name) }));
  if (others.length > 0) entries.push({ name: othersName(others.length), colour: LIGHT.other });
  const legend = svgElement('g', { class: 'legend', 'font-size': 13 });
  let x = 0;
  let y = LEGEND_LINE;
  for (const { name, colour } of entries) {
    const length = name.length * 7.4 + 36;
    if (x > 0 && x + length > width) {
      x = 0;
      y += LEGEND_LINE;
    }
    legend.append(
      svgElement('rect', { x, y: y - 10, width: 12, height: 12, rx: 2, fill: colour }),
      svgElement('text', { x: x + 18, y }, name),
    );
    x += length;
  }
  return { legend, height: y + 8 };
}

/** What the grey lines of a picture are called. */
export function othersName(count: number): string {
  return count === 1 ? '1 other' : `${count} others`;
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
