import { hash } from 'node:crypto';
import { type Drawing, escaped, FRAME, frameOf } from '../../plugin/index.ts';
import { type NamedSource, nameAndPage } from './attribution.ts';
import { type CountryChoice, countryForm } from './country-choice.ts';
import type { CountryNames } from './country-names.ts';

type PictureFacts = NonNullable<Drawing['facts']>;

/** Pixels of a page's pictures, one for each range of screen widths, so that text is never scaled down. */
export const PAGE_WIDTHS = [960, 680, 480, 320] as const;

export type PageTheme = 'light' | 'dark' | 'auto';

// The colours of the pictures.
const LIGHT = '--ground: #fff; --text: #1a2030; --muted: #5b6472; --line: #d9dde3; --link: #0b57a0;';
const DARK = '--ground: #212a3b; --text: #e8ebf0; --muted: #a9b2c1; --line: #3c475b; --link: #8cc4f5;';
const STYLE = `
:root { color-scheme: light; ${LIGHT} }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
@media screen and (prefers-color-scheme: dark) { :root[data-theme="auto"] { color-scheme: dark; ${DARK} } }
@media print { :root[data-theme] { color-scheme: light; ${LIGHT} } nav, details { display: none; } }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 16px 0; }
h1, p, nav, details { margin: 0 24px; }
h1 { font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
p { color: var(--muted); font-size: 14px; overflow-wrap: anywhere; }
img, .frame > svg { display: block; width: 100%; height: auto; }
a { color: var(--link); }
nav { margin-top: 12px; font-size: 14px; }
nav a { display: inline-block; margin-right: 12px; padding: 4px 0; }
summary { padding: 4px 0; cursor: pointer; font-size: 14px; }
details p { margin: 0; }
form { margin: 4px 0 12px; font-size: 14px; }
fieldset { margin: 0 0 8px; padding: 0; border: 0; columns: 11em; }
legend { padding: 0 0 4px; color: var(--muted); }
fieldset label { display: flex; align-items: baseline; gap: 4px; padding: 3px 0; break-inside: avoid; }
button, select { padding: 5px 12px; font: inherit; }
.rows { overflow: auto; max-height: 60vh; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); text-align: left; }
.number { padding-right: 24px; text-align: right; }
.frame { position: relative; }
/* As far from the edge as pictures of these widths (edgeOf). */
@media (max-width: 679px) { h1, p, nav, details { margin: 0 12px; } }
.tip { position: absolute; display: grid; max-width: min(320px, 100%); padding: 5px 10px; border: 1px solid var(--muted); border-radius: 4px; background: var(--ground); font-size: 13px; line-height: 1.35; pointer-events: none; }
.tip[hidden] { display: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[data-legend] { cursor: pointer; }
[data-legend][aria-pressed="true"] { font-weight: 600; }
`;

const NOTHING_ELSE = "default-src 'none'; base-uri 'none'";

const digestOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

/** @param origins sites that may frame it; empty for any */
export function pagePolicy(origins: readonly string[], script = ''): string {
  const scriptPolicy = script === '' ? '' : `script-src ${digestOf(script)}; connect-src 'self'; `;
  return `${NOTHING_ELSE}; form-action 'self'; ${scriptPolicy}img-src 'self'; style-src ${digestOf(STYLE)}; frame-ancestors ${ancestors(origins)}`;
}

/** Pictures have inline styles. */
export function picturePolicy(origins: readonly string[]): string {
  return `${NOTHING_ELSE}; form-action 'none'; style-src 'unsafe-inline'; frame-ancestors ${ancestors(origins)}`;
}

const ancestors = (origins: readonly string[]) => (origins.length === 0 ? '*' : origins.join(' '));

export interface PageContent {
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  /** Stands below the picture. */
  readonly note: string | null;
  /** Null if there is nothing to draw. */
  readonly facts: PictureFacts | null;
  /** Stands in the notes of a picture, too. */
  readonly attribution: NamedSource;
  readonly warnings: readonly string[];
  readonly theme: PageTheme;
  /** Empty for none. */
  readonly script: string;
  /** Returns the relative address of another form. */
  readonly beside: (form: string, look?: string) => string;
  readonly forms: readonly string[];
  readonly parameters: readonly string[];
  /** Null where the operation takes no countries. */
  readonly countries: CountryChoice | null;
  readonly countryName: CountryNames;
  readonly url: string;
  /** Picture for link previews. */
  readonly imageUrl: string;
  readonly oembedUrl: string;
  /** Of the figures, for search engines. */
  readonly dataset: object;
}

const LABELS: Readonly<Record<string, string>> = {
  json: 'JSON',
  csv: 'CSV',
  'wide.csv': 'CSV, years as columns',
  arrow: 'Arrow',
  svg: 'SVG',
  png: 'PNG',
  html: 'HTML file',
  'metadata.json': 'Metadata',
};

/** Links open outside the frame, which has no room for their targets. */
function link(href: string, words: string): string {
  return `<a href="${escaped(href)}" target="_blank" rel="noopener">${escaped(words)}</a>`;
}

/** What a page shows, in a sentence or some. */
export const summaryOf = ({
  note,
  description,
  facts,
  title,
}: Pick<PageContent, 'note' | 'description' | 'facts' | 'title'>) =>
  note ?? description ?? facts?.words ?? title;

/** The page names no key, and is complete without its script. */
export function pageOf(parts: PageContent): string {
  const {
    title,
    facts,
    attribution,
    warnings,
    beside,
    forms,
    parameters,
    countries,
    url,
    imageUrl,
    oembedUrl,
    dataset,
  } = parts;
  const summary = summaryOf(parts);
  const preview = [
    ['og:title', title],
    ['og:type', 'website'],
    ['og:url', url],
    ['og:description', summary],
    ...(facts === null
      ? []
      : [
          ['og:image', imageUrl],
          ['og:image:type', 'image/png'],
          ['og:image:width', facts.image.width],
          ['og:image:height', facts.image.height],
          ['og:image:alt', facts.words],
        ]),
  ];
  const head = [
    `<meta name="description" content="${escaped(summary)}">`,
    ...preview.map(([name, content]) => `<meta property="${name}" content="${escaped(content)}">`),
    `<meta name="twitter:card" content="summary_large_image">`,
    // Data, which no browser runs.
    `<script type="application/ld+json">${JSON.stringify(dataset).replaceAll('<', '\\u003c')}</script>`,
    `<link rel="alternate" type="application/json+oembed" href="${escaped(oembedUrl)}" title="${escaped(title)}">`,
  ];
  const links = forms.flatMap((form) => [
    link(beside(form), LABELS[form] ?? form),
    ...(form === 'csv' ? [link(beside('csv', 'bom=present'), 'CSV for Excel')] : []),
  ]);
  const body = [
    `<h1>${escaped(title)}</h1>`,
    ...(facts === null
      ? [
          '<p>This answer has no figures that make a picture. Its data are there.</p>',
          `<p>Data: ${attribution.url === null ? escaped(attribution.name) : link(attribution.url, nameAndPage(attribution))}.</p>`,
        ]
      : pictured(facts, parts)),
    ...warnings.map((warning) => `<p>${escaped(warning)}</p>`),
    ...(countries === null ? [] : [countryForm(countries, parts.name, parts.countryName)]),
    `<nav aria-label="Data">${links.join(' ')} ${link(beside(''), 'This picture by itself')}</nav>`,
    '<details><summary>Parameters of this address</summary>',
    ...parameters.map((words) => `<p>${escaped(words)}</p>`),
    '</details>',
    ...(parts.script === '' || facts === null ? [] : [`<script>${parts.script}</script>`]),
  ];
  return htmlOf(title, head, body, parts.theme);
}

function pictured(facts: PictureFacts, { title, theme, note, beside }: PageContent): readonly string[] {
  const { subtitle, words, notes, table, leftOut, pages, sizes, otherPictures: linkedPictures } = facts;
  const svg = (of: string, at: number) => escaped(beside('svg', `theme=${of}&width=${at}&bare=1`));
  const isSaid = facts.title === title;
  const sources = PAGE_WIDTHS.flatMap((width, i) => {
    const room = i === PAGE_WIDTHS.length - 1 ? '' : `(min-width: ${width}px)`;
    const [, height = width] = sizes[i] ?? [];
    const source = (of: string, ...media: readonly string[]) => {
      const all = [...media, room].filter((part) => part !== '').join(' and ');
      return `<source${all === '' ? '' : ` media="${all}"`} srcset="${svg(of, width)}" width="${width}" height="${height}">`;
    };
    if (theme === 'light') return [source('light')];
    const dark = theme === 'dark' ? 'screen' : 'screen and (prefers-color-scheme: dark)';
    return [source('dark', dark), source('light')];
  });
  const [wide] = PAGE_WIDTHS;
  const [, height = wide] = sizes[0] ?? [];
  return [
    `<p>${escaped([isSaid ? '' : facts.title, subtitle].filter(Boolean).join(', '))}</p>`,
    '<div class="frame"><picture>',
    ...sources,
    `<img src="${svg(theme === 'dark' ? 'dark' : 'light', wide)}" alt="${escaped(words)}" width="${wide}" height="${height}">`,
    '</picture></div>',
    ...(note === null ? [] : [`<p>${escaped(note)}</p>`]),
    ...notes.map((words) => `<p>${linked(words, pages)}</p>`),
    ...(linkedPictures.length === 0 ? [] : [`<p>${otherPictures(linkedPictures, beside)}</p>`]),
    `<details><summary>Table of ${table.rows.length} figure${table.rows.length === 1 ? '' : 's'}</summary>`,
    `<section class="rows" aria-label="Table" tabindex="0">${tableOf(table)}</section>`,
    ...(leftOut === 0 ? [] : [`<p>${leftOut} more stand in the data.</p>`]),
    '</details>',
  ];
}

function otherPictures(pictures: PictureFacts['otherPictures'], beside: PageContent['beside']): string {
  const links = pictures.map(([indicator, title]) => {
    const look = new URLSearchParams({ 'picture.indicator': indicator }).toString();
    return `<a href="${escaped(beside('', look))}">${escaped(title)}</a>`;
  });
  return `Not drawn here: ${links.join(', ')}.`;
}

function linked(note: string, pages: PictureFacts['pages']): string {
  const match = pages.find(([name]) => note.includes(name));
  if (match === undefined) return escaped(note);
  const [name, url] = match;
  const otherPages = pages.filter((page) => page !== match);
  return note
    .split(name)
    .map((part) => linked(part, otherPages))
    .join(link(url, name));
}

function tableOf({ columns, areNumbers, rows }: PictureFacts['table']): string {
  const classOf = (column: number) => (areNumbers[column] ? ' class="number"' : '');
  const names = columns.map((name, i) => `<th scope="col"${classOf(i)}>${escaped(name)}</th>`).join('');
  const lines = rows.map(
    (row) => `<tr>${row.map((cell, i) => `<td${classOf(i)}>${escaped(cell)}</td>`).join('')}</tr>`,
  );
  return `<table><thead><tr>${names}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

export interface ShownRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export function refusalPage({ status, code, message }: ShownRefusal): string {
  const isPassing = status >= 500 || status === 429;
  const title = `This picture can’t be shown${isPassing ? ' now' : ''}`;
  return htmlOf(
    title,
    ['<meta name="robots" content="noindex">'],
    [`<h1>${title}</h1>`, `<p>${escaped(message)}</p>`, `<p>${escaped(code)}</p>`],
    'auto',
  );
}

function htmlOf(title: string, head: readonly string[], body: readonly string[], theme: PageTheme): string {
  return `<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="favicon.ico">
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

/** That of GraphiQL. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 14V9h3v5zm5 0V3h3v11zm5 0V6h3v8z" fill="#d60590"/></svg>';

/** Sites with frames run it: each frame gets the height that its page reports. */
export const FRAMES_SCRIPT = `addEventListener('message', ({ data, source }) => {
  const height = data?.['country-graph']?.height;
  if (!(height > 0 && height < 20000)) return;
  for (const frame of document.querySelectorAll('iframe'))
    if (frame.contentWindow === source) Object.assign(frame.style, { height: Math.ceil(height) + 'px', minHeight: '0' });
});
`;

/** Takes no call, so the frame has the usual height and there is no thumbnail, whose height isn't known before drawing. */
export function oembedOf(
  {
    title,
    url,
    scriptUrl,
    attribution: { name, url: page },
  }: {
    readonly title: string;
    readonly url: string;
    readonly scriptUrl: string;
    readonly attribution: NamedSource;
  },
  { maxWidth, maxHeight }: { readonly maxWidth: number; readonly maxHeight: number },
): object {
  const width = Math.min(FRAME.width, maxWidth);
  const height = Math.min(FRAME.height, maxHeight);
  const html = frameOf(url, title, scriptUrl, { width, height });
  const author = { author_name: name, ...(page === null ? {} : { author_url: page }) };
  return {
    version: '1.0',
    type: 'rich',
    provider_name: 'Country Graph',
    ...author,
    title,
    html,
    width,
    height,
  };
}
