/// <reference types="node" />
/**
 * Draws pictures outside a browser, by the same code as in it: a thread that takes one order at a time. The gateway runs it for
 * public documents (the plugin `public-pages`); `vite.pictures.ts` builds it.
 */
import './picture-window.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import type {
  DrawerSettings,
  Drawing,
  DrawingOrder,
  Drawn,
  PictureFacts,
  PictureLook,
} from '../../../src/shared/drawings.ts';
import { askedIn, undrawnOf } from './chart/asked.ts';
import { barNames } from './chart/bars.ts';
import { DARK, LIGHT } from './chart/colours.ts';
import { readableTableOf } from './chart/csv.ts';
import {
  commonYears,
  drawScatter,
  mappedIn,
  pairsOf,
  scaledPairs,
  subtitleOf,
  titleOf,
  wordsOf,
} from './chart/dots.ts';
import type { Figure } from './chart/figures.ts';
import { figuresIn } from './chart/figures.ts';
import { chosenOf } from './chart/lines.ts';
import { metadataOf } from './chart/metadata.ts';
import { figuresOf, notesOf, originOf, type Shown, subtitleOf as subtitleOfPicture } from './chart/notes.ts';
import { MAP_COUNTRIES, type Picture, picturesOf } from './chart/picture.ts';
import { PLAIN } from './chart/plain-look.ts';
import { asXml, edgeOf, framed, type Poster, posterOf } from './chart/poster.ts';
import { canMap, drawnOf, inWords, shownAs } from './chart/shown.ts';
import { staticPageOf } from './chart/static-page.ts';
import { alone, ofScope, withoutMembers } from './chart/subjects.ts';
import { svgElement } from './chart/svg-element.ts';
import { ranked, writtenTable } from './chart/written-table.ts';
import type { Look } from './looks.ts';
import { pagesOf, setAttribution, setCachedNames, setSourceNames } from './source-names.ts';

/** Rows of a page's table. */
const MAX_ROWS = 500;

/** Pixels of a PNG for one of the drawing, and the pixels that a drawing is wide unless its address says otherwise. */
const PNG_SCALE = 2;
const USUAL_WIDTH = 960;

const { isSynthetic, sourceNames, attribution, maxPixels } = workerData as DrawerSettings;
setSourceNames(sourceNames);
setAttribution(attribution);

interface At {
  readonly width: number;
  readonly colours: typeof LIGHT;
  readonly isBare: boolean;
  readonly heading: string | null;
  /** Its publisher's words. */
  readonly note: string | null;
}

/** One picture, ready to be drawn, and its facts. */
interface Subject {
  /** Names of its lines or bars; null if it has none. */
  readonly names: readonly string[] | null;
  readonly figures: readonly Figure[];
  readonly isRanking: boolean;
  readonly said: Omit<PictureFacts, 'metadata' | 'table' | 'leftOut' | 'pages' | 'image' | 'sizes'>;
  /** @param remarks further notes */
  draw(at: At, ...remarks: string[]): Poster | null;
}

function subjectOf(pictures: readonly Picture[], look: PictureLook): Subject | null {
  return look.kind === 'scatter' ? scatterOf(pictures, look) : pictureOf(pictures, look);
}

function pictureOf(pictures: readonly Picture[], given: PictureLook): Subject | null {
  const { indicator } = given;
  const isMeant = ({ figures }: Picture) => figures.some((figure) => figure.indicator === indicator);
  const drawable = pictures.map(alone).filter(({ kind }) => kind !== 'values');
  const whole = indicator === undefined ? drawable[0] : drawable.find(isMeant);
  if (whole === undefined) return null;
  const look = lookOf(given);
  const otherPictures = drawable.flatMap((one) => {
    const [first] = one.figures;
    return one === whole || first === undefined ? [] : [[first.indicator, one.title] as const];
  });
  const left = ofScope(withoutMembers(whole, look.removed), look.scope);
  const shown = shownAs(left, look, canMap(left));
  const picture = drawnOf(left, shown, look);
  if (picture.kind === 'values') return null;
  const names = namesIn(picture, left, shown);
  return {
    names,
    figures: figuresOf(picture, shown),
    isRanking: shown === 'ranking',
    said: {
      title: picture.title,
      subtitle: subtitleOfPicture(picture, shown),
      words: inWords(picture, shown),
      notes: notesOf(picture, shown, isSynthetic),
      otherPictures: otherPictures.filter(
        ([key], i) => otherPictures.findIndex(([other]) => other === key) === i,
      ),
    },
    draw(at, ...remarks) {
      const remarked = { ...picture, remarks: [...(picture.remarks ?? []), ...remarks] };
      const { focus, isShared, axis } = look;
      return posterOf(remarked, shown, chosenOf(look), isSynthetic, { focus, isShared, axis }, at);
    },
  };
}

/** Names of the lines or bars that one may have stand out; null if a picture has none. */
function namesIn(picture: Picture, whole: Picture, shown: Shown): readonly string[] | null {
  const lines = whole.kind === 'lines' ? whole.lines.map(({ name }) => name) : [];
  if (picture.kind === 'lines') return picture.lines.map(({ name }) => name);
  // An address that is made of lines names them by their own names.
  return picture.kind === 'bars' && shown === 'ranking'
    ? [...new Set([...barNames(picture.bars), ...lines])]
    : null;
}

function scatterOf(pictures: readonly Picture[], look: PictureLook): Subject | null {
  const [x, y] = mappedIn(pictures);
  if (x === undefined || y === undefined || pairsOf(x, y).length < MAP_COUNTRIES) return null;
  const year = look.year !== undefined && commonYears(x, y).includes(look.year) ? look.year : null;
  const { pairs, isLog, remarks } = scaledPairs(x, y, year, look.isLog === true);
  if (pairs.length === 0) return null;
  const figures = pairs.flatMap((pair) => [pair.x, pair.y]);
  const title = titleOf(x, y);
  const subtitle = subtitleOf(pairs, year);
  const notes = [...originOf(figures, isSynthetic), ...remarks];
  return {
    names: null,
    figures,
    isRanking: false,
    said: { title, subtitle, notes, words: wordsOf(pairs, x, y), otherPictures: [] },
    draw(at, ...further) {
      const { width, colours } = at;
      const drawing = drawScatter(pairs, x, y, {
        width: width - 2 * edgeOf(width),
        colours,
        isLog,
        isAlone: true,
      });
      const words = wordsOf(pairs, x, y);
      return framed({ title, subtitle, legend: null, drawing, words, notes: [...notes, ...further] }, at);
    },
  };
}

function lookOf({ indicator: _, ...given }: PictureLook): Look {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...PLAIN, ...Object.fromEntries(entries) };
}

function factsOf(
  { figures, isRanking, said, draw }: Subject,
  { heading = null, note = null, widths = [] }: DrawingOrder,
  undrawn: string,
): PictureFacts {
  const read = readableTableOf(figures);
  const table = isRanking ? ranked(read) : read;
  const { columns, rows } = table;
  const { areNumbers, textOf } = writtenTable(table);
  const pages = [...pagesOf(figures)];
  return {
    ...said,
    metadata: metadataOf(figures),
    notes: undrawn === '' ? said.notes : [...said.notes, `No figures of any country: ${undrawn}.`],
    table: {
      columns,
      areNumbers,
      rows: rows.slice(0, MAX_ROWS).map((row) => columns.map((_, i) => textOf(row, i))),
    },
    leftOut: Math.max(0, rows.length - MAX_ROWS),
    image: imageSize(draw({ width: USUAL_WIDTH, colours: LIGHT, isBare: false, heading, note })),
    pages,
    sizes: widths.map((width) => {
      const svg = draw({ width, colours: LIGHT, isBare: true, heading, note });
      return [width, svg === null ? 0 : sizeOf(svg).height] as const;
    }),
  };
}

/** The picture as one page, for who saves it. */
function fileOf(
  { said: { title, subtitle, words, notes }, figures, isRanking, draw }: Subject,
  { heading = null, theme, note = null, file }: DrawingOrder,
): string {
  return staticPageOf({
    title: heading ?? title,
    subtitle: [heading === null ? '' : title, subtitle].filter((part) => part !== '').join(', '),
    words,
    notes: [...(note === null ? [] : [note]), ...notes],
    pages: [...pagesOf(figures)],
    figures,
    isRanking,
    name: file?.name ?? 'figures',
    from: file?.from ?? null,
    theme,
    draw: (at) => draw({ ...at, isBare: true, heading, note }),
  });
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function sizeOf(svg: SVGSVGElement): Size {
  return { width: Number(svg.getAttribute('width')), height: Number(svg.getAttribute('height')) };
}

/** Pixels of a PNG for one of its drawing. */
function scaleOf({ width, height }: Size): number {
  return Math.min(PNG_SCALE, Math.sqrt(maxPixels / (width * height)));
}

function imageSize(svg: SVGSVGElement | null): Size {
  const size = svg === null ? { width: 0, height: 0 } : sizeOf(svg);
  const scale = scaleOf(size);
  return { width: Math.round(size.width * scale), height: Math.round(size.height * scale) };
}

/** The answer of the gateway, as far as a page tells of it. */
interface GivenAnswer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: { readonly warnings?: readonly { readonly message: string }[] };
}

/** Warnings that a page lists. */
const MAX_WARNINGS = 10;

function warningsIn({ errors = [], extensions: { warnings = [] } = {} }: GivenAnswer): string[] {
  const messages = [...errors, ...warnings].map(({ message }) => message);
  return [...new Set(messages)].slice(0, MAX_WARNINGS);
}

/** Names that an unknown one is told. */
const MAX_KNOWN = 60;

function unknownIn({ named = [], look }: DrawingOrder, subject: Subject | null): Drawing['unknown'] {
  const known = subject?.names ?? null;
  // Bars have no colours to be chosen.
  const meant = subject?.isRanking ? named.filter((one) => one === look.focus) : named;
  const name = meant.find((one) => known?.includes(one) === false);
  return known === null || name === undefined ? undefined : { name, known: known.slice(0, MAX_KNOWN) };
}

async function drawn(order: DrawingOrder): Promise<Drawing> {
  const {
    form,
    query,
    operationName,
    variables,
    body,
    look,
    theme,
    width,
    isBare,
    heading = null,
    note = null,
    hasTips,
  } = order;
  setCachedNames(order.sourceNames ?? new Map());
  const answer: GivenAnswer = JSON.parse(body);
  const warnings = form === 'facts' ? warningsIn(answer) : [];
  const figures = figuresIn(query, variables, operationName, answer.data);
  const asked = askedIn(query, variables, operationName);
  const pictures = picturesOf(figures, asked);
  const subject = subjectOf(pictures, look);
  const unknown = unknownIn(order, subject);
  if (unknown !== undefined) return { width: 0, height: 0, bytes: null, facts: null, warnings, unknown };
  const at = { width, colours: theme === 'dark' ? DARK : LIGHT, isBare, heading, note };
  const svg = subject?.draw(at);
  if (subject == null || svg == null) return { width: 0, height: 0, bytes: null, facts: null, warnings };
  const size = { ...sizeOf(svg), warnings };
  if (form === 'facts')
    return { ...size, bytes: null, facts: factsOf(subject, order, undrawnOf(asked, figures)) };
  if (form === 'html') return { ...size, bytes: fileOf(subject, order), facts: null };
  if (hasTips) svg.append(svgElement('metadata', {}, JSON.stringify(svg.spots)));
  const text = asXml(svg.outerHTML);
  if (form === 'svg') return { ...size, bytes: text, facts: null };
  const drawing = UNKNOWN.test(text) ? subject.draw(at, WITHOUT_FONT) : svg;
  return { ...(await rendered(asXml(drawing?.outerHTML ?? text), scaleOf(size))), facts: null, warnings };
}

const FONTS = ['Inter-Regular.ttf', 'Inter-SemiBold.ttf'];
const FAMILY = 'Inter';

/** Fonts for the other scripts of Africa's languages, each read for the first picture with a letter of it. */
const SCRIPTS: readonly (readonly [letters: RegExp, font: string])[] = [
  [/\p{Script=Arabic}/u, 'NotoSansArabic-Regular.ttf'],
  [/\p{Script=Ethiopic}/u, 'NotoSansEthiopic-Regular.ttf'],
  [/\p{Script=Nko}/u, 'NotoSansNKo-Regular.ttf'],
  [/\p{Script=Tifinagh}/u, 'NotoSansTifinagh-Regular.ttf'],
  [/\p{Script=Vai}/u, 'NotoSansVai-Regular.ttf'],
  [/\p{Script=Adlam}/u, 'NotoSansAdlam-Regular.ttf'],
];

/** A letter of a script without a font here: Inter has those of the first five. */
const UNKNOWN =
  /[^\P{L}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}\p{Script=Arabic}\p{Script=Ethiopic}\p{Script=Nko}\p{Script=Tifinagh}\p{Script=Vai}\p{Script=Adlam}]/u;

const WITHOUT_FONT = 'Some letters have no font here. The page and the SVG show them in those of the reader.';

let opened: Promise<typeof import('@resvg/resvg-wasm')> | undefined;

/** Opens the code that makes pixels of drawings, for the first that wants any. */
async function openRenderer() {
  const resvg = await import('@resvg/resvg-wasm');
  const file = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm');
  await resvg.initWasm(readFileSync(file));
  return resvg;
}

const fonts = new Map<string, Uint8Array>();

function fontOf(name: string): Uint8Array {
  const font = fonts.get(name) ?? brotliDecompressSync(readFileSync(new URL(`${name}.br`, import.meta.url)));
  fonts.set(name, font);
  return font;
}

async function rendered(svg: string, scale: number): Promise<Pick<Drawing, 'width' | 'height' | 'bytes'>> {
  opened ??= openRenderer();
  const { Resvg } = await opened;
  const otherScripts = SCRIPTS.filter(([letters]) => letters.test(svg)).map(([, name]) => name);
  const picture = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    font: {
      fontBuffers: [...FONTS, ...otherScripts].map(fontOf),
      defaultFontFamily: FAMILY,
      sansSerifFamily: FAMILY,
    },
  });
  const image = picture.render();
  const { width, height } = image;
  const bytes = image.asPng();
  image.free();
  picture.free();
  return { width, height, bytes };
}

parentPort?.on('message', (order: DrawingOrder) => {
  const tell = (drawing: Drawn) => parentPort?.postMessage(drawing);
  drawn(order).then(
    (drawing) => tell({ drawing }),
    (error: unknown) =>
      tell({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
