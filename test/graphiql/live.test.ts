import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { scenesOfGraphiql, side, write } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

const SUBSCRIPTION = `subscription Population {
  told: observationsChanged(countryCodes: ["KE", "NG", "GH"], metricKeys: ["population_total"], latest: true, since: "0") {
    changes { observation { value year country { name } } }
  }
}`;
const LIVE = { SUBSCRIPTIONS: 'on', SUBSCRIPTIONS_POLL_SECONDS: '1' };
const PHONE = { width: 390, height: 844 };

/** Folder for pictures of the pages that are to be looked at; none unless somebody names it. */
const SHOTS = process.env.SCREENSHOTS;

async function shoot(page: Page, name: string) {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `live-${name}.png`) });
}

const status = (page: Page) => page.getByRole('status').filter({ hasText: /Live|Paused|Ended/ });
const start = async (page: Page) => {
  await write(page, SUBSCRIPTION);
  await page.getByRole('button', { name: /Execute/ }).click();
};
/** The values that the bars of the picture are labelled with. */
const labels = (page: Page) => page.locator('.frame text').allTextContents();

const subscriptions = async (origin: string) =>
  Number(/^country_graph_subscriptions (\d+)$/m.exec(await (await fetch(`${origin}/metrics`)).text())?.[1]);

describe.skipIf(!hasChromium)('a subscription in GraphiQL', () => {
  it.for([
    ['desktop', { width: 1400, height: 900 }],
    ['phone', PHONE],
  ] as const)(
    'a subscription in GraphiQL moves the picture as figures change, until it is stopped: %s',
    async ([name, viewport]) => {
      await using scene = await open({ viewport, env: LIVE });
      const { page, program, origin } = scene;
      await start(page);
      await expect.poll(() => status(page).innerText()).toMatch(/^Live\. 1 event, the last at /);
      await side(page, 'Picture');
      await expect.poll(() => page.locator('.frame').count()).toBe(1);
      const before = await labels(page);
      await shoot(page, `${name}-before`);

      // Kenya's figure, and it alone, is another.
      program.sandbox.faults.set({
        kind: 'shape',
        route: '/v1/data',
        patch: (body) => ({
          ...body,
          data: body.data.map((row: { country_code: string; value: number }) =>
            row.country_code === 'ke' ? { ...row, value: row.value * 5 } : row,
          ),
        }),
      });
      program.sandbox.refresh('world_bank_wdi');
      await expect.poll(() => status(page).innerText()).toMatch(/^Live\. 2 events/);
      await expect.poll(() => labels(page)).not.toEqual(before);
      for (const country of ['Kenya', 'Nigeria', 'Ghana'])
        await expect.poll(() => page.locator('.charts').innerText()).toContain(country);
      await shoot(page, `${name}-after`);
      // Fields that the picture needed are not in the answer that is shown.
      await side(page, 'Answer');
      await expect.poll(() => page.locator('.result-window').innerText()).toContain('"told"');
      expect(await page.locator('.result-window').innerText()).not.toContain('isWhole');

      expect(await subscriptions(origin)).toBe(1);
      await page.locator('.live').getByRole('button', { name: 'Stop' }).click();
      await expect.poll(() => subscriptions(origin)).toBe(0);
      await expect.poll(() => status(page).innerText()).toMatch(/^Ended\. You have stopped it\. 2 events/);
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'))
        .toBeLessThanOrEqual(viewport.width);
      expect(scene.outside).toEqual([]);
      expect(scene.problems).toEqual([]);
    },
  );

  it('a subscription in GraphiQL is stopped by the button that runs operations, too, and by running another', async () => {
    await using scene = await open({ env: LIVE });
    const { page, origin } = scene;
    await start(page);
    await expect.poll(() => subscriptions(origin)).toBe(1);
    await page.getByRole('button', { name: /Stop/ }).first().click();
    await expect.poll(() => subscriptions(origin)).toBe(0);
    await start(page);
    await expect.poll(() => status(page).innerText()).toMatch(/^Live\. 1 event/);
    expect(await subscriptions(origin)).toBe(1);
  });

  it('a subscription in GraphiQL says in words that it is paused, why, and until when', async () => {
    await using scene = await open({ env: LIVE });
    const { page, program } = scene;
    await start(page);
    await expect.poll(() => status(page).innerText()).toMatch(/^Live\. 1 event/);
    const detail =
      "request blocked: the monthly request limit for plan 'team' (2000000 requests) was reached";
    program.sandbox.faults.set({ kind: 'status', status: 429, body: { detail } });
    await expect.poll(() => status(page).innerText()).toMatch(/^Paused\. .*requests of this month are spent/);
    await shoot(page, 'desktop-paused');
    await page.setViewportSize(PHONE);
    await shoot(page, 'phone-paused');
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth'))
      .toBeLessThanOrEqual(PHONE.width);
  });

  it('a subscription in GraphiQL says in words what it has ended with', async () => {
    await using scene = await open({ env: LIVE });
    const { page } = scene;
    await page.getByLabel('API key', { exact: true }).fill('nobody');
    await start(page);
    await expect
      .poll(() => status(page).innerText())
      .toMatch(/^Ended\. The service does not accept this key/);
    await side(page, 'Errors');
    await expect.poll(() => page.locator('.side-panel').innerText()).toContain('UNAUTHENTICATED');
    await shoot(page, 'desktop-error');
  });

  it('a subscription in GraphiQL is refused in words where there are none', async () => {
    await using scene = await open();
    const { page } = scene;
    await start(page);
    await side(page, 'Errors');
    await expect.poll(() => page.locator('.side-panel').innerText()).toContain('SUBSCRIPTIONS=off');
    expect(await status(page).count()).toBe(0);
  });
});
