import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { linkTo } from '../../clients/graphiql/src/share/link.ts';
import { LESSONS } from '../../clients/graphiql/src/tabs.ts';
import { hasChromium } from '../support/chromium.ts';
import {
  answered,
  editorIsThere,
  run,
  scenesOfGraphiql,
  side,
  tab,
  write,
  written,
} from '../support/graphiql.ts';

const { open, openPage, origin, serve, shared } = scenesOfGraphiql();

const MANY = '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }';

const legend = (page: Page) => page.locator('.legend li').allInnerTexts();
const ready = (page: Page) => page.locator('.graphiql-query-editor .view-line').first().waitFor();
const again = async (page: Page) => {
  await page.reload();
  await ready(page);
};

describe.skipIf(!hasChromium)('a picture', () => {
  const sceneOf = shared();

  it('a picture loses a country, and has it again, at no call', async () => {
    const { page, program } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await expect.poll(() => legend(page)).toEqual(['Kenya', 'Nigeria', 'Ghana']);
    program.requests();
    await page.getByRole('button', { name: 'Take Nigeria out' }).click();
    await expect.poll(() => legend(page)).toEqual(['Kenya', 'Ghana']);
    await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(2);
    await page.getByRole('button', { name: 'Put Nigeria back' }).click();
    await expect.poll(() => legend(page)).toEqual(['Kenya', 'Nigeria', 'Ghana']);
    expect(program.requests()).toEqual([]);
  });

  it('a picture stays where the next run fails, which is said', async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines g.top path').first().waitFor();
    await page.context().setOffline(true);
    try {
      await page.getByRole('button', { name: /Execute/ }).click();
      await expect.poll(() => page.getByRole('note').last().innerText()).toContain('the run before');
      await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(3);
      await expect.poll(() => page.locator('.badge').innerText()).toBe('1');
    } finally {
      await page.context().setOffline(false);
    }
  });

  it('a picture keeps what is highlighted while its table is looked at, and when the page is loaded again', async () => {
    const { page } = sceneOf();
    await write(page, MANY);
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines g.top path').first().waitFor();
    const before = await legend(page);
    const [name = ''] = await page.locator('.legend option:not([disabled])').allInnerTexts();
    await page.getByLabel('Highlight').selectOption(name);
    await expect.poll(() => legend(page)).toContain(name);
    expect(before).not.toContain(name);
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.locator('.charts .table').waitFor();
    await page.getByRole('button', { name: 'Pictures', exact: true }).click();
    await expect.poll(() => legend(page)).toContain(name);
    await again(page);
    await expect.poll(() => legend(page)).toContain(name);
  });
});

describe.skipIf(!hasChromium)('a page that is loaded again', () => {
  const sceneOf = shared();

  it('a page that is loaded again has the answer, the side and the width, and sends nothing', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.getByRole('button', { name: 'Wide' }).click();
    await page.locator('.frame.lines g.top path').first().waitFor();
    program.requests();
    await page.reload();
    await page.locator('.frame.lines g.top path').first().waitFor();
    await expect
      .poll(() => page.getByRole('tab', { name: 'Picture' }).getAttribute('aria-selected'))
      .toBe('true');
    await expect.poll(() => page.locator('.graphiql-editors').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Narrow' }).click();
    await side(page, 'Answer');
    await expect.poll(() => answered(page)).toContain('"countries"');
    // Fields that pictures need besides are no part of it.
    expect(await answered(page)).not.toContain('locationName');
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('a page that is loaded again has nothing of it once data is cleared', async () => {
    const { page } = sceneOf();
    await tab(page, 'CountryCard');
    await run(page);
    await expect.poll(() => answered(page)).toContain('Nairobi');
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    await page.getByRole('button', { name: 'Clear data' }).click();
    await page.getByRole('button', { name: 'Cleared data' }).waitFor();
    expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain('Nairobi');
  });
});

/** Holds the timers after which GraphiQL would store what is written, as if the page were left before. */
const HELD = `const later = window.setTimeout;
window.setTimeout = (call, ms, ...rest) => later(call, globalThis.isHeld && (ms === 100 || ms === 500) ? 2 ** 30 : ms, ...rest);`;

describe.skipIf(!hasChromium)('a page that is loaded again at once', () => {
  async function begin(page: Page) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${origin()}/graphiql`);
    await editorIsThere(page);
    await page.evaluate('globalThis.isHeld = true');
  }

  it('a page that is loaded again at once has the text as last written, its answer and its picture', async () => {
    await using program = await serve();
    await using opened = await openPage(HELD);
    const { page } = opened;
    await begin(page);
    await write(page, MANY);
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines g.top path').first().waitFor();
    const [name = ''] = await page.locator('.legend option:not([disabled])').allInnerTexts();
    await page.getByLabel('Highlight').selectOption(name);
    await expect.poll(() => legend(page)).toContain(name);
    expect(program.requests()).toHaveLength(2);
    await again(page);
    await expect.poll(() => legend(page)).toContain(name);
    await expect.poll(() => written(page)).toBe(MANY);
    expect(await page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    expect(program.requests()).toEqual([]);
    expect(opened.problems).toEqual([]);
  });

  it('a page that is loaded again at once shows the tab that was chosen, and the variables as last written', async () => {
    await using program = await serve();
    await using opened = await openPage(HELD);
    const { page } = opened;
    await begin(page);
    await tab(page, 'OverTime');
    await page.getByRole('button', { name: 'Variables' }).click();
    await page.locator('.graphiql-editor-tool .editor-scrollable').first().click();
    await page.keyboard.insertText('{"of": 1}');
    await again(page);
    await expect.poll(() => page.locator('.graphiql-tab-active').innerText()).toContain('OverTime');
    await expect.poll(() => written(page)).toContain('query OverTime');
    await page.getByRole('button', { name: 'Variables' }).click();
    const variables = page.locator('.graphiql-editor-tool .view-lines').first();
    await expect.poll(() => variables.innerText()).toContain('"of"');
    expect(await page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    expect(program.requests()).toEqual([]);
    expect(opened.problems).toEqual([]);
  });

  it('a page that is loaded again at once has none of its tabs again after data is cleared', async () => {
    await using scene = await open();
    const { page } = scene;
    await write(page, '{ quota { plan } }');
    const stored = () => page.evaluate<string>("localStorage.getItem('graphiql:tabState')");
    await expect.poll(stored).toContain('quota { plan }');
    await run(page);
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    await page.getByRole('button', { name: 'Clear data' }).click();
    await page.getByRole('button', { name: 'Cleared data' }).waitFor();
    await again(page);
    await expect.poll(() => written(page)).toContain('query CountryCard');
  });
});

describe.skipIf(!hasChromium)('a link', () => {
  it.for([
    [1400, 900],
    [390, 844],
  ] as const)('a link opens on the side of its answer, with its price: %i', async ([width, height]) => {
    const query = '{ country(code: "GH") { name capital } }';
    const link = linkTo('http://x/graphiql', { query, variables: '' }) ?? '';
    await using scene = await open({ viewport: { width, height } });
    const { page, program } = scene;
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
    await expect.poll(() => written(page).catch(() => '')).toSatisfy((text) => width < 700 || text === query);
    const start = page.getByRole('region', { name: 'The link' });
    await expect.poll(() => start.innerText()).toContain('You have followed a link');
    await expect.poll(() => start.innerText()).toMatch(/takes 1 call/);
    expect(program.requests()).toEqual([]);
    await start.getByRole('button', { name: 'Run this operation' }).click();
    await expect.poll(() => answered(page)).toContain('Accra');
  });
});
