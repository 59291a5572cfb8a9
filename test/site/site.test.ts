import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import fastifyStatic from '@fastify/static';
import axe, { type AxeResults } from 'axe-core';
import fastify from 'fastify';
import { buildASTSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType, parse } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltSite, buildSite } from '../../scripts/site/build.ts';
import { settingNames } from '../../src/config.ts';
import { FAILURES } from '../../src/errors.ts';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'site-'));
let site: BuiltSite;
beforeAll(async () => {
  site = await buildSite(folder);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

describe('the site', () => {
  it('has links to pages, files and places that are there, and names no place twice', () => {
    const ids = new Map(site.pages.map(({ path }) => [path, idsOf(read(path))]));
    const broken: string[] = [];
    let count = 0;
    for (const { path } of site.pages) {
      const places = ids.get(path) ?? [];
      for (const id of places)
        if (places.indexOf(id) !== places.lastIndexOf(id)) broken.push(`${path} twice #${id}`);
      for (const [, address = ''] of read(path).matchAll(/ (?:href|src)="([^"]*)"/g)) {
        count += 1;
        if (/^https?:/.test(address)) continue;
        const [file = '', place] = address.split('#');
        const target = file === '' ? path : normalize(join(dirname(path), file));
        const known = ids.get(target);
        if (known === undefined && (place !== undefined || !exists(target)))
          broken.push(`${path}: ${address}`);
        if (place !== undefined && known?.includes(place) !== true) broken.push(`${path}: ${address}`);
      }
    }
    expect(broken).toEqual([]);
    expect(count).toBeGreaterThan(5_000);
  });

  it('loads nothing of another host, by no page', () => {
    for (const { path } of site.pages) {
      const loaded = [
        ...read(path).matchAll(/<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)="([^"]+)"/g),
      ];
      expect(loaded.filter(([, address = '']) => /^(\w+:|\/)/.test(address))).toEqual([]);
    }
    expect(read('assets/site.css')).not.toMatch(/url\(|@import/);
  });

  it('describes every type, field, argument and value of the schema', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const schema = buildASTSchema(parse(sdl), { assumeValidSDL: true });
    const missing: string[] = [];
    for (const type of Object.values(schema.getTypeMap())) {
      const isOurs = !/^(_|federation__|link__|String$|Int$|Float$|Boolean$|ID$)/.test(type.name);
      if (!isOurs) continue;
      const page = read(`schema/${type.name}.html`);
      const places = new Set(idsOf(page));
      const members = isEnumType(type)
        ? type.getValues()
        : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
          ? Object.values(type.getFields())
          : [];
      for (const member of members) {
        if (member.name.startsWith('_')) continue;
        if (!places.has(member.name)) missing.push(`${type.name}.${member.name}`);
        const args = 'args' in member ? member.args : [];
        for (const { name } of args)
          if (!page.includes(`<code>${name}: `)) missing.push(`${type.name}.${member.name}(${name})`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('says what fields cost, and which are null only with an error', () => {
    const section = (type: string, field: string) =>
      new RegExp(`<h2 id="${field}">[\\s\\S]*?</section>`).exec(read(`schema/${type}.html`))?.[0] ?? '';
    expect(section('Country', 'offices')).toContain('>a call each<');
    expect(section('Country', 'observation')).toContain('>merged<');
    expect(section('Country', 'observation')).not.toContain('null only with an error');
    expect(section('Country', 'observations')).toContain('>null only with an error<');
    expect(section('Country', 'code')).not.toContain('badge');
  });

  it('has a place for every error code and every setting', () => {
    expect(idsOf(read('errors.html'))).toEqual(
      expect.arrayContaining(Object.keys(FAILURES).map((code) => code.toLowerCase())),
    );
    expect(idsOf(read('settings.html'))).toEqual(expect.arrayContaining(settingNames.filter(isTold)));
  });

  it('draws what the gateway says: the bills of docs/bill.txt, and prices', () => {
    const bills = readFileSync('docs/bill.txt', 'utf8');
    const page = read('costs.html');
    expect(site.drawn.bills.length).toBeGreaterThan(3);
    for (const { calls, naive } of site.drawn.bills) {
      expect(bills).toMatch(new RegExp(`^ +${calls} +${naive}   `, 'm'));
      expect(page).toContain(`>${naive}</text>`);
    }
    const { steps } = site.drawn;
    expect([steps[0], steps.at(-1)]).toEqual([
      { indicators: 1, calls: 2 },
      { indicators: 60, calls: 5 },
    ]);
    expect(page).toContain('5 calls, 3,240 figures');
  });

  it('shows the bill of every operation of its guides', () => {
    expect(read('index.html')).toContain(
      '2 upstream calls (1 × /v1/countries, 1 × /v1/data); 163 if each field',
    );
    for (const path of ['getting-started.html', 'costs.html', 'tables-and-tools.html'])
      expect(read(path)).toContain('<figcaption class="bill">');
  });

  it('shows the bill of what settings add to the graph', () => {
    expect(read('trade-and-policy.html')).toMatch(/<figcaption class="bill">.*1 × \/v1\/trade\/flows/);
  });
});

/** Settings, but for files of secrets, which are told beside the secrets. */
const isTold = (name: string) => !name.endsWith('_FILE');

function exists(path: string): boolean {
  try {
    readFileSync(join(folder, path));
    return true;
  } catch {
    return false;
  }
}

const SIZES = { desktop: { width: 1400, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Pages of every kind. */
const OF_EACH_KIND = [
  'index.html',
  'getting-started.html',
  'costs.html',
  'settings.html',
  'schema/index.html',
  'schema/Country.html',
];

const SHOWING_MOST = ['costs.html', 'schema/Country.html'];

describe.runIf(hasChromium)('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const outside: string[] = [];
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
    page = await browser.newPage();
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) outside.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
  });
  afterAll(() => browser.close());

  const open = (path: string) => page.goto(pathToFileURL(join(folder, path)).href);

  /**
   * Faults that axe finds serious, or worse. It needs no style sheet of its own, which a page of a file may
   * not ask for.
   */
  async function seriousFaults(element: string): Promise<string[]> {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>(
      `axe.run(${element}, { preload: false, resultTypes: ['violations'] })`,
    );
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]?.html}`);
  }

  const fitsIn = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');

  it.for([
    ['desktop', 'light', OF_EACH_KIND],
    ['phone', 'dark', OF_EACH_KIND],
    // Sizes and colours don't depend on each other: a few show it.
    ['desktop', 'dark', SHOWING_MOST],
    ['phone', 'light', SHOWING_MOST],
  ] as const)('%s, %s: pages have no serious fault by axe', async ([size, colorScheme, paths]) => {
    await page.setViewportSize(SIZES[size]);
    await page.emulateMedia({ colorScheme });
    for (const path of paths) {
      await open(path);
      // Looks at folded parts, too.
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
      expect(await seriousFaults('document')).toEqual([]);
    }
  });

  it('no page is wider than a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const longest = site.pages
      .filter(({ path }) => path.startsWith('schema/'))
      .toSorted((a, b) => b.html.length - a.html.length)
      .slice(0, 8);
    const others = site.pages.filter(({ path }) => !path.startsWith('schema/'));
    const wide: string[] = [];
    for (const { path } of [...others, ...longest]) {
      await open(path);
      if (Number(await fitsIn()) > 0) wide.push(path);
    }
    expect(wide).toEqual([]);
  });

  it('the search finds types, fields, codes and headings by keyboard alone', async () => {
    await page.setViewportSize(SIZES.desktop);
    await open('getting-started.html');
    for (const [text, found, target] of [
      ['observationsConnection', 'Query.observationsConnection', /schema\/\w+\.html#observationsConnection$/],
      ['rate_limited', 'RATE_LIMITED', /#rate_limited$/i],
      ['tables and tools', 'Tables and tools', /tables-and-tools\.html$/],
      ['Country', 'Country', /schema\/Country\.html$/],
    ] as const) {
      await page.keyboard.press('/');
      const field = page.getByRole('combobox');
      await field.fill(text);
      await page.getByRole('option').filter({ hasText: found }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(target);
    }
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('nothing of this name');
    expect(await page.getByRole('status').textContent()).toBe('Nothing found.');
    expect(await seriousFaults('document.querySelector("dialog")')).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('combobox').isVisible()).toBe(false);
  });

  it('the navigation of a phone opens and closes, and colours are changed by hand', async () => {
    await page.setViewportSize(SIZES.phone);
    await page.emulateMedia({ colorScheme: 'light' });
    await open('live.html');
    const navigation = page.getByRole('navigation', { name: 'Site' });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Navigation' }).click();
    expect(await navigation.getByRole('link', { name: 'Subscriptions' }).getAttribute('aria-current')).toBe(
      'page',
    );
    await page.getByRole('button', { name: 'Navigation' }).click();
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Navigation' }).click();
    await page.keyboard.press('Escape');
    expect(await navigation.isVisible()).toBe(false);
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await paper();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    expect(await paper()).not.toBe(light);
  });

  it('the whole works below any address of a server', async () => {
    const app = fastify();
    await app.register(fastifyStatic, { root: folder, prefix: '/some/where/' });
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    const other = await browser.newPage();
    const failed: string[] = [];
    other.on('response', (response) => {
      if (response.status() >= 400 || !response.url().startsWith(origin)) failed.push(response.url());
    });
    await other.goto(`${origin}/some/where/schema/Query.html`);
    await other.getByRole('link', { name: 'CountryConnection' }).first().click();
    await other.getByRole('heading', { level: 1, name: 'CountryConnection' }).waitFor();
    await other.getByRole('button', { name: /Search/ }).click();
    await other.getByRole('combobox').fill('federation');
    await other.getByRole('option').first().waitFor();
    await other.close();
    await app.close();
    expect(failed).toEqual([]);
  });

  it('has asked no other host, and found no fault', () => {
    expect(outside).toEqual([]);
    expect(problems).toEqual([]);
  });
});
