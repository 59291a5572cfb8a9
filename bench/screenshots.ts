/**
 * `npm run screenshots`: the pictures of the README, taken of GraphiQL over the sandbox. `npm run screenshots -- <folder>`
 * takes every situation, or those named after it, at every size, in light and in dark, for people to look through before a
 * change goes out.
 */
import { mkdirSync } from 'node:fs';
import { argv } from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { linkTo } from '../src/graphiql/share/link.ts';
import { openBrowser } from '../test/support/chromium.ts';
import { openProgram } from '../test/support/program.ts';

const README_FOLDER = 'docs/images';
const LAPTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const SIZES = {
  1440: { width: 1440, height: 900 },
  1024: { width: 1024, height: 768 },
  768: { width: 768, height: 1024 },
  '390-portrait': PHONE,
  '390-landscape': { width: 844, height: 390 },
  '667-landscape': { width: 667, height: 375 },
  320: { width: 320, height: 256 },
};

/** Up to this, there is one side only, and nothing to widen. */
const NARROW = 700;

/** Long enough for a picture to have been drawn. */
const DRAWN_MS = 1_000;

interface Situation {
  readonly tab?: string;
  /** An operation that is brought by a link, in place of a tab. */
  readonly query?: string;
  /** Of the right side. */
  readonly side?: string;
  /** Of the left. */
  readonly pane?: string;
  /** Nothing is run. */
  readonly isFirst?: boolean;
  readonly isWide?: boolean;
  readonly hasForcedColours?: boolean;
  readonly further?: (page: Page) => Promise<void>;
}

interface Shot extends Situation {
  readonly name: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
}

const explain = (page: Page) => page.getByRole('button', { name: 'Explain' }).click();

const README: readonly Shot[] = [
  { name: 'light', tab: 'CountryCard', isFirst: true },
  { name: 'dark', tab: 'OverTime', side: 'Picture', colorScheme: 'dark' },
  { name: 'chart', tab: 'OverTime', side: 'Picture' },
  { name: 'map', tab: 'AllCountries', side: 'Picture' },
  { name: 'cost', tab: 'Cost', side: 'Cost', further: explain },
  { name: 'errors', tab: 'Errors', side: 'Errors' },
  { name: 'phone', tab: 'CountryCard', viewport: PHONE },
];

/** Some of it is below zero, and not all countries have it. */
const GROWTH = '{ countries { name observation(metricKey: "net_migration_total") { value year } } }';
const MANY_LINES =
  '{ countries { name observations(metricKeys: ["population_total"], fromYear: 1990) { year value } } }';

const SERIES =
  '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2000) { year value } } }';
const TWO_INDICATORS =
  '{ countries { name a: observations(metricKeys: ["gdp_per_capita_current_usd"], fromYear: 2010) { value } b: observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }';

const MISSPELT = '{ country(code: "KE") { name observation(metricKey: "life_expectancyy") { value year } } }';

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
  multiples: {
    query: MANY_LINES,
    side: 'Picture',
    isWide: true,
    further: async (page) => {
      await page.getByLabel('Draw').selectOption('multiples');
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
      await page.getByLabel('Filter name').scrollIntoViewIfNeeded();
    },
  },
  'forced-colours': { tab: 'OverTime', side: 'Picture', hasForcedColours: true },
  lessons: { tab: 'CountryCard', pane: 'Lessons', isFirst: true },
  catalogue: {
    tab: 'CountryCard',
    pane: 'Catalogue',
    isFirst: true,
    further: (page) => page.getByText('207 of 207 indicators').waitFor(),
  },
  docs: { tab: 'CountryCard', pane: 'Documentation Explorer', isFirst: true },
};

const everyShot = (situations: readonly string[]) =>
  Object.entries(SITUATIONS)
    .filter(([situation]) => situations.length === 0 || situations.includes(situation))
    .flatMap(([situation, what]) =>
      Object.entries(SIZES).flatMap(([size, viewport]) =>
        (['light', 'dark'] as const).map((colorScheme) => ({
          ...what,
          name: `${situation}-${size}-${colorScheme}`,
          colorScheme,
          viewport,
        })),
      ),
    );

const [, , folder, ...situations] = argv;
await takeAll(folder ?? README_FOLDER, folder === undefined ? README : everyShot(situations));

async function takeAll(folder: string, shots: readonly Shot[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
  const browser = await openBrowser();
  for (const shot of shots) {
    const path = `${folder}/${shot.name}.png`;
    await take(browser, `${new URL(program.url).origin}/graphiql`, shot, path);
    console.log(path);
  }
  await browser.close();
}

async function take(browser: Browser, url: string, shot: Shot, path: string): Promise<void> {
  const { tab, query, side, pane, isFirst = false, isWide = false, further } = shot;
  const { colorScheme = 'light', viewport = LAPTOP } = shot;
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme, forcedColors: shot.hasForcedColours === true ? 'active' : 'none' });
  await page.goto(query === undefined ? url : (linkTo(url, { query, variables: '' }) ?? url));
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  if (tab !== undefined) {
    await page.locator('.graphiql-tabs').getByRole('button', { name: tab, exact: true }).click();
  }
  if (!isFirst) {
    await page.getByRole('button', { name: /Execute/ }).click();
    await page.locator('.of, .graphiql-response .view-line').first().waitFor();
  }
  if (side !== undefined) await page.getByRole('tab', { name: side }).click();
  if (isWide && viewport.width > NARROW) await page.getByRole('button', { name: 'Wide' }).click();
  if (pane !== undefined) await page.getByRole('button', { name: `Show ${pane}` }).click();
  await further?.(page);
  await page.waitForTimeout(DRAWN_MS);
  await page.screenshot({ path });
  await context.close();
}
