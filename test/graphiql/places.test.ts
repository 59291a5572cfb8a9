import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { newTab, run, scenesOfGraphiql, side, write, written } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const sceneOf = shared();

describe.skipIf(!hasChromium)('figures of whole countries and of places', () => {
  it('figures of whole countries and of places are told apart at no call where the answer has both', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await write(page, '{ country(code: "SO") { name observations(metricKeys: ["idps_total"]) { value } } }');
    await run(page);
    await side(page, 'Picture');
    const names = async () => (await page.locator('.legend li').allInnerTexts()).map((name) => name.trim());
    await expect.poll(async () => (await names()).length).toBeGreaterThan(1);
    const all = await names();
    program.requests();
    await page.getByLabel('Figures of').selectOption('PLACES');
    await expect.poll(async () => (await names()).length).toBe(all.length - 1);
    await page.getByLabel('Figures of').selectOption('NATIONAL');
    await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(1);
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('figures of whole countries and of places are asked for where the operation asks for others, if they are missing', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await write(
      page,
      '{ country(code: "SO") { name observations(metricKeys: ["idps_total"], scope: NATIONAL, fromYear: 2020) { value } } }',
    );
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines g.top path').first().waitFor();
    program.requests();
    await page.getByLabel('Figures of').selectOption('PLACES');
    await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBeGreaterThan(1);
    await expect.poll(() => written(page)).toContain('scope: PLACES');
    // The series that is held has them.
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });
});
