/** `npm run screenshots`: the pictures of the README, taken of GraphiQL over the sandbox. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/support/chromium.ts';
import { openProgram } from '../test/support/program.ts';

const FOLDER = 'docs/images';
const LAPTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** Long enough for a picture to have been drawn. */
const DRAWN_MS = 1_000;

interface Shot {
  readonly name: string;
  readonly tab: string;
  readonly pane?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly further?: (page: Page) => Promise<void>;
}

const SHOTS: readonly Shot[] = [
  { name: 'light', tab: 'CountryCard', pane: 'Documentation Explorer' },
  { name: 'dark', tab: 'OverTime', pane: 'Chart', colorScheme: 'dark' },
  { name: 'chart', tab: 'OverTime', pane: 'Chart' },
  { name: 'map', tab: 'AllCountries', pane: 'Chart' },
  {
    name: 'cost',
    tab: 'Cost',
    pane: 'Cost',
    further: (page) => page.getByRole('button', { name: 'Explain' }).click(),
  },
  { name: 'errors', tab: 'Errors', pane: 'Errors' },
  { name: 'phone', tab: 'CountryCard', pane: 'Cost', viewport: PHONE },
];

mkdirSync(FOLDER, { recursive: true });
await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
const browser = await openBrowser();
for (const { name, tab, pane, colorScheme = 'light', viewport = LAPTOP, further } of SHOTS) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(`${new URL(program.url).origin}/graphiql`);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.locator('.graphiql-tabs').getByRole('button', { name: tab, exact: true }).click();
  if (pane !== undefined) await page.getByRole('button', { name: `Show ${pane}` }).click();
  await page.getByRole('button', { name: /Execute/ }).click();
  await page.locator('.graphiql-response .view-line').nth(3).waitFor();
  await further?.(page);
  await page.waitForTimeout(DRAWN_MS);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
  await context.close();
  console.log(`${FOLDER}/${name}.png`);
}
await browser.close();
