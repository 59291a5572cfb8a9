import axe, { type AxeResults } from 'axe-core';
import { describe, expect, it } from 'vitest';
import { mendedQuery, mendedVariables } from '../../clients/graphiql/src/mended.ts';
import { hasChromium } from '../support/chromium.ts';
import { run, scenesOfGraphiql, side, write, written } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

describe('a name that is mended', () => {
  it.for([
    ['{ a(key: "x") b(key: "xy", keys: ["x"]) } # "x"', '{ a(key: "z") b(key: "xy", keys: ["z"]) } # "x"'],
    ['{ a(key: "x"', '{ a(key: "x"'],
  ] as const)('a name that is mended is a text of the operation alone: %s', ([query, mended]) => {
    expect(mendedQuery(query, 'x', 'z')).toBe(mended);
  });

  it('a name that is mended is a value of the variables, and no name of one', () => {
    expect(mendedVariables('{ "x": ["x", "xy"], "y": "x" }', 'x', 'z')).toBe(
      '{ "x": ["z", "xy"], "y": "z" }',
    );
  });
});

describe.skipIf(!hasChromium)('warnings', () => {
  it('warnings have a badge and a place in Errors and Picture, and a button that mends the key', async () => {
    await using scene = await open();
    const { page } = scene;
    await write(
      page,
      '{ country(code: "KE") { a: observation(metricKey: "life_expectancyy") { value } b: observation(metricKey: "population_total") { value } } }',
    );
    const { extensions } = await run(page);
    expect(extensions.warnings[0].name).toBe('life_expectancyy');
    await expect.poll(() => page.locator('.badge.warned').innerText()).toMatch(/1/);
    await expect.poll(() => page.getByRole('tab', { name: 'Errors' }).innerText()).toMatch(/warning/);
    await side(page, 'Picture');
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await expect.poll(() => warnings.innerText()).toContain('life_expectancyy');
    await side(page, 'Errors');
    await expect.poll(() => warnings.innerText()).toContain('UNKNOWN_INDICATOR');
    const { violations } = await page
      .evaluate(axe.source)
      .then(() => page.evaluate<AxeResults>("axe.run('.graphiql-response')"));
    expect(violations.map(({ id }) => id)).toEqual([]);
    // The gateway knows keys of like spelling if it holds the catalogue; else the page asks for it.
    await warnings.getByRole('button', { name: 'Look for it in the catalogue (two calls' }).click();
    await warnings.getByRole('button', { name: 'Use life_expectancy and run' }).click();
    await expect.poll(() => written(page)).toContain('metricKey: "life_expectancy"');
    await expect.poll(() => page.locator('.badge.warned').count()).toBe(0);
    await expect.poll(() => page.locator('.side-panel').innerText()).toContain('had no errors');
    expect(scene.problems).toEqual([]);
  });
});
