import { inflateSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { drawAs, editorIsThere, pane, run, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';

const { open, openPage, shared } = scenesOfGraphiql();

const SIZES = [
  [667, 375],
  [640, 360],
  [568, 320],
  [360, 225],
  [320, 256],
  [320, 640],
  [390, 844],
] as const;

/** Runs a query, and shows its picture in a wide pane. */
async function showWide(page: Page, query: string): Promise<void> {
  await write(page, query);
  await run(page);
  await side(page, 'Picture');
  await page.getByRole('button', { name: 'Wide' }).click();
}

/** Blocks of the page that stand beside or below each other. */
const BLOCKS = [
  '.key-bar',
  '.graphiql-session-header',
  '.side-bar',
  '.graphiql-query-editor',
  '.graphiql-query-editor .monaco-editor',
  '.graphiql-toolbar',
  '.graphiql-editor-tools',
  '.result-window',
  '.side-panel',
  '.graphiql-sidebar',
];

/** Pairs of blocks of which one lies on the other, but for those that stand within each other. */
const overlaps = (page: Page) =>
  page.evaluate((names) => {
    const shown = names.flatMap((name) => {
      const element = document.querySelector(name);
      const box = element?.getBoundingClientRect();
      return element && box && box.width > 0 && box.height > 0 ? [{ name, element, box }] : [];
    });
    const found: string[] = [];
    for (const [i, one] of shown.entries())
      for (const other of shown.slice(i + 1)) {
        if (one.element.contains(other.element)) {
          // Finds the rest of an element that sticks out of its frame: it lies on those below.
          if (other.box.bottom > one.box.bottom + 1) found.push(`${other.name} out of ${one.name}`);
          continue;
        }
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > 1 && down > 1) found.push(`${one.name} and ${other.name}`);
      }
    return found;
  }, BLOCKS);

/** Tells if a thing can be scrolled to, and is touched at its place then. */
async function isReached(what: Locator): Promise<boolean> {
  await what.scrollIntoViewIfNeeded({ timeout: 5_000 });
  return isHit(what);
}

/** Tells if a thing is touched at its place. */
const isHit = (what: Locator): Promise<boolean> =>
  what.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && (element.contains(hit) || hit.contains(element));
  });

describe.skipIf(!hasChromium)('on small screens', () => {
  const sceneOf = shared({ viewport: { width: 667, height: 375 } });
  const isAsWide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';

  it.for(SIZES)(
    'on small screens, nothing lies on anything else before something is run: %i by %i',
    async ([width, height]) => {
      const { page } = sceneOf();
      await page.setViewportSize({ width, height });
      await page.locator('.price', { hasText: 'This operation takes' }).waitFor();
      await expect.poll(() => overlaps(page)).toEqual([]);
      // Takes one line for all that stands above.
      const { height: above = 0 } = (await page.locator('.key-bar').boundingBox()) ?? {};
      expect(above).toBeLessThan(50);
      for (const one of [
        '.graphiql-execute-button',
        '.graphiql-editor-tools button',
        '.start .choices button',
      ])
        expect([one, await isReached(page.locator(one).last())]).toEqual([one, true]);
      for (const name of ['Show Documentation Explorer', 'Open settings dialog'])
        expect([name, await isReached(page.getByRole('button', { name }))]).toEqual([name, true]);
    },
  );

  it('on small screens, nothing lies on anything else before the editor has come', async () => {
    await using further = await openPage();
    const { page } = further;
    await page.setViewportSize({ width: 390, height: 844 });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/monaco-editor-[^/]*\.js$/, (route) => released.then(() => route.continue()));
    await page.goto(`${sceneOf().origin}/graphiql`);
    await page.locator('.early').waitFor();
    await expect.poll(() => overlaps(page)).toEqual([]);
    release();
    await editorIsThere(page);
  });

  it('on small screens, words on why there is no frame take several lines, and make the page no wider', async () => {
    const { page } = sceneOf();
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy embed' }).click();
    const words = page.locator('.share [role=status]', { hasText: 'no public page' });
    await words.waitFor();
    await expect.poll(() => page.evaluate<boolean>(isAsWide)).toBe(true);
    const { x, width } = (await words.boundingBox()) ?? { x: -1, width: 999 };
    expect([x >= 0, x + width <= 320, width > 150]).toEqual([true, true, true]);
    // Leaves the tabs their room.
    await expect.poll(() => isHit(page.locator('.graphiql-tab-active'))).toBe(true);
  });

  it('on small screens, the settings of the page stay within their frame', async () => {
    const { page } = sceneOf();
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 640 });
      await page.getByRole('button', { name: 'Open settings dialog' }).click();
      const dialog = page.locator('.graphiql-dialog');
      await dialog.getByRole('button', { name: 'Dark' }).waitFor();
      expect([width, await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)]).toEqual([width, 0]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  });

  it.for(SIZES)(
    'on small screens, nothing lies on anything else after something was run, and all of it can be scrolled to: %i by %i',
    async ([width, height]) => {
      const { page } = sceneOf();
      await page.setViewportSize({ width, height });
      await expect.poll(() => isHit(page.locator('.graphiql-tab-active'))).toBe(true);
      await tab(page, 'OverTime');
      await side(page, 'Query');
      await run(page);
      for (const name of ['Answer', 'Picture', 'Cost', 'Errors'] as const) {
        // Polls, for an answer moves the page a moment later.
        await expect.poll(() => isReached(page.getByRole('tab', { name }))).toBe(true);
        await side(page, name);
        if (name === 'Picture') await page.locator('.frame.lines svg').first().waitFor();
        await expect.poll(() => overlaps(page)).toEqual([]);
        await expect.poll(() => isReached(page.locator('.side-bar .run'))).toBe(true);
        if (name !== 'Answer')
          await expect
            .poll(() => isReached(page.locator('.side-panel :is(p, summary, dd, button):visible').last()))
            .toBe(true);
      }
      await pane(page, 'Lessons');
      await expect.poll(() => isReached(page.locator('.graphiql-plugin .choices button').last())).toBe(true);
      await expect.poll(() => page.evaluate<boolean>(isAsWide)).toBe(true);
      await page.getByRole('button', { name: 'Hide Lessons' }).click();
    },
  );
});

describe.skipIf(!hasChromium)('on paper, and in forced colours', () => {
  const sceneOf = shared();

  it('Run can be seen where people have their own colours', async () => {
    const { page } = sceneOf();
    await page.emulateMedia({ forcedColors: 'active' });
    try {
      const { fill, ground, border } = await page.locator('.graphiql-execute-button').evaluate((button) => ({
        fill: getComputedStyle(button.querySelector('svg path, svg polygon, svg rect') as Element).fill,
        ground: getComputedStyle(button).backgroundColor,
        border: getComputedStyle(button).borderTopWidth,
      }));
      expect(fill).not.toBe(ground);
      expect(border).toBe('2px');
    } finally {
      await page.emulateMedia({ forcedColors: 'none' });
    }
  });

  it('editors have the colours of the system as it changes, and those of paper', async () => {
    const { page } = sceneOf();
    const isDark = () =>
      page.locator('.graphiql-query-editor .monaco-editor').evaluate((one) => one.matches('.vs-dark'));
    try {
      expect(await isDark()).toBe(false);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(isDark).toBe(true);
      await page.emulateMedia({ media: 'print' });
      await expect.poll(isDark).toBe(false);
    } finally {
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    }
  });

  it.for(['light', 'dark'] as const)('a picture is whole, on white paper: %s', async (colorScheme) => {
    const { page } = sceneOf();
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.emulateMedia({ colorScheme });
    await tab(page, 'OverTime');
    await run(page);
    await side(page, 'Picture');
    await page.locator('.frame.lines svg').first().waitFor();
    // Opens a pane, which would lie over the picture on a screen as narrow as paper.
    await pane(page, 'Lessons');
    try {
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 718, height: 1000 });
      const svg = page.locator('.frame.lines svg').first();
      // The picture is drawn anew for paper: there is none for a moment, or the one for the screen.
      await expect
        .poll(async () => {
          const { x, width } = (await svg.boundingBox()) ?? { x: -1, width: 999 };
          return x >= 0 && x + width <= 718;
        })
        .toBe(true);
      for (const name of ['.graphiql-editors', '.graphiql-sidebar', '.side-bar', '#key-form'])
        expect([name, await page.locator(name).isVisible()]).toEqual([name, false]);
      // The names of its lines are buttons elsewhere.
      const line = page.locator('.legend .line').first();
      expect([await line.isVisible(), await page.locator('.legend .take-out').first().isVisible()]).toEqual([
        true,
        false,
      ]);
      // Finds nothing around it that cuts a part longer than a page.
      const cutting = await svg.evaluate((element) => {
        const found: string[] = [];
        for (let one = element.parentElement; one !== null; one = one.parentElement)
          if (getComputedStyle(one).overflow !== 'visible') found.push(one.className);
        return found;
      });
      expect(cutting).toEqual([]);
      await expect.poll(() => svg.evaluate((element) => element.style.color)).toBe('rgb(26, 32, 48)');
    } finally {
      await page.emulateMedia({ media: 'screen' });
      await page.setViewportSize({ width: 1400, height: 900 });
      await page.getByRole('button', { name: 'Hide Lessons' }).click();
    }
  });
});

describe.skipIf(!hasChromium)('a page of paper', () => {
  const sceneOf = shared();

  it.for([
    ['Answer', 'CountryCard'],
    ['Picture', 'AllCountries'],
    ['Cost', 'CountryCard'],
    ['Errors', 'Errors'],
  ] as const)('a page of paper has something on it, be there one or several: %s', async ([name, title]) => {
    const { page } = sceneOf();
    await tab(page, title);
    await run(page);
    await side(page, name);
    if (name === 'Picture') await page.locator('.frame.map path').first().waitFor();
    for (const height of [900, 500]) {
      await page.setViewportSize({ width: 1400, height });
      const marks = marksByPage(await page.pdf({ format: 'A4' }));
      expect(marks.filter((count) => count < 10)).toEqual([]);
    }
    await page.setViewportSize({ width: 1400, height: 900 });
  });
});

/** Operators of each page of a PDF that draw a text or a shape. */
function marksByPage(pdf: Buffer): number[] {
  const text = pdf.toString('latin1');
  const objects = new Map(
    Array.from(text.matchAll(/(\d+) 0 obj\s([\s\S]*?)endobj/g), ([, id = '', body = '']) => [id, body]),
  );
  const pages = [...objects.values()].filter((body) => /\/Type\s*\/Page\b/.test(body));
  return pages.map((body) => {
    const [, id = ''] = /\/Contents (\d+) 0 R/.exec(body) ?? [];
    const [, stream = ''] = /stream\r?\n([\s\S]*?)\nendstream/.exec(objects.get(id) ?? '') ?? [];
    const content = inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    return content.match(/\b(Tj|TJ|f|f\*|S|B)\s/g)?.length ?? 0;
  });
}

/** Which parts of a picture, and others, are in view as a whole, with nothing scrolled. */
async function wholeInPanel(page: Page, kind: string, ...others: Locator[]) {
  const svg = page.locator(`.frame.${kind} svg`).first();
  await svg.waitFor();
  const boxOf = async (what: Locator) =>
    (await what.first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 999 };
  const panel = await boxOf(page.locator('.side-panel'));
  const bottom = Math.min(panel.y + panel.height, page.viewportSize()?.height ?? 0);
  const parts: boolean[] = [];
  for (const part of [page.locator('.picture figcaption'), svg, ...others]) {
    const { y, height } = await boxOf(part);
    parts.push(y >= panel.y && y + height <= bottom && height > 10);
  }
  return parts;
}

const ALL_AND = (more: string) =>
  `{ countries { a: observation(metricKey: "life_expectancy") { value } ${more} } }`;
const THREE_BARS =
  '{ countries(codes: ["KE", "NG", "ZA"]) { observation(metricKey: "life_expectancy") { value } } }';

describe.skipIf(!hasChromium)('a phone that lies', () => {
  it.for([
    ['OverTime', 'lines'],
    ['AllCountries', 'map'],
  ] as const)(
    'a phone that lies shows a whole picture and its title, with nothing to scroll: %s',
    async ([title, kind]) => {
      await using scene = await open({ viewport: { width: 812, height: 375 } });
      await tab(scene.page, title);
      await run(scene.page);
      await side(scene.page, 'Picture');
      await expect.poll(() => wholeInPanel(scene.page, kind)).toEqual([true, true]);
    },
  );

  it.for([
    ['below a warning', ALL_AND('b: observation(metricKey: "life_expectancyy") { value }'), 'map', 2],
    [
      'dots of two indicators',
      ALL_AND('b: observation(metricKey: "gdp_per_capita_current_usd") { value }'),
      'scatter',
      2,
    ],
    ['three bars', THREE_BARS, 'ranking', 1],
  ] as const)(
    'a phone that lies shows a whole picture and its title, with nothing to scroll: %s',
    async ([, query, kind, calls]) => {
      await using scene = await open({ viewport: { width: 812, height: 375 } });
      await write(scene.page, query);
      await run(scene.page);
      await side(scene.page, 'Picture');
      await expect.poll(() => wholeInPanel(scene.page, kind)).toEqual([true, true]);
      expect(scene.program.requests()).toHaveLength(calls);
    },
  );
});

describe.skipIf(!hasChromium)('a phone that lies', () => {
  const OVER_TIME =
    '{ countries { observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } } }';
  const TWO_OVER_TIME =
    '{ countries { a: observations(metricKeys: ["life_expectancy"], fromYear: 2010) { value } b: observations(metricKeys: ["fertility_rate_births_per_woman"], fromYear: 2010) { value } } }';

  it.for([
    [812, 'map', 'Wide'],
    [812, 'map', 'Narrow'],
    [667, 'map', 'Narrow'],
    [812, 'scatter', 'Wide'],
    [667, 'scatter', 'Narrow'],
  ] as const)(
    'a phone that lies shows the years beside the picture that they change: %i pixels, %s, %s',
    async ([width, kind, isWide]) => {
      await using scene = await open({ viewport: { width, height: 375 } });
      const { page, program } = scene;
      await write(page, kind === 'map' ? OVER_TIME : TWO_OVER_TIME);
      await run(page);
      await side(page, 'Picture');
      await page.locator('.frame svg').first().waitFor();
      program.requests();
      if (kind === 'map') await drawAs(page, 'Map');
      if (isWide === 'Wide') await page.getByRole('button', { name: 'Wide' }).click();
      const [year, play] = [
        page.getByLabel('Year', { exact: true }),
        page.getByRole('button', { name: 'Play' }),
      ];
      // Choosing has scrolled to what was chosen by.
      await page.evaluate('scrollTo(0, 0)');
      await page.locator('.side-panel').evaluate((one) => one.scrollTo(0, 0));
      await expect.poll(() => wholeInPanel(page, kind, year, play)).toEqual([true, true, true, true]);
      // Nothing of it sticks out, be the names of indicators ever so long.
      const panel = page.locator('.side-panel');
      await expect.poll(() => panel.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
      await year.first().selectOption('2012');
      await expect.poll(() => page.locator('figcaption').first().innerText()).toContain('2012');
      expect(program.requests()).toEqual([]);
    },
  );
});

const FIVE =
  '{ countries(codes: ["KE", "NG", "GH", "ZA", "EG"]) { name observations(metricKeys: ["life_expectancy"], fromYear: 1990) { value estimateLow estimateHigh } } }';

describe.skipIf(!hasChromium)('a phone that lies', () => {
  it('a phone that lies has all words on a figure in view, wherever it stands', async () => {
    await using scene = await open({ viewport: { width: 812, height: 375 } });
    const { page } = scene;
    await showWide(page, FIVE);
    const frame = page.locator('.frame.lines');
    await expect.poll(() => wholeInPanel(page, 'lines')).toEqual([true, true]);
    await frame.focus();
    const tip = frame.locator('.tip');
    for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'End', 'ArrowUp']) {
      await page.keyboard.press(key);
      expect([key, await wholeInPanel(page, 'lines', tip)]).toEqual([key, [true, true, true]]);
      const [own, around] = [await tip.boundingBox(), await frame.boundingBox()];
      expect((own?.x ?? -1) >= (around?.x ?? 0)).toBe(true);
      expect((own?.x ?? 0) + (own?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0));
    }
    expect(scene.program.requests()).toHaveLength(2);
  });
});

describe.skipIf(!hasChromium)('a phone that stands', () => {
  it('a phone that stands has the values of single figures in view, beside long names', async () => {
    await using scene = await open({ viewport: { width: 320, height: 640 } });
    const { page, program } = scene;
    await write(
      page,
      '{country(code:"NG"){name observation(metricKey:"inflation_cpi_latest_yoy_pct"){value}}}',
    );
    await run(page);
    await side(page, 'Picture');
    const value = page.locator('.charts .table td.number').first();
    const box = await value.boundingBox();
    expect((box?.x ?? 320) + (box?.width ?? 0)).toBeLessThan(320);
    expect(program.requests()).toHaveLength(2);
  });
});

describe.skipIf(!hasChromium)('a picture on a laptop', () => {
  const MANY = '{ countries { observations(metricKeys: ["population_total"], fromYear: 1990) { value } } }';

  it.for([
    ['many lines', MANY, 3],
    ['lines that may have others beside them', FIVE, 2],
  ] as const)(
    'a picture on a laptop is whole below its controls, with nothing to scroll: %s',
    async ([, query, calls]) => {
      await using scene = await open({ viewport: { width: 1366, height: 768 } });
      const { page } = scene;
      await showWide(page, query);
      await expect.poll(() => wholeInPanel(page, 'lines')).toEqual([true, true]);
      expect((await page.locator('.frame svg').boundingBox())?.height).toBeGreaterThan(300);
      expect(scene.program.requests()).toHaveLength(calls);
    },
  );
});

describe.skipIf(!hasChromium)('a picture of few bars', () => {
  it('a picture of few bars takes no more room than they have, and its room before', async () => {
    await using scene = await open();
    await write(scene.page, THREE_BARS);
    await run(scene.page);
    await side(scene.page, 'Picture');
    const frame = scene.page.locator('.frame.ranking');
    await frame.locator('svg').waitFor();
    const { height: drawn = 0 } = (await frame.locator('svg').boundingBox()) ?? {};
    const { height = 999 } = (await frame.boundingBox()) ?? {};
    expect(drawn).toBeGreaterThan(100);
    expect(height).toBeLessThan(drawn + 2);
    await frame.evaluate((one) => one.replaceChildren());
    expect((await frame.boundingBox())?.height).toBe(drawn);
    expect(scene.program.requests()).toHaveLength(1);
  });
});
