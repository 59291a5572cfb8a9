import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { answered, run, scenesOfGraphiql, write } from '../support/graphiql.ts';

const { open } = scenesOfGraphiql();

describe.skipIf(!hasChromium)('an operation that defers', () => {
  it('is written without complaint, and answered whole', async () => {
    await using scene = await open();
    const { page, program } = scene;
    await write(
      page,
      '{ country(code: "KE") { name ... @defer(label: "p") { profile { indicators { name } } } } countries(codes: ["KE", "RW"]) @stream(initialCount: 1) { code } }',
    );
    await run(page);
    await expect.poll(() => answered(page)).toContain('"profile"');
    await page.screenshot({ path: '/tmp/defer-graphiql.png' });
    expect(await page.locator('.squiggly-error').count()).toBe(0);
    expect(program.operations.at(-1)?.calls).toBe(2);
    expect(scene.problems).toEqual([]);
  });
});
