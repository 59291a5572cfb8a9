import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { run, saved, scenesOfGraphiql, side, tab } from '../support/graphiql.ts';
import { openProgram } from '../support/program.ts';

const { open } = scenesOfGraphiql();

const folder = mkdtempSync(join(tmpdir(), 'cite-'));
const names = join(folder, 'names.json');

beforeAll(async () => {
  await using program = await openProgram();
  const { data } = await program.ask('{ sources { key } }');
  const all = data.sources.map(({ key }: { key: string }) => [
    key,
    { name: `Office of ${key.replaceAll('_', ' ')}`, url: `https://office.example/${key}` },
  ]);
  writeFileSync(names, JSON.stringify(Object.fromEntries(all)));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!hasChromium)('a picture', () => {
  it('a picture is cited as text and as BibTeX, at no call', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await page.locator('.frame.lines g.top path').first().waitFor();
    program.requests();
    await page.getByRole('button', { name: 'Copy citation' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    const [first = ''] = text.split('\n');
    expect(first).toMatch(
      /^\w+\. .*Kenya.*, 1990–20\d\d\..* Retrieved \d{4}-\d{2}-\d{2}\. http:\/\/127\.0\.0\.1:\d+\/graphiql#query=/,
    );
    expect(text).not.toContain('demo-team');
    await page.getByRole('button', { name: 'Copy BibTeX' }).click();
    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
      .toMatch(/^@misc\{\w+,\n {2}author = \{\{/);
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('a picture names its sources as the operator does, with links to their pages, on the page and in files', async () => {
    await using scene = await open({ env: { SOURCE_NAMES: names } });
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    const link = page.locator('.picture .under a').first();
    await expect.poll(() => link.innerText()).toMatch(/^Office of /);
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/office\.example\//);
    const { bytes } = await saved(page, page.getByRole('button', { name: 'SVG' }));
    expect(bytes.toString()).toContain('Source: Office of ');
    await page.getByRole('button', { name: 'Copy citation' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(
      /^Office of .* https:\/\/office\.example\/\w+$/m,
    );
    expect(program.requests()).toEqual(['GET /v1/countries', expect.stringContaining('GET /v1/data')]);
  });
});
