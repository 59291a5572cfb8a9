import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import type { ConsoleMessage, Page, Request } from 'playwright-core';
import { build, type Rollup } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { outlines } from '../../clients/graphiql/src/outlines.ts';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import { hasChromium } from '../support/chromium.ts';
import { openGraphiql, run, saved, scenesOfGraphiql, side, write } from '../support/graphiql.ts';
import { openKeyStore } from '../support/key-store.ts';
import { FIGURE, openFiles, openPublishing } from './publishing.ts';

const CHART = fileURLToPath(new URL('../../clients/graphiql/src/chart/', import.meta.url));

/** GraphiQL's own code as a script of a page, which asks for an operation and draws its answer as GraphiQL does. */
const ENTRY = `
  import { askedIn } from '${CHART}asked.ts';
  import { DARK, LIGHT } from '${CHART}colours.ts';
  import { drawScatter, mappedIn, scaledPairs, titleOf, subtitleOf, wordsOf } from '${CHART}dots.ts';
  import { figuresIn } from '${CHART}figures.ts';
  import { withNeededFields } from '${CHART}needed-fields.ts';
  import { originOf } from '${CHART}notes.ts';
  import { picturesOf } from '${CHART}picture.ts';
  import { PLAIN } from '${CHART}plain-look.ts';
  import { edgeOf, framed, posterOf } from '${CHART}poster.ts';
  import { canMap, drawnOf, shownAs } from '${CHART}shown.ts';
  import { alone, ofScope, withoutMembers } from '${CHART}subjects.ts';

  export async function drawn(written, given, { isDark, width, isBare }) {
    const query = withNeededFields(written, undefined)?.query ?? written;
    const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-team' };
    const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { data } = await response.json();
    const at = { width, isBare, colours: isDark ? DARK : LIGHT };
    const pictures = picturesOf(figuresIn(query, {}, undefined, data), askedIn(query, {}, undefined));
    const look = { ...PLAIN, ...given };
    const svg = look.kind === 'scatter' ? scatter(pictures, look, at) : poster(pictures, look, at);
    return new XMLSerializer().serializeToString(svg);
  }

  function poster(pictures, look, at) {
    const whole = pictures.map(alone).find(({ kind, figures }) => kind !== 'values' && (look.indicator === undefined || figures.some(({ indicator }) => indicator === look.indicator)));
    const picture = ofScope(withoutMembers(whole, look.removed), look.scope);
    const shown = shownAs(picture, look, canMap(picture));
    const { isShared, focus } = look;
    return posterOf(drawnOf(picture, shown, look), shown, look.highlight, true, { isShared, focus }, at);
  }

  function scatter(pictures, look, at) {
    const [x, y] = mappedIn(pictures);
    const { pairs, isLog, remarks } = scaledPairs(x, y, null, look.isLog);
    const drawing = drawScatter(pairs, x, y, { width: at.width - 2 * edgeOf(at.width), colours: at.colours, isLog, isAlone: true });
    const notes = [...originOf(pairs.flatMap((pair) => [pair.x, pair.y]), true), ...remarks];
    return framed({ title: titleOf(x, y), subtitle: subtitleOf(pairs, null), legend: null, drawing, words: wordsOf(pairs, x, y), notes }, at);
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

const series = (codes: string, metric: string, more = '', fields = 'value') =>
  `observations(countryCodes: [${codes}], metricKeys: ["${metric}"]${more}) { ${fields} }`;
const latest = (metric: string, fields = 'value') =>
  `observations(metricKeys: ["${metric}"], latest: true, scope: NATIONAL) { ${fields} }`;
const some = (metric: string, fields = 'value') =>
  `observations(countryCodes: ["KE", "NG", "ZA", "ST", "ER"], metricKeys: ["${metric}"], latest: true, scope: NATIONAL) { ${fields} }`;
const THREE = '"KE", "NG", "ZA"';
const HUGE = 'gdp_ppp_international_usd';
const BOUNDED = 'value estimateLow estimateHigh';
const ALL = 'countries { observations(metricKeys: ["life_expectancy"], fromYear: 2000) { value } }';

/** What the service says in place of its own: several sources of one indicator, by country or by year, and quadrillions. */
function patched(row: { readonly metric_key: string; readonly country_code: string; readonly year: number }) {
  if (row.metric_key === 'exports_goods_services_usd')
    return { ...row, source: /ke/i.test(row.country_code) ? 'imf_ifs' : 'un_comtrade' };
  if (row.metric_key === 'imports_goods_services_usd')
    return { ...row, source: row.year < 2010 ? 'imf_ifs' : 'un_comtrade' };
  if (row.metric_key !== HUGE) return row;
  const sign = /^ng$/i.test(row.country_code) ? -1 : 1;
  return { ...row, value: sign * 1e15 * (1 + (row.year % 7)) };
}

/** Forty pictures and more: a query of values alone, the operator's look, the reader's, and what the picture says at least. */
const PICTURES: readonly (readonly [
  query: string,
  look: object,
  asked?: string,
  said?: readonly RegExp[],
])[] = [
  [series(THREE, 'population_total'), {}],
  [series('"KE"', 'population_total', ', fromYear: 1990'), {}, 'theme=dark'],
  [series('"KE"', 'population_total', ', fromYear: 2020, toYear: 2020'), {}],
  [series(THREE, 'gdp_current_usd'), { kind: 'lines', isLog: true }],
  [series(THREE, 'gdp_current_usd', ', fromYear: 2000'), { kind: 'small-pictures', isShared: true }],
  [series(THREE, 'life_expectancy'), { measure: 'index', base: 1990 }],
  [series(THREE, 'life_expectancy'), { measure: 'difference' }, 'width=480&bare=1'],
  [series(THREE, 'life_expectancy', '', BOUNDED), {}],
  [series('"KE", "NG", "ZA", "GH", "EG"', 'life_expectancy', '', BOUNDED), { focus: 'Ghana' }],
  [series('"KE", "NG", "ZA", "GH", "EG"', 'life_expectancy', '', BOUNDED), { removed: ['GH', 'EG'] }],
  [series(THREE, 'infant_mortality_per_1000'), { measure: 'percent', base: 2000 }],
  // Quarters, months and days; a country without figures.
  [series('"ML", "KE"', 'gdp_growth_quarterly_yoy_pct', ', fromYear: 2015'), {}],
  [series('"ML"', 'gdp_growth_quarterly_yoy_pct', ', fromYear: 2022'), {}, 'width=320'],
  [series('"KE", "GH"', 'consumer_price_index', ', fromYear: 2018'), {}],
  [series('"GH"', 'consumer_price_index', ', fromYear: 2024'), { kind: 'ranking' }, 'width=400'],
  [series('"KE", "GH"', 'official_exchange_rate_latest_lcu_per_usd', ', fromYear: 2025'), {}],
  [series('"KE", "NG"', 'policy_rate_pct', ', fromYear: 2015'), {}],
  // Below zero, in one unit with gaps, and places within countries.
  [series(THREE, 'net_migration_total'), {}],
  [some('net_migration_total'), {}, 'width=320'],
  [latest('net_migration_total'), {}],
  [latest('net_migration_total'), { kind: 'ranking' }, 'theme=dark&width=390'],
  [series('"GH", "ER"', 'internet_users_pct'), {}],
  ['observations(metricKeys: ["idps_total"], latest: true) { value }', { scope: 'PLACES', kind: 'ranking' }],
  // Many lines.
  [ALL, { highlight: ['Kenya', 'Chad'] }],
  [ALL, { kind: 'small-pictures' }],
  [ALL, { kind: 'small-pictures' }, 'width=320'],
  [ALL, { kind: 'map', year: 2010 }],
  [ALL, { kind: 'ranking', year: 2005 }, 'theme=dark&width=700'],
  [ALL, { focus: 'Chad', highlight: ['Chad'] }, 'width=480'],
  [latest('life_expectancy'), {}],
  [latest('population_total'), {}, 'theme=dark&width=480'],
  [latest('gdp_current_usd'), {}],
  [latest('gdp_current_usd'), { kind: 'ranking' }],
  [latest('energy_imports_net_pct'), {}, 'theme=dark'],
  [latest('forest_area_pct'), { kind: 'ranking' }],
  [some('fertility_rate_births_per_woman'), {}],
  [some('gdp_current_usd', 'value source { key name url lastSuccessfulRefresh }'), {}],
  // Several pictures of one answer.
  [
    `a: ${series(THREE, 'population_total')} b: ${series(THREE, 'life_expectancy')}`,
    { indicator: 'life_expectancy' },
  ],
  [`a: ${latest('life_expectancy')} b: ${latest('gdp_per_capita_current_usd')}`, { kind: 'scatter' }],
  [
    `a: ${latest('population_total')} b: ${latest('gdp_current_usd')}`,
    { kind: 'scatter', isLog: true },
    'theme=dark&width=640&bare=1',
  ],
  // Several sources: of one picture's countries, of one line's years, more than a note names.
  [
    series(THREE, 'exports_goods_services_usd'),
    {},
    '',
    [/Source: imf_ifs \(1960–2023\), un_comtrade \(1960–2024\)\./],
  ],
  [
    series(THREE, 'exports_goods_services_usd'),
    { kind: 'ranking' },
    'width=320',
    [/Source: un_comtrade \(2023–2024\), imf_ifs \(2023\)\./],
  ],
  [
    series('"KE"', 'imports_goods_services_usd'),
    {},
    'width=480',
    [/Source: imf_ifs \(1960–2009\), un_comtrade \(2010–2023\)\./],
  ],
  [
    latest('policy_rate_pct'),
    { kind: 'ranking' },
    '',
    [/imf_ifs \(2025\), (\w+_signals \(2025\), ){6}bank_al_maghrib_signals \(2025\)\./],
  ],
  [
    latest('official_exchange_rate_latest_lcu_per_usd'),
    {},
    '',
    [/fx_usd_daily \(2025\), bceao_fx_rates \(2025\), beac_fx_rates \(2025\)\./],
  ],
  // Quadrillions, above and below zero.
  [series(THREE, HUGE), {}, '', [/−6 quadrillion.*0 2 quadrillion.* 6 quadrillion ↑ international dollars/]],
  [
    series('"KE", "ZA"', HUGE),
    { kind: 'lines', isLog: true },
    'width=320',
    [/1 quadrillion 2 quadrillion .*10 quadrillion ↑ international dollars 2000 2020/],
  ],
  [
    series(THREE, HUGE),
    { kind: 'small-pictures' },
    'width=320',
    [/ 1 to 7 quadrillion −7 to −1 quadrillion 1 to 7 quadrillion /],
  ],
  [
    series(THREE, HUGE),
    { kind: 'lines', measure: 'index', base: 2000 },
    '',
    [/ 0 20 .* 120 ↑ index, 2000 = 100/],
  ],
  // Where ticks and numbers have no room for words, the axis has them.
  [series(THREE, HUGE), {}, 'width=320', [/^(?!.*\d quadrillion).*↑ international dollars, in quadrillions/]],
  [some(HUGE), {}, 'width=320', [/^(?=.*international dollars, in quadrillions)(?=.* 3 3 3 −3 )/]],
  [latest(HUGE), {}, 'width=480', [/international dollars −3 quadrillion .*3 quadrillion no figure/]],
  [
    `a: ${latest(HUGE)} b: ${latest('life_expectancy')}`,
    { kind: 'scatter' },
    'width=480',
    [/−2 quadrillion 0 2 quadrillion Gross domestic/],
  ],
];

describe.skipIf(!hasChromium)('pictures by address', () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await openGraphiql());
  }, 60_000);

  it('pictures by address are those that GraphiQL draws of the same answers, for more than 40 documents', {
    timeout: 180_000,
  }, async () => {
    const queries = PICTURES.map(([text], i) => `query Q${i} { ${text} }`);
    const documents = Object.fromEntries(queries.map((text, i) => [`q${i}`, text]));
    const published = Object.fromEntries(
      PICTURES.map(([, picture], i) => [`q${i}`, { document: `Q${i}`, key: 'page', picture }]),
    );
    await using program = await openPublishing({ documents, published });
    await program.issue({ name: 'page' });
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: (body) => ({ ...body, data: body.data.map(patched) }),
    });
    await page.goto(`${program.origin}/health/live`);
    await page.evaluate(
      await drawingScript().then((script) => `${script};${CANONICAL};window.drawing = drawing;`),
    );
    for (const [i, [, look, asked = '', said = []]] of PICTURES.entries()) {
      const reply = await program.at(`/c/q${i}.svg?${asked}`);
      expect([i, reply.status]).toEqual([i, 200]);
      const ours = await reply.text();
      program.requests();
      const { theme, width = '960', bare } = Object.fromEntries(new URLSearchParams(asked));
      const at = { isDark: theme === 'dark', width: Number(width), isBare: bare === '1' };
      const given = JSON.stringify([queries[i], look, at]).slice(1, -1);
      const [own, there] = await page.evaluate<[string, string]>(
        `drawing.drawn(${given}).then((there) => [canonical(${JSON.stringify(ours)}), canonical(there)])`,
      );
      // Both ask for the same: what one has fetched the other draws at no call.
      expect(program.requests()).toEqual([]);
      expect(own.length).toBeGreaterThan(1_000);
      expect(own, `document ${i}`).toBe(there);
      expect(ours, `document ${i}`).not.toMatch(/NaN|Infinity|undefined|null/);
      const texts = [...ours.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text = '']) => text).join(' ');
      for (const words of said) expect(texts.replaceAll('&#160;', ' '), `document ${i}`).toMatch(words);
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
      ['dark', 700, 'dark', '680'],
      ['dark', 390, 'dark', '320'],
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
      await frame.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      await frame.evaluate(axe.source);
      const { violations } = await frame.evaluate<AxeResults>(
        "axe.run(document, { preload: false, resultTypes: ['violations'] })",
      );
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    }
    // A reader chooses countries, in the frame too; the address keeps what else it says.
    await page.goto(app, { waitUntil: 'networkidle' });
    await page.evaluate(
      `document.querySelector('iframe').src = '${program.origin}/c/lines?from=2015&theme=light&picture.axis=zero&picture.focus=Nigeria'`,
    );
    await page.frames()[1]?.waitForURL(/from=2015/);
    const reader = page.frameLocator('iframe');
    await reader.getByText('Choose countries').click();
    await expect.poll(() => reader.getByRole('checkbox', { checked: true }).count()).toBe(2);
    await reader.getByRole('checkbox', { name: 'Nigeria' }).uncheck();
    await reader.getByRole('checkbox', { name: 'South Africa' }).check();
    await reader.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => reader.locator('.frame img').getAttribute('alt')).toMatch(/South Africa.*Kenya/);
    expect(new URL(page.frames()[1]?.url() ?? '').search).toBe(
      '?from=2015&picture.axis=zero&theme=light&codes=KE&codes=ZA',
    );
    // Shows nothing of it to any other site.
    await page.goto(app.replace('127.0.0.1', 'localhost'), { waitUntil: 'networkidle' });
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
    expect(scripts).toEqual([]);
    expect(program.requests()).toHaveLength(2);
    page.off('request', note);
    host.close();
    host.closeAllConnections();
  });

  it('pictures by address show all of a long attribution, however narrow they are', {
    timeout: 60_000,
  }, async () => {
    const name = 'Office for the Observation of Countries, Markets & Governments';
    const url = `https://data.example.org/about/${'the-service/'.repeat(8)}?${'x'.repeat(90)}`;
    await using program = await openPublishing({ env: { ATTRIBUTION_NAME: name, ATTRIBUTION_URL: url } });
    await program.issue({ name: 'page' });
    for (const picture of ['lines', 'bars', 'map', 'scatter']) {
      await page.goto(`${program.origin}/c/${picture}.svg?width=320`);
      const notes = await page.evaluate<[text: string, right: number][]>(
        "[...document.querySelectorAll('.note')].map((note) => [note.textContent, note.getBoundingClientRect().right])",
      );
      const text = notes.map(([line]) => line).join('');
      expect([picture, text.replaceAll(' ', '')]).toEqual([
        picture,
        expect.stringContaining(`Data: ${name} (${url}).`.replaceAll(' ', '')),
      ]);
      expect([picture, Math.max(...notes.map(([, right]) => right)) <= 320]).toEqual([picture, true]);
    }
    expect(program.requests().length).toBeLessThanOrEqual(6);
  });

  it('pictures by address tell of their figures by mouse, touch and keys, and give a frame its height', {
    timeout: 60_000,
  }, async () => {
    await using program = await openPublishing();
    const host = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><html lang="en"><title>Host</title><iframe title="Lines" src="${program.origin}/c/lines?theme=dark" style="border:0;width:100%;height:200px"></iframe><script async src="${program.origin}/c/frames.js"></script>`,
      );
    });
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const { port } = host.address() as AddressInfo;
    await program.issue({ name: 'page' });
    const problems: string[] = [];
    const note = (message: ConsoleMessage) => {
      // Nobody has an icon here.
      if (message.type() === 'error' && !message.location().url.endsWith('favicon.ico'))
        problems.push(message.text());
    };
    page.on('console', note);
    await page.setViewportSize({ width: 1000, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`http://127.0.0.1:${port}/`);
    // The frame is as high as its page: nothing of it scrolls.
    const frame = page.frameLocator('iframe');
    await expect
      .poll(() => frame.locator('html').evaluate((html) => html.scrollHeight - window.innerHeight))
      .toBe(0);
    await expect.poll(() => page.locator('iframe').evaluate((one) => one.clientHeight)).toBeGreaterThan(500);
    for (const link of await frame.locator('a').all())
      expect(await link.getAttribute('target')).toBe('_blank');
    // By mouse: the drawing takes the place of its image, and a line of the legend stands out.
    await frame.locator('.frame').hover();
    await frame.locator('.frame > svg').waitFor();
    const place = await frame.locator('g.points circle').nth(5).boundingBox();
    await page.mouse.move((place?.x ?? 0) + 2, (place?.y ?? 0) + 2);
    const tip = frame.locator('.tip');
    await expect.poll(() => tip.innerText()).toMatch(/^\w+\n[\d,]+ persons\n(.*\n)?19\d\d.*\n\w+$/);
    await frame.locator('[data-legend="Kenya"]').hover();
    await expect.poll(() => frame.locator('.top path[data-line="Kenya"]').getAttribute('data-lit')).toBe('');
    const faded = frame.locator('.top path[data-line="Nigeria"]');
    await expect.poll(() => faded.evaluate((path) => getComputedStyle(path).strokeOpacity)).toBe('0.2');
    const point = frame.locator('circle[data-line="Nigeria"]').first();
    expect(await point.evaluate((circle) => getComputedStyle(circle).opacity)).toBe('0.2');
    // By keyboard, to the next year and to the other line; told to screen readers.
    await frame.locator('.frame').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const status = frame.locator('p[role=status]');
    await expect.poll(() => status.textContent()).toMatch(/^Kenya, [\d,]+ persons, 1951/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => status.textContent()).toMatch(/^Nigeria, [\d,]+ persons, 1951/);
    await page.keyboard.press('Escape');
    await expect.poll(() => tip.isVisible()).toBe(false);
    // By a finger.
    await frame
      .locator('g.points circle')
      .nth(8)
      .dispatchEvent('pointerdown', {
        pointerType: 'touch',
        bubbles: true,
        clientX: (place?.x ?? 0) + 2,
        clientY: (place?.y ?? 0) + 2,
      });
    await expect.poll(() => tip.isVisible()).toBe(true);
    // On paper it is black on white, whatever the system and the address say.
    await page.goto(`${program.origin}/c/lines?theme=dark`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    await expect.poll(() => page.evaluate('document.images[0].currentSrc')).toContain('theme=light');
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    expect(problems).toEqual([]);
    expect(program.requests()).toHaveLength(1);
    page.off('console', note);
    host.close();
    host.closeAllConnections();
  });

  it('pictures by address tell a finger of the figure that it touches first', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    await using telephone = await (await openGraphiql()).openTelephone({ width: 390, height: 844 });
    await telephone.page.goto(`${program.origin}/c/lines`);
    await telephone.page.locator('.frame').tap({ position: { x: 200, y: 250 } });
    await expect.poll(() => telephone.page.locator('.tip').innerText()).toMatch(/^\w+\n[\d,]+ persons/);
    expect(program.requests()).toHaveLength(1);
  });

  it('pictures by address have a line of the legend stand out by mouse and keyboard, drawn with its bounds, at no call', async () => {
    const five = `query Five { ${series('"KE", "NG", "GH", "ZA", "EG"', 'life_expectancy', ', fromYear: 1990', FIGURE)} }`;
    await using program = await openPublishing({
      documents: { five },
      published: { five: { document: 'Five', key: 'page' } },
    });
    await program.issue({ name: 'page' });
    await page.setViewportSize({ width: 1000, height: 900 });
    await page.goto(`${program.origin}/c/five`);
    program.requests();
    const seen = async () => ({
      bands: await page.locator('g.bands path').count(),
      faded: await page.locator('g.points circle[opacity="0.2"]').count(),
      pressed: await page.locator('[data-legend][aria-pressed="true"]').allTextContents(),
    });
    const all = { bands: 0, faded: 0, pressed: [] };
    await page.locator('.frame').focus();
    await page.getByRole('button', { name: 'Kenya' }).waitFor();
    expect(await seen()).toEqual(all);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const [first = ''] = await page.locator('[data-legend]').allTextContents();
    await expect.poll(seen).toEqual({ bands: 1, faded: expect.any(Number), pressed: [first] });
    expect((await seen()).faded).toBeGreaterThan(100);
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(first);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>(
      "axe.run(document, { preload: false, resultTypes: ['violations'] })",
    );
    expect(violations).toEqual([]);
    await page.keyboard.press(' ');
    await expect.poll(seen).toEqual(all);
    await page.getByRole('button', { name: 'Kenya' }).click();
    await expect.poll(async () => (await seen()).pressed).toEqual(['Kenya']);
    expect(program.requests()).toEqual([]);
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
        ranking: named({ indicator: 'fertility_rate_births_per_woman' }),
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
    // A picture is drawn once it comes into view, and moves the buttons below it: from under a click that comes too soon.
    for (const frame of await page.locator('figure.picture .frame').all()) {
      await frame.scrollIntoViewIfNeeded();
      await frame.locator('svg').first().waitFor();
    }
    for (const kind of ['lines', 'map', 'ranking']) {
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
