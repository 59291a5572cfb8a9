import axe, { type AxeResults } from 'axe-core';
import { buildSchema } from 'graphql';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameFrom, publishCommand, withDefaults } from '../../clients/graphiql/src/share/publish-words.ts';
import { openFiles } from '../address/publishing.ts';
import { hasChromium } from '../support/chromium.ts';
import { run, saved, scenesOfGraphiql, side, write } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const LIFE = `query Life($codes: [CountryCode!] = ["KE", "NG"]) {
  observations(countryCodes: $codes, metricKeys: ["life_expectancy"], fromYear: 2000) { value }
}`;

describe('what is published', () => {
  const schema = buildSchema(`
    enum Side { LEFT RIGHT }
    type Query { a(codes: [String!], side: Side, from: Int, is: Boolean, of: String): Int }
  `);

  it('what is published begins with the values that are shown', () => {
    const query = `# Kept
query A($codes: [String!] = ["KE"], $side: Side, $from: Int!, $is: Boolean = true, $of: String = "x") {
  a(codes: $codes, side: $side, from: $from, is: $is, of: $of)
}`;
    const variables = { codes: ['NG', 'ZA'], side: 'RIGHT', from: 2000, is: false, of: null, none: 1 };
    expect(withDefaults(query, variables, schema)).toBe(`# Kept
query A($codes: [String!] = ["NG", "ZA"], $side: Side = RIGHT, $from: Int! = 2000, $is: Boolean = false, $of: String = "x") {
  a(codes: $codes, side: $side, from: $from, is: $is, of: $of)
}`);
    expect(withDefaults('{ a', variables, schema)).toBe('{ a');
  });

  it('what is published has a name that addresses take, and a command that a shell takes', () => {
    expect(nameFrom('Espérance de vie, 1990–2024 (years)')).toBe('esperance-de-vie-1990-2024-years');
    expect(nameFrom('人口')).toBe('picture');
    const words = { name: 'life', title: "Kenya's lives", note: ' ', theme: 'auto' };
    expect(publishCommand(words, new URLSearchParams('picture.kind=map'))).toBe(
      "country-graph publish life.graphql --title 'Kenya'\\''s lives' --look 'picture.kind=map'",
    );
  });
});

/** Asks for lives, and opens the dialog over their picture. */
async function openDialog(page: Page) {
  if (page.viewportSize()?.width === 1366) await page.getByRole('tab', { name: 'Picture' }).click();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('menuitem', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A visit takes 1 call').or(dialog.getByText('Published before')).first().waitFor();
  return dialog;
}

async function violations(page: Page) {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run('dialog.publish')")) as AxeResults;
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

describe.skipIf(!hasChromium)('publishing from GraphiQL', () => {
  const files = openFiles();
  const env = { ...files.env, CACHE_URL: files.folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team' };
  const sceneOf = shared({ env: { ...env, TRUSTED_DOCUMENTS_FOR: 'issued', PUBLISHERS: 'editor' } });
  afterAll(() => files.folder[Symbol.dispose]());
  beforeAll(async () => {
    const { page, program } = sceneOf();
    await program.issued?.desk.create({ name: 'pages' });
    const { key = '' } = (await program.issued?.desk.create({ name: 'editor' })) ?? {};
    await page.locator('#api-key').fill(key);
    await write(page, LIFE);
    await run(page);
    await side(page, 'Picture');
  });

  it.for([
    [1366, 768],
    [320, 640],
  ] as const)(
    'publishing from GraphiQL takes three clicks, gives address and frame, and takes a page back: %i × %i',
    async ([width, height]) => {
      const { page, program } = sceneOf();
      await page.setViewportSize({ width, height });
      program.requests();
      const dialog = await openDialog(page);
      expect(await violations(page)).toEqual([]);
      const name = `lives-${width}`;
      await dialog.getByLabel('Name in the address').fill('lines');
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
      await expect
        .poll(() => dialog.getByRole('alert').innerText())
        .toBe('The name lines is taken: choose another.');
      await dialog.getByLabel('Name in the address').fill(name);
      await dialog.getByLabel('Note below the picture').fill('By our desk.');
      await dialog.getByLabel('Colours').selectOption('dark');
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
      const link = dialog.getByRole('link', { name: new RegExp(`/c/${name}$`) });
      const address = (await link.getAttribute('href')) ?? '';
      const shown = await (await fetch(address)).text();
      expect(shown).toContain('<p>By our desk.</p>');
      expect(shown).toContain('data-theme="dark"');
      expect(await violations(page)).toEqual([]);
      const scroll = await dialog.evaluate((one) => [
        one.scrollWidth - one.clientWidth,
        document.body.scrollWidth,
      ]);
      expect([scroll[0], (scroll[1] ?? 0) <= width]).toEqual([0, true]);
      await dialog.getByRole('button', { name: 'Copy embed' }).click();
      await dialog.getByText('Copied').waitFor();
      const embed = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(embed).toMatch(new RegExp(`^<iframe src="http://127\\.0\\.0\\.1:\\d+/c/${name}" title="`));
      await dialog.getByRole('button', { name: `Unpublish ${name}` }).click();
      await dialog.getByRole('button', { name: 'Publish', exact: true }).waitFor();
      expect((await fetch(address)).status).toBe(404);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // Its figures are cached for the key behind both keys.
      expect(program.requests()).toEqual([]);
    },
  );

  it('publishing from GraphiQL lists what was published before', async () => {
    const { page } = sceneOf();
    await page.setViewportSize({ width: 1366, height: 768 });
    const dialog = await openDialog(page);
    await dialog.getByLabel('Name in the address').fill('kept-page');
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.getByRole('link').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const again = await openDialog(page);
    await again.getByRole('button', { name: 'Unpublish kept-page' }).click();
    await again.getByRole('region', { name: 'Published before' }).waitFor({ state: 'detached' });
    await again.getByRole('button', { name: 'Close' }).click();
  });
});

describe.skipIf(!hasChromium)('a gateway that publishes nothing from GraphiQL', () => {
  const sceneOf = shared();

  it('a gateway that publishes nothing from GraphiQL gives the file and the command', async () => {
    const { page, program } = sceneOf();
    await write(page, LIFE);
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name in the address').fill('life');
    await dialog.getByText("country-graph publish life.graphql --title 'Life'", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    const { name, bytes } = await saved(page, dialog.getByRole('button', { name: 'Save the file' }));
    expect([name, String(bytes).replaceAll(/\s+/g, ' ')]).toEqual([
      'life.graphql',
      LIFE.replaceAll(/\s+/g, ' '),
    ]);
    expect(program.requests()).toEqual([]);
  });
});
