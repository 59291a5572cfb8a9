import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { openCatalogue, pane, run, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const PORTRAIT = { width: 390, height: 844 };
const LANDSCAPE = { width: 844, height: 390 };

/** True if the middle of something can be seen, and touched, without scrolling anything. */
async function isInView(what: Locator): Promise<boolean> {
  const box = await what.first().boundingBox();
  if (box === null) return false;
  return what
    .first()
    .evaluate((element, [x, y]) => element.contains(document.elementFromPoint(x, y)), [
      box.x + box.width / 2,
      box.y + box.height / 2,
    ] as [number, number]);
}

const isAsWideAsThePage = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

describe.skipIf(!hasChromium).for([
  ['upright', PORTRAIT],
  ['on its side', LANDSCAPE],
] as const)('on a telephone %s', ([, viewport]) => {
  const sceneOf = shared({ viewport });

  it('on a telephone, what a pane at the left opens is in view', async () => {
    const { page } = sceneOf();
    await openCatalogue(page);
    const search = page.getByLabel('Search indicators');
    await expect.poll(() => isInView(search)).toBe(true);
    expect((await search.boundingBox())?.width).toBeGreaterThan(240);
    await pane(page, 'Lessons');
    await page.locator('.graphiql-plugin').getByRole('button', { name: 'Over time' }).click();
    await expect
      .poll(() =>
        isInView(page.locator('.graphiql-query-editor .view-line > span', { hasText: 'query OverTime' })),
      )
      .toBe(true);
  });

  it('on a telephone, the answer is in view once an operation was run, and the operation can be gone back to', async () => {
    const { page } = sceneOf();
    await tab(page, 'CountryCard');
    await run(page);
    const answer = page.locator('.result-window .view-line > span', { hasText: 'Nairobi' });
    await expect.poll(() => isInView(answer)).toBe(true);
    expect((await page.locator('.result-window').boundingBox())?.width).toBeGreaterThan(250);
    await expect.poll(() => isAsWideAsThePage(page)).toBe(true);
    if (viewport === LANDSCAPE) return;
    await side(page, 'Query');
    await expect
      .poll(() =>
        isInView(page.locator('.graphiql-query-editor .view-line > span', { hasText: 'query CountryCard' })),
      )
      .toBe(true);
    await expect.poll(() => isInView(page.locator('.graphiql-execute-button'))).toBe(true);
  });

  it('on a telephone, the picture, the cost and the errors are in view, too', async () => {
    const { page } = sceneOf();
    await tab(page, 'Errors');
    await run(page);
    await side(page, 'Errors');
    await expect.poll(() => isInView(page.getByLabel('BAD_USER_INPUT').locator('h2'))).toBe(true);
    await side(page, 'Cost');
    await expect.poll(() => isInView(page.locator('.calls'))).toBe(true);
    await tab(page, 'OverTime');
    if (viewport === PORTRAIT) await side(page, 'Query');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines').waitFor();
    await expect.poll(() => isInView(page.locator('.picture figcaption'))).toBe(true);
    await expect.poll(() => isAsWideAsThePage(page)).toBe(true);
  });
});

describe.skipIf(!hasChromium)('the right side', () => {
  const sceneOf = shared();

  it('the right side follows the tab of the operation, and names it', async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines').waitFor();
    await expect.poll(() => page.locator('.of').innerText()).toMatch(/^OverTime, run at /);
    await tab(page, 'AllCountries');
    await expect.poll(() => page.locator('.picture').count()).toBe(0);
    await tab(page, 'OverTime');
    await page.locator('.frame.lines').waitFor();
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' ');
    await expect
      .poll(() => page.locator('.of').innerText())
      .toContain('the operation has been changed since');
  });

  it('the right side has the whole page if wanted, and the picture takes it', async () => {
    const { page } = sceneOf();
    await tab(page, 'AllCountries');
    await run(page);
    await side(page, 'Picture');
    const frame = page.locator('.frame.map');
    await frame.locator('path').first().waitFor();
    const before = (await frame.boundingBox())?.width ?? 0;
    await page.getByRole('button', { name: 'Wide' }).click();
    await expect.poll(async () => (await frame.boundingBox())?.width ?? 0).toBeGreaterThan(before * 1.7);
    await expect.poll(() => page.locator('.graphiql-editors').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Narrow' }).click();
    await expect.poll(() => page.locator('.graphiql-editors').isVisible()).toBe(true);
  });

  it('the right side begins at its beginning in another of its tabs, and so does the editor', async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines svg').waitFor();
    const panel = page.locator('.side-panel');
    // As far as a wide table would have it scrolled.
    await panel.locator('.of').evaluate((first) => first.setAttribute('style', 'width: 3000px'));
    await panel.evaluate((one) => one.scrollTo(700, 200));
    expect(await panel.evaluate((one) => one.scrollLeft)).toBe(700);
    await side(page, 'Cost');
    await page.locator('.calls').waitFor();
    await expect.poll(() => panel.evaluate((one) => [one.scrollLeft, one.scrollTop])).toEqual([0, 0]);
    await write(page, `{ countries { code } } # ${'long '.repeat(80)}`);
    await page.keyboard.press('End');
    const left = () =>
      page
        .locator('.graphiql-query-editor .lines-content')
        .evaluate((lines) => Number.parseInt((lines as HTMLElement).style.left || '0', 10));
    await expect.poll(left).toBeLessThan(-100);
    await tab(page, 'CountryCard');
    await expect.poll(left).toBe(0);
  });

  it('the right side counts the errors where they are to be read', async () => {
    const scene = sceneOf();
    await tab(scene.page, 'CountryCard');
    await side(scene.page, 'Answer');
    await run(scene.page);
    const errors = scene.page.getByRole('tab', { name: 'Errors' });
    await expect.poll(() => scene.page.locator('.result-window').innerText()).toContain('Nairobi');
    expect(await errors.innerText()).toBe('Errors');
    await tab(scene.page, 'Errors');
    await run(scene.page);
    // The country that nobody covers is warned of.
    await expect.poll(() => errors.innerText()).toMatch(/^Errors\s*2\s*!1\s*warning$/);
  });

  it('the right side is gone through by the arrow keys', async () => {
    const scene = sceneOf();
    await side(scene.page, 'Answer');
    await scene.page.getByRole('tab', { name: 'Answer' }).focus();
    await scene.page.keyboard.press('ArrowRight');
    await expect
      .poll(() => scene.page.getByRole('tab', { name: 'Picture' }).getAttribute('aria-selected'))
      .toBe('true');
    await scene.page.keyboard.press('ArrowLeft');
    await scene.page.keyboard.press('ArrowLeft');
    await expect
      .poll(() => scene.page.getByRole('tab', { name: 'Errors' }).getAttribute('aria-selected'))
      .toBe('true');
  });
});
