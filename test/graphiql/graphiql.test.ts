import axe, { type AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LESSONS } from '../../src/graphiql/tabs.ts';
import { hasChromium } from '../support/chromium.ts';
import { pane, run, scenesOfGraphiql, side, tab, write } from '../support/graphiql.ts';
import { openProgram } from '../support/program.ts';
import { untilMinuteHas } from '../support/wall-clock.ts';

const { open } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('GraphiQL', () => {
  it('opens with the network closed, without a complaint, and runs its first operation', async () => {
    await using scene = await open();
    const answer = await run(scene.page);
    expect(answer.errors).toBeUndefined();
    expect(answer.data.country.name).toBe('Kenya');
    await expect.poll(() => scene.page.locator('.graphiql-response').innerText()).toContain('Nairobi');
    expect(scene.outside).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  it.for(['/', '/graphql'])('is where a browser lands that opens %s', async (path) => {
    await using scene = await open({ path });
    expect(new URL(scene.page.url()).pathname).toBe('/graphiql');
  });

  it('says that the figures are synthetic, and has a demo key filled in', async () => {
    await using scene = await open();
    expect(await scene.page.getByRole('note').innerText()).toContain('all figures are synthetic');
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('demo-team');
  });

  it('says no such thing of a service that is real', async () => {
    await using service = await openProgram();
    await using scene = await open({ upstreamUrl: service.service.url });
    expect(await scene.page.getByRole('note').count()).toBe(0);
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('');
  });

  it('has operations in its tabs that run, one lesson each', async () => {
    await using scene = await open();
    expect(await scene.page.locator('.graphiql-tab').count()).toBe(LESSONS.length);
    for (const { query } of LESSONS) {
      const { data, errors } = await scene.program.ask(query);
      if (!query.includes('query Errors')) expect(errors).toEqual([]);
      else
        expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
      expect(Object.values(data).some((value) => value !== null)).toBe(true);
    }
  });

  it('shows what the schema says of a field', async () => {
    await using scene = await open();
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

  it('completes what is being written', async () => {
    await using scene = await open();
    await write(scene.page, '{ country(code: "KE") { offi } }');
    for (let i = 0; i < 4; i += 1) await scene.page.keyboard.press('ArrowLeft');
    await scene.page.keyboard.press('ControlOrMeta+Space');
    await expect
      .poll(() => scene.page.locator('.suggest-widget').innerText(), { timeout: 10_000 })
      .toMatch(/officialName[\s\S]*offices|offices[\s\S]*officialName/);
  });
});

describe.skipIf(!hasChromium)('the key', () => {
  it('is sent as it was typed, and lies neither in an address nor in what stays on the device', async () => {
    await using scene = await open();
    await scene.page.getByLabel('API key').fill('demo-analyst');
    const asked = scene.page.waitForRequest((request) => request.url().endsWith('/graphql'));
    await run(scene.page);
    expect((await asked).headers().authorization).toBe('Bearer demo-analyst');
    expect(scene.program.sandbox.log.map(({ key }) => key)).toContain('analyst');
    const stays = () => scene.page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(await stays()).toContain('CountryCard');
    expect(await stays()).not.toContain('demo-');
    expect(scene.page.url()).not.toContain('demo-');
    await scene.page.reload();
    expect(await scene.page.getByLabel('API key').inputValue()).toBe('demo-analyst');

    await scene.page.getByLabel('Remember on this device').check();
    expect(await stays()).toContain('demo-analyst');
    await scene.page.getByLabel('Remember on this device').uncheck();
    expect(await stays()).not.toContain('demo-');
  });
});

describe.skipIf(!hasChromium)('the cost', () => {
  it('of 54 countries and three figures is two calls, and none again', async () => {
    await using scene = await open();
    await tab(scene.page, 'Cost');
    await side(scene.page, 'Cost');
    await run(scene.page);
    await expect
      .poll(() => scene.page.locator('.calls').innerText())
      .toBe('2 calls to the metered service, instead of 163 if each field fetched for itself.');
    expect(await scene.page.locator('.side-panel tbody tr').allInnerTexts()).toEqual([
      '/v1/countries\t1',
      '/v1/data\t1',
    ]);
    await run(scene.page);
    await expect.poll(() => scene.page.locator('.calls').getAttribute('data-calls')).toBe('0');
  });

  it('is explained without a call', async () => {
    await using scene = await open();
    await tab(scene.page, 'Cost');
    await side(scene.page, 'Cost');
    await scene.page.getByRole('button', { name: 'Explain' }).click();
    await expect.poll(() => scene.page.locator('[data-explained]').getAttribute('data-explained')).toBe('2');
    expect(await scene.page.locator('.plan li').count()).toBe(2);
    expect(scene.program.requests()).toEqual([]);
  });

  it('of the key is shown, with what is left', async () => {
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
  it('is said in words, with a countdown where a minute is spent', async () => {
    await using scene = await open();
    scene.program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    });
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

  it('is told apart by code', async () => {
    await using scene = await open();
    await tab(scene.page, 'Errors');
    await side(scene.page, 'Errors');
    await run(scene.page);
    const error = scene.page.getByLabel('BAD_USER_INPUT');
    await expect.poll(() => error.innerText()).toContain('Asking again as it is will not help.');
    expect(await error.locator('li').count()).toBe(2);
  });
});

describe.skipIf(!hasChromium)('whoever comes by keyboard or screen reader', () => {
  const panes = ['Documentation Explorer', 'Lessons', 'Catalogue', 'Builder', 'History'];
  const sides = ['Answer', 'Picture', 'Cost', 'Errors'] as const;

  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    let scene: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      scene = await open({ colorScheme });
      await tab(scene.page, 'OverTime');
      await run(scene.page);
      await scene.page.locator('.picture svg').first().waitFor();
      await scene.page.evaluate(axe.source);
    });
    afterAll(() => scene?.[Symbol.asyncDispose]());

    it.for(sides)('meets no serious fault at the right: %s', async (name) => {
      await side(scene.page, name);
      if (name === 'Picture') await scene.page.locator('.picture svg').first().waitFor();
      await expectNoFault();
    });

    it.for(panes)('meets no serious fault at the left: %s', async (title) => {
      await pane(scene.page, title);
      await scene.page.locator('.graphiql-plugin').first().waitFor();
      expect(await scene.page.getByRole('button', { name: `Hide ${title}` }).count()).toBe(1);
      if (title === 'Catalogue') await scene.page.getByText('207 of 207 indicators').waitFor();
      await expectNoFault();
    });

    it('meets no serious fault before anything was run', async () => {
      await tab(scene.page, 'Markets');
      await side(scene.page, 'Answer');
      await scene.page.getByText('What is this?').waitFor();
      await expectNoFault();
    });

    async function expectNoFault() {
      const { violations } = await scene.page.evaluate<AxeResults>('axe.run(document)');
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))])).toEqual([]);
    }
  });
});
