import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Live, LOOK, openLive, subscriptionsOf } from '../live/live.ts';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { areBuilt, type RecipePages, servePages } from './recipe-pages.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';

/** What a page gets that asks by GET, and what the browser's cache has been told about it. */
async function askedIn(page: Page, url: string, query: string) {
  const address = `${url}?${new URLSearchParams({ query })}`;
  return page.evaluate(async (address) => {
    const response = await fetch(address, { headers: { authorization: 'Bearer demo-team' } });
    const { data, extensions } = await response.json();
    return { data, calls: extensions.upstream.calls, caching: response.headers.get('cache-control') };
  }, address);
}

describe.runIf(hasChromium && areBuilt)('live figures in a browser', () => {
  let pages: RecipePages;
  let browser: Browser;
  beforeAll(async () => {
    pages = await servePages();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await pages.close();
  });

  const gateway = () => openLive({ env: { CORS_ORIGINS: pages.origin } });
  const open = async (program: Live, client: string) => {
    const page = await browser.newPage();
    const given = new URLSearchParams({ gateway: program.url, key: program.sandbox.keys.team, client });
    await page.goto(`${pages.origin}/live/index.html?${given}`);
    return page;
  };

  it.for(['apollo', 'urql'])(
    'a live page by the code of the guide shows what an event tells of: %s',
    async (client) => {
      await using program = await gateway();
      // Kept in the browser's cache before there is a subscription.
      const before = await open(program, client);
      await expect.poll(() => before.locator('.figure').textContent()).toMatch(/^\d+$/);
      await before.close();
      const page = await open(program, client);
      const shown = () => page.locator('.figure').textContent();
      await expect.poll(shown).toMatch(/^\d+$/);
      await expect.poll(() => subscriptionsOf(program)).toBe(1);
      let value = Number(await shown());
      for (const factor of [2, 3]) {
        program.requests();
        program.revise('world_bank_wdi', 'population_total', factor);
        await program.round();
        await expect.poll(() => page.locator('.events').textContent()).toBe(String(factor - 1));
        value = (value * factor) / Math.max(1, factor - 1);
        await expect.poll(async () => Number(await shown())).toBe(value);
        // The page has asked anew at no further call.
        expect(program.requests()).toEqual([LOOK, expect.stringContaining('/v1/data?')]);
      }
      await page.close();
    },
  );

  it('a page that asks by GET never gets older figures than an event has told of, and no body twice', async () => {
    await using program = await gateway();
    const page = await open(program, 'urql');
    await expect.poll(() => subscriptionsOf(program)).toBe(1);
    const ask = () => askedIn(page, program.url, FIGURE);
    const first = await ask();
    expect(first.caching).toBe('private, max-age=0, must-revalidate');
    const statuses: number[] = [];
    const watching = await page.context().newCDPSession(page);
    await watching.send('Network.enable');
    // What comes over the network; the page itself sees 200 for an answer that the browser has kept.
    watching.on('Network.responseReceivedExtraInfo', ({ statusCode }) => statuses.push(statusCode));
    expect((await ask()).data).toEqual(first.data);
    expect(statuses).toEqual([304]);
    program.revise('world_bank_wdi', 'population_total', 2);
    await program.round();
    await expect.poll(() => page.locator('.events').textContent()).toBe('1');
    const { value } = (await ask()).data.country.observation;
    expect(value).toBe(2 * first.data.country.observation.value);
    await page.close();
  });
});
