import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { pane, run, scenesOfGraphiql, side, written } from '../support/graphiql.ts';

// Lines as Windows ends them, and a blank at the end: an editor sends neither as it was.
const MANIFEST = {
  capital: 'query Capital($code: CountryCode!) {\r\n  country(code: $code) { name capital }\r\n} ',
  figures:
    'query Figures { countries { code name observation(metricKey: "life_expectancy") { value year unit } } }',
};

const { shared } = scenesOfGraphiql();

const path = join(mkdtempSync(join(tmpdir(), 'trusted-')), 'documents.json');
writeFileSync(path, JSON.stringify(MANIFEST));
const sceneOf = shared({ env: { TRUSTED_DOCUMENTS: path } });

describe.skipIf(!hasChromium)('where trusted documents alone may run', () => {
  it('where trusted documents alone may run, the operation is not to be changed, is priced, and the schema is told', async () => {
    const { page } = sceneOf();
    await page.locator('.graphiql-plugin').getByRole('button', { name: 'Figures' }).click();
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.type('nonsense');
    await expect.poll(() => written(page)).toContain('query Figures { countries');
    expect(await written(page)).not.toContain('nonsense');
    await side(page, 'Cost');
    await page.getByRole('button', { name: 'Explain' }).click();
    await expect.poll(() => page.locator('[data-explained]').getAttribute('data-explained')).toBe('2');
    await pane(page, 'Documentation Explorer');
    await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).click();
    await expect.poll(() => page.locator('.graphiql-plugin').innerText()).toContain('countries');
    expect(await page.getByRole('button', { name: 'Show Builder' }).count()).toBe(0);
    await pane(page, 'Documents');
  });

  it('trusted documents are offered by name, with their variables, and run', async () => {
    const { page } = sceneOf();
    const documents = page.locator('.graphiql-plugin');
    await expect.poll(() => documents.innerText()).toContain('This gateway runs trusted documents alone');
    await documents.getByRole('button', { name: 'Figures' }).click();
    const figures = await run(page);
    expect(figures.errors).toBeUndefined();
    expect(figures.data.countries).toHaveLength(54);
    await side(page, 'Picture');
    await page.locator('.frame.map').waitFor();

    await documents.getByRole('button', { name: 'Capital' }).click();
    await page.getByRole('button', { name: 'Variables' }).click();
    const variables = page.locator('.graphiql-editor-tool .view-lines').first();
    await expect.poll(() => variables.innerText()).toContain('"code"');
    await variables.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{ "code": "GH" }');
    await page.keyboard.press('Shift+ControlOrMeta+End');
    await page.keyboard.press('Delete');
    const capital = await run(page);
    expect(capital.data.country.name).toBe('Ghana');
  });
});
