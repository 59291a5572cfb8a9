import { readFileSync } from 'node:fs';
import type { Download, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFiles } from '../address/publishing.ts';
import { hasChromium } from '../support/chromium.ts';
import { forget, scenesOfGraphiql } from '../support/graphiql.ts';

const { openPage, openTelephone, origin, serve } = scenesOfGraphiql();

/** What somebody does who knows neither GraphQL nor this page: by the words that are read there. */
type Act =
  | { readonly press: string | RegExp }
  | { readonly choose: string; readonly of: string }
  /** A name, with a line feed if Enter ends it. */
  | { readonly type: string; readonly into: string };

interface Visit {
  readonly page: Page;
  /** Acts again, uncounted. */
  act(act: Act): Promise<void>;
  /** Opens an address in a browser that has seen nothing of this. */
  openAfresh(address: string): Promise<void>;
  copied(): Promise<string>;
  /** The text and the name of the file that the last act has saved. */
  saved(): Promise<{ readonly name: string; readonly text: string }>;
}

interface Task {
  readonly task: string;
  readonly acts: readonly Act[];
  /** Checks what is seen then. */
  see(visit: Visit): Promise<void>;
}

const THREE = { press: /^How have three countries fared since 1990\? .* ?calls?$/ };
const MAP = { press: /^How long do people live, country by country\? .* ?calls?$/ };
const CATALOGUE = [{ press: 'Show Catalogue' }, { press: /^Load the catalogue \(.*call/ }];

const linesOf = (page: Page) =>
  page
    .locator('.frame.lines g.top path')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('data-line')).sort());

const captionOf = (page: Page) => page.locator('.picture figcaption').first().innerText();

/** True if all of the picture is in view, with nothing to scroll. */
const isWhole = (page: Page) => page.locator('.picture .frame svg').evaluate(isInView);

/** A picture as it is seen, without the numbers of its own parts. */
const seenOn = (page: Page) =>
  page.locator('.picture').evaluate((picture) => ({
    svg: picture.querySelector('.frame svg')?.outerHTML.replaceAll(/-\d+(?=["')])/g, ''),
    caption: picture.querySelector('figcaption')?.textContent,
    legend: [...picture.querySelectorAll('.legend .line')].map((line) => [
      line.textContent,
      line.getAttribute('aria-pressed'),
    ]),
  }));

const TASKS: readonly Task[] = [
  {
    task: 'two named countries on one chart',
    acts: [
      THREE,
      { press: /^Countries/ },
      { type: 'Uganda\n', into: 'Search countries' },
      { press: 'Kenya shown' },
      { press: /^Only these 2 \(.*call/ },
    ],
    async see({ page }) {
      await expect.poll(() => linesOf(page)).toEqual(['Kenya', 'Uganda']);
      await expect.poll(() => isWhole(page)).toBe(true);
      expect(await captionOf(page)).toContain('Life expectancy');
    },
  },
  {
    task: 'a country and its five neighbours',
    acts: [
      THREE,
      { press: /^Countries/ },
      { type: 'Kenya\n', into: 'Search countries' },
      { press: 'Neighbours of Kenya (5)' },
      { press: /^Only these 6 \(.*call/ },
    ],
    async see({ page }) {
      const all = ['Ethiopia', 'Kenya', 'Somalia', 'South Sudan', 'Tanzania', 'Uganda'];
      await expect.poll(() => linesOf(page)).toEqual(all);
      await expect.poll(() => isWhole(page)).toBe(true);
    },
  },
  {
    task: 'a page of one’s own with the chart, its address and the code to embed it',
    acts: [
      THREE,
      { press: 'Share' },
      { press: 'Publish…' },
      { type: 'three-lives', into: 'Name in the address' },
      { press: 'Publish' },
    ],
    async see({ page, act }) {
      const address = page.getByRole('link', { name: /\/c\/three-lives$/ });
      const published = await fetch((await address.getAttribute('href')) ?? '');
      expect([published.status, await published.text()]).toEqual([200, expect.stringMatching(/<svg|<img/)]);
      const code = await page.locator('dialog code').innerText();
      expect(code).toMatch(/^<iframe src="http:\/\/127\.0\.0\.1:\d+\/c\/three-lives" title="[^"]+"/);
      await act({ press: 'Unpublish three-lives' });
      await address.waitFor({ state: 'detached' });
    },
  },
  {
    task: 'the chart as it is seen, sent to somebody',
    acts: [THREE, { press: /^Kenya$/ }, { press: 'Share' }, { press: 'Copy link' }],
    async see({ page, act, copied, openAfresh }) {
      await page.getByText('Link copied, without the key').waitFor();
      const sent = await seenOn(page);
      expect(sent.legend).toContainEqual(['Kenya', 'true']);
      await openAfresh(await copied());
      await act({ press: 'Run this operation' });
      await expect.poll(() => seenOn(page)).toEqual(sent);
    },
  },
  {
    task: 'the ranking of all countries with their ranks, in which one stands out',
    acts: [MAP, { press: 'Ranking' }, { choose: 'Kenya', of: 'Stands out' }],
    async see({ page }) {
      const bars = page.locator('.frame.ranking g[aria-label="bar"] rect');
      await expect.poll(() => bars.count()).toBe(54);
      const named = page.locator('.frame.ranking text.stands-out');
      await expect.poll(() => named.textContent()).toMatch(/^(14\. )?Kenya$/);
      await expect.poll(() => named.evaluate(isInView)).toBe(true);
      const fills = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('fill')));
      expect(new Set(fills).size).toBe(2);
      const words = await page.locator('.frame.ranking :is(g.ranks, g.above) text').allTextContents();
      const ranks = words.flatMap((text) => /^(\d+)(?:\. \p{L}.*)?$/u.exec(text)?.[1] ?? []);
      expect(ranks).toHaveLength(54);
      expect([ranks[0], Number(ranks.at(-1)) > 50]).toEqual(['1', true]);
    },
  },
  {
    task: 'a map of an indicator in a year',
    acts: [MAP, { press: /^Years since 1990 \(.*call/ }, { choose: '2000', of: 'Year' }],
    async see({ page }) {
      await expect.poll(() => captionOf(page)).toContain('2000');
      // One has no figure of that year.
      await expect.poll(() => page.locator('.frame.map g.with-figure path').count()).toBe(53);
      await expect.poll(() => isWhole(page)).toBe(true);
    },
  },
  {
    task: 'since when somebody is highest, in words',
    acts: [THREE, { press: 'Copy in words' }],
    async see({ page, copied }) {
      await page.getByText('Copied', { exact: true }).waitFor();
      const words = await copied();
      expect(words).toMatch(/ is highest \(since \d{4}\) with [\d.]+ years, .+ lowest .*with /);
      expect(words).toBe(await page.locator('.story').innerText());
    },
  },
  {
    task: 'the table as a file, years as columns',
    acts: [THREE, { press: 'CSV by year' }],
    async see({ saved }) {
      const { name, text } = await saved();
      expect(name).toMatch(/-wide\.csv$/);
      const [head = '', ...rows] = text.trim().split('\r\n');
      expect(head).toMatch(/country\.name,.*,1990,1991,.*,2020,/);
      expect(rows.map((row) => row.split(',')[0]).sort()).toEqual(['Ghana', 'Kenya', 'Nigeria']);
    },
  },
  {
    task: 'an indicator that is found by a word with a typing error, and drawn',
    acts: [
      ...CATALOGUE,
      { type: 'populaton growht', into: 'Search indicators' },
      { press: 'Draw population_growth_pct' },
    ],
    async see({ page }) {
      await expect.poll(() => captionOf(page)).toContain('Population growth');
      await expect.poll(() => page.locator('.frame.map g.with-figure path').count()).toBe(52);
    },
  },
  {
    task: 'source, definition and licence of what is seen',
    acts: [THREE, { press: 'About these figures' }, { press: /^Definition and licence \(.*call/ }],
    async see({ page }) {
      const facts = page.locator('.about dl');
      await expect.poll(() => facts.count()).toBeGreaterThan(1);
      await expect.poll(() => facts.first().innerText()).toMatch(/Definition\s+The service states none\./);
      expect(await facts.last().innerText()).toMatch(/Source\s+.+\s+Licence\s+The service states none\./);
    },
  },
];

const MOST_CLICKS = 4;
const ROLES = ['button', 'tab', 'link', 'menuitem', 'checkbox'] as const;

/** Does a task on a page, and counts what it takes. */
function visitorOn(page: Page, isTouch: boolean) {
  let [clicks, names, toldCalls] = [0, 0, 0];
  const press = async (target: Locator) => {
    const told = `${await target.innerText()} ${(await target.getAttribute('title')) ?? ''}`;
    const [, number = '0'] = /(\d+|one) calls?/.exec(told) ?? [];
    toldCalls += number === 'one' ? 1 : Number(number);
    clicks += 1;
    await target[isTouch ? 'tap' : 'click']();
  };
  const readAs = (name: string | RegExp) =>
    ROLES.map((role) => page.getByRole(role, { name, exact: true }))
      .reduce((one, other) => one.or(other))
      .or(page.locator('summary').filter({ hasText: name }))
      .filter({ visible: true });
  return {
    spent: () => ({ clicks, names, toldCalls }),
    async act(act: Act): Promise<void> {
      if ('press' in act) return press(readAs(act.press));
      if ('choose' in act) {
        // One to open the list, one for its entry.
        clicks += 2;
        await page.getByLabel(act.of, { exact: true }).selectOption({ label: act.choose });
        return;
      }
      const field = page.getByLabel(act.into, { exact: true });
      await field.waitFor();
      const focused = page.waitForFunction(
        (one) => one === document.activeElement,
        await field.elementHandle(),
        { timeout: 1_000 },
      );
      await focused.catch(() => press(field));
      names += 1;
      await page.keyboard.type(act.type);
    },
  };
}

/** True if a part of a page is within what is seen of it. */
function isInView(part: Element): boolean {
  const { left, top, right, bottom } = part.getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}

describe.skipIf(!hasChromium).for([
  ['a laptop', 1366, 768],
  ['a telephone', 390, 844],
] as const)('one who knows no GraphQL, with %s', ([device, width, height]) => {
  const isTouch = device === 'a telephone';
  const files = openFiles();
  let program: Awaited<ReturnType<typeof serve>>;
  let opened: Awaited<ReturnType<typeof openPage>>;
  /** Of one who may publish. */
  let key = '';

  beforeAll(async () => {
    program = await serve({
      env: {
        ...files.env,
        CACHE_URL: files.folder.cacheUrl,
        COUNTRY_DATA_KEY: 'demo-team',
        TRUSTED_DOCUMENTS_FOR: 'issued',
        PUBLISHERS: 'editor',
      },
    });
    await program.issued?.desk.create({ name: 'pages' });
    ({ key = '' } = (await program.issued?.desk.create({ name: 'editor' })) ?? {});
    opened = isTouch ? await openTelephone({ width, height }) : await openPage();
    await opened.page.setViewportSize({ width, height });
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await program[Symbol.asyncDispose]();
    files.folder[Symbol.dispose]();
  });

  it.for(TASKS)(
    `one who knows no GraphQL has it by four clicks and a name, with ${device}: $task`,
    async ({ acts, see }) => {
      const { page, problems } = opened;
      const openAfresh = async (address: string) => {
        await forget(page, origin());
        await page.evaluate((own) => sessionStorage.setItem('country-graph:key', own), key);
        await page.goto(address);
      };
      await openAfresh(`${origin()}/graphiql`);
      program.requests();
      const file = new Promise<Download>((resolve) => page.once('download', resolve));
      const { spent, act } = visitorOn(page, isTouch);
      for (const one of acts) await act(one);
      const { clicks, names } = spent();
      expect([clicks, names]).toEqual([Math.min(clicks, MOST_CLICKS), Math.min(names, 1)]);
      await see({
        page,
        act,
        openAfresh,
        copied: () => page.evaluate<string>('navigator.clipboard.readText()'),
        async saved() {
          const download = await file;
          return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
        },
      });
      // Nothing costs more than its words have said.
      expect(program.requests().length).toBeLessThanOrEqual(spent().toldCalls);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(problems).toEqual([]);
    },
  );
});
