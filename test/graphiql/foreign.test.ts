import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { openForeign } from '../support/foreign-endpoint.ts';
import { answered, editorIsThere, run, scenesOfGraphiql, side, write } from '../support/graphiql.ts';

const { openPage } = scenesOfGraphiql();

const sidesOf = (page: Page) =>
  page.getByRole('tablist', { name: 'What came of it' }).getByRole('tab').allTextContents();

describe.skipIf(!hasChromium)('GraphiQL over an endpoint that is no Country Graph', () => {
  it('GraphiQL over an endpoint that is no Country Graph runs its operations, and shows and asks nothing of ours', async () => {
    await using foreign = await openForeign();
    await using opened = await openPage();
    const { page, problems } = opened;
    await page.goto(foreign.url);
    await editorIsThere(page);
    expect([await page.title(), await page.locator('h1').allTextContents()]).toEqual([
      'GraphiQL',
      ['GraphiQL'],
    ]);
    const text = await page.locator('body').innerText();
    expect(text).not.toMatch(/countr|Africa|figures|gateway|price|service/i);

    // As a name of ours, it must get no fields of ours.
    await write(page, 'query Greeting { hello(name: "Ada") country(code: "KE") { name } }');
    expect(await run(page)).toEqual({ data: { hello: 'Hello, Ada', country: { name: 'Country KE' } } });
    await side(page, 'Answer');
    await expect.poll(() => answered(page)).toContain('Hello, Ada');
    expect(await sidesOf(page)).toEqual(['Answer', 'Errors']);
    await side(page, 'Errors');
    await page.getByText('The last operation had no errors.').waitFor();
    await page.getByRole('button', { name: 'Share' }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([
      'Copy link',
      'Copy as curl',
      'Copy as fetch',
      'Copy as TypeScript',
    ]);
    await page.keyboard.press('Escape');
    for (const name of ['Lessons', 'Catalogue'])
      expect(await page.getByRole('button', { name: `Show ${name}` }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer').getByText('Query').first().waitFor();
    expect(foreign.ran).toEqual(['IntrospectionQuery', 'Greeting']);
    expect([problems, foreign.failed]).toEqual([[], []]);
  });

  it('GraphiQL over an endpoint that is no Country Graph prices operations there, if it answers x-explain', async () => {
    await using foreign = await openForeign({ endpoint: '/graphql', title: 'Greetings', explains: true });
    await using opened = await openPage();
    const { page, problems } = opened;
    await page.goto(foreign.url);
    await editorIsThere(page);
    expect([await page.title(), await page.locator('h1').allTextContents()]).toEqual([
      'Greetings',
      ['Greetings'],
    ]);
    await write(page, 'query Greeting { hello(name: "Ada") }');
    await page.getByRole('status').filter({ hasText: 'takes 3 calls.' }).waitFor();
    await run(page);
    await side(page, 'Cost');
    await page.getByText('2 calls to the metered service.').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('3 calls would be sent.').waitFor();
    expect(foreign.ran).toEqual(['IntrospectionQuery', 'Greeting']);
    expect([problems, foreign.failed]).toEqual([[], []]);
  });
});
