import { escaped } from '../../../../src/shared/drawings.ts';
import { type Colours, DARK, LIGHT } from './colours.ts';
import { csvOf, readableTableOf, type Table, tableOf } from './csv.ts';
import type { Figure } from './figures.ts';
import { counted } from './numbers.ts';
import { asXml } from './poster.ts';
import { ranked, writtenTable } from './written-table.ts';

/** Pixels of the drawings, for wide and narrow screens. */
const WIDTHS = [680, 320] as const;

/** Rows that are written out; the file has them all. */
const MAX_ROWS = 500;

const COLOURS = {
  light: '--ground: #fff; --text: #1a2030; --muted: #5b6472; --line: #d9dde3; --link: #0b57a0;',
  dark: '--ground: #212a3b; --text: #e8ebf0; --muted: #a9b2c1; --line: #3c475b; --link: #8cc4f5;',
};
const STYLE = `
:root { color-scheme: light; ${COLOURS.light} }
:root[data-theme="dark"] { color-scheme: dark; ${COLOURS.dark} }
@media screen and (prefers-color-scheme: dark) { :root[data-theme="auto"] { color-scheme: dark; ${COLOURS.dark} } }
@media print { :root[data-theme] { color-scheme: light; ${COLOURS.light} } }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 760px; margin: 0 auto; padding: 16px 0; }
h1, p, details { margin: 0 24px; }
h1 { font-size: 20px; font-weight: 600; }
p { color: var(--muted); font-size: 14px; }
img { display: block; width: 100%; height: auto; }
a { color: var(--link); }
summary { padding: 4px 0; cursor: pointer; font-size: 14px; }
.rows { overflow: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); text-align: left; overflow-wrap: normal; }
.number { padding-right: 24px; text-align: right; }
`;

/** Nothing of it is run or fetched, whatever its words are. */
const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export interface StaticPicture {
  readonly title: string;
  readonly subtitle: string;
  /** The picture for those who don't see it. */
  readonly words: string;
  readonly notes: readonly string[];
  readonly pages: readonly (readonly [name: string, url: string])[];
  readonly figures: readonly Figure[];
  readonly isRanking: boolean;
  /** Name of the file of figures in it, without its ending. */
  readonly name: string;
  readonly theme: 'light' | 'dark' | 'auto';
  /** The address that it is saved from. */
  readonly from: string | null;
  draw(at: { readonly width: number; readonly colours: Colours }): SVGSVGElement | null;
}

/** A picture with its figures and its sources as one page that needs no other file, no script and no gateway. */
export function staticPageOf(picture: StaticPicture): string {
  const { title, subtitle, words, notes, pages, figures, isRanking, name, theme, from } = picture;
  const table = isRanking ? ranked(readableTableOf(figures)) : readableTableOf(figures);
  const csv = dataUrl('text/csv;charset=utf-8', csvOf(tableOf(figures)));
  const left = table.rows.length - MAX_ROWS;
  return `<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(subtitle)}</p>
<picture>
${drawingsOf(picture, words)}
</picture>
${notes.map((note) => `<p>${linked(note, pages)}</p>`).join('\n')}
<p><a href="${csv}" download="${escaped(name)}.csv">CSV of all figures</a>${from === null ? '' : `. Saved from <a href="${escaped(from)}">${escaped(from.replace(/#.*/, ''))}</a>`}</p>
<details>
<summary>Table of ${counted(table.rows.length, 'figure')}</summary>
<section class="rows" aria-label="Table" tabindex="0">${tableMarkup(table)}</section>
${left > 0 ? `<p>${left} more are in the CSV.</p>` : ''}
</details>
</main>
</body>
</html>
`;
}

function drawingsOf({ theme, draw }: StaticPicture, words: string): string {
  const sourcesOf = (colours: Colours, ...media: readonly string[]) =>
    WIDTHS.map((width, i) => {
      const svg = draw({ width, colours });
      const [wide, high] = ['width', 'height'].map((side) => escaped(svg?.getAttribute(side)));
      const isLast = i === WIDTHS.length - 1;
      const conditions = [...media, ...(isLast ? [] : [`(min-width: ${width}px)`])].join(' and ');
      return {
        conditions,
        size: `width="${wide}" height="${high}"`,
        url: dataUrl('image/svg+xml', asXml(svg?.outerHTML ?? '')),
      };
    });
  const dark = theme === 'dark' ? 'screen' : 'screen and (prefers-color-scheme: dark)';
  const sources = [...(theme === 'light' ? [] : sourcesOf(DARK, dark)), ...sourcesOf(LIGHT)];
  const last = sources.at(-1);
  return [
    ...sources
      .slice(0, -1)
      .map(({ conditions, size, url }) => `<source media="${conditions}" srcset="${url}" ${size}>`),
    `<img src="${last?.url}" ${last?.size} alt="${escaped(words)}">`,
  ].join('\n');
}

function linked(note: string, pages: StaticPicture['pages']): string {
  const match = pages.find(([name]) => note.includes(name));
  if (match === undefined) return escaped(note);
  const [name, url] = match;
  const others = pages.filter((page) => page !== match);
  const link = `<a href="${escaped(url)}" rel="noopener">${escaped(name)}</a>`;
  return note
    .split(name)
    .map((part) => linked(part, others))
    .join(link);
}

function tableMarkup(table: Table): string {
  const { columns, rows } = table;
  const { areNumbers, textOf } = writtenTable(table);
  const classOf = (column: number) => (areNumbers[column] ? ' class="number"' : '');
  const heads = columns.map((name, i) => `<th scope="col"${classOf(i)}>${escaped(name)}</th>`).join('');
  const lines = rows.slice(0, MAX_ROWS).map((row) => {
    const cells = columns.map((_, i) => `<td${classOf(i)}>${escaped(textOf(row, i))}</td>`);
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<table><thead><tr>${heads}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

/** Bytes of a part: a call takes some ten thousand arguments. */
const PART = 8_192;

function dataUrl(type: string, text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (let at = 0; at < bytes.length; at += PART)
    binary += String.fromCharCode(...bytes.subarray(at, at + PART));
  return `data:${type};base64,${btoa(binary)}`;
}
