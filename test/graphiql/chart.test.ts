import axe, { type AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import {
  drawAs,
  newTab,
  run,
  type Scene,
  saved,
  scenesOfGraphiql,
  side,
  write,
} from '../support/graphiql.ts';
import { openProgram } from '../support/program.ts';

const { open, shared } = scenesOfGraphiql();

const sceneOf = shared();
const LAPTOP = { width: 1400, height: 900 };
const DESK = { width: 1900, height: 1000 };

/** The answer to an operation in the pane, in a tab of its own, under the key of the team. */
async function charted(query: string, viewport = LAPTOP, scene: Scene = sceneOf()) {
  await scene.page.setViewportSize(viewport);
  await newTab(scene.page);
  await scene.page.getByLabel('API key', { exact: true }).fill('demo-team');
  await write(scene.page, query);
  const answer = await run(scene.page);
  expect(answer.errors).toBeUndefined();
  await side(scene.page, 'Picture');
  await scene.page.locator('.charts').waitFor();
  return { ...scene, data: answer.data };
}

const button = (page: Page, name: string) =>
  page.locator('.charts').getByRole('button', { name, exact: true });
const fills = (shapes: Locator) =>
  shapes.evaluateAll((all) => all.map((shape) => shape.getAttribute('fill') ?? ''));
const svgText = (bytes: Buffer) =>
  [...bytes.toString().matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);

describe.skipIf(!hasChromium)('lines', () => {
  it('lines are drawn for each country, with a band where there are bounds', async () => {
    const scene = await charted(
      '{ countries(codes: ["KE", "NG", "GH"]) { name observations(metricKeys: ["life_expectancy"], fromYear: 1990) { value estimateLow estimateHigh } } }',
      DESK,
    );
    const frame = scene.page.locator('.frame.lines');
    await expect.poll(() => frame.locator('g.top path').count()).toBe(3);
    expect(await scene.page.locator('.legend li').allInnerTexts()).toEqual(['Kenya', 'Nigeria', 'Ghana']);
    expect(await frame.locator('g[aria-label="area"] path').count()).toBe(3);
    await expect
      .poll(() => scene.page.locator('.under').innerText())
      .toContain('Source: world_bank_wdi (1990–2025).');
    // The table behind the picture has them all, and is made once somebody looks.
    expect(await scene.page.locator('.picture tbody tr').count()).toBe(0);
    await scene.page.getByText(/Table of 105 figures/).click();
    await expect.poll(() => scene.page.locator('.picture tbody tr').count()).toBe(100);
    expect(scene.problems).toEqual([]);
  });

  it.for([
    ['years', 'country(code: "GH") { observations(metricKeys: ["internet_users_pct"])', 1],
    ['quarters', 'country(code: "ML") { observations(metricKeys: ["gdp_growth_quarterly_yoy_pct"])', 0.25],
  ] as const)('lines leave gaps where %s are missing', async ([, query, step]) => {
    const scene = await charted(`{ ${query} { value } } }`);
    const moments: number[] = scene.data.country.observations.map(
      ({ year, period }: { year: number; period: string }) =>
        year + (Number(/Q(\d)/.exec(period)?.[1] ?? 1) - 1) / 4,
    );
    const gaps = moments.filter((moment, i) => i > 0 && moment - (moments[i - 1] ?? 0) > step * 1.5).length;
    expect(gaps).toBeGreaterThan(0);
    const line = scene.page.locator('.frame.lines g.top path');
    await expect.poll(() => line.count()).toBe(1);
    // Each stretch of a line begins with a move.
    expect((await line.getAttribute('d'))?.match(/M/g)).toHaveLength(gaps + 1);
  });

  it('lines of 54 countries are eight with a colour and a label of their own, and the others in grey', async () => {
    const scene = await charted(
      '{ countries { name observations(metricKeys: ["life_expectancy"]) { value } } }',
      DESK,
    );
    await widen(scene.page, 1000);
    const frame = scene.page.locator('.frame.lines');
    await expect.poll(() => frame.locator('g.others path').count()).toBe(46);
    const strokes = await frame
      .locator('g.top path')
      .evaluateAll((all) => all.map((path) => path.getAttribute('stroke')));
    expect(new Set(strokes).size).toBe(8);
    expect(await scene.page.locator('.legend li').last().innerText()).toBe('46 others');
    const boxes = await boxesOf(frame.locator('g.ends text'));
    expect(boxes).toHaveLength(8);
    for (const [i, box] of boxes.entries())
      for (const other of boxes.slice(i + 1)) expect(Math.abs(box.y - other.y)).toBeGreaterThanOrEqual(13);

    // The pointer tells one of the others.
    await scene.page.locator('.charts').evaluate((element) => element.removeAttribute('style'));
    await expect.poll(async () => (await frame.locator('svg').boundingBox())?.width).toBeLessThan(900);
    const d = (await frame.locator('g.others path').nth(40).getAttribute('d')) ?? '';
    const [, x, y] = /L([\d.]+),([\d.]+)/.exec(d) ?? [];
    await frame.locator('svg').scrollIntoViewIfNeeded();
    const box = await frame.locator('svg').boundingBox();
    await scene.page.mouse.move((box?.x ?? 0) + Number(x), (box?.y ?? 0) + Number(y));
    await expect.poll(() => frame.locator('.tip').isVisible()).toBe(true);
    const lit = frame.locator('path[data-lit]');
    await expect.poll(() => lit.count()).toBe(1);
    expect(await lit.evaluate((path) => getComputedStyle(path).strokeWidth)).toBe('2px');

    const [name] = await scene.page.locator('.legend option:not([disabled])').allInnerTexts();
    await scene.page.locator('.legend select').selectOption(name ?? '');
    await expect.poll(() => scene.page.locator('.legend li').allInnerTexts()).toContain(name);
    expect(await scene.page.locator('.legend li').count()).toBe(9);
  });
});

/** Gives the pane a width, as a wide page or a phone would. */
async function widen(page: Page, width: number) {
  await page.locator('.charts').evaluate((element, pixels) => {
    element.setAttribute('style', `width: ${pixels}px`);
  }, width);
}

async function boxesOf(all: Locator) {
  return all.evaluateAll((elements) =>
    elements.map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    }),
  );
}

describe.skipIf(!hasChromium)('a ranking', () => {
  it('a ranking has room for names of wide letters', async () => {
    const scene = await charted(
      '{countries(codes:["ZW","ZM","ML"]){name observation(metricKey:"life_expectancy"){value}}}',
    );
    const picture = scene.page.locator('.frame.ranking svg').first();
    const names = picture.locator('[aria-label="y-axis tick label"] text');
    await expect.poll(() => names.allTextContents()).toContain('Zimbabwe');
    const [frame] = await boxesOf(picture);
    for (const { x } of await boxesOf(names)) expect(x).toBeGreaterThanOrEqual(frame?.x ?? 0);
  });
});

/** Pairs of a map's words that lie on each other, on the legend, on a disc, or on a country. */
const wordsOverMarks = (map: Locator) =>
  map.evaluate((svg) => {
    const place = (one: Element) => one.getBoundingClientRect();
    const all = (selector: string) => [...svg.querySelectorAll<SVGGraphicsElement>(selector)];
    const gap = (from: number, to: number, low: number, high: number) => Math.max(0, low - to, from - high);
    const distance = (a: DOMRect, b: DOMRect) =>
      Math.hypot(gap(a.left, a.right, b.left, b.right), gap(a.top, a.bottom, b.top, b.bottom));
    const meet = (name: Element, mark: Element) => {
      const { x, y, width, height } = place(mark);
      if (mark.nodeName !== 'circle') return distance(place(name), place(mark)) === 0;
      return distance(place(name), new DOMRect(x + width / 2, y + height / 2, 0, 0)) < width / 2;
    };
    const names = all('.island-names text');
    const legend = all('.map-legend text, .map-legend rect');
    const marks = [...names, ...legend, ...all('circle')];
    const countries = all('g.with-figure path, g.without-figure path') as unknown as SVGPathElement[];
    const isOnLand = (one: SVGGraphicsElement) => {
      const { left, top, width, height } = place(one);
      const points = Array.from(
        { length: 60 },
        (_, i) =>
          new DOMPoint(left + ((i % 20) * width) / 19, top + 2 + (Math.floor(i / 20) * (height - 4)) / 2),
      );
      const hit = (path: SVGPathElement) => {
        const back = path.getScreenCTM()?.inverse();
        return points.some((point) => path.isPointInFill(point.matrixTransform(back)));
      };
      return countries.some((path) => path.getBoundingClientRect().width > 8 && hit(path));
    };
    const words = (one: Element) => one.textContent || one.nodeName;
    return {
      names: names.map(words),
      over: [
        ...names.flatMap((name) =>
          marks
            .filter((mark) => mark !== name && meet(name, mark))
            .map((mark) => `${words(name)} over ${words(mark)}`),
        ),
        ...[...names, ...legend].filter(isOnLand).map((one) => `${words(one)} on land`),
      ],
    };
  });

describe.skipIf(!hasChromium)('a map', () => {
  it('a map knows whose figures they are though no code is selected, and the answer shows what was asked', async () => {
    const scene = await charted('{countries{name observation(metricKey:"life_expectancy"){value}}}');
    const shapes = scene.page.locator('.frame.map g.with-figure path');
    await expect.poll(() => shapes.count()).toBe(54);
    expect(new Set(await fills(shapes)).size).toBeGreaterThan(30);
    await side(scene.page, 'Answer');
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toContain('Angola');
    const shown = await scene.page.locator('.graphiql-response').innerText();
    expect(shown).not.toMatch(/"(code|locationName|source|year)"/);
    await side(scene.page, 'Picture');
    await drawAs(scene.page, 'Ranking');
    await expect.poll(() => scene.page.locator('.frame.ranking g[aria-label="bar"] rect').count()).toBe(54);
    expect(scene.problems).toEqual([]);
  });

  it('a map has two hues where values are negative, hatching and a swatch for no figure, and islands to be seen', async () => {
    const scene = await charted('{countries{name observation(metricKey:"net_migration_total"){value}}}');
    const frame = scene.page.locator('.frame.map');
    await expect.poll(() => frame.locator('g.with-figure path').count()).toBe(49);
    const hue = (fill: string) => {
      const [red = 0, , blue = 0] = fill.match(/\d+/g)?.map(Number) ?? [];
      return red > blue ? 'red' : 'blue';
    };
    const values: number[] = scene.data.countries.flatMap(
      ({ observation }: { observation: { value: number } | null }) => observation?.value ?? [],
    );
    const hues = (await fills(frame.locator('g.with-figure path'))).map(hue);
    expect(hues.filter((one) => one === 'red')).toHaveLength(values.filter((value) => value < 0).length);
    expect(await frame.locator('g.without-figure').getAttribute('fill')).toMatch(/^url\(#hatch/);
    expect(await frame.locator('.swatch-none').count()).toBe(1);
    expect(await frame.locator('.map-legend text').allTextContents()).toEqual(
      expect.arrayContaining(['persons', '0', 'no figure']),
    );
    const ticks = await boxesOf(frame.locator('.map-legend text[text-anchor]'));
    for (const [i, { x }] of ticks.entries()) {
      const before = ticks[i - 1];
      if (before !== undefined) expect(x - before.x - before.width).toBeGreaterThan(4);
    }
    const islands = await boxesOf(frame.locator('g.islands circle, g.islands-without circle'));
    expect(islands).toHaveLength(5);
    for (const { width } of islands) expect(width).toBeGreaterThanOrEqual(9);
  });

  it('a map takes national figures alone, and says how many of places there are', async () => {
    const scene = await charted(
      '{ observations(metricKeys: ["idps_total"], latest: true) { value country { code } } }',
    );
    const national = scene.data.observations.filter(
      ({ locationName }: { locationName: string | null }) => locationName === null,
    );
    const places = scene.data.observations.length - national.length;
    expect(places).toBeGreaterThan(0);
    const frame = scene.page.locator('.frame.map');
    await expect.poll(() => frame.locator('g.with-figure path').count()).toBe(national.length);
    expect(await scene.page.locator('.under').innerText()).toContain(`${places} of places within countries`);
  });

  it('a map has its words beside its legend, discs and countries at any size of a page', async () => {
    const scene = await charted('{ countries { name observation(metricKey: "life_expectancy") { value } } }');
    const { page } = scene;
    const map = page.locator('.frame.map svg');
    const named = new Map<string, readonly string[]>();
    for (const [width, height] of [
      [1400, 900],
      [812, 375],
      [667, 375],
      [390, 844],
      [320, 640],
    ] as const)
      for (const isWide of width > 700 ? [false, true] : [false]) {
        await page.setViewportSize({ width, height });
        if (isWide) await page.getByRole('button', { name: 'Wide' }).click();
        const frame = page.locator('.frame.map');
        await expect
          .poll(async () => (await map.boundingBox())?.width)
          .toBe(await frame.evaluate(({ clientWidth }) => clientWidth));
        const { names, over } = await wordsOverMarks(map);
        expect([width, isWide, over]).toEqual([width, isWide, []]);
        named.set(`${width} ${isWide}`, names);
        if (isWide) await page.getByRole('button', { name: 'Narrow' }).click();
      }
    // Where a name has no room, its code stands for it.
    expect(named.get('1400 true')).toContain('São Tomé and Príncipe');
    expect(named.get('812 true')).toEqual(expect.arrayContaining(['ST', 'Cabo Verde', 'Seychelles']));
    expect(scene.problems).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('a picture', () => {
  it.for([1000, 360])('a picture fills a width of %d pixels', async (width) => {
    const scene = await charted(
      '{countries{name observation(metricKey:"gdp_current_usd"){value} observations(metricKeys:["life_expectancy"],fromYear:2010){value}}}',
      DESK,
    );
    await widen(scene.page, width);
    for (const kind of ['lines', 'map']) {
      const svg = scene.page.locator(`.frame.${kind} svg`);
      // Each picture is drawn when it comes into view.
      await scene.page.locator(`.frame.${kind}`).scrollIntoViewIfNeeded();
      await expect.poll(async () => (await svg.boundingBox())?.width).toBe(width);
    }
    // Nothing is written over something else, nor beyond the edge.
    for (const texts of ['.frame.lines [aria-label="x-axis tick label"] text', '.map-legend text']) {
      const boxes = await boxesOf(scene.page.locator(texts));
      const right = ((await scene.page.locator('.charts').boundingBox())?.x ?? 0) + width;
      for (const [i, box] of boxes.entries()) {
        expect(box.x + box.width).toBeLessThanOrEqual(right + 1);
        const isOver = boxes
          .slice(i + 1)
          .some(
            (other) =>
              Math.abs(other.y - box.y) < 4 && other.x < box.x + box.width && box.x < other.x + other.width,
          );
        expect(isOver).toBe(false);
      }
    }
    expect((await scene.page.locator('.map-legend').textContent()) ?? '').toContain('\u00a0billion');
  });

  it('a picture is saved with all that has to be said of it', async () => {
    const scene = await charted('{countries{name observation(metricKey:"life_expectancy"){value}}}');
    const svg = await saved(scene.page, button(scene.page, 'SVG'));
    expect(svg.name).toBe('life_expectancy-map.svg');
    const texts = svgText(svg.bytes);
    expect(texts).toEqual(
      expect.arrayContaining([
        'Life expectancy at birth, total',
        'years, latest figures: 23 of 2025, the others back to 2023',
        'years',
        '60',
        'no figure',
        'Synthetic figures of the embedded sandbox: none of them is real.',
        'Source: world_bank_wdi (2023–2025). Retrieved on 24 July 2026.',
      ]),
    );
    expect(svg.bytes.toString()).toContain('<linearGradient');
    const png = await saved(scene.page, button(scene.page, 'PNG'));
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    const [, height] = /^<svg[^>]* height="(\d+)"/.exec(svg.bytes.toString()) ?? [];
    expect([png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)]).toEqual([1920, Number(height) * 2]);
    const csv = await saved(scene.page, button(scene.page, 'CSV'));
    expect(csv.bytes.toString().trim().split('\r\n')).toHaveLength(55);
  });
});

describe.skipIf(!hasChromium)('an answer', () => {
  it('an answer of one country and all indicators is a table', async () => {
    const scene = await charted('{ country(code: "KE") { observations(latest: true) { value } } }');
    await expect.poll(() => scene.page.locator('.picture').count()).toBe(1);
    expect(await scene.page.locator('.frame').count()).toBe(0);
    expect(await scene.page.locator('figcaption strong').innerText()).toBe('Kenya: single figures');
    expect(await scene.page.locator('.charts .pages').getByRole('status').innerText()).toMatch(
      /Rows 1 to 100 of 1\d\d\./,
    );
  });

  it('an answer without figures is a table of any list, that sorts and goes out as CSV', async () => {
    const scene = await charted(
      '{ tickers(exchangeCode: "NGX", instrumentType: "EQUITY") { symbol closePrice country { code } } }',
    );
    const { page } = scene;
    const prices = async () =>
      (await page.locator('.charts tbody td:nth-child(2)').allInnerTexts())
        .filter((text) => text !== '')
        .map((text) => Number(text.replaceAll(',', '')));
    const header = page.locator('.charts th').nth(1);
    await header.getByRole('button').click();
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending');
    expect(await prices()).toEqual((await prices()).toSorted((a, b) => a - b));
    await header.getByRole('button').click();
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending');
    expect(await prices()).toEqual((await prices()).toSorted((a, b) => b - a));
    const csv = await saved(page, button(page, 'CSV'));
    expect(csv.name).toBe('tickers.csv');
    const [head, ...rows] = csv.bytes.toString().trim().split('\r\n');
    expect(head).toBe('symbol,closePrice,country.code');
    expect(rows).toHaveLength(scene.data.tickers.length);
  });
});

const isDark = (svg: Element) => (svg as SVGElement).style.color !== 'rgb(26, 32, 48)';

/** Rules of axe that the colours of a page decide; all others judge its markup, which is the same in both. */
const OF_COLOURS = '{ runOnly: ["color-contrast", "link-in-text-block"] }';

describe.skipIf(!hasChromium)('the pane', () => {
  it('the pane of a picture meets no serious fault, in light colours and in dark', async () => {
    const { page } = await charted(
      '{countries{name observation(metricKey:"net_migration_total"){value} observations(metricKeys:["life_expectancy"]){value}}}',
    );
    await page.locator('.picture svg').first().waitFor();
    await page.evaluate(axe.source);
    const faults = async (options: string) => {
      const { violations } = await page.evaluate<AxeResults>(
        `axe.run(document.querySelector(".charts"), ${options})`,
      );
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))]);
    };
    const inBoth = async () => {
      const light = await faults('{}');
      await page.emulateMedia({ colorScheme: 'dark' });
      // A picture is drawn anew.
      await expect
        .poll(() =>
          page
            .locator('.picture svg')
            .first()
            .evaluate(isDark, undefined, { timeout: 500 })
            .catch(() => true),
        )
        .toBe(true);
      const dark = await faults(OF_COLOURS);
      await page.emulateMedia({ colorScheme: 'light' });
      return [...light, ...dark];
    };
    await page
      .getByText(/Table of/)
      .first()
      .click();
    expect(await inBoth()).toEqual([]);
    await button(page, 'Table').click();
    await page.locator('.charts tbody tr').first().waitFor();
    expect(await inBoth()).toEqual([]);
  });
});

/** Watches the work of a page: the processor's time of its main thread, in milliseconds, however busy the machine is. */
async function watchWork(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const workedMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.POSITIVE_INFINITY);
  };
  const before = await workedMs();
  return async () => (await workedMs()) - before;
}

describe.skipIf(!hasChromium)('over a gateway of its own', () => {
  it('a picture is saved with its legend, and never as synthetic where the service is real', async () => {
    await using service = await openProgram();
    await using own = await open({ upstreamUrl: service.service.url });
    const scene = await charted(
      '{ countries { name observations(metricKeys: ["life_expectancy"], fromYear: 2000) { value } } }',
      LAPTOP,
      own,
    );
    const texts = svgText((await saved(scene.page, button(scene.page, 'SVG'))).bytes);
    expect(texts).toEqual(
      expect.arrayContaining([
        'Mauritius',
        '46 others',
        'Source: world_bank_wdi (2000–2025). Retrieved on 24 July 2026.',
      ]),
    );
    expect(texts.join(' ')).not.toMatch(/synthetic/i);
  });

  it('an answer of 54 countries and 207 indicators is usable in two seconds, as a dozen pictures and the rest by choice', {
    timeout: 180_000,
  }, async () => {
    await using scene = await open({ viewport: { width: 1400, height: 900 } });
    const { page } = scene;
    await page.getByLabel('API key', { exact: true }).fill('demo-team');
    await side(page, 'Picture');
    await write(page, '{ countries { code observations(latest: true) { value } } }');
    const usedMs = await watchWork(page);
    const usableAt = page.evaluate(async () => {
      await new Promise<void>((resolve) => {
        new MutationObserver((_, observer) => {
          if (document.querySelector('.picture svg') === null) return;
          observer.disconnect();
          // Waits a turn, after which all else of the answer has had its own.
          requestAnimationFrame(() => setTimeout(resolve));
        }).observe(document.body, { childList: true, subtree: true });
      });
      return performance.now();
    });
    await run(page);
    const at = await usableAt;
    // All that the page did since the operation was run.
    expect(await usedMs()).toBeLessThan(2_000);
    const arrivedAt = await page.evaluate(() => {
      const answers = performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('/graphql')) as PerformanceResourceTiming[];
      return Math.max(...answers.map(({ responseEnd }) => responseEnd));
    });
    expect(at).toBeGreaterThan(arrivedAt);
    await button(page, 'Table').click();
    await page.locator('.charts tbody tr').first().waitFor();
    const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
    expect(await nodes()).toBeLessThan(10_000);

    await button(page, 'Pictures').click();
    await page.locator('.picture svg').first().waitFor();
    await expect.poll(() => page.locator('.picture').count()).toBe(12);
    for (let i = 0; i < 12; i += 1) await page.locator('.picture .under').nth(i).scrollIntoViewIfNeeded();
    await expect.poll(() => page.locator('.picture svg').count()).toBe(12);
    expect(await nodes()).toBeLessThan(10_000);

    await page.getByLabel(/12 of \d+ pictures/).fill('Drought index, three months, standard deviations');
    await expect
      .poll(() => page.locator('.picture figcaption strong').first().innerText())
      .toBe('Drought index, three months');
    await expect.poll(() => page.locator('.picture').count()).toBe(12);
    expect(scene.problems).toEqual([]);
  });

  it('an answer is that of the operation as it was written where what was added is too much', async () => {
    await using scene = await open({ env: { CACHE_URL: 'memory:', MAX_DEPTH: '3' } });
    await write(
      scene.page,
      '{ countries(codes: ["KE"]) { observation(metricKey: "life_expectancy") { value } } }',
    );
    await scene.page.getByRole('button', { name: /Execute/ }).click();
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toMatch(/"value":\s\d/);
  });
});
