import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { literalAt, variableAt } from '../../clients/graphiql/src/catalogue/literals.ts';
import { searched } from '../../clients/graphiql/src/catalogue/search.ts';
import { hasChromium } from '../support/chromium.ts';
import {
  openCatalogue,
  pane,
  run,
  scenesOfGraphiql,
  side,
  tab,
  write,
  written,
} from '../support/graphiql.ts';
import { threadMs } from '../support/thread-ms.ts';

const { shared } = scenesOfGraphiql();

describe('what a string names', () => {
  it.for([
    ['{ country(code: "K', 'country', 'K'],
    ['{ countries(codes: ["KE", "N', 'country', 'N'],
    ['{ observations(countryCodes: ["', 'country', ''],
    ['{ country(code: "KE") { observation(metricKey: "pop', 'indicator', 'pop'],
    ['{ observations(metricKeys: [\n  "a"\n  "b', 'indicator', 'b'],
    ['{ indicator(key: "gd', 'indicator', 'gd'],
    ['{ indicators(hasData: true, keys: ["x", "', 'indicator', ''],
    ['{ source(key: "wo', 'source', 'wo'],
    ['{ tickers(exchangeCode: "', 'exchange', ''],
    ['{ indicators(category: "de', 'category', 'de'],
  ] as const)('what a string names is found: %s', ([text, named, before]) => {
    expect(literalAt(text)).toEqual({ named, before });
  });

  it.for([
    '{ country(code: "KE"',
    '{ country(code: ',
    '{ node(id: "',
    '{ other(key: "',
    '# country(code: "',
    '{ ticker(symbol: "',
    '',
  ])('a string that names nothing of ours is left alone: %s', (text) => {
    expect(literalAt(text)).toBeNull();
  });

  it('what a string names in a variable is told by where it is used', () => {
    const operation =
      'query ($codes: [CountryCode!], $key: String!, $x: String!) { countries(codes: $codes) { observation(metricKey: $key) { value } } source(key: $x) { key } }';
    expect(variableAt('{ "codes": ["KE", "N', operation)).toEqual({ named: 'country', before: 'N' });
    expect(variableAt('{ "codes": [], "key": "po', operation)).toEqual({ named: 'indicator', before: 'po' });
    expect(variableAt('{ "x": "', operation)).toEqual({ named: 'source', before: '' });
    expect(variableAt('{ "unused": "', operation)).toBeNull();
    expect(variableAt('{ "codes', operation)).toBeNull();
  });

  it('what a string names is found in time in long texts', () => {
    const text = `{ observations(metricKeys: [${'"key", '.repeat(20_000)}"po`;
    const long = `${'a: ["" '.repeat(20_000)}"`;
    const before = process.threadCpuUsage();
    literalAt(text);
    literalAt(long);
    variableAt(long, long);
    expect(threadMs(before)).toBeLessThan(1_000);
  });
});

interface Widest {
  readonly indicator: { readonly key: string };
  readonly countryCount: number;
}

/** Puts the cursor right behind a part of the editor's text. */
async function goBehind(page: Page, text: string, part: string) {
  await write(page, text);
  const rest = text.length - text.indexOf(part) - part.length;
  for (let i = 0; i < rest; i += 1) await page.keyboard.press('ArrowLeft');
}

describe('a search', () => {
  const KEYS = ['rainfall_mm', 'trained_teachers', 'gdp_growth', 'gdp_per_capita', 'under5_mortality'];
  it.for([
    ['rain', ['rainfall_mm']],
    ['rianfall', ['rainfall_mm']],
    ['mortalty', ['under5_mortality']],
    ['gdp groth', ['gdp_growth']],
    ['grwht', []],
    ['xgdp', []],
    ['gdp', ['gdp_growth', 'gdp_per_capita']],
    ['capita gdp', ['gdp_per_capita']],
    ['Child deaths', ['under5_mortality']],
    ['nothing', []],
    ['', KEYS],
  ] as const)('a search finds words, and what they are called else: %s', ([words, found]) => {
    expect(searched(KEYS, words, (name) => ({ name, about: '' }))).toEqual(found);
  });
});

describe.skipIf(!hasChromium)('the catalogue at hand', () => {
  const sceneOf = shared();

  it('the catalogue at hand says what it takes, and takes it once somebody wants it, by GraphQL', async () => {
    const { page, program } = sceneOf();
    await page.locator('.price', { hasText: 'This operation takes' }).waitFor();
    await pane(page, 'Catalogue');
    const load = page.getByRole('button', { name: 'Load the catalogue (2 calls, cached afterwards)' });
    await load.waitFor();
    expect(program.requests()).toEqual([]);
    await load.press('Enter');
    await page.getByText('207 of 207 indicators').waitFor();
    expect(await page.locator('.took').first().innerText()).toBe('The catalogue took 2 calls.');
    expect(program.requests().sort()).toEqual(['GET /v1/countries', 'GET /v1/indicators']);
    await expect.poll(() => page.locator(':focus').getAttribute('aria-label')).toBe('Search indicators');
  });

  it('the catalogue at hand is searched by name, key, category and source, and says which countries have figures', async () => {
    const { page } = sceneOf();
    const indicators = page.getByRole('region', { name: 'Indicators' });
    const search = page.getByLabel('Search indicators');
    await search.fill('life expect');
    await indicators.getByText('life_expectancy', { exact: true }).waitFor();
    await expect.poll(() => indicators.locator('.entries > li').count()).toBeLessThan(10);
    await page.getByRole('button', { name: 'Which countries? (one call): life_expectancy' }).click();
    await expect.poll(() => page.locator('.coverage').getAttribute('data-countries')).toBe('54');
    await expect.poll(() => indicators.locator('.took').innerText()).toBe('This took one call.');
    await search.fill('');
    await page.getByLabel('Category').selectOption('demographics');
    await expect.poll(() => indicators.getByRole('status').first().innerText()).toMatch(/^\d\d? of 207/);
    await page.getByLabel('Category').selectOption('');
    await page.getByLabel('Source').selectOption('who_gho');
    await expect
      .poll(async () => new Set(await indicators.locator('.entries .hint').allInnerTexts()).size)
      .toBeGreaterThan(1);
    for (const text of await indicators.locator('.entry-head ~ .hint:nth-of-type(2)').allInnerTexts())
      expect(text).toContain('who_gho');
    await page.getByLabel('Source').selectOption('');
  });

  it('the catalogue at hand says what is known to be there, and how to know all; then it hides what no country of mine has', async () => {
    const { page, program } = sceneOf();
    const indicators = page.getByRole('region', { name: 'Indicators' });
    const keys = () => indicators.locator('.entries code').allInnerTexts();
    const command = 'country-graph fill --all --latest caches the newest of all';
    await indicators.getByText(new RegExp(`cached so far. ${command} \\(\\d\\d calls\\)`)).waitFor();
    const { upstream } = await program.ask('{ observations(latest: true) { value } }');
    expect(upstream.calls).toBeLessThanOrEqual(20);
    program.requests();
    await pane(page, 'Lessons');
    await pane(page, 'Catalogue');
    await indicators.getByText('What is there is complete since').waitFor();
    const { data } = await program.ask('{ availability { indicator { key } countryCount } }');
    const widest = data.availability.filter(({ countryCount }: Widest) => countryCount === 54);
    expect(new Set((await keys()).slice(0, widest.length))).toEqual(
      new Set(widest.map(({ indicator: { key } }: Widest) => key)),
    );
    await page.getByLabel('Countries that have figures').fill('somalia, ER');
    const of = await program.ask('{ availability(countryCodes: ["SO", "ER"]) { indicator { key } } }');
    const there = of.data.availability.map(({ indicator: { key } }: Widest) => key);
    expect(there.length).toBeLessThan(207);
    await indicators.getByText(`${there.length} of 207 indicators in ER, SO`).waitFor();
    expect(new Set(await keys())).toEqual(new Set(there));
    expect(program.requests()).toEqual([]);
    await page.getByLabel('Countries that have figures').fill('');
  });

  it('the catalogue at hand puts a figure into the selection of a country, and the operation runs', async () => {
    const { page } = sceneOf();
    await tab(page, 'CountryCard');
    await page.getByLabel('Search indicators').fill('internet_users_pct');
    await page.getByRole('button', { name: 'Insert internet_users_pct' }).click();
    await expect
      .poll(() => written(page))
      .toContain('internetUsersPct: observation(metricKey: "internet_users_pct") { value year unit }');
    const { data, errors } = await run(page);
    expect(errors).toBeUndefined();
    expect(data.country.internetUsersPct.value).toBeGreaterThan(0);
  });

  it('the catalogue at hand puts a key and a code into the string that the cursor stands in', async () => {
    const { page } = sceneOf();
    await page.getByLabel('Search indicators').fill('');
    await goBehind(
      page,
      '{ country(code: "KE") { observation(metricKey: "x") { value } } }',
      'metricKey: "x',
    );
    await page.getByRole('button', { name: 'Insert life_expectancy', exact: true }).click();
    await expect.poll(() => written(page)).toContain('observation(metricKey: "life_expectancy") { value }');
    await goBehind(page, '{ country(code: "KE") { name } }', 'code: "K');
    await page.getByRole('region', { name: 'Countries' }).getByText('Ghana').click();
    await expect.poll(() => written(page)).toBe('{ country(code: "GH") { name } }');
  });

  it('the catalogue at hand opens an operation of its own where there is none to put a figure in', async () => {
    const { page } = sceneOf();
    await write(page, '{ quota { plan } }');
    await page.getByRole('button', { name: 'Insert life_expectancy', exact: true }).click();
    await expect.poll(() => written(page)).toContain('query LifeExpectancy');
    expect((await run(page)).errors).toBeUndefined();
    await side(page, 'Picture');
    await page.locator('.frame.map').waitFor();
  });

  it('the catalogue at hand names the exchanges once that is asked for', async () => {
    const { page } = sceneOf();
    await page.getByRole('button', { name: /Ask for their codes/ }).click();
    await page.getByRole('region', { name: 'Exchanges' }).getByText('NGX', { exact: true }).waitFor();
  });

  it('the catalogue at hand is that of the key that is there, which is asked with once it has been typed', async () => {
    const { page } = sceneOf();
    const keys: unknown[] = [];
    const held = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      const request = route.request();
      const { authorization, 'x-explain': isExplained } = request.headers();
      if (!request.postData()?.includes('query Catalogue') || isExplained) return route.continue();
      keys.push(authorization);
      if (authorization !== 'Bearer first') return route.continue();
      await held.promise;
      const data = { indicators: [{ key: 'of_the_first', name: null, sources: null }], countries: [] };
      return route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify({ data }) });
    });
    try {
      const field = page.getByLabel('API key', { exact: true });
      await field.fill('first');
      await page.getByRole('button', { name: 'Load the catalogue' }).click();
      await expect.poll(() => keys).toEqual(['Bearer first']);
      await field.fill('');
      await field.pressSequentially('demo-team', { delay: 20 });
      // Comes by itself, since it is cached for this key.
      await page.getByText('207 of 207 indicators').waitFor();
      held.resolve();
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
      expect(await page.getByText('of_the_first').count()).toBe(0);
      expect(keys).toEqual(['Bearer first', 'Bearer demo-team']);
    } finally {
      held.resolve();
      await page.unroute('**/graphql');
    }
  });
});

describe.skipIf(!hasChromium)('inside a string, completion', () => {
  const sceneOf = shared();

  /** Asks for suggestions, anew each time: a question may never be answered while the editor still starts. */
  async function suggested(page: Page): Promise<string> {
    const list = page.locator('.suggest-widget.visible');
    // With no list open, Escape would leave the editor.
    if (await list.isVisible()) await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Space');
    return list.innerText({ timeout: 2_000 }).catch(() => '');
  }

  async function openWhole(page: Page) {
    const search = page.getByLabel('Search indicators');
    if (!(await search.isVisible())) await openCatalogue(page);
    await search.fill('');
    await page.getByText('207 of 207 indicators').waitFor();
  }

  it('inside a string, completion offers to load the catalogue, says what that costs, and asks for nothing before', async () => {
    const { page, program } = sceneOf();
    await goBehind(page, '{ country(code: "KE") { observation(metricKey: "") { value } } }', 'metricKey: "');
    await expect.poll(() => suggested(page)).toContain('two calls');
    expect(program.requests()).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => program.sandbox.log.map(({ path }) => path).length).toBe(2);
    // The list opens again by itself: Enter takes an item of it, and breaks no string.
    const list = page.locator('.suggest-widget.visible');
    await expect.poll(() => list.innerText({ timeout: 2_000 }).catch(() => '')).toMatch(/_pct|_usd|_total/);
    await page.keyboard.press('Enter');
    await expect.poll(() => written(page)).toContain('metricKey: "population_total"');
  });

  it.for([
    ['child mortality', 'under5_mortality_per_1000'],
    ['jobs', 'unemployment_rate_pct'],
    ['gdp per capita', 'gdp_per_capita_current_usd'],
    ['rain', 'rainfall_monthly_mm'],
  ] as const)('inside a string, completion finds what people call it: %s', async ([words, key]) => {
    const { page } = sceneOf();
    await openWhole(page);
    await page.getByLabel('Search indicators').fill(words);
    const entries = page.getByRole('region', { name: 'Indicators' }).locator('.entries code');
    await expect.poll(() => entries.allInnerTexts()).toContain(key);
    await goBehind(
      page,
      `{ country(code: "KE") { observation(metricKey: "${words}") { value } } }`,
      `metricKey: "${words}`,
    );
    await expect.poll(() => suggested(page)).toContain(key);
    if (words === 'rain') expect(await suggested(page)).not.toContain('trained');
  });

  it('inside a string, completion of what may be asked begins with figures and lists', async () => {
    const { page } = sceneOf();
    await goBehind(page, '{  }', '{ ');
    const labels = page.locator('.suggest-widget.visible .monaco-list-row .label-name');
    await expect
      .poll(async () => {
        await suggested(page);
        return (await labels.allInnerTexts()).slice(0, 4);
      })
      .toEqual(['countries', 'country', 'observations', 'indicators']);
    const all = await labels.allInnerTexts();
    expect(all.filter((name) => /^(health|ticker|quota|node|_entities)$|Connection$/.test(name))).toEqual(
      all.slice(8).filter((name) => /^(health|ticker|quota|node|_entities)$|Connection$/.test(name)),
    );
  });

  it.for([
    [
      '{ country(code: "KE") { observation(metricKey: "life_exp") { value } } }',
      'life_exp',
      'life_expectancy',
    ],
    ['{ countries(codes: ["KE", "Gha"]) { name } }', 'Gha', 'GH'],
    ['{ source(key: "world_bank_w") { key } }', 'world_bank_w', 'world_bank_wdi'],
  ] as const)('inside a string, completion names what there is: %s', async ([text, part, name]) => {
    const { page } = sceneOf();
    await openWhole(page);
    await goBehind(page, text, part);
    await expect.poll(() => suggested(page)).toContain(name);
    await page.keyboard.press('Enter');
    await expect.poll(() => written(page)).toContain(`"${name}"`);
  });

  it('inside a string, completion names what there is in the variables', async () => {
    const { page } = sceneOf();
    await openWhole(page);
    await write(
      page,
      'query ($key: String!) { country(code: "KE") { observation(metricKey: $key) { value } } }',
    );
    await page.getByRole('button', { name: 'Variables' }).click();
    await page.locator('.graphiql-editor-tool .view-lines').first().click();
    await page.keyboard.insertText('{ "key": "life_exp" }');
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowLeft');
    await expect.poll(() => suggested(page)).toContain('life_expectancy');
  });
});
