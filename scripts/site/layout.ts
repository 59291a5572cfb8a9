import { escapeHtml, relativePath } from './html.ts';
import type { Heading } from './markdown.ts';

export interface NavigationLink {
  readonly path: string;
  readonly name: string;
  readonly isCode?: boolean;
}

export interface NavigationGroup {
  readonly name: string;
  readonly links: readonly NavigationLink[];
  /** Closed until somebody opens it, or is on one of its pages. */
  readonly isFolded?: boolean;
}

export interface SitePage {
  /** Path from the root of the site. */
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Sets the colours before anything is drawn, so that no page flashes in the others. */
const THEME =
  "try{const t=localStorage.getItem('theme');if(t)document.documentElement.dataset.theme=t}catch{}document.documentElement.classList.add('js')";

/** A page of the site: without a server, without another host, at any address. */
export function layout(page: SitePage, groups: readonly NavigationGroup[]): string {
  const to = (path: string) => relativePath(page.path, path);
  const title = page.path === 'index.html' ? 'Country Graph' : `${page.title} – Country Graph`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${to('assets/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script>${THEME}</script>
<script src="${to('assets/site.js')}" defer></script>
</head>
<body data-root="${relativePath(page.path, '')}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button type="button" class="icon menu" aria-expanded="false" aria-controls="navigation" aria-label="Navigation">${MENU}</button>
<a class="brand" href="${to('index.html')}">${MARK}<span>Country Graph</span></a>
<button type="button" class="search" aria-haspopup="dialog">${GLASS}<span>Search</span><kbd>/</kbd></button>
<button type="button" class="icon theme" aria-label="Light or dark">${MOON}</button>
</header>
<div class="page">
<nav id="navigation" class="navigation" aria-label="Site">${groups.map((group) => navigationGroup(group, page.path, to)).join('\n')}</nav>
<main id="content" tabindex="-1">
${outline(page.headings, 'inline')}
<article>
${page.html}
</article>
${neighbours(page.path, groups, to)}
</main>
${outline(page.headings, 'aside')}
</div>
<dialog class="finder" aria-label="Search">
<input type="text" inputmode="search" enterkeyhint="go" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-label="Search headings, types and fields" placeholder="Search headings, types and fields" autocomplete="off" spellcheck="false">
<ul id="found" role="listbox" aria-label="Results"></ul>
<p class="hint" role="status"></p>
</dialog>
</body>
</html>
`;
}

function navigationGroup(
  { name, links, isFolded = false }: NavigationGroup,
  current: string,
  to: (path: string) => string,
): string {
  const items = links.map(({ path, name: label, isCode = false }) => {
    const shown = isCode ? `<code>${escapeHtml(label)}</code>` : escapeHtml(label);
    return `<li><a href="${to(path)}"${path === current ? ' aria-current="page"' : ''}>${shown}</a></li>`;
  });
  const list = `<ul>${items.join('')}</ul>`;
  if (!isFolded) return `<p class="group">${escapeHtml(name)}</p>${list}`;
  const isOpen = links.some(({ path }) => path === current);
  return `<details${isOpen ? ' open' : ''}><summary class="group">${escapeHtml(name)}</summary>${list}</details>`;
}

/** Headings of the page: beside it on a wide screen, else before it, folded. */
function outline(headings: readonly Heading[], place: 'aside' | 'inline'): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return place === 'aside' ? '<div class="outline"></div>' : '';
  const items = shown.map(
    ({ id, level, text }) => `<li class="l${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  const list = `<ul>${items.join('')}</ul>`;
  return place === 'aside'
    ? `<nav class="outline" aria-label="On this page"><p class="group">On this page</p>${list}</nav>`
    : `<details class="contents"><summary>On this page</summary><nav aria-label="On this page, folded">${list}</nav></details>`;
}

function neighbours(
  current: string,
  groups: readonly NavigationGroup[],
  to: (path: string) => string,
): string {
  const links = groups.filter(({ isFolded }) => isFolded !== true).flatMap((group) => group.links);
  const at = links.findIndex(({ path }) => path === current);
  if (at < 0) return '';
  const link = (target: NavigationLink | undefined, rel: 'prev' | 'next') =>
    target === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${to(target.path)}"><small>${rel === 'prev' ? 'Before' : 'Next'}</small>${escapeHtml(target.name)}</a>`;
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(links[at - 1], 'prev')}${link(links[at + 1], 'next')}</nav>`;
}

const svg = (body: string) =>
  `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${body}</svg>`;
const MENU = svg('<path d="M4 7h16M4 12h16M4 17h16"/>');
const GLASS = svg('<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>');
const MOON = svg('<path d="M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z"/>');
const MARK_BODY =
  '<circle cx="6" cy="6" r="2.6"/><circle cx="18" cy="6" r="2.6"/><circle cx="12" cy="18" r="2.6"/><path d="M8.6 6h6.8M7.3 8.3l3.5 7.3M16.7 8.3l-3.5 7.3"/>';
const MARK = svg(MARK_BODY);

/** The icon of the site, which is its mark. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#0b7a6f" stroke-width="1.8">${MARK_BODY}</svg>`;
