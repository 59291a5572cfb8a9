import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { fileIn } from '../support/markdown.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { startServing } from '../support/serving.ts';
import { areBuilt, FOLDER, servePages } from './recipe-pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const guide = await readFile(join(ROOT, 'docs/offline.md'), 'utf8');
const run = promisify(execFile);

/** Its answer is long enough to be compressed. */
const QUERY =
  '{ countries { code name officialName capital observation(metricKey: "population_total") { value year } } }';

/** Of a project that follows the guide: both ways to ask, of an address that nothing answers. */
const SPEC = `
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { handlers } from './handlers.ts';

const server = setupServer(...handlers);
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
afterAll(() => server.close());

const headers = { authorization: 'Bearer any-key', 'content-type': 'application/json' };
const query = ${JSON.stringify(QUERY)};
it('asks', async () => {
  const address = 'http://figures.invalid/graphql';
  const posted = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const got = await fetch(address + '?' + new URLSearchParams({ query }), { headers });
  for (const response of [posted, got]) {
    const { data, extensions } = await response.json();
    expect([data.countries.length, extensions.upstream.calls]).toEqual([54, 0]);
  }
  expect(process.env.COUNTRY_GRAPH_URL).toMatch(/^http:.*\\/graphql$/);
});
`;

describe.runIf(areBuilt)('MSW by the guide', () => {
  let folder = '';
  let fixtures = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'country-graph-msw-'));
    fixtures = join(folder, 'fixtures.ndjson');
    await using sandbox = await startSandbox();
    const asking = `
      const headers = { authorization: 'Bearer any-key', 'content-type': 'application/json' };
      const body = ${JSON.stringify(JSON.stringify({ query: QUERY }))};
      const response = await fetch(process.env.COUNTRY_GRAPH_URL, { method: 'POST', headers, body });
      process.exitCode = (await response.json()).errors ? 1 : 0;`;
    const { code } = await runCommand(
      ['record', '--out', fixtures, '--', process.execPath, '--input-type=module', '-e', asking],
      { env: { COUNTRY_DATA_URL: sandbox.url, COUNTRY_GRAPH_KEY: sandbox.keys.team } },
    );
    expect(code).toBe(0);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('a project that copies the files of the guide tests against its fixtures in Node, and the gateway is gone afterwards', async () => {
    const port = await freePort();
    const modules = join(folder, 'node_modules');
    await mkdir(modules);
    await symlink(ROOT, join(modules, 'country-graph'));
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'clients/client'], { cwd: ROOT });
    await mkdir(join(modules, '@country-graph'));
    await symlink(join(ROOT, 'clients/client'), join(modules, '@country-graph/client'));
    await symlink(join(ROOT, 'node_modules/vitest'), join(modules, 'vitest'));
    await symlink(join(FOLDER, 'node_modules/msw'), join(modules, 'msw'));
    for (const name of ['global-setup.ts', 'handlers.ts'])
      await writeFile(join(folder, name), fileIn(guide, name).replaceAll('4100', String(port)));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'asks.test.ts'), SPEC);
    await writeFile(
      join(folder, 'vitest.config.ts'),
      "export default { test: { globalSetup: './global-setup.ts' } };",
    );
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const { stdout } = await run(process.execPath, [vitest, 'run'], {
      cwd: folder,
      env: { ...process.env, VITEST: '', NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/Tests\s+1 passed/);
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();
  });

  it.runIf(hasChromium)(
    'the handlers of the guide answer by POST and by GET in a browser’s worker',
    async () => {
      const pages = await servePages();
      const browser = await openBrowser();
      const env = { CORS_ORIGINS: pages.origin };
      const { child, url } = await startServing({ args: ['--offline', fixtures], env });
      try {
        const page = await browser.newPage();
        await page.goto(
          `${pages.origin}/msw/index.html?${new URLSearchParams({ gateway: url, query: QUERY })}`,
        );
        await expect.poll(() => page.locator('pre').count()).toBe(2);
        for (const text of await page.locator('pre').allTextContents()) {
          const { data, extensions } = JSON.parse(text);
          expect([data.countries.length, extensions.upstream.calls]).toEqual([54, 0]);
        }
      } finally {
        child.kill();
        await browser.close();
        await pages.close();
      }
    },
  );
});
