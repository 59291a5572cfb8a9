import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { answered, run, saved, scenesOfGraphiql, write } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const sceneOf = shared();

/** All indicators of all countries: eleven thousand figures. */
const ALL =
  '{ countries { code name observations(latest: true) { indicator { key name } value year unit } } }';

/** Time that the page may do nothing else. */
const MAX_BLOCK_MS = 100;

/** A machine that has others to serve takes longer at times: the best of so many counts. */
const TRIES = 8;

const watch = (page: Page) =>
  page.evaluate(() => {
    const blocks: number[] = [];
    Object.assign(window, { blocks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) blocks.push(Math.round(duration));
    }).observe({ entryTypes: ['longtask'] });
  });

/** Presses a button as a person does: to look for it by its role, the page would be searched from the outside. */
const press = (page: Page, selector: string) =>
  page.evaluate((which) => document.querySelector<HTMLElement>(which)?.click(), selector);

async function runAgain(page: Page): Promise<void> {
  const arrived = page.waitForResponse((response) => response.url().endsWith('/graphql'));
  await press(page, '.graphiql-execute-button');
  await (await arrived).finished();
}

/** The longest block, in milliseconds, of something that is done, until that shows and all is quiet. */
async function longestBlock(page: Page, act: () => Promise<void>, shows: string): Promise<number> {
  await page.evaluate('window.blocks.splice(0)');
  await act();
  await page.locator(shows).first().waitFor();
  await page.waitForTimeout(1_000);
  return page.evaluate<number>('Math.max(0, ...window.blocks.splice(0))');
}

describe.skipIf(!hasChromium)('54 countries by 207 indicators', () => {
  it('stand in the editor as far as anybody reads, and are handed out whole', async () => {
    const scene = sceneOf();
    const { page } = scene;
    await write(page, ALL);
    await press(page, '#side-answer');
    const { data } = await run(page);
    const bar = page.locator('.live.long');
    await expect.poll(() => bar.innerText()).toMatch(/The answer has \d\.\d MB: you see its beginning/);
    await expect.poll(() => answered(page)).toContain('"countries"');
    const file = await saved(page, bar.getByRole('button', { name: 'Save as JSON' }));
    expect(file.name).toBe('answer.json');
    const whole = JSON.parse(file.bytes.toString()).data;
    expect(whole.countries).toHaveLength(data.countries.length);
    expect(whole.countries.at(-1).observations).toHaveLength(data.countries.at(-1).observations.length);
    expect(scene.problems).toEqual([]);
  });

  it('block the page for less than 100 ms at a time', async () => {
    const { page } = sceneOf();
    await page.locator('.live.long').waitFor();
    await press(page, '#side-picture');
    await page.locator('.frame svg').first().waitFor();
    await watch(page);
    const least = { answer: Number.POSITIVE_INFINITY, picture: Number.POSITIVE_INFINITY };
    for (let i = 0; i < TRIES && Math.max(least.answer, least.picture) > MAX_BLOCK_MS; i += 1) {
      await press(page, '#side-answer');
      await page.waitForTimeout(300);
      const ran = await longestBlock(page, () => runAgain(page), '.live.long');
      const drew = await longestBlock(page, () => press(page, '#side-picture'), '.frame svg');
      least.answer = Math.min(least.answer, ran);
      least.picture = Math.min(least.picture, drew);
    }
    expect(least.answer).toBeLessThanOrEqual(MAX_BLOCK_MS);
    expect(least.picture).toBeLessThanOrEqual(MAX_BLOCK_MS);
  }, 120_000);
});
