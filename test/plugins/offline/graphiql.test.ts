import axe, { type AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../../support/chromium.ts';
import { editorIsThere, pane, run, saved, scenesOfGraphiql, side, tab } from '../../support/graphiql.ts';

const { open } = scenesOfGraphiql();

const bar = (page: Page) => page.locator('.live.offline');

/** Has a page, which later tests share, ask for nothing but what is cached, until this is disposed of. */
async function goOffline(page: Page) {
  await page.setExtraHTTPHeaders({ 'x-offline': '1' });
  return { [Symbol.asyncDispose]: () => page.setExtraHTTPHeaders({}) };
}

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { preload: false, resultTypes: ['violations'] })",
  );
  return violations.map(({ id }) => id);
}

const overflowOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

describe.skipIf(!hasChromium)('GraphiQL offline', () => {
  it('GraphiQL offline has the catalogue and pictures whole from what is cached, and says how old it is', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines svg').waitFor();
    expect(await bar(page).count()).toBe(0);
    await pane(page, 'Catalogue');
    await page.getByRole('button', { name: 'Load the catalogue (1 call' }).click();
    await page.getByText('207 of 207 indicators').waitFor();
    expect(program.requests()).toHaveLength(3);

    await using _ = await goOffline(page);
    await page.reload();
    await editorIsThere(page);
    await tab(page, 'OverTime');
    const { errors, extensions } = await run(page);
    expect([errors, extensions.upstream.calls]).toEqual([undefined, 0]);
    const year = new Date(extensions.freshness.oldestFetchedAt).getFullYear();
    await expect
      .poll(() => bar(page).innerText())
      .toMatch(new RegExp(`^Offline, as of .*${year}.*: no call was sent\\.$`));
    await side(page, 'Picture');
    await expect.poll(() => page.locator('.frame.lines svg [data-line]').count()).toBeGreaterThan(2);
    await expect.poll(() => page.locator('.picture .under').innerText()).toContain('Source: ');
    // It comes by itself, since it takes no call.
    await page.getByText('207 of 207 indicators').waitFor();
    await expect
      .poll(() => page.locator('.graphiql-plugin .took').innerText())
      .toContain('no call: it was cached');
    const coverage = page.getByRole('button', { name: 'Which countries?' }).first();
    await expect.poll(() => coverage.innerText()).toBe('Which countries?');
    await coverage.click();
    await page.getByText('This is not to be had: it is not cached').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // On a phone that lies the picture is whole below that line.
    await pane(page, 'Lessons');
    await page.getByRole('button', { name: 'Hide Lessons' }).click();
    await page.setViewportSize({ width: 812, height: 375 });
    const bottomOf = async (what: Locator) => {
      const { y, height } = (await what.boundingBox()) ?? { y: 999, height: 0 };
      return y + height;
    };
    const panel = page.locator('.side-panel');
    await expect
      .poll(async () => (await bottomOf(page.locator('.frame.lines svg'))) <= (await bottomOf(panel)))
      .toBe(true);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.emulateMedia({ media: 'print' });
    // Paper tells it, too.
    await expect.poll(() => bar(page).isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await expect.poll(() => overflowOf(page)).toBe(0);
    expect([program.requests(), scene.problems]).toEqual([[], []]);
  });

  it('GraphiQL offline names the command that fetches what is not cached, in the catalogue and in Errors', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await using _ = await goOffline(page);
    await tab(page, 'OverTime');
    await run(page);
    await expect.poll(() => bar(page).innerText()).toBe('Offline: no call was sent.');
    await side(page, 'Errors');
    const error = page.getByLabel('NOT_HELD');
    await expect
      .poll(() => error.innerText())
      .toMatch(/: country-graph fill '\{ countries \{ code \} \}' fetches it/);
    expect(await error.innerText()).toContain('Once that is fetched, run it again.');
    // It says so by itself, at no price and no call.
    await pane(page, 'Catalogue');
    const catalogue = page.locator('.graphiql-plugin');
    await expect
      .poll(() => catalogue.locator('.fault').innerText())
      .toBe(
        "The catalogue is not to be had: it is not cached, and offline no call is sent. country-graph fill '{ countries { code } }' and country-graph fill '{ indicators { key } }' fetch it.",
      );
    expect(await catalogue.locator('.fault code').count()).toBe(2);
    expect(await catalogue.getByRole('button', { name: 'Load the catalogue' }).count()).toBe(0);
    expect(await catalogue.innerText()).not.toMatch(/\bone call|a call|\d calls?\b|cached afterwards/);
    expect(await violationsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    await expect.poll(() => overflowOf(page)).toBe(0);
    expect([program.requests(), scene.problems]).toEqual([[], []]);
  });

  it('GraphiQL names sources as the service does where the list of them is cached, in pictures and files, at no call', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    const under = page.locator('.picture .under');
    await expect.poll(() => under.innerText()).toMatch(/Source: [a-z_]+ \(/);
    const [key = ''] = /(?<=Source: )[a-z_]+/.exec(await under.innerText()) ?? [];
    const { data } = await program.ask('{ sources { key name } }');
    const { name } = data.sources.find((one: { key: string }) => one.key === key);
    program.requests();
    await run(page);
    await expect.poll(() => under.innerText()).toContain(`Source: ${name} (`);
    const svg = await saved(page, page.getByRole('button', { name: 'SVG' }));
    expect(svg.bytes.toString()).toContain(`Source: ${name}`);
    const csv = await saved(page, page.getByRole('button', { name: 'CSV', exact: true }));
    expect(csv.bytes.toString()).toContain(name);
    await page.getByRole('button', { name: 'Copy citation' }).click();
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain(name);
    expect([program.requests(), scene.problems]).toEqual([[], []]);
  });
});
