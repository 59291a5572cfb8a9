import axe, { type AxeResults } from 'axe-core';
import { describe, expect, it } from 'vitest';
import { countryEdit } from '../../clients/graphiql/src/chart/country-edit.ts';
import { hasChromium } from '../support/chromium.ts';
import { drawAs, newTab, run, scenesOfGraphiql, side, write, written } from '../support/graphiql.ts';

const { shared } = scenesOfGraphiql();

const sceneOf = shared();

describe('an operation takes a further country', () => {
  it.for([
    ['{ countries(codes: ["KE"]) { name } }', '', '{ countries(codes: ["KE", "GH"]) { name } }', ''],
    ['{ countries(codes: []) { name } }', '', '{ countries(codes: ["GH"]) { name } }', ''],
    ['{ countries(codes: "KE") { name } }', '', '{ countries(codes: ["KE", "GH"]) { name } }', ''],
    ['{ country(code: "ke") { name } }', '', '{ countries(codes: ["KE", "GH"]) { name } }', ''],
    [
      'query ($c: CountryCode = "KE") { a: country(code: $c) { name } }',
      '',
      'query ($c: [CountryCode!] = "KE") { a: countries(codes: $c) { name } }',
      '{ "c": ["KE", "GH"] }',
    ],
    [
      '{ indicator(key: "k") { observation(countryCode: "KE") { value } } }',
      '',
      '{ indicator(key: "k") { observations(countryCodes: ["KE", "GH"], latest: true, scope: NATIONAL) { value } } }',
      '',
    ],
    [
      '{ a: observations(countryCodes: "KE") { value } ...B } fragment B on Query { countries(codes: ["NG"]) { name } }',
      '',
      '{ a: observations(countryCodes: ["KE", "GH"]) { value } ...B } fragment B on Query { countries(codes: ["KE", "GH"]) { name } }',
      '',
    ],
    [
      'query ($c: [CountryCode!]) { countries(codes: $c) { name } }',
      '{ "c": ["KE"], "x": 1 }',
      'query ($c: [CountryCode!]) { countries(codes: $c) { name } }',
      '{ "c": ["KE", "GH"], "x": 1 }',
    ],
  ] as const)('an operation takes a further country: %s', ([query, variables, edited, given]) => {
    const edit = countryEdit(query, variables);
    expect(edit?.codes ?? []).toEqual(query.includes('[]') ? [] : ['KE']);
    const result = edit?.with([...(edit.codes ?? []), 'GH']);
    expect(result?.query).toBe(edited);
    expect(JSON.parse(result?.variables || '0')).toEqual(JSON.parse(given || '0'));
  });

  it.for([
    '{ countries { name } }',
    '{ health { status } }',
    '{ country(code: ',
    '{ a: country(code: "KE") { name } b: country(code: "UG") { name } }',
    'query ($c: CountryCode!) { country(code: $c) { name } tickers(countryCode: $c) { symbol } }',
    'query ($c: CountryCode!) { countries(codes: [$c]) { name } }',
  ])('an operation takes a further country unless it names none: %s', (query) => {
    expect(countryEdit(query, '')).toBeNull();
  });
});

describe.skipIf(!hasChromium)('from a fresh browser', () => {
  it('from a fresh browser, one click leads to a picture, and two to the same for another country', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await page.locator('.start').getByRole('button', { name: 'How have three countries fared' }).click();
    const lines = page.locator('.frame.lines g.top path');
    await expect.poll(() => lines.count()).toBe(3);
    program.requests();
    await page.getByRole('button', { name: 'Add South Africa' }).click();
    await expect.poll(() => lines.count()).toBe(4);
    await expect.poll(() => page.locator('.legend li').allInnerTexts()).toContain('South Africa');
    await page.getByRole('button', { name: 'Variables' }).click();
    const given = page.locator('.graphiql-editor-tool .view-lines').first();
    await expect
      .poll(async () => (await given.innerText()).replaceAll(/\s+/g, ''))
      .toContain('["KE","NG","GH","ZA"]');
    // Figures that are held aren't asked for again.
    const asked = program.requests();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('ZA');
    expect(asked[0]).not.toContain('NG');
    expect(scene.problems).toEqual([]);
  });
});

/** Counts texts that lie on another. */
function overlapping(texts: Element[]): number {
  const boxes = texts.map((text) => text.getBoundingClientRect());
  return boxes.filter((one, i) =>
    boxes
      .slice(i + 1)
      .some(
        (other) =>
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      ),
  ).length;
}

describe.skipIf(!hasChromium)('controls', () => {
  it('controls of a picture draw what is there otherwise, at no call', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await page.locator('.start').getByRole('button', { name: 'How have three countries fared' }).click();
    await page.locator('.frame.lines g.top path').first().waitFor();
    program.requests();
    const label = page.locator('.frame svg [aria-label="y-axis label"]');
    await page.getByLabel('Values').selectOption('index');
    await expect.poll(() => label.textContent()).toContain('index, 1990 = 100');
    await page.getByLabel('Base year').selectOption('2000');
    await expect.poll(() => label.textContent()).toContain('index, 2000 = 100');
    await page.getByLabel('Values').selectOption('percent');
    await expect.poll(() => label.textContent()).toContain('percent more or less than in 2000');
    await page.getByLabel('Values').selectOption('value');
    await page.getByLabel('Scale').selectOption('log');
    await expect.poll(() => label.textContent()).toContain('years');
    await drawAs(page, 'Ranking');
    await expect.poll(() => page.locator('.frame.ranking g[aria-label="bar"] rect').count()).toBe(3);
    await page.getByLabel('Year', { exact: true }).selectOption('1995');
    await expect.poll(() => page.locator('figcaption').innerText()).toContain('1995');
    const { violations } = await page
      .evaluate(axe.source)
      .then(() => page.evaluate<AxeResults>("axe.run('.charts')"));
    expect(violations.map(({ id }) => id)).toEqual([]);
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('controls of a picture draw each of many lines by itself, or a year of them as a map', async () => {
    const scene = sceneOf();
    const { page } = scene;
    await newTab(page);
    await write(
      page,
      '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }',
    );
    await run(page);
    await drawAs(page, 'Small pictures');
    await expect.poll(() => page.locator('.frame.small-pictures g.top path').count()).toBe(54);
    const years = page.locator('.frame.small-pictures [aria-label="x-axis tick label"] text');
    expect(await years.evaluateAll(overlapping)).toBe(0);
    // Each line fills its frame, however small its country is; on one scale for all, few do.
    const full = () =>
      page
        .locator('.frame.small-pictures g.top path')
        .evaluateAll((paths) => paths.filter((path) => path.getBoundingClientRect().height > 60).length);
    expect(await full()).toBe(54);
    const scales = page.locator('.frame.small-pictures .scales');
    expect(await scales.textContent()).toContain('Each has a scale of its own');
    await page.getByLabel('Each').selectOption('shared');
    await expect.poll(() => scales.textContent()).toContain('One scale for all');
    expect(await full()).toBeLessThan(20);
    await drawAs(page, 'Map');
    await expect.poll(() => page.locator('.frame.map g.with-figure path').count()).toBe(54);
    await page.getByLabel('Year', { exact: true }).selectOption('2012');
    await expect.poll(() => page.locator('figcaption').innerText()).toContain('2012');
    expect(scene.problems).toEqual([]);
  });

  it('controls of a picture set two indicators against each other, a dot a country', async () => {
    const scene = sceneOf();
    const { page, program } = scene;
    await newTab(page);
    await write(
      page,
      '{ countries { name a: observation(metricKey: "gdp_per_capita_current_usd") { value } b: observation(metricKey: "life_expectancy") { value } } }',
    );
    await run(page);
    const dots = page.locator('.frame.scatter g.points circle');
    await expect.poll(() => dots.count()).toBeGreaterThan(40);
    program.requests();
    // Names of dots lie on no other, nor on a dot; the arrow keys tell those for which there is no room.
    const names = page.locator('.frame.scatter g.names text');
    await expect.poll(() => names.count()).toBeGreaterThan(20);
    expect(await names.evaluateAll(overlapping)).toBe(0);
    await page.locator('.frame.scatter').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const said = await page.locator('.frame.scatter + p[role="status"]').textContent();
    expect(said).toMatch(/^\w[^,]*, Gross domestic product per head.*: [\d,.]+ US dollars.* [\d.]+ years/);
    await expect
      .poll(() => page.locator('.frame.scatter .tip').textContent())
      .toContain(said?.split(',')[0] as string);
    // The sandbox is known as such once the page has asked for its health.
    await expect
      .poll(() => page.locator('.picture .under').first().innerText())
      .toMatch(/none of them is real[\s\S]*Source: /);
    const across = page.locator('.frame.scatter [aria-label="x-axis label"]');
    const before = await across.textContent();
    await page.getByLabel('Scales').selectOption('log');
    await page.getByLabel('Across').selectOption({ index: 1 });
    await page.getByLabel('Up').selectOption({ index: 0 });
    await expect.poll(() => across.textContent()).not.toBe(before);
    // Nor do they lie on the words of an axis, of which there are many for a narrow picture.
    await page.setViewportSize({ width: 320, height: 700 });
    const drawn = page.locator('.frame.scatter svg');
    await expect.poll(() => drawn.getAttribute('width').then(Number)).toBeLessThan(320);
    const texts = drawn.locator('g.names text, [aria-label$="-axis label"] text');
    for (const scales of ['log', 'linear']) {
      await page.getByLabel('Scales').selectOption(scales);
      for (const [x, y] of [
        [0, 1],
        [1, 0],
      ] as const) {
        await page.getByLabel('Across').selectOption({ index: x });
        await page.getByLabel('Up').selectOption({ index: y });
        await expect.poll(() => texts.evaluateAll(overlapping)).toBe(0);
      }
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    expect(program.requests()).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('controls of a picture show another country in place of the only one, or beside it', async () => {
    const { page } = sceneOf();
    await newTab(page);
    await write(
      page,
      '{ country(code: "KE") { name observations(metricKeys: ["life_expectancy"]) { value } } }',
    );
    await run(page);
    await side(page, 'Picture');
    await page.locator('.countries summary').click();
    await page.getByLabel('Search countries').fill('Ghana');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Only this' }).click();
    await expect.poll(() => page.locator('figcaption').innerText()).toContain('Ghana');
    await expect.poll(() => written(page)).toContain('countries(codes: ["GH"])');
    await page.getByRole('button', { name: 'Add South Africa' }).click();
    await expect.poll(() => page.locator('.frame.lines g.top path').count()).toBe(2);
  });
});
