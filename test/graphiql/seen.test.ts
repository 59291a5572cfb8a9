import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { sharedIn } from '../../clients/graphiql/src/share/link.ts';
import { hasChromium } from '../support/chromium.ts';
import { drawAs, scenesOfGraphiql } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('a link', () => {
  it('a link is the picture: side, kind, members, scale and width, and no key', async () => {
    await using scene = await open();
    const { page, origin } = scene;
    await page.locator('.start').getByRole('button', { name: 'How have three countries fared' }).click();
    await page.locator('.frame.lines g.top path').first().waitFor();
    await page.getByRole('button', { name: 'Take Nigeria out' }).click();
    await page.getByLabel('Values').selectOption('index');
    await page.getByLabel('Base year').selectOption('2000');
    await page.getByRole('button', { name: 'Wide' }).click();
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    await page.getByText('Link copied, without the key').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(decodeURIComponent(link)).not.toContain('demo-team');
    expect(JSON.parse(sharedIn(new URL(link).hash)?.seen ?? '{}')).toMatchObject({
      side: 'picture',
      wide: true,
    });

    // A browser that has seen nothing of it.
    const context = await page
      .context()
      .browser()
      ?.newContext({ viewport: { width: 1400, height: 900 } });
    const other = await context?.newPage();
    if (context === undefined || other === undefined) throw new Error('There is no browser.');
    try {
      await other.goto(link);
      const run = other.getByRole('region', { name: 'The link' }).getByRole('button', { name: 'Run' });
      await run.click();
      await expect.poll(() => other.locator('.frame.lines g.top path').count()).toBe(2);
      await expect
        .poll(() => other.locator('.frame svg [aria-label="y-axis label"]').textContent())
        .toContain('2000 = 100');
      expect(await other.locator('.legend li').allInnerTexts()).toEqual(['Kenya', 'Ghana']);
      await expect.poll(() => other.locator('.graphiql-editors').isVisible()).toBe(false);
      await expect
        .poll(() => other.getByRole('tab', { name: 'Picture' }).getAttribute('aria-selected'))
        .toBe('true');
      expect(other.url()).toBe(`${origin}/graphiql`);
    } finally {
      await context.close();
    }
  });

  it('a link with the former name of a kind shows the picture, and is copied with the present one', async () => {
    await using scene = await open();
    const { page } = scene;
    const copiedLink = async (from: Page) => {
      await from.getByRole('button', { name: 'Share' }).click();
      await from.getByRole('menuitem', { name: 'Copy link' }).click();
      await from.getByText('Link copied, without the key').waitFor();
      return from.evaluate<string>('navigator.clipboard.readText()');
    };
    const ranking = (of: Page) => of.locator('.frame.ranking svg').first().waitFor();
    await page.locator('.start').getByRole('button', { name: 'How have three countries fared' }).click();
    await drawAs(page, 'Ranking');
    await ranking(page);
    const link = await copiedLink(page);
    expect(decodeURIComponent(link)).toContain('"kind":"ranking"');

    // A browser that has seen nothing of it: a tab that is answered would not be run again.
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await page.context().browser()?.newContext({ permissions });
    const other = await context?.newPage();
    if (context === undefined || other === undefined) throw new Error('There is no browser.');
    try {
      await other.goto(link.replace('ranking', 'bars'));
      const run = other.getByRole('region', { name: 'The link' }).getByRole('button', { name: 'Run' });
      await run.click();
      await ranking(other);
      expect(await copiedLink(other)).toBe(link);
    } finally {
      await context.close();
    }
  });

  it('a link that says nonsense of what is seen opens all the same', async () => {
    await using scene = await open();
    const { page } = scene;
    for (const seen of [
      'no JSON',
      '[]',
      '{"side":"elsewhere"}',
      '{"side":"picture","pictures":{"lines years life_expectancy":{"removed":[{}],"measure":"<b>","base":"x"}}}',
    ]) {
      const query = `query Link${seen.length} { country(code: "GH") { name } }`;
      const params = new URLSearchParams({ query, seen });
      await page.evaluate(`location.hash = ${JSON.stringify(`#${params}`)}`);
      await page.locator('.graphiql-tab-active', { hasText: `Link${seen.length}` }).waitFor();
      await page.getByRole('region', { name: 'The link' }).waitFor();
      expect([seen, scene.problems]).toEqual([seen, []]);
    }
  });
});
