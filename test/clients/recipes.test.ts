import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/shared/async/clock.ts';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { openProgram } from '../support/program.ts';
import { areBuilt, FOLDER, type RecipePages, servePages } from './recipe-pages.ts';

/** Time into a minute at which a key is spent. */
const SPENT_AT_MS = 50_000;
const MINUTE_MS = 60_000;
/** One more than the free plan has in a minute: only once the service has refused one does the gateway know. */
const SPENDING = [
  'gdp_current_usd',
  'inflation_cpi_annual_pct',
  'unemployment_rate',
  'net_migration_total',
  'life_expectancy',
  'population_total',
];

const RECIPES = [
  // One request carries both operations of the page, which share their calls.
  { name: 'apollo', figures: 10, first: 2, bill: '0 upstream calls' },
  // Asks by GET: the browser has kept the first answer, as long as that says.
  { name: 'urql', figures: 11, first: 2, bill: '2 upstream calls' },
  { name: 'relay', figures: 10, first: 1, bill: '0 upstream calls' },
  { name: 'tanstack', figures: 5, first: 2, bill: '0 upstream calls' },
] as const;

describe.runIf(hasChromium && areBuilt)('a page of another origin, built with', () => {
  let pages: RecipePages;
  let origin = '';
  let browser: Browser;

  beforeAll(async () => {
    pages = await servePages();
    origin = pages.origin;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await pages.close();
  });

  const gateway = (now = Date.now) =>
    openProgram({
      env: { CACHE_URL: 'memory:', CORS_ORIGINS: origin },
      sandbox: { now },
      clock: { ...systemClock, now },
    });

  async function open(name: string, url: string, key: string, now = Date.now): Promise<Page> {
    const page = await browser.newPage();
    if (now !== Date.now) await page.clock.install({ time: now() });
    await page.goto(`${origin}/${name}/index.html?${new URLSearchParams({ gateway: url, key })}`);
    return page;
  }

  describe.for(RECIPES)('$name', ({ name, figures, first, bill }) => {
    it('a page of another origin shows figures, and takes no call when it is loaded again', async () => {
      await using program = await gateway();
      const page = await open(name, program.url, program.sandbox.keys.team);
      await page
        .locator('svg g')
        .nth(figures - 1)
        .waitFor();
      expect(await page.locator('svg g').count()).toBe(figures);
      expect(await page.locator('svg .none').count()).toBe(0);
      expect(program.sandbox.log.length).toBe(first);
      await page.reload();
      await page
        .locator('svg g')
        .nth(figures - 1)
        .waitFor();
      await expect.poll(() => page.locator('.bill').textContent()).toBe(bill);
      expect(program.sandbox.log.length).toBe(first);
      await page.close();
    });

    it('a page of another origin says so if the key is refused', async () => {
      await using program = await gateway();
      const page = await open(name, program.url, 'made-up');
      const note = page.getByRole('alert').first();
      await note.waitFor();
      await expect.poll(() => note.textContent()).toBe('The key is not accepted.');
      await page.close();
    });
  });

  it.for(RECIPES)(
    'a page of another origin counts down if the key is spent, and asks again by itself: $name',
    async ({ name, figures }) => {
      let nowMs = Date.now() - (Date.now() % MINUTE_MS) + SPENT_AT_MS;
      const now = () => nowMs;
      await using program = await gateway(now);
      const key = program.sandbox.keys.free;
      for (const metric of SPENDING)
        await program.ask(`{ country(code: "RW") { observation(metricKey: "${metric}") { value } } }`, {
          key,
        });
      const before = program.sandbox.log.length;
      const page = await open(name, program.url, key, now);
      const note = page.getByRole('alert').first();
      await note.waitFor();
      expect(await note.textContent()).toMatch(
        /^This minute’s requests are spent\. Asking again in \d+ s\.$/,
      );
      expect(program.sandbox.log.length).toBe(before);
      nowMs += MINUTE_MS;
      await page.clock.fastForward(MINUTE_MS);
      await page
        .locator('svg g')
        .nth(figures - 1)
        .waitFor();
      await expect.poll(() => page.getByRole('alert').count()).toBe(0);
      await page.close();
    },
  );

  it('relay has no null in its types where the schema has none but with an error', () => {
    const types = readFileSync(`${FOLDER}relay/__generated__/mainFigures.graphql.ts`, 'utf8');
    expect(types).toContain('readonly observationsConnection: {\n');
  });

  it('relay goes on to the next page of a connection at no call', async () => {
    await using program = await gateway();
    const page = await open('relay', program.url, program.sandbox.keys.team);
    await page.locator('svg g').nth(9).waitFor();
    const calls = program.sandbox.log.length;
    const years = () => page.locator('svg g text:first-child').allTextContents();
    const before = await years();
    await page.getByRole('button', { name: 'More' }).click();
    await page.locator('svg g').nth(19).waitFor();
    const after = await years();
    expect(after.slice(0, 10)).toEqual(before);
    expect(new Set(after).size).toBe(20);
    expect(program.sandbox.log.length).toBe(calls);
    await expect.poll(() => page.locator('.bill').textContent()).toBe('0 upstream calls');
    await page.close();
  });
});
