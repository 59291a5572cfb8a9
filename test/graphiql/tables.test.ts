import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { csvOf, tsvOf } from '../../clients/graphiql/src/chart/csv.ts';
import { filtered } from '../../clients/graphiql/src/chart/rows.ts';
import { hasChromium } from '../support/chromium.ts';
import { run, saved, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('the table of a picture', () => {
  it('the table of a picture has years as columns, a filter for each column, and goes to a spreadsheet, at no call', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines g.top path').first().waitFor();
    program.requests();
    await page.getByText(/^Table of \d+ figures$/).click();
    await page.getByLabel('Years as columns').check();
    const head = page.locator('.picture thead th');
    await expect
      .poll(async () => (await head.allInnerTexts()).map((name) => name.trim()).slice(0, 3))
      .toEqual(['country', '1990', '1991']);
    // A name stands above its numbers.
    const aligned = head
      .locator('button')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).textAlign));
    expect((await aligned).slice(0, 2)).toEqual(['left', 'right']);
    const rows = page.locator('.picture tbody tr');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Filter country').fill('ken');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Copy table' }).click();
    await page.getByText('1 row copied').waitFor();
    const pasted = await page.evaluate<string>('navigator.clipboard.readText()');
    const [names = '', values = ''] = pasted.split(/\r?\n/);
    expect(names).toMatch(/^country\t1990\t1991\t/);
    expect(values).toMatch(/^Kenya\t[\d.]+\t/);
    await page.getByLabel('Filter country').fill('');
    await page.getByLabel('Filter 1990').fill('> 1000');
    await expect.poll(() => rows.count()).toBe(0);
    const { name: file, bytes } = await saved(page, page.getByRole('button', { name: 'CSV by year' }));
    expect(file).toMatch(/-wide\.csv$/);
    expect(bytes.toString().split('\r\n')[0]).toBe(
      `\ufeffcountry.name,indicator.name,locationName,unit,source.name,source.key,country.code,indicator.key,${(
        await head.allInnerTexts()
      )
        .slice(1)
        .map((one) => one.trim())
        .join()}`,
    );
    await page.getByLabel('Filter 1990').fill('');
    // The name stays in view, the years don't, and on paper nothing is cut off.
    await page.locator('.charts .table').evaluate((table) => table.scrollTo(9_999, 0));
    const name = rows.first().locator('td').first();
    await expect
      .poll(async () => Math.round((await leftOf(name)) - (await leftOf(page.locator('.charts .table')))))
      .toBe(0);
    try {
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 718, height: 1000 });
      const cells = rows.first().locator('td');
      const rights = await cells.evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().right));
      expect(rights).toHaveLength(await head.count());
      expect(Math.max(...rights)).toBeLessThanOrEqual(718);
    } finally {
      await page.emulateMedia({ media: 'screen' });
    }
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('the table of an answer', () => {
  it('the table of an answer has rows of one line, which are opened by mouse and keyboard', async () => {
    await using scene = await open();
    const { page } = scene;
    await write(page, '{ countries(codes: ["KE", "NG"]) { code record } }');
    const { data } = await run(page);
    await side(page, 'Picture');
    const rows = page.locator('.charts .table tbody tr');
    await rows.first().waitFor();
    const heights = () =>
      rows.evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)));
    const [closed = 0] = await heights();
    expect(closed).toBeLessThan(40);
    expect(await heights()).toEqual([closed, closed]);
    const long = rows.first().getByRole('button');
    await long.focus();
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await heights())[0]).toBeGreaterThan(closed * 2);
    expect((await heights())[1]).toBe(closed);
    expect(JSON.parse(await long.innerText())).toEqual(data.countries[0].record);
    await long.click();
    await expect.poll(heights).toEqual([closed, closed]);
    expect(scene.problems).toEqual([]);
  });

  it('the table of an answer names the service above its rows, in view on every screen, at no call', async () => {
    const name = 'Office for the Observation of Countries & Markets';
    const url = `https://data.example/${'about-the-service'.repeat(6)}`;
    await using scene = await open({ env: { ATTRIBUTION_NAME: name, ATTRIBUTION_URL: url } });
    const { page, program } = scene;
    await tab(page, 'AllCountries');
    await run(page);
    await side(page, 'Picture');
    program.requests();
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    const link = page.getByRole('link', { name: `${name} (${url})` });
    await expect.poll(() => link.getAttribute('href')).toBe(url);
    expect(await page.getByText('none of them is real').filter({ visible: true }).count()).toBe(1);
    for (const [width, height] of [
      [1366, 768],
      [390, 844],
      [320, 640],
    ] as const) {
      await page.setViewportSize({ width, height });
      const box = async () => (await link.boundingBox()) ?? { x: -1, y: -1, width: 9_999, height: 9_999 };
      await expect.poll(async () => (await box()).x + (await box()).width).toBeLessThanOrEqual(width);
      expect((await box()).y + (await box()).height).toBeLessThanOrEqual(height);
    }
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });
});

const leftOf = async (what: Locator) => (await what.boundingBox())?.x ?? Number.NaN;

describe('a table', () => {
  const ROWS = [
    ['Kenya', 5, null],
    ['Côte d’Ivoire', 12, '=1+1'],
  ];

  it('a table is a file that Excel opens as UTF-8, without formulas', () => {
    expect(csvOf({ columns: ['a', 'b', 'c'], rows: ROWS })).toBe(
      "\ufeffa,b,c\r\nKenya,5,\r\nCôte d’Ivoire,12,'=1+1\r\n",
    );
  });

  it('a table is pasted cell by cell, without formulas', () => {
    const rows = [...ROWS, ['two\nlines\tand a tab', -1, '"quoted"']];
    expect(tsvOf({ columns: ['a', 'b', 'c'], rows })).toBe(
      'a\tb\tc\r\nKenya\t5\t\r\nCôte d’Ivoire\t12\t\'=1+1\r\ntwo lines and a tab\t-1\t"""quoted"""\r\n',
    );
  });

  it.for<[Record<number, string>, string[]]>([
    [{}, ['Kenya', 'Côte d’Ivoire']],
    [{ 0: ' KEN' }, ['Kenya']],
    [{ 1: '> 5' }, ['Côte d’Ivoire']],
    [{ 1: '>=5' }, ['Kenya', 'Côte d’Ivoire']],
    [{ 1: '<12' }, ['Kenya']],
    [{ 0: 'e', 1: '<= 5' }, ['Kenya']],
    [{ 2: '> 0' }, []],
  ])('a table has rows that are wanted: %j', ([wanted, left]) => {
    expect(filtered(ROWS, wanted).map(([name]) => name)).toEqual(left);
  });
});
