import { type Colours, LIGHT } from './colours.ts';
import { draw } from './drawing.ts';
import { lineColours } from './lines.ts';
import { notesOf, type Shown, subtitleOf } from './notes.ts';
import type { Picture } from './picture.ts';
import { type Look, type Plotted, wrappedWithin } from './plot.ts';
import { hasLegend, inWords } from './shown.ts';
import { svgElement } from './svg-element.ts';
import { fitted, NARROW } from './text-width.ts';
import type { Spots } from './tips.ts';

/** A picture that stands for itself, in pixels; files are as wide for any width of the pane. */
const WIDTH = 960;
/** Pixels around a picture: a narrow one has none to lose. */
export const edgeOf = (width: number): number => (width < NARROW ? 12 : 24);
/** Pixels of the width that words leave free, since letters of some fonts are wider than others. */
const WORDS_EDGE = 48;
const LEGEND_LINE = 20;
const LEGEND_SIZE = 13;

/** Looks of a picture that stands for itself. */
export interface PosterLook {
  /** Pixels. */
  readonly width: number;
  readonly colours: Colours;
  /** True if title and notes stand elsewhere. */
  readonly isBare: boolean;
  /** A title in place of the picture's own, which then stands below it. */
  readonly heading?: string | null;
  /** Its publisher's words, which stand before all other notes. */
  readonly note?: string | null;
}

const FILE: PosterLook = { width: WIDTH, colours: LIGHT, isBare: false };

/** The whole of a picture as one drawing, on white: title, units, years, legend, sources, and whether figures are synthetic. */
export function posterOf(
  picture: Picture,
  shown: Shown,
  chosen: readonly string[],
  isSynthetic: boolean,
  scales: Pick<Look, 'isShared' | 'focus' | 'axis'> = {},
  look = FILE,
): Poster | null {
  const { colours } = look;
  const width = look.width - 2 * edgeOf(look.width);
  const drawing = draw(picture, shown, chosen, { ...scales, width, colours, isAlone: true });
  if (drawing === null || picture.kind === 'values') return null;
  return framed(
    {
      title: picture.title,
      subtitle: subtitleOf(picture, shown),
      legend: hasLegend(picture, shown) ? lineLegend(picture, chosen, width, colours) : null,
      drawing,
      words: inWords(picture, shown),
      notes: notesOf(picture, shown, isSynthetic),
    },
    look,
  );
}

/** The parts of a poster, from above. */
interface Framed {
  readonly title: string;
  readonly subtitle: string;
  readonly legend: { readonly legend: SVGElement; readonly height: number } | null;
  readonly drawing: Plotted;
  /** The picture for those who don't see it. */
  readonly words: string;
  readonly notes: readonly string[];
}

/** A picture that stands for itself, and the figures in it. */
export type Poster = SVGSVGElement & { spots: Spots };

/** Puts a drawing on its ground, with its title, legend and notes. */
export function framed(
  { title: ownTitle, subtitle: below, legend, drawing, words, notes }: Framed,
  { width, colours, isBare, heading = null, note: ownNote = null }: PosterLook,
): Poster {
  const edge = edgeOf(width);
  const title = heading ?? ownTitle;
  const subtitle = title === ownTitle ? below : [ownTitle, below].filter((part) => part !== '').join(', ');
  const poster = svgElement('svg', {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    role: 'img',
    'font-family': 'system-ui, sans-serif',
    fill: colours.text,
  });
  poster.append(svgElement('title', {}, title), svgElement('desc', {}, words));
  let y = isBare ? 0 : edge;
  const write = (text: string, size: number, attributes: Readonly<Record<string, string>> = {}) => {
    if (isBare) return;
    for (const line of wrappedWithin(text, (width - WORDS_EDGE) / (size * 0.55))) {
      y += size * 1.35;
      poster.append(svgElement('text', { x: edge, y, 'font-size': size, ...attributes }, line));
    }
  };
  const ground = svgElement('rect', { width, fill: colours.ground });
  poster.append(ground);
  write(title, 20, { 'font-weight': '600', class: 'title' });
  write(subtitle, 14, { fill: colours.muted, class: 'subtitle' });
  y += 10;
  if (legend !== null) {
    legend.legend.setAttribute('transform', `translate(${edge},${y})`);
    poster.append(legend.legend);
    y += legend.height;
  }
  drawing.setAttribute('x', String(edge));
  drawing.setAttribute('y', String(y));
  poster.append(drawing);
  const { all, areRows } = drawing.spots;
  const top = y;
  y += Number(drawing.getAttribute('height')) + 4;
  const allNotes = ownNote === null ? notes : [ownNote, ...notes];
  for (const note of allNotes) write(note, 12, { fill: colours.muted, class: 'note' });
  const total = Math.ceil(y + (isBare ? 0 : edge));
  poster.setAttribute('height', String(total));
  poster.setAttribute('viewBox', `0 0 ${width} ${total}`);
  ground.setAttribute('height', String(total));
  const spots = { all: all.map((spot) => ({ ...spot, x: spot.x + edge, y: spot.y + top })), areRows };
  return Object.assign(poster, { spots });
}

/** Characters that XML has no place for, though texts of the service may hold them: readers refuse all of a file with one. */
const NOT_OF_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Returns the text of a drawing as XML, without the characters that are not of it. */
export function asXml(markup: string): string {
  return markup.replace(NOT_OF_XML, '');
}

function lineLegend(
  picture: Extract<Picture, { kind: 'lines' }>,
  chosen: readonly string[],
  width: number,
  colours: Colours,
) {
  const { top, rest, colourOf } = lineColours(picture, chosen, colours);
  const most = ((width - 36) * 12) / LEGEND_SIZE;
  const entries = top.map(({ name }) => ({ name: fitted(name, most), line: name, colour: colourOf(name) }));
  if (rest.length > 0) entries.push({ name: othersName(rest.length), line: '', colour: colours.other });
  const legend = svgElement('g', { class: 'legend', 'font-size': LEGEND_SIZE });
  let x = 0;
  let y = LEGEND_LINE;
  for (const { name, line, colour } of entries) {
    const length = name.length * 7.4 + 36;
    if (x > 0 && x + length > width) {
      x = 0;
      y += LEGEND_LINE;
    }
    legend.append(
      svgElement(
        'g',
        line === '' ? {} : { 'data-legend': line },
        svgElement('rect', { x, y: y - 10, width: 12, height: 12, rx: 2, fill: colour }),
        svgElement('text', { x: x + 18, y }, name),
      ),
    );
    x += length;
  }
  return { legend, height: y + 8 };
}

/** Name of the grey lines of a picture. */
export function othersName(count: number): string {
  return count === 1 ? '1 other' : `${count} others`;
}
