import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { neighboursOf, REGIONS } from '../../clients/graphiql/src/chart/country-groups.ts';
import { SAMPLES } from '../../clients/graphiql/src/samples.ts';
import { linkTo } from '../../clients/graphiql/src/share/link.ts';
import { LESSONS } from '../../clients/graphiql/src/tabs.ts';
import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { hasChromium } from '../support/chromium.ts';
import { openCatalogue, run, scenesOfGraphiql, side, tab } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

describe('countries go together', () => {
  it('countries go together as the service has their regions and borders', () => {
    const codesOf = (region: string) =>
      countries.filter((one) => one.region === region).map(({ code }) => code.toUpperCase());
    for (const [name, codes] of REGIONS) expect(codes).toEqual(codesOf(name));
    expect(REGIONS.flatMap(([, codes]) => codes)).toHaveLength(countries.length);
    // The record of the Comoros states no borders; they have none.
    for (const { code, record } of countries)
      expect(neighboursOf([code.toUpperCase()])).toEqual(
        (record.borders ?? []).map((one) => one.toUpperCase()),
      );
    expect(neighboursOf(['KE', 'UG'])).toEqual(['CD', 'ET', 'RW', 'SO', 'SS', 'TZ']);
  });
});

/** Lessons and samples with figures of countries; those of an exchange are of its own. */
const WITH_FIGURES = [...LESSONS, ...SAMPLES.flatMap(({ samples }) => samples)].filter(
  ({ query }) => /observations?\b/.test(query) && !/tickers|noSuchKey|no such key/.test(query),
);

/** Names of countries that drawings, legends and tables of the answer have, or notes say to have no figure. */
const namesIn = (page: Page) =>
  page
    .locator('.charts .picture :is(svg text, td, .under p, .legend .line)')
    .allTextContents()
    .then((texts) => {
      const all = countries
        .map(({ name }) => name)
        .filter((name) => texts.some((text) => text.includes(name)));
      return all.filter((name) => !all.some((other) => other !== name && other.includes(name)));
    });

const picker = (page: Page) => ({
  open: page.locator('.countries summary'),
  name: page.getByLabel('Search countries'),
  tick: (name: string) =>
    page.locator('.picker').getByRole('checkbox', { name: new RegExp(`^${name}( shown)?$`) }),
  button: (name: RegExp) => page.locator('.picker').getByRole('button', { name }),
});

describe.skipIf(!hasChromium)('a country picker', () => {
  const sceneOf = shared();

  it('a country picker leads from any sample to two named countries, and to neighbours', {
    timeout: 180_000,
  }, async () => {
    const scene = sceneOf();
    const { origin, program } = scene;
    const viewport = { width: 1366, height: 768 };
    const context = await scene.page.context().browser()?.newContext({ viewport });
    expect(WITH_FIGURES).toHaveLength(8);
    for (const { query, ...rest } of WITH_FIGURES) {
      const variables = 'variables' in rest ? (rest.variables ?? '') : '';
      const page = (await context?.newPage()) as Page;
      await page.goto(linkTo(`${origin}/graphiql`, { query, variables }) ?? '');
      await page.getByRole('button', { name: 'Run this operation' }).click();
      await side(page, 'Picture');
      const { open, name, tick, button } = picker(page);
      await open.click();
      await name.fill('Kenya');
      await tick('Kenya').click();
      await tick('Uganda').click();
      await expect.poll(() => button(/^Only these 2/).innerText()).toMatch(/ \((no|\d+) calls?\)$/);
      const price = Number(/\d+(?= calls?)/.exec(await button(/^Only these 2/).innerText())?.[0] ?? 0);
      program.requests();
      await button(/^Only these 2/).click();
      await expect.poll(() => namesIn(page)).toEqual(['Kenya', 'Uganda']);
      expect(program.requests()).toHaveLength(price);
      await open.click();
      await name.fill('Ghana');
      if (/countries \{/.test(query)) {
        // None of the others is left out for good: those that are taken out are put back at no call.
        await tick('Ghana').click();
        await button(/^Add 1/).click();
        await expect.poll(() => namesIn(page)).toEqual(['Ghana', 'Kenya', 'Uganda']);
        await open.click();
      }
      await name.fill('Kenya');
      await tick('Kenya').click();
      await button(/^Neighbours of Kenya \(5\)/).click();
      await button(/^Only these 6/).click();
      await expect.poll(() => open.innerText()).toContain('(6)');
      await expect
        .poll(() => namesIn(page))
        .toEqual(['Ethiopia', 'Kenya', 'Somalia', 'South Sudan', 'Tanzania', 'Uganda']);
      await page.close();
    }
    await context?.close();
    expect(scene.problems).toEqual([]);
  });

  it('a country picker is worked by keyboard, says what it has done, and has no flaw for a screen reader', async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    const { open, name, button } = picker(page);
    await open.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type('zamb');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.ticked').innerText()).toBe('Ticked: Zambia.');
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run('.charts')")) as AxeResults;
    expect(violations.map(({ id }) => id)).toEqual([]);
    await button(/^Add 1/).press('Enter');
    await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(4);
    expect(await page.locator('.countries [role="status"]').textContent()).toContain('Zambia');
    expect(await open.evaluate((summary) => summary === document.activeElement)).toBe(true);
  });

  it('a country picker takes rows out of a table at no call, and puts them back', async () => {
    const { page, program } = sceneOf();
    await tab(page, 'AllCountries');
    await run(page);
    await side(page, 'Picture');
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    const rows = page.locator('.charts .table tbody tr');
    await expect.poll(() => rows.count()).toBe(54);
    program.requests();
    const { open, name, tick, button } = picker(page);
    await open.click();
    await name.fill('ivory coast');
    await page.keyboard.press('Enter');
    await tick('Mali').click();
    await button(/^Only these 2 \(no call\)/).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await page.locator('.charts').innerText()).toContain('52 are taken out');
    await open.click();
    await button(/^All$/).click();
    await button(/^Only these 54/).click();
    await expect.poll(() => rows.count()).toBe(54);
    expect(program.requests()).toEqual([]);
  });

  it('a country of the catalogue is ticked beside the picture that is there, which stays', async () => {
    const scene = sceneOf();
    const { page } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await page.getByRole('button', { name: 'Pictures' }).click();
    const before = await page.locator('.frame.lines g.top path').count();
    await openCatalogue(page);
    await page.getByRole('button', { name: /^MZ/ }).click();
    await expect.poll(() => page.locator('.ticked').innerText()).toBe('Ticked: Mozambique.');
    expect(await page.locator('.frame.lines g.top path').count()).toBe(before);
    expect(await page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    expect(scene.problems).toEqual([]);
  });
});
