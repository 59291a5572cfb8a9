import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { answered, run, scenesOfGraphiql, side, tab } from '../support/graphiql.ts';

const { open, shared } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('a question', () => {
  it.for([
    [1440, 900],
    [667, 375],
  ] as const)(
    'a question says its price, and is answered by a picture on one click: %i',
    async ([width, height]) => {
      await using scene = await open({ viewport: { width, height } });
      const { page, program } = scene;
      const question = page.locator('.start').getByRole('button', { name: 'How have three countries fared' });
      await expect.poll(() => question.innerText()).toMatch(/\d calls?$/);
      expect(program.requests()).toEqual([]);
      const calls = Number(/(\d) calls?$/.exec(await question.innerText())?.[1]);
      await question.click();
      await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(3);
      expect(program.requests()).toHaveLength(calls);
      await expect
        .poll(() => page.getByRole('tab', { name: 'Picture' }).getAttribute('aria-selected'))
        .toBe('true');
      await expect.poll(() => page.locator('.of').innerText()).toContain('OverTime');
      expect(scene.problems).toEqual([]);
    },
  );
});

describe.skipIf(!hasChromium)('the picture', () => {
  const sceneOf = shared();

  it('the picture is not where there is nothing to draw', async () => {
    const { page } = sceneOf();
    await tab(page, 'Government');
    await run(page);
    await expect.poll(() => answered(page)).toContain('"offices"');
  });

  it('the picture is shown first where figures can be drawn, and the answer where they cannot', async () => {
    const { page } = sceneOf();
    await tab(page, 'AllCountries');
    await run(page);
    await page.locator('.frame.map path').first().waitFor();
    await tab(page, 'Government');
    await run(page);
    await page.locator('.charts .table').waitFor();
    // Somebody who has chosen the answer keeps it.
    await side(page, 'Answer');
    await tab(page, 'OverTime');
    await run(page);
    await expect.poll(() => answered(page)).toContain('"countries"');
    await expect
      .poll(() => page.getByRole('tab', { name: 'Answer' }).getAttribute('aria-selected'))
      .toBe('true');
  });
});
