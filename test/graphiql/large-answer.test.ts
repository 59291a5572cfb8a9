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

/** The quickest of so many counts: the engine has to get to know the code. */
const TRIES = 4;

/** Presses a button as a person does: to look for it by its role, the page would be searched from the outside. */
const press = (page: Page, selector: string) =>
  page.evaluate((which) => document.querySelector<HTMLElement>(which)?.click(), selector);

async function runAgain(page: Page): Promise<void> {
  const arrived = page.waitForResponse((response) => response.url().endsWith('/graphql'));
  await press(page, '.graphiql-execute-button');
  await (await arrived).finished();
}

/** One piece of work in a browser's trace. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the processor, without the work of others on a busy machine. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest piece of a page's own work, in milliseconds of the processor, from something that is done until that shows and all is quiet. */
async function longestBlock(page: Page, act: () => Promise<void>, shows: string): Promise<number> {
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await act();
  await page.locator(shows).first().waitFor();
  await page.waitForTimeout(1_000);
  const trace = (await browser?.stopTracing())?.toString() ?? '';
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(trace);
  const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const ofPages = new Set(traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(thread));
  const work = traceEvents.filter((event) => event.tdur !== undefined && ofPages.has(thread(event)));
  expect(work.length).toBeGreaterThan(10);
  return Math.round(Math.max(...work.map(({ tdur = 0 }) => tdur)) / 1_000);
}

describe.skipIf(!hasChromium)('54 countries by 207 indicators', () => {
  it('54 countries by 207 indicators stand in the editor as far as anybody reads, and are handed out whole', async () => {
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

  it('54 countries by 207 indicators block the page for less than 100 ms at a time', async () => {
    const { page } = sceneOf();
    await page.locator('.live.long').waitFor();
    await press(page, '#side-picture');
    await page.locator('.frame svg').first().waitFor();
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
