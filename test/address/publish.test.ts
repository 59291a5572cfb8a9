import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { runCommand } from '../support/command.ts';
import { type Serving, SOURCES, startServing } from '../support/serving.ts';

const LIFE = `query Life($codes: [CountryCode!] = ["KE", "NG"], $from: Int = 2000) {
  observations(countryCodes: $codes, metricKeys: ["life_expectancy"], fromYear: $from) { value }
}
`;

let folder: string;
let serving: Serving;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'country-graph-publish-'));
  file = join(folder, 'life.graphql');
  writeFileSync(file, LIFE);
  serving = await startServing({ env: { TMPDIR: folder }, bin: SOURCES });
}, 60_000);
afterAll(async () => {
  serving.child.kill();
  await once(serving.child, 'exit');
  rmSync(folder, { recursive: true });
});

const origin = () => new URL(serving.url).origin;
const publish = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(['publish', ...args], { env: { TMPDIR: folder, ...env }, bin: SOURCES });

describe('public pages over the sandbox', () => {
  it('public pages over the sandbox are there at the start, and one command adds one', async () => {
    expect(serving.printed()).toContain(`Public pages: ${origin()}/c/life-expectancy.`);
    const sample = await (await fetch(`${origin()}/c/life-expectancy`)).text();
    expect(sample).toContain('Life expectancy at birth, total');
    const { stdout, stderr, code } = await publish([file, '--url', origin(), '--title', 'Lives since $from']);
    expect([stderr, code]).toEqual(['', 0]);
    // Says the price, the address and the frame.
    expect(stdout).toContain('It takes 1 call to the service, and none while');
    const [, address = ''] = /<iframe src="([^"]+)"/.exec(stdout) ?? [];
    expect(stdout).toContain('title="Lives since 2000"');
    expect(address).toBe(`${origin()}/c/life`);
    await expect.poll(async () => (await fetch(address)).status, { timeout: 15_000 }).toBe(200);
    const page = await (await fetch(`${address}?from=2010`)).text();
    expect(page).toContain('<h1>Lives since 2010</h1>');
    const svg = await (await fetch(`${address}.svg`)).text();
    expect(svg).toContain('<title>Lives since 2000</title>');
    expect(svg).toContain('>Kenya<');
  }, 60_000);

  it.for([
    ['{ a', 'is no GraphQL'],
    ['{ nothing }', 'Cannot query field "nothing"'],
    ['query A { health { status } } query B { health { status } }', 'one query, and no other'],
  ] as const)('publish refuses what no page could show, and writes nothing: %s', async ([text, words]) => {
    const other = join(folder, 'other.graphql');
    writeFileSync(other, text);
    const { stdout, stderr, code } = await publish([other]);
    expect([stdout, code, stderr]).toEqual(['', 1, expect.stringContaining(words)]);
    expect((await fetch(`${origin()}/c/other`)).status).toBe(404);
  });

  it('publish says what a gateway of one`s own still lacks, and writes its files', async () => {
    const [trusted, published] = [join(folder, 'trusted.json'), join(folder, 'public.json')];
    const env = {
      TRUSTED_DOCUMENTS: trusted,
      PUBLIC_DOCUMENTS: published,
      PUBLIC_URL: 'https://figures.example',
    };
    const { stdout } = await publish([file, '--key', 'press'], {
      ...env,
      CACHE_URL: `sqlite:${join(folder, 'figures.db')}`,
    });
    expect(stdout).toContain('The gateway has to be started with COUNTRY_DATA_KEY');
    expect(stdout).toContain('Unless it is there, the key is made by: country-graph keys create press');
    expect(stdout).toContain('\nhttps://figures.example/c/life\n');
    const { life } = JSON.parse(readFileSync(published, 'utf8')) as {
      life: { document: string; key: string };
    };
    expect(life.key).toBe('press');
    expect(JSON.parse(readFileSync(trusted, 'utf8'))[life.document]).toBe(LIFE);
  });

  it.skipIf(!hasChromium)(
    'public pages over the sandbox are three clicks from a question to a frame elsewhere',
    async () => {
      const browser = await openBrowser();
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await context.newPage();
      await page.goto(`${origin()}/graphiql`);
      await page.getByRole('button', { name: 'How have three countries fared' }).click();
      await page.locator('#root .frame.lines g.top path').first().waitFor({ timeout: 30_000 });
      await page.getByRole('button', { name: 'Share' }).click();
      await page.getByRole('menuitem', { name: 'Copy embed' }).click();
      await page.locator('.share [role=status]', { hasText: 'copied' }).waitFor();
      const frame = await page.evaluate<string>('navigator.clipboard.readText()');
      const host = createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><html lang="en"><title>Host</title>${frame}`);
      });
      await once(host.listen(0, '127.0.0.1'), 'listening');
      await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
      const image = page.frameLocator('iframe').locator('img');
      await expect
        .poll(() => image.evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth > 0))
        .toBe(true);
      expect(await page.frameLocator('iframe').locator('h1').innerText()).toContain('Life expectancy');
      await browser.close();
      host.close();
    },
    90_000,
  );
});
