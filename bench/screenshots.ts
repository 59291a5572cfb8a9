/**
 * `npm run screenshots`: takes the README's screenshots of GraphiQL over the sandbox. `npm run screenshots -- <folder>` takes
 * every situation, or those named after it, at every size, in light and dark mode, in forced colours and in print, for
 * visual review. `--before <revision>` takes those of another revision too, and writes a page that shows each pair.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { linkTo } from '../clients/graphiql/src/share/link.ts';
import { openBrowser } from '../test/support/chromium.ts';
import { openRevision, serveCheckout } from './checkout.ts';

const README_FOLDER = 'docs/images';
const LAPTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const SIZES = {
  1440: { width: 1440, height: 900 },
  '1366x768': { width: 1366, height: 768 },
  1024: { width: 1024, height: 768 },
  768: { width: 768, height: 1024 },
  '812x375': { width: 812, height: 375 },
  '667x375': { width: 667, height: 375 },
  390: PHONE,
  /** A window of 1280 × 1024 at 400 % zoom. */
  320: { width: 320, height: 256 },
};
type Size = keyof typeof SIZES;

/** Sizes that one page is resized to. Below `NARROW`, GraphiQL has one side only and starts differently, so that takes another page. */
const SERIES_OF_SIZES: readonly (readonly Size[])[] = [
  [1440, '1366x768', 1024, 768, '812x375'],
  [390, '667x375', 320],
];

const NARROW = 700;

/** A4 without its margins, in pixels. */
const PAPER = { width: 718, height: 1016 };

/** Long enough for a chart to be drawn. */
const DRAWN_MS = 1_000;

interface Situation {
  readonly tab?: string;
  /** An operation that is opened by a link, instead of a tab. */
  readonly query?: string;
  /** The page of a public document, instead of GraphiQL. */
  readonly page?: string;
  /** Tab of the right side. */
  readonly side?: string;
  /** Pane of the left side. */
  readonly pane?: string;
  /** The operation is not run. */
  readonly isFirst?: boolean;
  readonly isWide?: boolean;
  /** Without scripts. */
  readonly isBare?: boolean;
  readonly further?: (page: Page) => Promise<void>;
}

interface Viewport {
  readonly width: number;
  readonly height: number;
}

interface Shot extends Situation {
  readonly name: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: Viewport;
}

const explain = (page: Page) => page.getByRole('button', { name: 'Explain' }).click();

const README: readonly Shot[] = [
  { name: 'cost', tab: 'Cost', side: 'Cost', further: explain },
  { name: 'light', tab: 'CountryCard', isFirst: true },
  { name: 'dark', tab: 'OverTime', side: 'Picture', colorScheme: 'dark' },
  { name: 'chart', tab: 'OverTime', side: 'Picture' },
  { name: 'map', tab: 'AllCountries', side: 'Picture' },
  { name: 'errors', tab: 'Errors', side: 'Errors' },
  { name: 'phone', tab: 'CountryCard', viewport: PHONE },
];

/** Some values are negative, and some countries have none. */
const GROWTH = '{ countries { name observation(metricKey: "net_migration_total") { value year } } }';
const MANY_LINES =
  '{ countries { name observations(metricKeys: ["population_total"], fromYear: 1990) { year value } } }';

const SERIES =
  '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2000) { year value } } }';
const TWO_INDICATORS =
  '{ countries { name a: observations(metricKeys: ["gdp_per_capita_current_usd"], fromYear: 2010) { value } b: observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }';

/** Latest figures of different years, one of them old, and a country without a figure. */
const RANKING =
  '{ observations(countryCodes: ["KE", "NG", "ER", "SO", "ZW", "EH"], metricKeys: ["gdp_current_usd"], latest: true, scope: NATIONAL) { value } }';
const MONTHS =
  '{ observations(countryCodes: ["KE", "GH"], metricKeys: ["consumer_price_index"], fromYear: 2018) { value } }';
const BOUNDED =
  '{ countries(codes: ["KE", "NG", "GH", "ZA", "EG"]) { name observations(metricKeys: ["life_expectancy"], fromYear: 1990) { value estimateLow estimateHigh } } }';
const EQUAL_ERRORS =
  '{ a: country(code: "KE") { observation(metricKey: "no such key") { value } } b: country(code: "NG") { observation(metricKey: "no such key") { value } } }';

const MISSPELT = '{ country(code: "KE") { name observation(metricKey: "life_expectancyy") { value year } } }';

const WARNED =
  '{ countries { a: observation(metricKey: "life_expectancy") { value } b: observation(metricKey: "life_expectancyy") { value } } }';
/** Figures with so many digits that labels would take a third of a phone's width. */
const LARGE_NUMBERS =
  '{ countries { observations(metricKeys: ["gdp_current_usd"], fromYear: 1990) { value } } }';
const FEW_BARS =
  '{ countries(codes: ["KE", "NG", "ZA"]) { observation(metricKey: "life_expectancy") { value } } }';

const SITUATIONS: Readonly<Record<string, Situation>> = {
  first: { tab: 'CountryCard', isFirst: true },
  answer: { tab: 'CountryCard' },
  lines: { tab: 'OverTime', side: 'Picture' },
  map: { tab: 'AllCountries', side: 'Picture', isWide: true },
  gaps: { query: GROWTH, side: 'Picture', isWide: true },
  'many-lines': { query: MANY_LINES, side: 'Picture', isWide: true },
  table: {
    tab: 'AllCountries',
    side: 'Picture',
    isWide: true,
    further: (page) => page.getByRole('button', { name: 'Table', exact: true }).click(),
  },
  cost: { tab: 'Cost', side: 'Cost', further: explain },
  errors: { tab: 'Errors', side: 'Errors' },
  warnings: { query: MISSPELT, side: 'Errors' },
  question: {
    isFirst: true,
    further: async (page) => {
      await page.getByRole('button', { name: 'How have three countries fared' }).click();
      await page.locator('.picture svg').first().waitFor();
    },
  },
  'small-pictures': {
    query: MANY_LINES,
    side: 'Picture',
    isWide: true,
    further: async (page) => {
      await page.getByLabel('Draw').selectOption('small-pictures');
    },
  },
  years: {
    query: SERIES,
    side: 'Picture',
    isWide: true,
    further: async (page) => {
      await page.getByLabel('Draw').selectOption('map');
      await page.getByRole('button', { name: 'Year before' }).click();
    },
  },
  scatter: { query: TWO_INDICATORS, side: 'Picture', isWide: true },
  'table-by-year': {
    tab: 'OverTime',
    side: 'Picture',
    isWide: true,
    further: async (page) => {
      await page.getByText(/^Table of \d+ figures$/).click();
      await page.getByLabel('Years as columns').check();
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.getByLabel('Filter country').scrollIntoViewIfNeeded();
    },
  },
  ranking: { query: RANKING, side: 'Picture', isWide: true },
  missing: { query: MONTHS, side: 'Picture', isWide: true },
  'stands-out': {
    query: BOUNDED,
    side: 'Picture',
    isWide: true,
    further: (page) => page.locator('.legend .line', { hasText: 'Ghana' }).click(),
  },
  tip: {
    query: BOUNDED,
    side: 'Picture',
    isWide: true,
    further: async (page) => {
      await page.locator('.frame').first().focus();
      for (const key of ['Home', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    },
  },
  'equal-errors': { query: EQUAL_ERRORS, side: 'Errors' },
  'no-frame': {
    query: MISSPELT,
    further: async (page) => {
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Copy embed' }).click();
    },
  },
  'below-a-warning': { query: WARNED, side: 'Picture' },
  'large-numbers': { query: LARGE_NUMBERS, side: 'Picture' },
  'few-bars': { query: FEW_BARS, side: 'Picture' },
  offline: {
    tab: 'OverTime',
    side: 'Picture',
    further: async (page) => {
      await page.setExtraHTTPHeaders({ 'x-offline': '1' });
      await page
        .locator('.graphiql-execute-button, .side-bar .run')
        .filter({ visible: true })
        .first()
        .click();
      await page.locator('.live.offline').waitFor();
    },
  },
  // Before any script is loaded.
  opening: { isFirst: true, isBare: true },
  followed: { query: BOUNDED, isFirst: true },
  'failed-run': { query: EQUAL_ERRORS, side: 'Picture' },
  'long-rows': {
    query: '{ countries(codes: ["KE", "NG", "GH"]) { code name record } }',
    side: 'Picture',
    further: (page) => page.locator('.charts td .long').first().click(),
  },
  'page-lines': { page: 'lines' },
  'page-bars': { page: 'bars?codes=KE,NG,ZA,EH' },
  'page-map': { page: 'map' },
  'page-scatter': { page: 'scatter' },
  'page-refused': { page: 'lines?codes=K' },
  history: { tab: 'CountryCard', pane: 'History', isFirst: true },
  lessons: { tab: 'CountryCard', pane: 'Lessons', isFirst: true },
  'catalogue-offered': { tab: 'CountryCard', pane: 'Catalogue', isFirst: true },
  catalogue: {
    tab: 'CountryCard',
    pane: 'Catalogue',
    isFirst: true,
    further: async (page) => {
      const load = page.getByRole('button', { name: 'Load the catalogue' });
      const all = page.getByText('207 of 207 indicators');
      await load.or(all).first().waitFor();
      // Once it is cached, it appears without a click.
      if (await load.isVisible()) await load.click();
      await all.waitFor();
    },
  },
  docs: { tab: 'CountryCard', pane: 'Documentation Explorer', isFirst: true },
};

/** Timeout of each step of a situation, in milliseconds. */
const STEP_MS = 15_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { before: { type: 'string' } },
});
const [folder, ...situations] = positionals;
const browser = await openBrowser();
if (folder === undefined) await takeAllOfReadme();
else if (values.before === undefined) await takeAll(folder);
else await takePairs(folder, values.before);
await browser.close();

async function takeAllOfReadme(): Promise<void> {
  // No cache, so that the screenshots don't depend on their order.
  using served = await serveCheckout('none');
  for (const { name, colorScheme = 'light', viewport = LAPTOP, ...situation } of README) {
    const page = await openAt(viewport, colorScheme);
    await bring(page, situation, viewport.width <= NARROW, served);
    await shoot(page, `${README_FOLDER}/${name}`);
    await page.context().close();
  }
}

/** @returns the files that were written */
async function takeAll(into: string, root?: string): Promise<readonly string[]> {
  mkdirSync(into, { recursive: true });
  using served = await serveCheckout('memory:', root);
  const paths: string[] = [];
  for (const [name, situation] of Object.entries(SITUATIONS)) {
    if (situations.length > 0 && !situations.includes(name)) continue;
    for (const sizes of SERIES_OF_SIZES)
      for (const colorScheme of ['light', 'dark'] as const) {
        const taken = takeSizes(`${into}/${name}`, situation, sizes, colorScheme, served);
        // An older revision may lack what the situation shows.
        if (root === undefined) paths.push(...(await taken));
        else await taken.catch((error) => console.log(`${into}/${name}: ${String(error).split('\n')[0]}`));
      }
  }
  return paths;
}

async function takePairs(into: string, before: string): Promise<void> {
  using revision = openRevision(before);
  await takeAll(`${into}/before`, revision.root);
  const names = (await takeAll(`${into}/after`)).map((path) => basename(path));
  const pairs = names.map((name) => {
    const images = ['before', 'after'].map((when) => `<img src="${when}/${name}" alt="${when}" width="49%">`);
    return `<h2>${name}</h2>${images.join(' ')}`;
  });
  writeFileSync(`${into}/index.html`, `<!doctype html><title>${before} and now</title>${pairs.join('\n')}`);
}

/** URLs of GraphiQL and of public pages. */
type Served = Pick<Awaited<ReturnType<typeof serveCheckout>>, 'graphiql' | 'pages'>;

/**
 * Takes a situation at several sizes, the first also in forced colours and, if it is wide, on paper.
 * @returns the files that were written
 */
async function takeSizes(
  path: string,
  situation: Situation,
  sizes: readonly Size[],
  colorScheme: 'light' | 'dark',
  served: Served,
): Promise<readonly string[]> {
  const [first = 1440] = sizes;
  const page = await openAt(SIZES[first], colorScheme);
  const taken: string[] = [];
  try {
    await bring(page, situation, SIZES[first].width <= NARROW, served);
    for (const size of sizes) {
      await page.setViewportSize(SIZES[size]);
      taken.push(await shoot(page, `${path}-${size}-${colorScheme}`));
    }
    if (colorScheme === 'light') {
      await page.setViewportSize(SIZES[first]);
      await page.emulateMedia({ forcedColors: 'active' });
      taken.push(await shoot(page, `${path}-${first}-forced`));
      await page.emulateMedia({ forcedColors: 'none' });
      if (first === 1440) {
        await page.setViewportSize(PAPER);
        await page.emulateMedia({ media: 'print' });
        taken.push(await shoot(page, `${path}-print`, true));
      }
    }
    return taken;
  } finally {
    await page.context().close();
  }
}

async function openAt(viewport: Viewport, colorScheme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({ viewport, colorScheme });
  context.setDefaultTimeout(STEP_MS);
  return context.newPage();
}

async function bring(
  page: Page,
  situation: Situation,
  isNarrow: boolean,
  { graphiql: url, pages }: Served,
): Promise<void> {
  const { tab, query, side, pane, isFirst = false, isWide = false, isBare = false, further } = situation;
  if (situation.page !== undefined) {
    await page.goto(pages + situation.page, { waitUntil: 'networkidle' });
    return;
  }
  if (isBare) {
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(url);
    return;
  }
  await page.goto(query === undefined ? url : (linkTo(url, { query, variables: '' }) ?? url));
  await page.locator('.graphiql-editors').dispatchEvent('pointerdown');
  // Attached is enough: on a narrow page, a link shows another side than the editor.
  await page.locator('.graphiql-query-editor .view-line').first().waitFor({ state: 'attached' });
  if (tab !== undefined) {
    await page.locator('.graphiql-tabs').getByRole('button', { name: tab, exact: true }).click();
  }
  if (!isFirst) {
    await page.locator('.start').getByRole('button', { name: 'Run this operation' }).click();
    await page.locator('.of, .graphiql-response .view-line').filter({ visible: true }).first().waitFor();
  }
  if (side !== undefined) await page.getByRole('tab', { name: side }).click();
  if (isWide && !isNarrow) await page.getByRole('button', { name: 'Wide' }).click();
  if (pane !== undefined) await page.getByRole('button', { name: `Show ${pane}` }).click();
  await further?.(page);
}

async function shoot(page: Page, name: string, fullPage = false): Promise<string> {
  await page.waitForTimeout(DRAWN_MS);
  const path = `${name}.png`;
  await page.screenshot({ path, fullPage });
  console.log(path);
  return path;
}
