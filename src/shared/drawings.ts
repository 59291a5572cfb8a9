/*
 * What is asked of the code that draws pictures, and what it answers: between its thread, which is built of GraphiQL's
 * code, and whoever has it draw. And the frame of a page with a picture, which GraphiQL and the pages themselves hand out.
 */
import type { SourceNames } from './source-names.ts';

/** The look that the operator gives a picture, in the words of GraphiQL's controls. */
export interface PictureLook {
  /** The key of an indicator: the first picture that shows it, and not the first of all. */
  readonly indicator?: string | undefined;
  readonly kind?: 'lines' | 'small-pictures' | 'ranking' | 'map' | 'scatter' | undefined;
  readonly isLog?: boolean | undefined;
  readonly measure?: 'value' | 'index' | 'difference' | 'percent' | undefined;
  readonly base?: number | undefined;
  /** The year of a ranking, a map or a scatter plot; the latest figures if there is none. */
  readonly year?: number | undefined;
  /** Names of lines that have a colour before all others. */
  readonly highlight?: readonly string[] | undefined;
  /** Name of the line that stands out. */
  readonly focus?: string | undefined;
  /** Codes of countries, or keys of indicators, that are taken out. */
  readonly removed?: readonly string[] | undefined;
  /** True if small pictures have one scale for all. */
  readonly isShared?: boolean | undefined;
  /** The figures of whole countries, or of places within them. */
  readonly scope?: 'ALL' | 'NATIONAL' | 'PLACES' | undefined;
}

/** Names that kinds of pictures had once: files, links and frames of others still have them. */
const FORMER_KINDS = new Map([
  ['multiples', 'small-pictures'],
  ['bars', 'ranking'],
]);

/** Returns the present name of a kind. */
export function presentKind(kind: string): string {
  return FORMER_KINDS.get(kind) ?? kind;
}

export interface DrawingOrder {
  readonly form: 'svg' | 'png' | 'facts';
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly look: PictureLook;
  readonly theme: 'light' | 'dark';
  /** Pixels. */
  readonly width: number;
  /** True if title and notes stand elsewhere. */
  readonly isBare: boolean;
  /** Title in place of the picture's own; null for that. */
  readonly heading?: string | null;
  /** Widths, in pixels, for which the facts tell the size of the drawing. */
  readonly widths?: readonly number[];
  /** As the service gives them, if they are cached. */
  readonly sourceNames?: SourceNames;
  /** True if an SVG brings the words on its figures along, for the script of a page. */
  readonly hasTips?: boolean;
}

export interface PictureFacts {
  readonly title: string;
  readonly subtitle: string;
  /** The picture for those who don't see it. */
  readonly words: string;
  readonly notes: readonly string[];
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[] };
  readonly leftOut: number;
  /** Pixels of the PNG with its title and notes, as wide as it usually is. */
  readonly image: { readonly width: number; readonly height: number };
  /** Pages of the sources that the notes name, by the names. */
  readonly pages: readonly (readonly [name: string, url: string])[];
  /** Pixels of the drawing for each of the widths that were asked about. */
  readonly sizes: readonly (readonly [width: number, height: number])[];
  /** The other pictures that the answer makes, by the keys of their first indicators. */
  readonly otherPictures: readonly (readonly [indicator: string, title: string])[];
}

/** A drawn picture, in pixels; without any if the answer has nothing to draw. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** A text of SVG, or the bytes of a PNG; null if the facts alone were asked for, or there is no picture. */
  readonly bytes: string | Uint8Array | null;
  /** Null unless they were asked for, or if there is no picture. */
  readonly facts: PictureFacts | null;
  /** Words on what the answer lacks, for a page. */
  readonly warnings: readonly string[];
}

export type Drawn = { readonly drawing: Drawing } | { readonly error: string };

export interface DrawerSettings {
  readonly isSynthetic: boolean;
  /** Pixels of the largest PNG. */
  readonly maxPixels: number;
  readonly sourceNames: SourceNames;
}

/** Pixels of a page with one picture, its sources and its links. */
export const FRAME = { width: 960, height: 820 };

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Writes a text as HTML. */
export function escaped(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/**
 * Writes the frame of a page with a picture for pages of others. Without the script, it has a height that suits most
 * pictures at any width.
 * @param scriptUrl address of the script that gives it the height of its page
 */
export function frameOf(
  url: string,
  title: string,
  scriptUrl: string,
  { width, height }: typeof FRAME = FRAME,
): string {
  const style = `border:0;width:100%;max-width:${width}px;height:auto;min-height:480px;aspect-ratio:${width}/${height}`;
  return `<iframe src="${escaped(url)}" title="${escaped(title)}" width="${width}" height="${height}" loading="lazy" style="${style}"></iframe><script async src="${escaped(scriptUrl)}"></script>`;
}
