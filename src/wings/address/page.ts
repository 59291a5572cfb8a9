import { createHash } from 'node:crypto';
import type { PictureFacts } from './drawer.ts';

/** Pixels of the pictures of a page: on screens below the first, the narrow one. */
export const PAGE_WIDTHS = { turn: 640, narrow: 480, wide: 960 };

/** Colours are those of the pictures. */
const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1a2030; --muted: #5b6472; --line: #d9dde3; --link: #0b57a0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #212a3b; --text: #e8ebf0; --muted: #a9b2c1; --line: #3c475b; --link: #8cc4f5; }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 16px 0; }
h1, p, nav, details { margin: 0 24px; }
h1 { font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
p { color: var(--muted); font-size: 14px; overflow-wrap: anywhere; }
img { display: block; width: 100%; height: auto; }
a { color: var(--link); }
nav { margin-top: 12px; font-size: 14px; }
nav a { display: inline-block; margin-right: 12px; padding: 4px 0; }
summary { padding: 4px 0; cursor: pointer; font-size: 14px; }
.rows { overflow: auto; max-height: 60vh; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); text-align: left; }
`;

/** The content security policy of pages and pictures, but for their styles and frames. */
const NOTHING_ELSE = "default-src 'none'; base-uri 'none'; form-action 'none'";

const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * Returns the content security policy of a page.
 * @param origins sites that may frame it; none in the list for any
 */
export function pagePolicy(origins: readonly string[]): string {
  return `${NOTHING_ELSE}; img-src 'self'; style-src ${STYLE_HASH}; frame-ancestors ${ancestors(origins)}`;
}

/** Does the same for a picture, whose styles stand on its parts. */
export function picturePolicy(origins: readonly string[]): string {
  return `${NOTHING_ELSE}; style-src 'unsafe-inline'; frame-ancestors ${ancestors(origins)}`;
}

const ancestors = (origins: readonly string[]) => (origins.length === 0 ? '*' : origins.join(' '));

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A picture as its page has it. */
interface PictureOnPage {
  readonly facts: PictureFacts;
  /** Pixels of the wide picture. */
  readonly width: number;
  readonly height: number;
}

/** The page of a public document. */
interface PageContent {
  readonly title: string;
  readonly description: string | null;
  /** Null if the answer has nothing to draw. */
  readonly picture: PictureOnPage | null;
  /** Words on what the answer lacks. */
  readonly warnings: readonly string[];
  /** Returns the address of another form of it, beside the page. */
  readonly beside: (form: string, look?: string) => string;
  /** Forms of the data, by their names. */
  readonly forms: readonly string[];
  /** Address of the page itself. */
  readonly url: string;
  /** Address of its picture for pages that show a preview. */
  readonly imageUrl: string;
  readonly oembedUrl: string;
}

const LABELS: Readonly<Record<string, string>> = {
  json: 'JSON',
  csv: 'CSV',
  arrow: 'Arrow',
  svg: 'SVG',
  png: 'PNG',
};

/** Writes the page of a public document: it has no script, and names no key. */
export function pageOf(parts: PageContent): string {
  const { title, description, picture, warnings, beside, forms, url, imageUrl, oembedUrl } = parts;
  const told = description ?? picture?.facts.words ?? title;
  const preview = [
    ['og:title', title],
    ['og:type', 'website'],
    ['og:url', url],
    ['og:description', told],
    ...(picture === null
      ? []
      : [
          ['og:image', imageUrl],
          ['og:image:type', 'image/png'],
          ['og:image:alt', picture.facts.words],
        ]),
  ];
  const head = [
    `<meta name="description" content="${escaped(told)}">`,
    ...preview.map(([name, content]) => `<meta property="${name}" content="${escaped(content)}">`),
    `<meta name="twitter:card" content="summary_large_image">`,
    `<link rel="alternate" type="application/json+oembed" href="${escaped(oembedUrl)}" title="${escaped(title)}">`,
  ];
  const links = forms.map((form) => `<a href="${escaped(beside(form))}">${LABELS[form] ?? form}</a>`);
  const body = [
    `<h1>${escaped(title)}</h1>`,
    ...(picture === null
      ? ['<p>This answer has no figures that make a picture. Its data are there.</p>']
      : pictured(picture, title, beside)),
    ...warnings.map((warning) => `<p>${escaped(warning)}</p>`),
    `<nav aria-label="Data">${links.join(' ')}</nav>`,
  ];
  return document(title, head, body);
}

function pictured(
  { facts, width, height }: PictureOnPage,
  title: string,
  beside: PageContent['beside'],
): readonly string[] {
  const { subtitle, words, notes, table, leftOut, pages } = facts;
  const { turn, narrow, wide } = PAGE_WIDTHS;
  const svg = (theme: string, at: number) => escaped(beside('svg', `theme=${theme}&width=${at}&bare=1`));
  const narrowScreen = `(max-width: ${turn}px)`;
  const dark = '(prefers-color-scheme: dark)';
  const isSaid = facts.title === title;
  return [
    `<p>${escaped([isSaid ? '' : facts.title, subtitle].filter(Boolean).join(', '))}</p>`,
    '<picture>',
    `<source media="${narrowScreen} and ${dark}" srcset="${svg('dark', narrow)}">`,
    `<source media="${narrowScreen}" srcset="${svg('light', narrow)}">`,
    `<source media="${dark}" srcset="${svg('dark', wide)}">`,
    `<img src="${svg('light', wide)}" alt="${escaped(words)}" width="${width}" height="${height}">`,
    '</picture>',
    ...notes.map((note) => `<p>${linked(note, pages)}</p>`),
    `<details><summary>Table of ${table.rows.length} figures</summary>`,
    `<div class="rows" role="region" aria-label="Table" tabindex="0">${tableOf(table)}</div>`,
    ...(leftOut === 0 ? [] : [`<p>${leftOut} more stand in the data.</p>`]),
    '</details>',
  ];
}

/** Writes a note, with the names of sources as links to their pages. */
function linked(note: string, pages: PictureFacts['pages']): string {
  const found = pages.find(([name]) => note.includes(name));
  if (found === undefined) return escaped(note);
  const [name, url] = found;
  const others = pages.filter((page) => page !== found);
  return note
    .split(name)
    .map((part) => linked(part, others))
    .join(`<a href="${escaped(url)}">${escaped(name)}</a>`);
}

function tableOf({ columns, rows }: PictureFacts['table']): string {
  const names = columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${names}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

/** Writes the page of a refusal, for those who look at a frame. */
export function refusalPage(message: string, code: string): string {
  const title = 'This picture can’t be shown now';
  return document(
    title,
    ['<meta name="robots" content="noindex">'],
    [`<h1>${title}</h1>`, `<p>${escaped(message)}</p>`, `<p>${escaped(code)}</p>`],
  );
}

function document(title: string, head: readonly string[], body: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
${head.join('\n')}
<style>${STYLE}</style>
</head>
<body>
<main>
${body.join('\n')}
</main>
</body>
</html>
`;
}

/** Pixels of a frame, unless the asking page has less room; the page in it scrolls if it is longer. */
const FRAME = { width: 960, height: 820 };

/** Writes the oEmbed answer of a page. Nothing is asked for it, so its frame has a usual height. */
export function oembedOf(
  { title, url, imageUrl }: { readonly title: string; readonly url: string; readonly imageUrl: string },
  { maxWidth, maxHeight }: { readonly maxWidth: number; readonly maxHeight: number },
): object {
  const width = Math.min(FRAME.width, maxWidth);
  const height = Math.min(FRAME.height, maxHeight);
  return {
    version: '1.0',
    type: 'rich',
    provider_name: 'Country Graph',
    title,
    html: `<iframe src="${escaped(url)}" title="${escaped(title)}" width="${width}" height="${height}" style="border:0;max-width:100%" loading="lazy"></iframe>`,
    width,
    height,
    thumbnail_url: imageUrl,
  };
}
