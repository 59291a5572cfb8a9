import { describe, expect, it } from 'vitest';
import { SAMPLES } from '../../clients/graphiql/src/samples.ts';
import { LESSONS } from '../../clients/graphiql/src/tabs.ts';
import { hasChromium } from '../support/chromium.ts';
import { pane, run, scenesOfGraphiql, side, tab, written } from '../support/graphiql.ts';
import { openProgram } from '../support/program.ts';

const { bytesReceived, openPage, origin, serve, shared } = scenesOfGraphiql();

/** Of all that the browser loads before the first operation can be run, compressed. */
const MAX_FIRST_LOAD_BYTES = 1_450_000;

describe.skipIf(!hasChromium)('the first minute', () => {
  const sceneOf = shared();

  it('the first minute says what History will have, while it has nothing', async () => {
    const { page } = sceneOf();
    await pane(page, 'History');
    const words = page.getByText('Operations that you run are listed here');
    await words.waitFor();
    await page.getByRole('button', { name: 'Hide History' }).click();
    await words.waitFor({ state: 'detached' });
  });

  it('the first minute says what this is, what may be asked and what it will cost, for no call', async () => {
    const scene = sceneOf();
    const start = scene.page.locator('.start');
    await expect.poll(() => start.innerText()).toContain('questions about 54 African countries');
    await expect.poll(() => start.innerText()).toContain('This operation takes 2 calls');
    expect(await start.innerText()).toContain('Catalogue. Every field, and what it costs: Docs. Point');
    expect(scene.program.requests()).toEqual([]);
    await start.getByRole('button', { name: 'How long do people live' }).click();
    await expect.poll(() => written(scene.page)).toContain('query AllCountries');
    await scene.page.locator('.frame.map path').first().waitFor();
    await expect.poll(() => start.count()).toBe(0);
    // The question is there no more: the focus stays with what came of it.
    await expect.poll(() => scene.page.locator(':focus').innerText()).toBe('Picture');
    // Remembers an operation that ran once as one.
    await pane(scene.page, 'History');
    await expect
      .poll(() => scene.page.locator('.graphiql-history-item').allInnerTexts())
      .toEqual(['AllCountries']);
    await expect.poll(() => scene.page.getByText('Operations that you run').isVisible()).toBe(false);
    await scene.page.getByRole('button', { name: 'Hide History' }).click();
  });

  it('the first minute has words under its icons', async () => {
    const scene = sceneOf();
    const words = await scene.page
      .locator('.graphiql-sidebar > button')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one, '::after').content));
    expect(words.map((word) => word.replaceAll('"', ''))).toEqual([
      'Docs',
      'Lessons',
      'Catalogue',
      'Builder',
      'History',
      'Reload',
      'Shortcuts',
      'Settings',
    ]);
  });

  it('the first minute calls each pane as its button does, and shows by which keys the docs are searched', async () => {
    const { page } = sceneOf();
    await pane(page, 'Builder');
    await expect.poll(() => page.locator('.graphiql-plugin .doc-explorer-title').innerText()).toBe('Builder');
    await pane(page, 'Documentation Explorer');
    const search = page.locator('.graphiql-doc-explorer-search input');
    expect(
      await search.evaluate((field: HTMLInputElement) => {
        const drawn = Object.assign(document.createElement('span'), { textContent: field.placeholder });
        drawn.style.font = getComputedStyle(field).font;
        document.body.append(drawn);
        const { width } = drawn.getBoundingClientRect();
        drawn.remove();
        return field.clientWidth >= width;
      }),
    ).toBe(true);
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  });

  it('the first minute opens lessons again that were closed or written over', async () => {
    const { page } = sceneOf();
    const titles = () => page.locator('.graphiql-tab').allInnerTexts();
    const before = await titles();
    await tab(page, 'CountryCard');
    await page.locator('.graphiql-tab-active .graphiql-tab-close').click();
    await expect.poll(async () => (await titles()).length).toBe(before.length - 1);
    await pane(page, 'Lessons');
    const lessons = page.getByRole('region', { name: 'The tour' });
    await lessons.getByRole('button', { name: 'Country', exact: true }).click();
    await expect.poll(() => written(page)).toContain('query CountryCard');
    // Its name follows its text a moment later.
    await expect.poll(titles).toHaveLength(before.length);
    await expect.poll(titles).toContain('CountryCard');
    // Goes to a tab that is open already, and opens no second one.
    await lessons.getByRole('button', { name: 'Map', exact: true }).click();
    await expect.poll(() => written(page)).toContain('query AllCountries');
    expect(await titles()).toHaveLength(before.length);
  });

  it('the first minute begins its docs and its builder with what people look for', async () => {
    const scene = sceneOf();
    await pane(scene.page, 'Documentation Explorer');
    const left = scene.page.locator('.graphiql-plugin');
    await left.getByRole('link', { name: 'Query' }).click();
    const fields = left.locator('.graphiql-doc-explorer-field-name');
    await expect.poll(() => fields.first().innerText()).toBe('countries');
    const names = await fields.allInnerTexts();
    expect(names.slice(-2).sort()).toEqual(['_entities', '_service']);
    await pane(scene.page, 'Builder');
    const nodes = left.locator('.graphiql-explorer-node').filter({ visible: true });
    await expect.poll(() => nodes.first().innerText()).toBeTruthy();
    expect((await nodes.allInnerTexts()).filter((name) => name.startsWith('_'))).toEqual([]);
  });

  it('the first minute goes through all lessons, without a pause, with errors in the lesson on errors alone', async () => {
    const { page } = sceneOf();
    for (const { name, query } of LESSONS) {
      const [, title = ''] = /^query (\w+)/m.exec(query) ?? [];
      await tab(page, title);
      const { errors } = await run(page);
      expect([name, errors === undefined]).toEqual([name, name !== 'Errors']);
    }
    await side(page, 'Errors');
    await expect.poll(() => page.locator('.side-panel').innerText()).toContain('had no errors');
  });

  it('the first minute has lists in its builder, and writes them anew there', async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await pane(page, 'History');
    await pane(page, 'Builder');
    const keys = page.locator('.graphiql-plugin [data-arg-name="metricKeys"] input');
    await expect.poll(() => keys.first().inputValue()).toBe('life_expectancy');
    await keys.first().fill('life_expectancy,population_total');
    await expect
      .poll(() => written(page))
      .toMatch(/metricKeys: \[\s*"life_expectancy",?\s*"population_total"\s*\]/);
    await expect.poll(() => keys.first().inputValue()).toBe('life_expectancy,population_total');
    await keys.first().fill('life_expectancy');
    await expect.poll(() => written(page)).toMatch(/metricKeys: \[\s*"life_expectancy"\s*\]/);
  });
});

describe.skipIf(!hasChromium)('the first load', () => {
  // Beside no other page, whose editor might still load its workers.
  it('the first load is less than 1.45 MB, without what checks JSON, which comes once somebody turns to some', async () => {
    await using _program = await serve();
    await using opened = await openPage();
    // A browser that has nothing of it in its cache.
    const fresh = await opened.page.context().browser()?.newPage();
    if (fresh === undefined) throw new Error('There is no browser.');
    const before = bytesReceived();
    const workers = ['editor', 'graphql'].map((name) =>
      fresh.waitForEvent('requestfinished', (request) => request.url().includes(`/${name}.worker`)),
    );
    await fresh.goto(`${origin()}/graphiql`);
    await fresh.locator('.graphiql-query-editor .view-line').first().waitFor();
    await run(fresh);
    await Promise.all(workers);
    await expect.poll(() => bytesReceived() - before).toBeGreaterThan(1_300_000);
    await fresh.waitForLoadState('networkidle');
    expect(bytesReceived() - before).toBeLessThan(MAX_FIRST_LOAD_BYTES);
    const names = () => fresh.workers().map((worker) => /(\w+)\.worker/.exec(worker.url())?.[1]);
    expect(names()).not.toContain('json');
    await fresh.locator('.result-window').hover();
    await expect.poll(names).toContain('json');
    await fresh.close();
  });
});

describe('samples', () => {
  it.for(SAMPLES.flatMap(({ samples }) => samples))(
    'samples of operations run: $name',
    async ({ query, variables }) => {
      await using program = await openProgram();
      const { data, errors } = await program.ask(query, {
        variables: variables === undefined ? {} : JSON.parse(variables),
      });
      expect(errors).toEqual([]);
      expect(Object.values(data)).not.toContain(null);
    },
  );
});
