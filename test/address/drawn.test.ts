import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import type { Page, Request } from 'playwright-core';
import { build, type Rollup } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { outlines } from '../../src/graphiql/outlines.ts';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import { openKeyStore } from '../../src/plugins/issued-keys/key-store.ts';
import { hasChromium } from '../support/chromium.ts';
import { openGraphiql, run, saved, scenesOfGraphiql, side, write } from '../support/graphiql.ts';
import { FIGURE, openFiles, openPublishing } from './publishing.ts';

const CHART = fileURLToPath(new URL('../../src/graphiql/chart/', import.meta.url));

/** GraphiQL's own drawing code as a script of a page, which draws as GraphiQL does. */
const ENTRY = `
  import { DARK, LIGHT } from '${CHART}colours.ts';
  import { drawScatter, isPositive, mappedIn, pairsOf, titleOf, subtitleOf } from '${CHART}dots.ts';
  import { figuresIn } from '${CHART}figures.ts';
  import { originOf, sourcesOf } from '${CHART}notes.ts';
  import { picturesOf } from '${CHART}picture.ts';
  import { framed, posterOf } from '${CHART}poster.ts';
  import { canMap, drawnOf, shownAs } from '${CHART}shown.ts';

  const PLAIN = { highlight: [], removed: [], kind: null, isLog: false, measure: 'value', base: null, year: null, scope: 'ALL' };

  export function drawn(query, data, given, { isDark, width, isBare }) {
    const at = { width, isBare, colours: isDark ? DARK : LIGHT };
    const pictures = picturesOf(figuresIn(query, {}, undefined, data));
    const look = { ...PLAIN, ...given };
    const svg = look.kind === 'scatter' ? scatter(pictures, look, at) : poster(pictures, look, at);
    return new XMLSerializer().serializeToString(svg);
  }

  function poster(pictures, look, at) {
    const picture = pictures.find(({ figures }) => look.indicator === undefined || figures.some(({ indicator }) => indicator === look.indicator));
    const shown = shownAs(picture, look, canMap(picture));
    return posterOf(drawnOf(picture, shown, look), shown, look.highlight, true, { isLog: look.isLog }, at);
  }

  function scatter(pictures, look, at) {
    const [x, y] = mappedIn(pictures);
    const pairs = pairsOf(x, y);
    const isLog = look.isLog && isPositive(x) && isPositive(y);
    const drawing = drawScatter(pairs, x, y, { width: at.width - 48, colours: at.colours, isLog });
    const notes = originOf(sourcesOf(pairs.flatMap((pair) => [pair.x, pair.y])), true);
    return framed({ title: titleOf(x, y), subtitle: subtitleOf(pairs, null), legend: null, drawing, notes }, at);
  }
`;

async function drawingScript(): Promise<string> {
  const modules: Readonly<Record<string, string>> = {
    'virtual:africa': `export const africa = ${JSON.stringify(outlines())}`,
    'virtual:entry': ENTRY,
  };
  const built = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'modules-of-the-test',
        resolveId: (id) =>
          Object.keys(modules)
            .find((name) => id.endsWith(name))
            ?.replace(/^/, '\0') ?? null,
        load: (id) => modules[id.slice(1)] ?? null,
      },
    ],
    build: {
      write: false,
      minify: false,
      lib: { entry: 'virtual:entry', formats: ['iife'], name: 'drawing', fileName: 'drawing' },
    },
  });
  const [{ output }] = [built].flat() as Rollup.RollupOutput[] as [Rollup.RollupOutput];
  return output[0].code;
}

/**
 * Writes a picture so that two of them can be compared: attributes in the order of their names, styles as the
 * browser writes them, numbers without the last digits, in which engines differ, and without words that only
 * the page adds.
 */
const CANONICAL = `
  function canonical(text) {
    const styles = document.createElement('i').style;
    const lines = [];
    const walk = (node, indent) => {
      if (node.nodeType === 3) return void lines.push(indent + node.data);
      const attributes = [...node.attributes]
        .filter(({ name }) => !/^xmlns|^aria-hidden$/.test(name))
        .map(({ name, value }) => {
          if (name === 'style') { styles.cssText = value; value = styles.cssText; }
          return name + '=' + value.replace(/-?\\d+\\.\\d{6,}/g, (number) => Number(number).toFixed(6));
        });
      lines.push(indent + node.localName + ' ' + attributes.sort().join(' '));
      for (const child of node.childNodes) walk(child, indent + ' ');
    };
    const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
    walk(documentElement, '');
    return lines.join('\\n');
  }
`;

const series = (codes: string, metric: string, more = '') =>
  `observations(countryCodes: [${codes}], metricKeys: ["${metric}"]${more}) { ${FIGURE} }`;
const latest = (metric: string) =>
  `observations(metricKeys: ["${metric}"], latest: true, scope: NATIONAL) { ${FIGURE} }`;
const some = (metric: string) =>
  `observations(countryCodes: ["KE", "NG", "ZA", "ST"], metricKeys: ["${metric}"], latest: true, scope: NATIONAL) { ${FIGURE} }`;
const THREE = '"KE", "NG", "ZA"';
const ALL = `countries { code name observations(metricKeys: ["life_expectancy"], fromYear: 2000) { ${FIGURE} } }`;

/** Twenty pictures: a query, the operator's look, and the reader's. */
const TWENTY: readonly (readonly [query: string, look: object, asked?: string])[] = [
  [series(THREE, 'population_total'), {}],
  [series('"KE"', 'population_total', ', fromYear: 1990'), {}, 'theme=dark'],
  [series(THREE, 'gdp_current_usd'), { kind: 'lines', isLog: true }],
  [series(THREE, 'life_expectancy'), { measure: 'index', base: 1990 }],
  [series(THREE, 'life_expectancy'), { measure: 'difference' }, 'width=480&bare=1'],
  [series(THREE, 'infant_mortality_per_1000'), { measure: 'percent', base: 2000 }],
  [series('"ML", "KE"', 'gdp_growth_quarterly_yoy_pct', ', fromYear: 2015'), {}],
  [series('"KE", "GH"', 'consumer_price_index', ', fromYear: 2018'), {}],
  [ALL, { highlight: ['Kenya', 'Chad'] }],
  [ALL, { kind: 'multiples' }],
  [ALL, { kind: 'map', year: 2010 }],
  [ALL, { kind: 'bars', year: 2005 }, 'theme=dark&width=700'],
  [latest('life_expectancy'), {}],
  [latest('population_total'), {}, 'theme=dark&width=480'],
  [latest('gdp_current_usd'), {}],
  [latest('energy_imports_net_pct'), {}, 'theme=dark'],
  [latest('forest_area_pct'), { kind: 'bars' }],
  [some('fertility_rate_births_per_woman'), {}],
  [`a: ${latest('life_expectancy')} b: ${latest('gdp_per_capita_current_usd')}`, { kind: 'scatter' }],
  [
    `a: ${latest('population_total')} b: ${latest('gdp_current_usd')}`,
    { kind: 'scatter', isLog: true },
    'theme=dark&width=640&bare=1',
  ],
];

describe.skipIf(!hasChromium)('pictures by address', () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await openGraphiql());
  }, 60_000);

  it('pictures by address are those that GraphiQL draws of the same answers, for 20 documents', {
    timeout: 120_000,
  }, async () => {
    const queries = TWENTY.map(([text], i) => `query Q${i} { ${text} }`);
    const documents = Object.fromEntries(queries.map((text, i) => [`q${i}`, text]));
    const published = Object.fromEntries(
      TWENTY.map(([, picture], i) => [`q${i}`, { document: `Q${i}`, key: 'page', picture }]),
    );
    await using program = await openPublishing({ documents, published });
    await program.issue({ name: 'page' });
    await page.goto(`${program.origin}/health/live`);
    await page.evaluate(
      await drawingScript().then((script) => `${script};${CANONICAL};window.drawing = drawing;`),
    );
    for (const [i, [, look, asked = '']] of TWENTY.entries()) {
      const { data } = (await (await program.at(`/c/q${i}.json`)).json()) as { data: object };
      program.requests();
      const ours = await (await program.at(`/c/q${i}.svg?${asked}`)).text();
      // Draws held figures at no call.
      expect(program.requests()).toEqual([]);
      const { theme, width = '960', bare } = Object.fromEntries(new URLSearchParams(asked));
      const at = { isDark: theme === 'dark', width: Number(width), isBare: bare === '1' };
      const given = JSON.stringify([queries[i], data, look, at]).slice(1, -1);
      const [own, there] = await page.evaluate<[string, string]>(
        `[canonical(${JSON.stringify(ours)}), canonical(drawing.drawn(${given}))]`,
      );
      expect(own.length).toBeGreaterThan(1_000);
      expect(own, `document ${i}`).toBe(there);
    }
  });

  it('pictures by address stand on a page that its sites may frame, light and dark, without a script', {
    timeout: 60_000,
  }, async () => {
    await using program = await openPublishing();
    const host = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><html lang="en"><title>Host</title><main><h1>Host</h1><iframe title="Lines" src="${program.origin}/c/lines" width="100%" height="800"></iframe></main>`,
      );
    });
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const { port } = host.address() as AddressInfo;
    const app = `http://127.0.0.1:${port}/`;
    await program.issue({ name: 'page', origins: [new URL(app).origin] });
    const scripts: string[] = [];
    const note = (request: Request) => {
      if (request.resourceType() === 'script') scripts.push(request.url());
    };
    page.on('request', note);
    for (const [colorScheme, width, theme, pixels] of [
      ['light', 1100, 'light', '960'],
      ['dark', 1100, 'dark', '960'],
      ['dark', 390, 'dark', '480'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(app, { waitUntil: 'networkidle' });
      const frame = page.frames()[1];
      if (frame === undefined) throw new Error('There is no frame.');
      await frame.waitForFunction('document.images[0]?.complete');
      const [source, natural, overflow] = await frame.evaluate<[string, number, number]>(
        '[document.images[0].currentSrc, document.images[0].naturalWidth, document.documentElement.scrollWidth - innerWidth]',
      );
      expect(Object.fromEntries(new URL(source).searchParams)).toMatchObject({ theme, width: pixels });
      expect([natural, overflow]).toEqual([Number(pixels), 0]);
      await frame.evaluate("document.querySelector('details').open = true");
      await frame.evaluate(axe.source);
      const { violations } = await frame.evaluate<AxeResults>(
        "axe.run(document, { preload: false, resultTypes: ['violations'] })",
      );
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    }
    // Shows nothing of it to any other site.
    await page.goto(app.replace('127.0.0.1', 'localhost'), { waitUntil: 'networkidle' });
    const refused = page.frames()[1];
    expect(refused?.url()).toMatch(/^chrome-error:/);
    expect(scripts).toEqual([]);
    expect(program.requests()).toHaveLength(1);
    page.off('request', note);
    host.close();
    host.closeAllConnections();
  });
});

const { open } = scenesOfGraphiql();

/** One operation of which GraphiQL draws four kinds of pictures. */
const FOUR = `query Four {
  ${series(THREE, 'population_total', ', fromYear: 1980')}
  map: ${latest('life_expectancy')}
  second: ${latest('gdp_per_capita_current_usd')}
  bars: ${some('fertility_rate_births_per_woman')}
}`;

describe.skipIf(!hasChromium)('GraphiQL', () => {
  it('GraphiQL saves, and shows, what the addresses serve', { timeout: 120_000 }, async () => {
    const named = (picture: object) => ({ document: 'Four', key: 'page', picture });
    const { folder, env } = openFiles(
      { four: FOUR },
      {
        lines: named({ indicator: 'population_total' }),
        map: named({ indicator: 'life_expectancy' }),
        bars: named({ indicator: 'fertility_rate_births_per_woman' }),
        scatter: named({ kind: 'scatter' }),
      },
    );
    const store = await openKeyStore(folder.cacheUrl, 1_000);
    await new KeyDesk(store, Date.now).create({ name: 'page' });
    const settings = {
      CACHE_URL: folder.cacheUrl,
      COUNTRY_DATA_KEY: 'demo-team',
      TRUSTED_DOCUMENTS_FOR: 'issued',
    };
    await using scene = await open({ env: { ...env, ...settings } });
    const { page, program } = scene;
    await page.getByLabel('API key', { exact: true }).fill('demo-team');
    await write(page, FOUR);
    expect((await run(page)).errors).toBeUndefined();
    await side(page, 'Picture');
    program.requests();
    const { origin } = new URL(program.url);
    const served = async (path: string) => (await fetch(`${origin}/c/${path}`)).text();
    const canonical = (text: string) =>
      page.evaluate<string>(`(() => { ${CANONICAL}; return canonical(${JSON.stringify(text)}); })()`);
    await page.getByText('none of them is real').first().waitFor();
    for (const kind of ['lines', 'map', 'bars']) {
      const figure = page.locator('figure.picture', { has: page.locator(`.frame.${kind}`) });
      const own = kind === 'map' ? figure.filter({ hasText: 'Life expectancy' }).last() : figure;
      const { bytes } = await saved(page, own.getByRole('button', { name: 'SVG', exact: true }));
      expect(await canonical(await served(`${kind}.svg`)), kind).toBe(await canonical(bytes.toString()));
    }
    const shown = page.locator('.frame.scatter svg').first();
    const width = Number(await shown.getAttribute('width'));
    const own = await shown.evaluate((svg) => new XMLSerializer().serializeToString(svg));
    const bare = await served(`scatter.svg?width=${width + 48}&bare=1`);
    // The address serves the drawing on its ground.
    const drawing = await page.evaluate((text) => {
      const nested = new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('svg svg');
      for (const place of ['x', 'y']) nested?.removeAttribute(place);
      return nested === null ? '' : new XMLSerializer().serializeToString(nested);
    }, bare);
    expect(await canonical(drawing)).toBe(await canonical(own));
    expect(program.requests()).toEqual([]);
    await store.close();
    folder[Symbol.dispose]();
  });
});
