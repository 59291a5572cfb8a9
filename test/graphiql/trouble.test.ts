import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { answered, pane, run, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';

const { open, shared } = scenesOfGraphiql();

const STACK = /\bat .*\.js|assets\/|TypeError|SyntaxError|Failed to fetch|Unexpected token/;

describe.skipIf(!hasChromium)('data that is cleared', () => {
  it('data that is cleared takes the key with it that was to be remembered', async () => {
    await using scene = await open();
    const { page } = scene;
    await page.getByLabel('API key').fill('a-key-of-somebody');
    await page.getByLabel('Remember on this device').check();
    await run(page);
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    await page.getByRole('button', { name: 'Clear data' }).click();
    await page.getByRole('button', { name: 'Cleared data' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('');
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(kept).not.toContain('a-key-of-somebody');
    await page.reload();
    await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('demo-team');
  });
});

/** Answers in place of the gateway. Returns the bodies of the requests, as they come. */
async function answerInstead(page: Page, response: Parameters<Route['fulfill']>[0]): Promise<string[]> {
  const sent: string[] = [];
  await page.route('**/graphql', (route) => {
    sent.push(route.request().postData() ?? '');
    return route.fulfill(response);
  });
  return sent;
}

describe.skipIf(!hasChromium)('where no answer comes', () => {
  const sceneOf = shared();

  it('GraphiQL says in plain words that no answer comes: offline', async () => {
    const { page } = sceneOf();
    await page.locator('.price', { hasText: 'This operation takes' }).waitFor();
    await page.context().setOffline(true);
    try {
      await page.getByRole('button', { name: /Execute/ }).click();
      await page.locator('.side-panel .error').waitFor();
      await side(page, 'Answer');
      await expect.poll(() => answered(page)).toContain('This device is offline.');
      expect(await answered(page)).not.toMatch(STACK);
      await side(page, 'Errors');
      await expect
        .poll(() => page.locator('.side-panel').innerText())
        .toMatch(/Nothing answered[\s\S]*may help/);
    } finally {
      await page.context().setOffline(false);
      await side(page, 'Answer');
    }
  });

  it('GraphiQL says in plain words that no answer comes: something else answers', async () => {
    const { page } = sceneOf();
    const sent = await answerInstead(page, {
      status: 502,
      contentType: 'text/html',
      body: '<h1>Bad gateway</h1>',
    });
    try {
      await page.getByRole('button', { name: /Execute/ }).click();
      await expect.poll(() => answered(page)).toContain('What answered (status 502) is no GraphQL');
      expect(sent.filter((body) => body.includes('CountryCard'))).toHaveLength(1);
      expect(await answered(page)).not.toMatch(STACK);
      await side(page, 'Cost');
      await page.getByRole('button', { name: 'Explain' }).click();
      await expect.poll(() => page.locator('.fault').innerText()).toContain('is no GraphQL');
    } finally {
      await page.unroute('**/graphql');
    }
  });

  it("GraphiQL says in plain words that an answer was cut off, and doesn't ask for it again", async () => {
    const { page } = sceneOf();
    const sent = await answerInstead(page, {
      status: 200,
      contentType: 'application/json',
      body: '{"data":{"country":{"na',
    });
    try {
      await side(page, 'Answer');
      await page.getByRole('button', { name: /Execute/ }).click();
      await expect.poll(() => answered(page)).toContain('was cut off on its way');
      expect(sent.filter((body) => body.includes('CountryCard'))).toHaveLength(1);
      await side(page, 'Errors');
      await expect
        .poll(() => page.locator('.side-panel').innerText())
        .toMatch(/The connection broke[\s\S]*may help/);
    } finally {
      await page.unroute('**/graphql');
      await side(page, 'Answer');
    }
  });

  it('GraphiQL runs operations all the same where the schema is closed, without docs', async () => {
    await using scene = await open({ env: { INTROSPECTION: 'off' } });
    await write(scene.page, '{ health { status } }');
    await run(scene.page);
    await expect.poll(() => answered(scene.page)).toContain('"ok"');
    await pane(scene.page, 'Documentation Explorer');
    expect(await scene.page.locator('.graphiql-plugin').innerText()).not.toContain('countries');
  });
});

describe.skipIf(!hasChromium)('the words', () => {
  const sceneOf = shared();

  it('what GraphiQL says of a key that the service refuses say so, until another is given', async () => {
    const { page } = sceneOf();
    await page.getByLabel('API key', { exact: true }).fill('a-key-of-nobody');
    await run(page);
    await side(page, 'Cost');
    const quota = page.getByLabel('Quota of the key');
    await expect.poll(() => quota.innerText()).toMatch(/state\s+refused/);
    expect(await quota.innerText()).not.toContain('can be used');
    await page.getByLabel('API key', { exact: true }).fill('demo-team');
    await expect.poll(() => quota.innerText()).toContain('can be used');
  });

  it('what GraphiQL says of a month that is spent name no number that this gateway alone has counted', async () => {
    const { page } = sceneOf();
    await page.getByLabel('API key', { exact: true }).fill('demo-spent');
    await run(page);
    await side(page, 'Cost');
    const quota = page.getByLabel('Quota of the key');
    await expect.poll(() => quota.innerText()).toContain('month spent');
    expect(await quota.innerText()).not.toMatch(/\b[1-9] of 1,000/);
    await expect.poll(() => quota.innerText()).toContain('as the service says');
  });

  it('what GraphiQL says of a minute that is spent are no more calls than there are', async () => {
    const { page, program } = sceneOf();
    await page.getByLabel('API key', { exact: true }).fill('demo-team');
    program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 1 requests per minute" },
    });
    await write(
      page,
      '{ a: country(code: "KE") { offices { name } } b: country(code: "NG") { offices { name } } }',
    );
    await run(page);
    await side(page, 'Cost');
    const quota = page.getByLabel('Quota of the key');
    await expect.poll(() => quota.innerText()).toMatch(/all 1, and \d+ asked beyond them|1 of 1(?![,\d])/);
    expect(await quota.innerText()).not.toMatch(/[2-9] of 1(?![,\d])/);
  });

  it('what GraphiQL says in backticks are code', async () => {
    const { page, program } = sceneOf();
    program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    });
    await run(page);
    await side(page, 'Errors');
    const error = page.getByLabel('RATE_LIMITED');
    await expect.poll(() => error.locator('p code').first().innerText()).toBe('retryAt');
    expect(await error.innerText()).not.toContain('`');
  });
});

describe.skipIf(!hasChromium)('Explain', () => {
  const sceneOf = shared();

  it('Explain prices the operation that is chosen of two', async () => {
    const { page, program } = sceneOf();
    await write(
      page,
      'query One { platformVersion { version } } query Two { sources { key } health { status } }',
    );
    await side(page, 'Cost');
    const choice = page.getByLabel('Operation to explain');
    await choice.waitFor();
    for (const [name, calls] of [
      ['One', '1'],
      ['Two', '2'],
    ] as const) {
      await choice.selectOption(name);
      await page.getByRole('button', { name: 'Explain' }).click();
      await expect.poll(() => page.locator('[data-explained]').getAttribute('data-explained')).toBe(calls);
    }
    expect(program.requests()).toEqual([]);
  });

  it('Explain says what is wrong with the variables', async () => {
    const { page } = sceneOf();
    await tab(page, 'Cost');
    await page.getByRole('button', { name: 'Variables' }).click();
    await page.locator('.graphiql-editor-tool .view-lines').first().click();
    await page.keyboard.insertText('{ "code": ');
    await side(page, 'Cost');
    await page.getByRole('button', { name: 'Explain' }).click();
    await expect
      .poll(() => page.locator('.fault').innerText())
      .toContain('The variables are not a JSON object');
  });
});

describe.skipIf(!hasChromium)('a failed run', () => {
  it('a failed run says why there is no picture where that was chosen before, as it does of a key that is refused', async () => {
    await using scene = await open();
    const { page } = scene;
    await page.getByLabel('API key', { exact: true }).fill('no-such-key');
    await side(page, 'Picture');
    await run(page);
    const panel = page.locator('.side-panel');
    await expect.poll(() => panel.innerText()).toContain('This run brought no figures: Errors says why.');
    expect(await panel.innerText()).not.toContain('nothing to draw');
    expect(scene.program.requests().length).toBeLessThanOrEqual(2);
  });

  it('a failed run shows its errors, equal ones once, with words on what helps here', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await page.getByLabel('API key', { exact: true }).fill('');
    const fields = ['KE', 'NG', 'GH', 'ZA', 'EG', 'TZ'].map(
      (code) => `${code}: country(code: "${code}") { name }`,
    );
    await write(page, `{ ${fields.join(' ')} }`);
    await run(page);
    await expect
      .poll(() => page.getByRole('tab', { name: /^Errors/ }).getAttribute('aria-selected'))
      .toBe('true');
    const errors = page.locator('.side-panel .error');
    await expect.poll(() => errors.count()).toBe(1);
    expect(await errors.locator('li').count()).toBe(1);
    await expect
      .poll(() => errors.innerText())
      .toMatch(/Enter your key above[\s\S]*6 fields: KE, NG, GH, ZA and 2 more: /);
    expect(program.requests()).toEqual([]);
    // A refusal to embed stays within the narrowest page.
    await page.setViewportSize({ width: 320, height: 500 });
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('menuitem', { name: 'Copy embed' }).click();
    await page.locator('.share [role=status]', { hasText: 'publish' }).waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });
});
