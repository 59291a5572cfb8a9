import axe, { type AxeResults } from 'axe-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { LESSONS } from '../../clients/graphiql/src/tabs.ts';
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
import { openProgram } from '../support/program.ts';
import { untilMinuteHas } from '../support/wall-clock.ts';

const { open, shared } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('GraphiQL', () => {
  const sceneOf = shared();

  it('GraphiQL says that the figures are synthetic, and has a demo key filled in', async () => {
    const { page } = sceneOf();
    expect(await page.getByRole('note').innerText()).toContain('all figures are synthetic');
    expect(await page.getByLabel('API key').inputValue()).toBe('demo-team');
  });

  it('GraphiQL has Run within a few stops of the keyboard', async () => {
    const { page } = sceneOf();
    const isThere = (selector: string) => page.locator(`${selector}:focus`).count();
    let stops = 0;
    while (stops < 15 && (await isThere('.skip')) === 0) {
      await page.keyboard.press('Tab');
      stops += 1;
    }
    await page.keyboard.press('Enter');
    expect(await isThere('.graphiql-execute-button')).toBe(1);
  });

  it('GraphiQL has its questions, and then its results, within a few stops of the keyboard', async () => {
    const { page } = sceneOf();
    const skip = async () => {
      await page.locator('.skip').first().focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      return page.evaluate<string>('document.activeElement.textContent');
    };
    expect(await skip()).toMatch(/^How long do people live, country by country\?/);
    await side(page, 'Cost');
    expect(await skip()).toBe('Cost');
    await side(page, 'Answer');
  });

  it('GraphiQL opens with the network closed, without a complaint, and runs its first operation', async () => {
    const scene = sceneOf();
    const answer = await run(scene.page);
    expect(answer.errors).toBeUndefined();
    expect(answer.data.country.name).toBe('Kenya');
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toContain('Nairobi');
    expect(scene.outside).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it('GraphiQL has operations in its tabs that run, one lesson each', async () => {
    const scene = sceneOf();
    await expect.poll(() => scene.page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    for (const { query } of LESSONS) {
      const { data, errors } = await scene.program.ask(query);
      if (!query.includes('query Errors')) expect(errors).toEqual([]);
      else
        expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
      expect(Object.values(data).some((value) => value !== null)).toBe(true);
    }
  });

  it('GraphiQL shows what the schema says of a field', async () => {
    const scene = sceneOf();
    await pane(scene.page, 'Documentation Explorer');
    await scene.page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).click();
    await scene.page
      .locator('.graphiql-plugin')
      .getByRole('link', { name: 'observations', exact: true })
      .click();
    await expect
      .poll(() => scene.page.locator('.graphiql-plugin').innerText())
      .toContain('Observations of several countries and indicators.');
  });

  it('GraphiQL completes what is being written', async () => {
    const scene = sceneOf();
    await write(scene.page, '{ country(code: "KE") { offi } }');
    for (let i = 0; i < 4; i += 1) await scene.page.keyboard.press('ArrowLeft');
    await scene.page.keyboard.press('ControlOrMeta+Space');
    await expect
      .poll(() => scene.page.locator('.suggest-widget').innerText(), { timeout: 10_000 })
      .toMatch(/officialName[\s\S]*offices|offices[\s\S]*officialName/);
  });

  it('GraphiQL closes tabs by buttons that a finger hits, and names its icons in words', async () => {
    const { page } = sceneOf();
    const box = await page.getByRole('button', { name: 'Close Tab' }).first().boundingBox();
    expect([box?.width, box?.height].map((size) => (size ?? 0) >= 24)).toEqual([true, true]);
    const titles = await page.locator('svg > title').allTextContents();
    expect(titles.filter((title) => /\bicon\b/.test(title))).toEqual([]);
  });

  it('GraphiQL lays an operation and its variables out, comments included', async () => {
    const { page } = sceneOf();
    await write(page, 'query A($codes:[CountryCode!]){countries(codes:$codes){name}}');
    await page.getByRole('button', { name: 'Variables' }).click();
    const variables = page.locator('.graphiql-editor-tool .view-lines').first();
    await variables.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{"codes":["KE", "NG"], // two\n"none":{}}');
    await page.getByRole('button', { name: /^Prettify/ }).click();
    await expect
      .poll(() => variables.innerText().then((text) => text.replaceAll('\u00a0', ' ')))
      .toBe('{\n  "codes": [\n    "KE",\n    "NG"\n  ], // two\n  "none": {}\n}');
    await expect.poll(() => written(page)).toContain('countries(codes: $codes) {\n    name\n  }');
  });

  it.for(['/', '/graphql'])('GraphiQL is where a browser lands that opens %s', async (path) => {
    const { page, origin } = sceneOf();
    await page.goto(origin + path);
    expect(new URL(page.url()).pathname).toBe('/graphiql');
  });

  it('GraphiQL says nothing of synthetic figures if the service is real', async () => {
    await using service = await openProgram();
    await using scene = await open({ upstreamUrl: service.service.url });
    expect(await scene.page.getByRole('note').count()).toBe(0);
    await expect.poll(() => scene.page.getByLabel('API key').inputValue()).toBe('');
  });
});

describe.skipIf(!hasChromium)('the keyboard', () => {
  const sceneOf = shared();
  const query = '.graphiql-query-editor .monaco-editor';

  it('the keyboard gets out of an editor by Tab, and by Escape, which the page says there', async () => {
    const { page } = sceneOf();
    const isIn = () => page.locator(`${query}.focused`).count();
    const before = await written(page);
    for (const [key, to] of [
      ['Tab', '.graphiql-toolbar button:focus'],
      ['Escape', '.graphiql-execute-button:focus'],
    ] as const) {
      await page.locator(`${query} .view-lines`).click();
      expect(await isIn()).toBe(1);
      const hint = page
        .locator('.graphiql-query-editor')
        .evaluate((one) => getComputedStyle(one, '::after').content);
      expect(await hint).toContain('Tab and Escape leave the editor');
      await page.keyboard.press(key);
      await page.locator(to).waitFor();
      expect(await isIn()).toBe(0);
    }
    expect(await written(page)).toBe(before);
    // Ends the search first.
    await page.locator(`${query} .view-lines`).click();
    await page.keyboard.press('ControlOrMeta+F');
    await page.locator('.find-widget.visible').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.find-widget.visible').count()).toBe(0);
    expect(await isIn()).toBe(1);
    await page.keyboard.press('Escape');
    await page.locator('.graphiql-execute-button:focus').waitFor();
  });

  it.for(['before', 'after'])(
    'the keyboard stops at nothing that is not to be seen: %s something was run',
    async (when) => {
      const { page } = sceneOf();
      if (when === 'after') {
        await tab(page, 'OverTime');
        await run(page);
        await side(page, 'Picture');
        await page.locator('.frame.lines svg').waitFor();
      }
      await page.locator('.key-bar h1').click();
      const stops: string[] = [];
      for (let i = 0; i < 120; i += 1) {
        await page.keyboard.press('Tab');
        const stop = await page.evaluate(stopOf);
        if (stop === null) break;
        stops.push(stop);
      }
      expect(stops.length).toBeGreaterThan(15);
      expect(stops.filter((stop) => stop.startsWith('unseen'))).toEqual([]);
    },
  );

  it('the keyboard, and the voice, find buttons by the words that are seen on them', async () => {
    const { page } = sceneOf();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>(
      "axe.run(document, { runOnly: ['label-content-name-mismatch'] })",
    );
    expect(violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 160)))).toEqual([]);
    const atLeft = await page.locator('.graphiql-sidebar > button').evaluateAll((all) =>
      all.map((one) => ({
        seen: getComputedStyle(one, '::after').content.replaceAll('"', '').toLowerCase(),
        name: one.getAttribute('aria-label')?.toLowerCase() ?? '',
      })),
    );
    expect(atLeft).toHaveLength(8);
    expect(atLeft.filter(({ seen, name }) => !name.includes(seen))).toEqual([]);
  });
});

/** The element that has the focus, with "unseen" before it if none of it can be seen; null once the page is gone through. */
function stopOf(): string | null {
  const { activeElement: stop } = document;
  if (stop === null || stop === document.body) return null;
  const { left, top, right, bottom } = stop.getBoundingClientRect();
  const isThere = stop.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const isInside = x >= 0 && y >= 0 && x <= innerWidth && y <= innerHeight;
  const hit = document.elementFromPoint(x, y);
  const isSeen =
    right - left >= 8 &&
    bottom - top >= 8 &&
    isThere &&
    isInside &&
    (hit === null || stop.contains(hit) || hit.contains(stop));
  return `${isSeen ? '' : 'unseen '}${stop.tagName} ${stop.className} ${stop.getAttribute('aria-label') ?? stop.textContent?.slice(0, 30)}`;
}

describe.skipIf(!hasChromium)('the key', () => {
  it('the key is sent as it was typed, and lies neither in an address nor in what stays on the device', async () => {
    await using scene = await open();
    await scene.page.getByLabel('API key').fill('demo-analyst');
    const asked = scene.page.waitForRequest((request) => request.url().endsWith('/graphql'));
    await run(scene.page);
    expect((await asked).headers().authorization).toBe('Bearer demo-analyst');
    expect(scene.program.sandbox.log.map(({ key }) => key)).toContain('analyst');
    const stays = () => scene.page.evaluate(() => JSON.stringify({ ...localStorage }));
    await expect.poll(stays).toContain('CountryCard');
    expect(await stays()).not.toContain('demo-');
    expect(scene.page.url()).not.toContain('demo-');
    await scene.page.reload();
    await expect.poll(() => scene.page.getByLabel('API key').inputValue()).toBe('demo-analyst');

    await scene.page.getByLabel('Remember on this device').check();
    await expect.poll(() => stays()).toContain('demo-analyst');
    await scene.page.getByLabel('Remember on this device').uncheck();
    await expect.poll(() => stays()).not.toContain('demo-');
  });
});

describe.skipIf(!hasChromium)('the cost', () => {
  const sceneOf = shared();

  it('the cost is explained without a call', async () => {
    const scene = sceneOf();
    await tab(scene.page, 'Cost');
    await side(scene.page, 'Cost');
    await scene.page.getByRole('button', { name: 'Explain' }).click();
    await expect.poll(() => scene.page.locator('[data-explained]').getAttribute('data-explained')).toBe('2');
    await expect.poll(() => scene.page.locator('.plan li').count()).toBe(2);
    expect(scene.program.requests()).toEqual([]);
  });

  it('the cost of 54 countries and three figures is two calls, and none again', async () => {
    const scene = sceneOf();
    await run(scene.page);
    await expect
      .poll(() => scene.page.locator('.calls').innerText())
      .toBe('2 calls to the metered service, instead of 163 if each field fetched for itself.');
    await expect
      .poll(() => scene.page.locator('.side-panel tbody tr').allInnerTexts())
      .toEqual(['/v1/countries\t1', '/v1/data\t1']);
    await run(scene.page);
    await expect.poll(() => scene.page.locator('.calls').getAttribute('data-calls')).toBe('0');
  });

  it('the cost of the key is shown, with what is left', async () => {
    await using scene = await open();
    await untilMinuteHas(10);
    await side(scene.page, 'Cost');
    await run(scene.page);
    await expect
      .poll(() => scene.page.getByLabel('Quota of the key').innerText())
      .toMatch(/calls this minute\s+2, until/);
  });
});

describe.skipIf(!hasChromium)('what goes wrong', () => {
  const sceneOf = shared();

  it('what goes wrong is told apart by code', async () => {
    const scene = sceneOf();
    await tab(scene.page, 'Errors');
    await side(scene.page, 'Errors');
    await run(scene.page);
    const error = scene.page.getByLabel('BAD_USER_INPUT');
    await expect.poll(() => error.innerText()).toContain('Asking again as it is will not help.');
    await expect.poll(() => error.locator('li').count()).toBe(2);
  });

  it('what goes wrong is said in words, with a countdown where a minute is spent', async () => {
    const scene = sceneOf();
    scene.program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    });
    await tab(scene.page, 'CountryCard');
    await side(scene.page, 'Errors');
    await untilMinuteHas(15);
    await run(scene.page);
    const error = scene.page.getByLabel('RATE_LIMITED');
    await expect.poll(() => error.innerText()).toContain('The requests of this minute are spent.');
    const seconds = async () => Number(await error.getByRole('timer').getAttribute('data-seconds'));
    const before = await seconds();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThanOrEqual(60);
    await expect.poll(seconds, { timeout: 10_000 }).toBeLessThan(before);
  });
});

/** Rules of axe that the colours of a page decide; all others judge its markup, which is the same in both. */
const OF_COLOURS = '{ runOnly: ["color-contrast", "link-in-text-block"] }';

describe.skipIf(!hasChromium).each([
  ['light', '{}'],
  ['dark', OF_COLOURS],
] as const)('whoever comes by keyboard or screen reader, in %s colours', (colorScheme, options) => {
  const sceneOf = shared({ colorScheme });
  beforeAll(async () => {
    const { page } = sceneOf();
    await tab(page, 'OverTime');
    await run(page);
    await page.locator('.picture svg').first().waitFor();
    await page.evaluate(axe.source);
  });

  it.for(['Answer', 'Picture', 'Cost', 'Errors'] as const)(
    'whoever comes by keyboard or screen reader meets no serious fault at the right: %s',
    async (name) => {
      const { page } = sceneOf();
      await side(page, name);
      if (name === 'Picture') await page.locator('.picture svg').first().waitFor();
      await expectNoFault();
    },
  );

  it.for(['Documentation Explorer', 'Lessons', 'Catalogue', 'Builder', 'History'])(
    'whoever comes by keyboard or screen reader meets no serious fault at the left: %s',
    async (title) => {
      const { page } = sceneOf();
      if (title === 'Catalogue') await openCatalogue(page);
      else await pane(page, title);
      await page.locator('.graphiql-plugin').first().waitFor();
      await expect.poll(() => page.getByRole('button', { name: `Hide ${title}` }).count()).toBe(1);
      await expectNoFault();
    },
  );

  it('whoever comes by keyboard or screen reader meets no fault at all in the coverage of an indicator and in History', async () => {
    const { page } = sceneOf();
    const faults = async () => {
      const { violations } = await page.evaluate<AxeResults>(`axe.run(".graphiql-plugin", ${options})`);
      return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
    };
    await openCatalogue(page);
    await page
      .getByRole('button', { name: /^Which countries\?/ })
      .first()
      .click();
    await page.locator('.coverage').waitFor();
    expect(await faults()).toEqual([]);
    await pane(page, 'History');
    await page.locator('.graphiql-history').getByText('OverTime').first().waitFor();
    expect(await faults()).toEqual([]);
  });

  it('whoever comes by keyboard or screen reader meets no serious fault before anything was run', async () => {
    const { page } = sceneOf();
    await tab(page, 'Markets');
    await side(page, 'Answer');
    await page.getByText('What is this?').waitFor();
    await expectNoFault();
  });

  async function expectNoFault() {
    const { violations } = await sceneOf().page.evaluate<AxeResults>(`axe.run(document, ${options})`);
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))])).toEqual([]);
  }
});
