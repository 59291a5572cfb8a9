import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, LAUNCHED, openBrowser } from '../support/chromium.ts';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { fileIn } from '../support/markdown.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { startServing } from '../support/serving.ts';
import { areBuilt, FOLDER, servePages } from './recipe-pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECIPES = join(FOLDER, 'node_modules');
const guide = await readFile(join(ROOT, 'docs/offline.md'), 'utf8');
const run = promisify(execFile);

/** Its answer is long enough to be compressed. */
const QUERY =
  '{ countries { code name officialName capital observation(metricKey: "population_total") { value year } } }';
const HEADERS = { authorization: 'Bearer any-key', 'content-type': 'application/json' };
const BODY = JSON.stringify({ query: QUERY });
/** Nothing answers there. */
const ADDRESS = 'http://figures.invalid/graphql';

/** A project that follows the guide. */
interface Project {
  /** Packages by their folders, beside the two of ours. */
  readonly packages: Readonly<Record<string, string>>;
  readonly manifest?: object;
  readonly ofGuide: readonly string[];
  readonly own: Readonly<Record<string, string>>;
}

/** Both ways to ask. */
const OF_VITEST: Project = {
  packages: { vitest: join(ROOT, 'node_modules/vitest'), msw: join(RECIPES, 'msw') },
  ofGuide: ['global-setup.mjs', 'handlers.ts'],
  own: {
    'vitest.config.ts': "export default { test: { globalSetup: './global-setup.mjs' } };",
    'asks.test.ts': `
      import { setupServer } from 'msw/node';
      import { afterAll, beforeAll, expect, it } from 'vitest';
      import { handlers } from './handlers.ts';

      const server = setupServer(...handlers);
      beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
      afterAll(() => server.close());

      const headers = ${JSON.stringify(HEADERS)};
      it('asks', async () => {
        const posted = await fetch('${ADDRESS}', { method: 'POST', headers, body: ${JSON.stringify(BODY)} });
        const got = await fetch('${ADDRESS}?' + new URLSearchParams(${BODY}), { headers });
        for (const response of [posted, got]) {
          const { data, extensions } = await response.json();
          expect([data.countries.length, extensions.upstream.calls]).toEqual([54, 0]);
        }
        expect(process.env.COUNTRY_GRAPH_URL).toMatch(/^http:.*\\/graphql$/);
      });`,
  },
};

const OF_JEST: Project = {
  packages: { jest: join(RECIPES, 'jest') },
  manifest: { jest: { globalSetup: './global-setup.mjs' } },
  ofGuide: ['global-setup.mjs'],
  own: {
    'asks.test.js': `
      test('asks', async () => {
        const asked = { method: 'POST', headers: ${JSON.stringify(HEADERS)}, body: ${JSON.stringify(BODY)} };
        const { data } = await (await fetch(process.env.COUNTRY_GRAPH_URL, asked)).json();
        expect(data.countries.length).toBe(54);
      });`,
  },
};

const OF_PLAYWRIGHT: Project = {
  packages: { '@playwright/test': join(RECIPES, '@playwright/test') },
  ofGuide: ['global-setup.mjs', 'page.spec.ts'],
  own: {
    'playwright.config.ts': `export default ${JSON.stringify({
      globalSetup: './global-setup.mjs',
      use: { launchOptions: LAUNCHED },
    })};`,
  },
};

/** A page of another origin than the gateway, which shows who has answered. */
const PAGE = `<pre></pre><script type="module">
  const asked = { method: 'POST', headers: ${JSON.stringify(HEADERS)}, body: ${JSON.stringify(BODY)} };
  const { data, extensions } = await (await fetch('${ADDRESS}', asked)).json();
  document.querySelector('pre').textContent =
    data.countries.map(({ name }) => name).join() + extensions.upstream.calls + ' calls';
</script>`;

describe.runIf(areBuilt)('test runners by the guide', () => {
  let folder = '';
  let fixtures = '';
  let ports: readonly number[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'country-graph-runners-'));
    fixtures = join(folder, 'fixtures.ndjson');
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'clients/client'], { cwd: ROOT });
    ports = await Promise.all([OF_VITEST, OF_JEST, OF_PLAYWRIGHT].map(freePort));
    await Promise.all([
      write('vitest', OF_VITEST, 0),
      write('jest', OF_JEST, 1),
      write('playwright', OF_PLAYWRIGHT, 2),
    ]);
    await using sandbox = await startSandbox();
    const { code, stderr } = await runCommand(
      ['record', '--out', fixtures, '--', ...commandOf('jest/bin/jest.js')],
      {
        env: { COUNTRY_DATA_URL: sandbox.url, COUNTRY_GRAPH_KEY: sandbox.keys.team },
        bin: join(ROOT, 'bin/country-graph.cjs'),
        cwd: join(folder, 'jest'),
      },
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/Tests: +1 passed/)]);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Writes a project into a folder of its own. */
  async function write(
    name: string,
    { packages, manifest, ofGuide, own }: Project,
    i: number,
  ): Promise<void> {
    const home = join(folder, name);
    const ours = { 'country-graph': ROOT, '@country-graph/client': join(ROOT, 'clients/client') };
    for (const [one, at] of Object.entries({ ...ours, ...packages })) {
      const link = join(home, 'node_modules', one);
      await mkdir(dirname(link), { recursive: true });
      await symlink(at, link);
    }
    await symlink(fixtures, join(home, 'fixtures.ndjson'));
    for (const file of ofGuide)
      await writeFile(join(home, file), fileIn(guide, file).replaceAll('4100', String(ports[i])));
    for (const [file, text] of Object.entries({ ...own, 'package.json': JSON.stringify(manifest ?? {}) }))
      await writeFile(join(home, file), text);
  }

  const commandOf = (program: string, ...args: readonly string[]) => [
    process.execPath,
    join('node_modules', program),
    ...args,
  ];

  /** Runs a project's tests offline. @returns what it printed, once its gateway is gone */
  async function tested(
    name: string,
    i: number,
    program: string,
    ...args: readonly string[]
  ): Promise<string> {
    const [node = '', ...rest] = commandOf(program, ...args);
    const env = { ...process.env, VITEST: '', NO_COLOR: '1', FORCE_COLOR: '0' };
    const { stdout, stderr } = await run(node, rest, { cwd: join(folder, name), env });
    await expect(fetch(`http://127.0.0.1:${ports[i]}/health/live`)).rejects.toThrow();
    return stdout + stderr;
  }

  it('Vitest and MSW, by the files of the guide, ask the gateway of the fixtures, which is gone afterwards', async () => {
    expect(await tested('vitest', 0, 'vitest/vitest.mjs', 'run')).toMatch(/Tests\s+1 passed/);
  });

  it('Jest, by the file of the guide, asks the gateway of the fixtures, which is gone afterwards, without a teardown', async () => {
    const printed = await tested('jest', 1, 'jest/bin/jest.js');
    expect(printed).toMatch(/Tests:\s+1 passed/);
    expect(printed).not.toMatch(/did not exit|failed to exit/);
  });

  it.runIf(hasChromium)(
    'Playwright, by the files of the guide, has a page ask the gateway of the fixtures, which is gone afterwards',
    async () => {
      const pages = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end(PAGE),
      ).listen(0, '127.0.0.1');
      await once(pages, 'listening');
      const { port } = pages.address() as AddressInfo;
      const spec = join(folder, 'playwright/page.spec.ts');
      await writeFile(spec, fileIn(guide, 'page.spec.ts').replace('localhost:5173', `127.0.0.1:${port}`));
      try {
        expect(await tested('playwright', 2, '@playwright/test/cli.js', 'test')).toMatch(/1 passed/);
      } finally {
        pages.close();
      }
    },
  );

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
