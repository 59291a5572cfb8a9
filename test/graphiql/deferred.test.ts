import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { answered, run, scenesOfGraphiql, side, write } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

const PROFILE = '/v1/countries/{code}/profile';
const PHONE = { width: 390, height: 844 };

const CARD = `query Card {
  country(code: "KE") {
    name
    population: observation(metricKey: "population_total") { value year }
    ... @defer(label: "profile") { profile { indicators { value } } }
  }
}`;

/** Folder for pictures of the pages that are to be looked at; none unless somebody names it. */
const SHOTS = process.env.SCREENSHOTS;

async function shoot(page: Page, name: string) {
  if (SHOTS === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `deferred-${name}.png`) });
}

const start = async (page: Page, operation = CARD) => {
  await write(page, operation);
  await page.getByRole('button', { name: /Execute/ }).click();
};
const status = (page: Page) => page.getByRole('status').filter({ hasText: /Coming|Stopped/ });
const panel = (page: Page) => page.locator('.side-panel').innerText();

/** The data without the bill, which tells held calls. */
const dataOf = (text: string) => JSON.parse(text).data;

describe.skipIf(!hasChromium)('an operation that defers', () => {
  it('an operation that defers is written without complaint, and answered whole', async () => {
    await using scene = await open();
    const { page, program } = scene;
    const complaints = () => page.locator('.squiggly-error').count();
    // Not priced, since it can't be read.
    await write(page, '{ country(code: "KE") { name ');
    await expect.poll(complaints).toBeGreaterThan(0);
    await start(
      page,
      '{ country(code: "KE") { name ... @defer(label: "p") { profile { indicators { name } } } } countries(codes: ["KE", "RW"]) { code } }',
    );
    await expect.poll(() => answered(page)).toContain('"profile"');
    await expect.poll(complaints).toBe(0);
    await expect.poll(() => program.operations.at(-1)?.calls).toBe(2);
    expect(scene.problems).toEqual([]);
  });

  it.for([
    ['desktop', { width: 1400, height: 900 }],
    ['phone', PHONE],
  ] as const)(
    'an operation that defers shows what has come before the rest has: %s',
    async ([name, viewport]) => {
      // The rest is on its way for as long as the test may take.
      const env = { UPSTREAM_TIMEOUT_MS: '120000', OPERATION_TIMEOUT_MS: '120000' };
      await using scene = await open({ viewport, env });
      const { page, program } = scene;
      const { sandbox } = program;
      const free = sandbox.faults.set({ kind: 'hang', route: PROFILE });
      await start(page);
      await expect.poll(() => answered(page)).toContain('"Kenya"');
      expect(await answered(page)).not.toContain('"profile"');
      // Fields that pictures need besides are not in the answer that is shown, in parts either.
      expect(await answered(page)).not.toContain('"code"');
      await expect
        .poll(() => status(page).innerText())
        .toBe('Coming. 1 part of the answer so far; the rest is on its way.');
      await expect
        .poll(() => [...sandbox.log].map(({ route, status }) => [route, status]))
        .toContainEqual([PROFILE, null]);
      await shoot(page, `${name}-first`);
      await side(page, 'Cost');
      await expect.poll(() => panel(page)).toContain('The bill comes with the last part');
      await shoot(page, `${name}-cost`);
      await side(page, 'Errors');
      await expect.poll(() => panel(page)).toContain('No errors so far');
      await side(page, 'Picture');
      await expect.poll(() => panel(page)).toMatch(/Kenya\s+Population, total\s+57,500,000/);
      await shoot(page, `${name}-picture`);
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'))
        .toBeLessThanOrEqual(viewport.width);
      await page.locator('.live').getByRole('button', { name: 'Stop' }).click();
      await expect.poll(() => status(page).innerText()).toMatch(/^Stopped\. 1 part/);
      // The gateway has heard that nobody waits any more. Prices that the page asks for as it starts send
      // nothing.
      const sent = () => program.operations.filter(({ name, calls }) => name === 'Card' && calls > 0);
      await expect.poll(() => sent().length).toBe(1);
      await side(page, 'Answer');
      // An editor that is shown again lays out its lines a moment later.
      await expect.poll(() => answered(page)).toContain('"Kenya"');
      await shoot(page, `${name}-stopped`);
      free();
      expect(scene.problems).toEqual([]);
    },
  );

  it('an operation that defers comes to what the operation has without the directive, with its bill at the end', async () => {
    // The editor holds as many lines as it shows.
    await using scene = await open({ viewport: { width: 1400, height: 1600 } });
    const { page, program } = scene;
    program.sandbox.faults.set({ kind: 'latency', ms: 1_000, route: PROFILE });
    const arrived = page.waitForResponse(async (response) =>
      /^multipart/.test((await response.allHeaders())['content-type'] ?? ''),
    );
    await start(page);
    await arrived;
    await expect.poll(() => answered(page)).toContain('"calls": 3');
    await expect.poll(() => status(page).count()).toBe(0);
    const text = await answered(page);
    await shoot(page, 'desktop-whole');
    await side(page, 'Cost');
    await expect.poll(() => page.locator('.calls').getAttribute('data-calls')).toBe('3');
    await side(page, 'Answer');
    await write(page, CARD.replace(/@defer\([^)]*\)/, ''));
    await run(page);
    await expect.poll(() => answered(page)).toContain('"calls": 0');
    expect(dataOf(text)).toEqual(dataOf(await answered(page)));
  });

  it('an operation that defers tells errors of what came late, beside what is right', async () => {
    await using scene = await open({ env: { UPSTREAM_RETRIES: '0' } });
    const { page, program } = scene;
    program.sandbox.faults.set({ kind: 'status', status: 500, route: PROFILE });
    await start(page);
    await expect.poll(() => answered(page)).toContain('"profile": null');
    await expect.poll(() => answered(page)).toContain('"Kenya"');
    await side(page, 'Errors');
    await expect.poll(() => page.getByLabel('UPSTREAM_UNAVAILABLE').innerText()).toContain('country.profile');
    await side(page, 'Cost');
    await expect.poll(() => page.locator('.calls').getAttribute('data-calls')).toBe('3');
  });

  it('an operation that defers says that an answer was cut off, and keeps what came of it', async () => {
    await using scene = await open();
    const { page } = scene;
    const first = '{"data":{"country":{"name":"Kenya"}},"hasNext":true}';
    await write(page, CARD);
    await page.route('**/graphql', (route) =>
      (route.request().postData() ?? '').includes('quota')
        ? route.continue()
        : route.fulfill({
            status: 200,
            contentType: 'multipart/mixed; boundary="-"; deferSpec=20220824',
            body: `\r\n---\r\ncontent-type: application/json\r\n\r\n${first}\r\n---`,
          }),
    );
    try {
      await page.getByRole('button', { name: /Execute/ }).click();
      await expect.poll(() => answered(page)).toContain('was cut off on its way');
      await expect.poll(() => answered(page)).toContain('"Kenya"');
      await side(page, 'Errors');
      await expect
        .poll(() => panel(page))
        .toMatch(/CUT_OFF[\s\S]*The connection broke[\s\S]*Asking again may help/);
    } finally {
      await page.unroute('**/graphql');
    }
  });
});
