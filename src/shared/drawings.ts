/*
 * Messages to and from the thread that draws pictures by GraphiQL's code, and the frame of a page with a picture, which
 * GraphiQL and the pages themselves hand out.
 */
import type { NamedSource, SourceNames } from './source-names.ts';

/** The look of a picture, in the words of GraphiQL's controls. */
export interface PictureLook {
  /** Key of an indicator: the first picture that shows it is drawn, not the first of all. */
  readonly indicator?: string | undefined;
  readonly kind?: 'lines' | 'small-pictures' | 'ranking' | 'map' | 'scatter' | undefined;
  readonly isLog?: boolean | undefined;
  readonly measure?: 'value' | 'index' | 'difference' | 'percent' | undefined;
  readonly base?: number | undefined;
  /** Of a ranking, a map or a scatter plot; left out for the latest figures. */
  readonly year?: number | undefined;
  /** Names of lines that get colours before all others. */
  readonly highlight?: readonly string[] | undefined;
  /** Name of the emphasized line. */
  readonly focus?: string | undefined;
  /** Codes of countries, or keys of indicators. */
  readonly removed?: readonly string[] | undefined;
  /** True if small pictures share a scale. */
  readonly isShared?: boolean | undefined;
  /** Where the axis of lines begins; left out to let their values decide. */
  readonly axis?: 'zero' | 'data' | undefined;
  /** Whole countries, or places within them. */
  readonly scope?: 'ALL' | 'NATIONAL' | 'PLACES' | undefined;
}

/** Former names of kinds of pictures, which may be in files, links and frames of others. */
const FORMER_KINDS = new Map([
  ['multiples', 'small-pictures'],
  ['bars', 'ranking'],
]);

/** The name of a kind of pictures, which may be given by a former one. */
export function presentKind(kind: string): string {
  return FORMER_KINDS.get(kind) ?? kind;
}

/** What is to be drawn of an answer, and how. */
export interface DrawingOrder {
  readonly form: 'svg' | 'png' | 'facts' | 'html';
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly look: PictureLook;
  /** Names of lines that somebody gives by hand, so that an unknown one is refused. */
  readonly named?: readonly string[];
  /** Of pages alone, `auto`: as the reader's system is. */
  readonly theme: 'light' | 'dark' | 'auto';
  /** Pixels. */
  readonly width: number;
  /** True without title and notes. */
  readonly isBare: boolean;
  /** Title in place of the picture's own. */
  readonly heading?: string | null;
  /** Its publisher's words below the picture. */
  readonly note?: string | null;
  /** Name and address of a page that is saved. */
  readonly file?: { readonly name: string; readonly from: string };
  /** Widths for which the facts give the size of the drawing. */
  readonly widths?: readonly number[];
  /** As the service gives them, if they are cached. */
  readonly sourceNames?: SourceNames;
  /** True if an SVG contains the texts of tips, for the script of a page. */
  readonly hasTips?: boolean;
}

/** What figures are, for programs. */
export interface FigureMetadata {
  readonly figures: number;
  readonly fromYear: number | null;
  readonly toYear: number | null;
  readonly indicators: readonly {
    readonly key: string;
    readonly name: string;
    readonly units: readonly string[];
  }[];
  readonly countries: readonly { readonly code: string; readonly name: string }[];
  readonly sources: readonly {
    readonly key: string;
    readonly name: string | null;
    readonly url: string | null;
    readonly licence: string | null;
    readonly releases: readonly string[];
    readonly retrievedAt: string | null;
    readonly refreshedAt: string | null;
  }[];
}

export interface PictureFacts {
  readonly metadata: FigureMetadata;
  readonly title: string;
  readonly subtitle: string;
  /** The picture for those who don't see it. */
  readonly words: string;
  readonly notes: readonly string[];
  /** As it is read. */
  readonly table: {
    readonly columns: readonly string[];
    readonly areNumbers: readonly boolean[];
    readonly rows: readonly (readonly string[])[];
  };
  readonly leftOut: number;
  /** Pixels of the PNG with its title and notes, at the usual width. */
  readonly image: { readonly width: number; readonly height: number };
  /** Pages of the sources in the notes. */
  readonly pages: readonly (readonly [name: string, url: string])[];
  /** Pixels of the drawing for each of the order's widths. */
  readonly sizes: readonly (readonly [width: number, height: number])[];
  /** The other pictures of the answer, by the keys of their first indicators. */
  readonly otherPictures: readonly (readonly [indicator: string, title: string])[];
}

/** A picture; width and height are in pixels. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** SVG, a page, or the bytes of a PNG; null if only facts were asked for, or there is nothing to draw. */
  readonly bytes: string | Uint8Array | null;
  /** Null unless they were asked for, or if there is nothing to draw. */
  readonly facts: PictureFacts | null;
  /** What the answer lacks, in words for a page. */
  readonly warnings: readonly string[];
  /** Set if nothing is drawn, since no line has such a name. */
  readonly unknown?: { readonly name: string; readonly known: readonly string[] } | undefined;
}

export type Drawn = { readonly drawing: Drawing } | { readonly error: string };

/** What holds for all pictures of a gateway. */
export interface DrawerSettings {
  readonly isSynthetic: boolean;
  /** Bound of a PNG. */
  readonly maxPixels: number;
  readonly sourceNames: SourceNames;
  readonly attribution: NamedSource;
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

/** Escapes a value for HTML and SVG. */
export function escaped(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/**
 * The frame of a page with a picture, for other pages. Without the script, it has a height that suits most pictures.
 * @param scriptUrl the script that fits the height to the page
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
