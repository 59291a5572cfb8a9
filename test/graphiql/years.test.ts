import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { withScope, withYears } from '../../clients/graphiql/src/chart/operation-edit.ts';
import { hasChromium } from '../support/chromium.ts';
import { drawAs, newTab, run, scenesOfGraphiql, side, write, written } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const sceneOf = shared();

const SERIES =
  '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }';

/** Shows the series of all countries as a map. */
async function asMap(page: Page) {
  await write(page, SERIES);
  await run(page);
  await drawAs(page, 'Map');
  await expect.poll(() => page.locator('.frame.map g.with-figure path').count()).toBe(54);
}

const slider = (page: Page) => page.getByRole('slider', { name: 'Slide through the years' });
const shownYear = (page: Page) => page.locator('.years output').first().innerText();
const legendOf = (page: Page) => page.locator('.frame.map .map-legend').textContent();

describe.skipIf(!hasChromium)('the years of a map', () => {
  it('the years of a map are asked for on one click where the map has the latest figures alone, for the price that it says', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await page.locator('.start').getByRole('button', { name: 'How long do people live' }).click();
    await page.locator('.frame.map g.with-figure path').first().waitFor();
    program.requests();
    const years = page.getByRole('button', { name: 'Years since 1990' });
    await expect.poll(() => years.innerText()).toMatch(/\d calls?\)$/);
    expect(program.requests()).toEqual([]);
    const calls = Number(/(\d+) calls?\)$/.exec(await years.innerText())?.[1]);
    await years.click();
    await slider(page).waitFor();
    await expect.poll(() => page.locator('.frame.map').count()).toBe(1);
    const asked = program.requests();
    // The price is an expectation: series are seldom longer.
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(calls);
    // The list of countries is held.
    expect(asked.filter((one) => !one.includes('/v1/data'))).toEqual([]);
    await expect
      .poll(() => written(page))
      .toContain('observations(metricKeys: ["life_expectancy"], scope: NATIONAL, fromYear: 1990)');
    await slider(page).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => shownYear(page)).toBe('1990');
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('the years of a map go by slider, by steps and by keyboard, on one scale, at no call', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await asMap(page);
    program.requests();
    await expect.poll(() => shownYear(page)).toBe('latest');
    const legend = await legendOf(page);
    const fills = () =>
      page
        .locator('.frame.map g.with-figure path')
        .evaluateAll((all) => all.map((one) => one.getAttribute('fill')).join());
    const latest = await fills();
    await slider(page).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => shownYear(page)).toBe('2010');
    await expect.poll(() => page.locator('figcaption').innerText()).toContain('2010');
    await expect.poll(fills).not.toBe(latest);
    await expect.poll(() => legendOf(page)).toBe(legend);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => shownYear(page)).toBe('2011');
    await page.getByRole('button', { name: 'Year after' }).click();
    await expect.poll(() => shownYear(page)).toBe('2012');
    await page.getByRole('button', { name: 'Year before' }).click();
    await expect.poll(() => shownYear(page)).toBe('2011');
    await page.getByLabel('Year', { exact: true }).selectOption('');
    await expect.poll(() => shownYear(page)).toBe('latest');
    await expect.poll(fills).toBe(latest);
    const { violations } = await page
      .evaluate(axe.source)
      .then(() => page.evaluate<AxeResults>("axe.run('.charts')"));
    expect(violations.map(({ id }) => id)).toEqual([]);
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('the years of a map play one after the other, until somebody stops them', async () => {
    const { page, program } = sceneOf();
    await newTab(page);
    await asMap(page);
    program.requests();
    const shown = await page
      .locator('.years output')
      .first()
      .evaluateHandle((output) => {
        const years: string[] = [];
        new MutationObserver(() => years.push(output.textContent ?? '')).observe(output, {
          characterData: true,
          childList: true,
          subtree: true,
        });
        return years;
      });
    await page.getByRole('button', { name: 'Play' }).click();
    await expect
      .poll(() => shown.jsonValue().then((years) => years.slice(0, 3)))
      .toEqual(['2010', '2011', '2012']);
    await page.getByRole('button', { name: 'Pause' }).click();
    const stopped = await shownYear(page);
    await page.waitForTimeout(1_200);
    expect(await shownYear(page)).toBe(stopped);
    expect(program.requests()).toEqual([]);
  });

  it('the years of a map do not play where people want no motion', async () => {
    const { page } = sceneOf();
    await newTab(page);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    try {
      await asMap(page);
      expect(await page.getByRole('button', { name: 'Play' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Year before' }).click();
      await expect.poll(() => shownYear(page)).not.toBe('latest');
    } finally {
      await page.emulateMedia({ reducedMotion: 'no-preference' });
    }
  });
});

/** Contrast of two colours by WCAG. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const hex = /^#(..)(..)(..)$/.exec(colour);
    const parts = hex
      ? hex.slice(1).map((part) => Number.parseInt(part, 16))
      : (colour.match(/[\d.]+/g) ?? []).map(Number);
    const [r = 0, g = 0, b = 0] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

describe.skipIf(!hasChromium).for([
  ['light', '#ffffff'],
  ['dark', '#212a3b'],
] as const)('a map on a %s page', ([colorScheme, ground]) => {
  it('a map on a light or a dark page has its highest value stand out the most', async () => {
    const { page } = sceneOf();
    await page.emulateMedia({ colorScheme });
    await newTab(page);
    await write(page, '{ countries { name observation(metricKey: "life_expectancy") { value } } }');
    const { data } = await run(page);
    await page.locator('.frame.map g.with-figure path').first().waitFor();
    const stops = await page
      .locator('.frame.map .map-legend stop')
      .evaluateAll((all) => all.map((one) => one.getAttribute('stop-color') ?? ''));
    await page.emulateMedia({ colorScheme: 'light' });
    expect(data.countries).toHaveLength(54);
    const [least = '', most = ''] = [stops[0], stops.at(-1)];
    expect(contrast(most, ground)).toBeGreaterThan(7);
    expect(contrast(most, ground)).toBeGreaterThan(3 * contrast(least, ground));
  });
});

describe.skipIf(!hasChromium)('a scatter over time', () => {
  it('a scatter over time goes through the years that both indicators have, on the same axes, at no call', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await write(
      page,
      '{ countries { name a: observations(metricKeys: ["gdp_per_capita_current_usd"], fromYear: 2012) { value } b: observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }',
    );
    await run(page);
    await side(page, 'Picture');
    const scatter = page.locator('figure', { has: page.locator('.frame.scatter') });
    const dots = scatter.locator('g.points circle');
    await expect.poll(() => dots.count()).toBeGreaterThan(40);
    program.requests();
    const places = () => dots.evaluateAll((all) => all.map((one) => one.getAttribute('cy')).join());
    const ticks = () => scatter.locator('[aria-label="x-axis tick label"]').textContent();
    const [latest, axis] = [await places(), await ticks()];
    await scatter.getByRole('slider').focus();
    await page.keyboard.press('Home');
    await expect.poll(() => scatter.locator('figcaption').innerText()).toContain('2012');
    await expect.poll(places).not.toBe(latest);
    expect(await ticks()).toBe(axis);
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });
});

describe('the years of an operation', () => {
  it.for([
    [
      '{ countries { observation(metricKey: "a") { value } } }',
      '{ countries { observations(metricKeys: ["a"], scope: NATIONAL, fromYear: 1990) { value } } }',
    ],
    [
      '{ countries { x: observation(metricKey: "a", maxAge: 5) { value } observation(metricKey: "b") { value } } }',
      '{ countries { x: observations(metricKeys: ["a"], scope: NATIONAL, fromYear: 1990, maxAge: 5) { value } observation(metricKey: "b") { value } } }',
    ],
    [
      '{ countries { observation(metricKey: "a") { value } observations(metricKeys: ["b"]) { value } } }',
      '{ countries { observation: observations(metricKeys: ["a"], scope: NATIONAL, fromYear: 1990) { value } observations(metricKeys: ["b"]) { value } } }',
    ],
    [
      '{ observations(metricKeys: ["a"], latest: true) { value } }',
      '{ observations(metricKeys: ["a"], fromYear: 1990) { value } }',
    ],
    [
      'query ($m: String!) { countries { observation(metricKey: $m) { value } } }',
      'query ($m: String!) { countries { observations(metricKeys: [$m], scope: NATIONAL, fromYear: 1990) { value } } }',
    ],
  ] as const)('the years of an operation take the place of the latest figures: %s', ([query, edited]) => {
    expect(withYears(query, '{ "m": "a" }', 'a')?.query).toBe(edited);
  });

  it.for([
    '{ countries { observation(metricKey: "b") { value } } }',
    '{ observations(metricKeys: ["a"]) { value } }',
    '{ observations(latest: true) { value } }',
    '{ coun',
  ])('the years of an operation are left where there are none: %s', (query) => {
    expect(withYears(query, '', 'a')).toBeNull();
  });

  it('the years of an operation may be those of places', () => {
    const query = '{ observations(metricKeys: ["a"], scope: NATIONAL) { value } }';
    expect(withScope(query, '', 'PLACES')?.query).toBe(query.replace('NATIONAL', 'PLACES'));
    expect(withScope('{ observations { value } }', '', 'PLACES')).toBeNull();
  });
});
