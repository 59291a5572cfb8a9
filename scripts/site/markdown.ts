import MarkdownIt, { type Token } from 'markdown-it';
import { highlighted } from './highlight.ts';
import { createSlugs, escapeHtml, textOf } from './html.ts';

/** A heading that the outline and the search know. */
export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
  /** The text below it, without markup, as far as a search shows it. */
  readonly summary: string;
}

export interface Rendered {
  readonly html: string;
  readonly title: string;
  readonly headings: readonly Heading[];
}

/** Knowledge of a page about the rest of the site. */
export interface RenderContext {
  /** Target of a link of the document, by its address; null if that is no part of the site. */
  linkTo(href: string): string | null;
  /** Address of the description of a name between backticks; null if it is none. */
  nameTo(name: string): string | null;
  /** Caption of a block of code, as HTML. */
  captionOf(code: string, language: string): string;
}

/** Data for rules while a document is rendered. */
type Env = {
  readonly context: RenderContext;
  readonly slugOf: (heading: string) => string;
  readonly headings: Heading[];
  /** Links that lead nowhere here are text: how many of those that are open. */
  unlinked: boolean[];
};

const SUMMARY_LENGTH = 180;

/** A document of the repository as HTML. */
export function renderMarkdown(text: string, context: RenderContext): Rendered {
  const md = createMarkdown();
  const env: Env = { context, slugOf: createSlugs(), headings: [], unlinked: [] };
  const tokens = md.parse(text, env);
  lowerFurtherTitles(tokens);
  labelCells(tokens);
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') nameHeading(token, tokens, i, env);
  });
  const html = md.renderer.render(tokens, md.options, env);
  const [first] = env.headings;
  return { html, title: first?.text ?? '', headings: env.headings };
}

/** A sentence or two as HTML, such as a description of the schema: `inline` without a paragraph around it. */
export function renderText(text: string, context: RenderContext, inline = true): string {
  const md = createMarkdown();
  const env: Env = { context, slugOf: createSlugs(), headings: [], unlinked: [] };
  return inline ? md.renderInline(text, env) : md.render(text, env);
}

/** Lowers a second title of a document, and all below it, by a level: a page has one title. */
function lowerFurtherTitles(tokens: readonly Token[]): void {
  let titles = 0;
  for (const token of tokens) {
    if (!token.type.startsWith('heading')) continue;
    const level = Number(token.tag.slice(1));
    if (level === 1 && token.type === 'heading_open') titles += 1;
    if (titles > 1) token.tag = `h${Math.min(6, level + 1)}`;
  }
}

function nameHeading(token: Token, tokens: readonly Token[], i: number, { slugOf, headings }: Env): void {
  const text = plainText(tokens[i + 1]);
  const id = slugOf(text);
  token.attrSet('id', id);
  const below = tokens.slice(i + 3).find(({ type }) => type === 'inline' || type === 'heading_open');
  const summary = below?.type === 'inline' ? plainText(below).slice(0, SUMMARY_LENGTH) : '';
  headings.push({ level: Number(token.tag.slice(1)), id, text, summary });
}

function plainText(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : type === 'html_inline' ? '' : content))
    .join('');
}

/** Tells cells the heading of their column, which stands before each on a screen too narrow for a table. */
function labelCells(tokens: readonly Token[]): void {
  let labels: string[] = [];
  let column = 0;
  tokens.forEach((token, i) => {
    if (token.type === 'table_open') labels = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') {
      labels.push(plainText(tokens[i + 1]));
      token.attrSet('role', 'columnheader');
    }
    if (token.type === 'td_open') {
      token.attrSet('data-label', labels[column] ?? '');
      token.attrSet('role', 'cell');
      column += 1;
    }
  });
}

function createMarkdown() {
  const md = MarkdownIt({ html: true });
  const { rules } = md.renderer;
  const envOf = (env: unknown) => env as Env;
  rules.heading_close = (tokens, i) => {
    const open = tokens[i - 2];
    const id = open?.attrGet('id') ?? null;
    const level = tokens[i]?.tag ?? 'h2';
    if (id === null || level === 'h1') return `</${level}>\n`;
    const text = escapeHtml(plainText(tokens[i - 1]));
    return ` <a class="anchor" href="#${id}" aria-label="Link to “${text}”">#</a></${level}>\n`;
  };
  rules.fence = (tokens, i, _options, env) => {
    const [language = '', title = ''] = (tokens[i]?.info ?? '').split(' ');
    return codeBlock(tokens[i]?.content ?? '', language, envOf(env).context, title);
  };
  rules.code_block = (tokens, i, _options, env) =>
    codeBlock(tokens[i]?.content ?? '', '', envOf(env).context);
  rules.code_inline = (tokens, i, _options, env) => {
    const name = tokens[i]?.content ?? '';
    const code = `<code>${escapeHtml(name)}</code>`;
    const target = isWithinLink(tokens, i) ? null : envOf(env).context.nameTo(name);
    return target === null ? code : `<a class="name" href="${escapeHtml(target)}">${code}</a>`;
  };
  rules.link_open = (tokens, i, _options, env) => {
    const { context, unlinked } = envOf(env);
    const target = context.linkTo(String(tokens[i]?.attrGet('href') ?? ''));
    unlinked.push(target === null);
    return target === null ? '<span class="path">' : `<a href="${escapeHtml(target)}">`;
  };
  rules.link_close = (_tokens, _i, _options, env) => (envOf(env).unlinked.pop() ? '</span>' : '</a>');
  rules.image = (tokens, i, _options, env) => {
    const token = tokens[i];
    const source = envOf(env).context.linkTo(String(token?.attrGet('src') ?? '')) ?? '';
    return `<img src="${escapeHtml(source)}" alt="${escapeHtml(token?.content ?? '')}" loading="lazy" />`;
  };
  const htmlWithSources = (tokens: readonly Token[], i: number, env: unknown) =>
    withoutComments(tokens[i]?.content ?? '').replace(
      /src="([^"]+)"/g,
      (_, source: string) => `src="${envOf(env).context.linkTo(source) ?? ''}" loading="lazy"`,
    );
  rules.html_block = (tokens, i, _options, env) => htmlWithSources(tokens, i, env);
  rules.html_inline = (tokens, i, _options, env) => htmlWithSources(tokens, i, env);
  rules.table_open = (tokens, i) => {
    const isBare = tokens.slice(i, i + 12).every(({ type, content }) => type !== 'inline' || content === '');
    return `<div class="table${isBare ? ' bare' : ''}"><table role="table">\n`;
  };
  rules.table_close = () => '</table></div>\n';
  rules.tr_open = () => '<tr role="row">';
  rules.thead_open = () => '<thead role="rowgroup">';
  rules.tbody_open = () => '<tbody role="rowgroup">';
  return md;
}

function isWithinLink(tokens: readonly Token[], i: number): boolean {
  const before = tokens.slice(0, i);
  const count = (type: string) => before.filter((token) => token.type === type).length;
  return count('link_open') > count('link_close');
}

function withoutComments(html: string): string {
  return html.replace(/<!--[\s\S]*?-->/g, '');
}

/** A block of code that scrolls by itself, with its caption. */
export function codeBlock(code: string, language: string, context: RenderContext, title = ''): string {
  const caption = context.captionOf(code, language);
  const name = title === '' ? '' : `<figcaption class="file">${escapeHtml(title)}</figcaption>`;
  // A region that scrolls can be reached by keyboard.
  return `<figure class="code">${name}<pre tabindex="0"><code>${highlighted(code, language)}</code></pre>${caption}</figure>\n`;
}

/** The first sentence of a text, for lists and the search. */
export function firstSentence(text: string): string {
  const plain = textOf(text);
  return /^.*?[.;](?=\s|$)/.exec(plain)?.[0].replace(/;$/, '.') ?? plain;
}
