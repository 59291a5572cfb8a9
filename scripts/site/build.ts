import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';
import { settingNames } from '../../src/config.ts';
import { FAILURES } from '../../src/errors.ts';
import { WARNING_CODES } from '../../src/warnings.ts';
import { blocksOf, withoutRecipe } from '../../test/support/markdown.ts';
import { billInWords, billOf, isQuery } from './bills.ts';
import { examplesPage } from './examples.ts';
import { escapeHtml, relativePath, slugOf } from './html.ts';
import { ICON, layout, type NavigationGroup, type SitePage } from './layout.ts';
import { type RenderContext, renderMarkdown } from './markdown.ts';
import { type DocumentPage, type PageGroup, pageGroups, textOfPage } from './pages.ts';
import { type Drawn, drawBills, drawSteps, gatherDrawn } from './pictures.ts';
import { readSchemaModel, type SchemaModel } from './schema-model.ts';
import { groupedTypes, schemaOverview, typePage } from './schema-pages.ts';
import { searchIndex } from './search-index.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = fileURLToPath(new URL('./', import.meta.url));

const EXAMPLES = 'examples.html';
const SCHEMA = 'schema/index.html';
/** Pages that stand for files and folders which are no documents. */
const MADE: Readonly<Record<string, string>> = { schema: SCHEMA, 'docs/bill.txt': EXAMPLES };
const schemaPath = (type: string) => `schema/${type}.html`;

export interface BuiltSite {
  readonly pages: readonly SitePage[];
  /** Bills and prices that its pictures show. */
  readonly drawn: Drawn;
}

/**
 * Builds the site into a folder, from the documents, the SDL, and answers and bills of the gateway over the
 * sandbox. Nothing is asked of another host.
 */
export async function buildSite(folder: string): Promise<BuiltSite> {
  const groups = pageGroups(ROOT);
  const model = readSchemaModel();
  const texts = new Map(groups.flatMap(({ pages }) => pages).map((page) => [page, textOfPage(page, ROOT)]));
  const [captions, drawn, examples] = await Promise.all([
    captionsOf([...texts.values()]),
    gatherDrawn(ROOT),
    examplesPage(ROOT),
  ]);
  const assets = new Map<string, string>();
  const contextOf = (path: string, file: string) =>
    createContext({ path, file, groups, model, captions, assets });

  const pages: SitePage[] = [];
  for (const [page, text] of texts) {
    const { html, title, headings } = renderMarkdown(
      withPictures(text, drawn),
      contextOf(page.path, page.file),
    );
    pages.push({ path: page.path, title, html: isOfSettings(page) ? withSettings(html) : html, headings });
  }
  pages.push({ path: EXAMPLES, title: 'Examples and their bills', ...examples });
  const overview = schemaOverview(model, contextOf(SCHEMA, 'schema/root.graphql'));
  pages.push({ path: SCHEMA, title: 'Schema', ...overview });
  for (const type of model.types) {
    const path = schemaPath(type.name.value);
    const context = contextOf(path, 'schema/root.graphql');
    pages.push({ path, title: type.name.value, ...typePage(type, model, context) });
  }

  rmSync(folder, { recursive: true, force: true });
  const navigation = navigationOf(groups, model);
  for (const page of pages) write(folder, page.path, layout(page, navigation));
  write(folder, 'assets/site.css', readFileSync(`${SOURCES}site.css`, 'utf8'));
  const script = await transformWithOxc(readFileSync(`${SOURCES}browser.ts`, 'utf8'), 'browser.ts');
  write(folder, 'assets/site.js', script.code);
  write(folder, 'assets/search.js', `window.siteIndex = ${JSON.stringify(searchIndex(pages))};\n`);
  write(folder, 'assets/icon.svg', ICON);
  for (const [source, target] of assets) {
    mkdirSync(dirname(join(folder, target)), { recursive: true });
    copyFileSync(`${ROOT}${source}`, join(folder, target));
  }
  return { pages, drawn };
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function navigationOf(groups: readonly PageGroup[], model: SchemaModel): NavigationGroup[] {
  const [start, ...others] = groups.map(({ name, pages }) => ({ name, links: pages }));
  const reference: NavigationGroup = {
    name: 'Schema',
    links: [
      { path: SCHEMA, name: 'All types' },
      { path: schemaPath('Query'), name: 'Query' },
      { path: schemaPath('Subscription'), name: 'Subscription' },
      { path: EXAMPLES, name: 'Examples and their bills' },
    ],
  };
  const types: NavigationGroup = {
    name: 'Types',
    isFolded: true,
    links: groupedTypes(model)
      .slice(1)
      .flatMap(([, all]) => all)
      .map(({ name }) => ({ path: schemaPath(name.value), name: name.value, isCode: true })),
  };
  return [...(start === undefined ? [] : [start]), reference, types, ...others];
}

/** Cost of each operation of the documents, by its text. */
async function captionsOf(texts: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const captions = new Map<string, string>();
  for (const code of texts.flatMap((text) => blocksOf(withoutRecipe(text), 'graphql'))) {
    if (!captions.has(code) && isQuery(code, 'graphql')) captions.set(code, billInWords(await billOf(code)));
  }
  return captions;
}

const isOfSettings = ({ file }: DocumentPage) => file === 'docs/settings.md';

/** Gives each setting a name in addresses, at its first place in the text. */
function withSettings(html: string): string {
  return settingNames.reduce(
    (text, name) =>
      text.replace(`<a class="name" href="#${name}">`, `<a class="name" id="${name}" href="#${name}">`),
    html,
  );
}

/** A document with the pictures that it names; as blocks of HTML, which Markdown leaves alone. */
function withPictures(text: string, { bills, steps }: Drawn): string {
  return text
    .replace('<!-- picture: bills -->', () => drawBills(bills))
    .replace('<!-- picture: steps -->', () => drawSteps(steps));
}

interface ContextParts {
  /** Of the page, within the site. */
  readonly path: string;
  /** Of the document, within the repository. */
  readonly file: string;
  readonly groups: readonly PageGroup[];
  readonly model: SchemaModel;
  readonly captions: ReadonlyMap<string, string>;
  /** Files that pages show, by their source, with their place in the site. Grows as pages are rendered. */
  readonly assets: Map<string, string>;
}

function createContext({ path, file, groups, model, captions, assets }: ContextParts): RenderContext {
  const pages = groups.flatMap((group) => group.pages);
  const names = namesOf(pages, model);
  return {
    linkTo(href) {
      if (/^(https?:|mailto:|#)/.test(href)) return href;
      const [target = '', anchor] = href.split('#');
      const source = normalize(join(dirname(file), target));
      if (/\.(png|svg)$/.test(source)) {
        const asset = `assets/${source.split('/').at(-1)}`;
        assets.set(source, asset);
        return relativePath(path, asset);
      }
      const made = MADE[source];
      if (made !== undefined) return relativePath(path, made);
      const page = pageOf(pages, source, anchor);
      if (page === undefined) return null;
      const isWhole = anchor === undefined || (page.section !== undefined && anchor === slugOf(page.section));
      return relativePath(path, page.path) + (isWhole ? '' : `#${anchor}`);
    },
    nameTo(name) {
      const target = names.get(name);
      if (target === undefined) return null;
      const [page, anchor] = target.split('#');
      if (page !== path) return relativePath(path, target);
      return anchor === undefined ? '#content' : `#${anchor}`;
    },
    captionOf(code) {
      const caption = captions.get(code);
      return caption === undefined ? '' : `<figcaption class="bill">${escapeHtml(caption)}</figcaption>`;
    },
  };
}

/** The page of a document: of its section, if the anchor names one that has a page of its own. */
function pageOf(
  pages: readonly DocumentPage[],
  source: string,
  anchor: string | undefined,
): DocumentPage | undefined {
  if (source === 'README.md') {
    const ofSection = pages.find(({ section }) => section !== undefined && slugOf(section) === anchor);
    return ofSection ?? pages.find(({ path }) => path === 'index.html');
  }
  return (
    pages.find((page) => page.file === source) ?? pages.find((page) => page.file === `${source}/README.md`)
  );
}

/**
 * Addresses of the descriptions of names that documents put between backticks: types, fields, codes,
 * settings.
 */
function namesOf(pages: readonly DocumentPage[], model: SchemaModel): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const type of model.types) {
    const name = type.name.value;
    names.set(name, schemaPath(name));
    for (const { name: member } of 'fields' in type ? (type.fields ?? []) : [])
      names.set(`${name}.${member.value}`, `${schemaPath(name)}#${member.value}`);
  }
  const settings = pages.find(isOfSettings);
  for (const name of settings === undefined ? [] : settingNames) names.set(name, `${settings?.path}#${name}`);
  const errors = pages.find(({ file }) => file === 'docs/errors.md')?.path;
  for (const code of [...Object.keys(FAILURES), ...WARNING_CODES])
    if (errors !== undefined && hasHeading('docs/errors.md', code))
      names.set(code, `${errors}#${slugOf(code)}`);
  return names;
}

function hasHeading(file: string, code: string): boolean {
  return (
    existsSync(`${ROOT}${file}`) && readFileSync(`${ROOT}${file}`, 'utf8').includes(`\n## \`${code}\`\n`)
  );
}
