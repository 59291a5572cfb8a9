import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { reservedPort } from '../support/free-port.ts';
import { type Recipe, recipesIn, type Step } from '../support/markdown.ts';
import { openProgram, type Program } from '../support/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const recipes = recipesIn(await readFile(join(ROOT, 'docs/getting-started.md'), 'utf8'));

/** A figure, as the page of each recipe draws it. */
const FIGURE = /Kenya: [\d.]+ years \(\d{4}\)/;

/** Failures that a page may meet, each with the words that it shows. */
const FAILURES = [
  { failure: 'a refused key', key: 'made-up', words: 'The service does not accept this key.' },
  { failure: 'a spent minute', key: 'demo-free', words: 'The requests of this minute are spent.' },
  { failure: 'a spent month', key: 'demo-spent', words: 'The requests of this month are spent.' },
  { failure: 'figures that fail', key: 'demo-team', words: 'The service failed.' },
  { failure: 'an error beside all data', key: null, words: 'One of several failed.' },
  { failure: 'a gateway that is away', key: null, words: 'Failed to fetch' },
] as const;
/** Values that a page shows by mistake, and parts of JSON. */
const UNREADABLE = /undefined|null|NaN|[{}]/;
const commandsOf = (steps: readonly Step[]) =>
  steps.flatMap(({ file, text }) => (file === null ? text.trim().split('\n') : []));

const BEGINNING = 'npm init -y --init-type=module';
const INSTALLING = /^npm install (?:--save-dev )?/;
const SERVING = 'npx vite';
/** What all recipes install. */
const named = [...new Set(recipes.flatMap(packagesOf))];
const RECIPE_MS = 300_000;
const LANES = 2;

/** Installs from the machine's own cache, if packages are there. */
const QUIET = { npm_config_prefer_offline: 'true', npm_config_fund: 'false', npm_config_audit: 'false' };

describe.runIf(hasChromium)('from an empty folder to figures on a page of another origin, by', () => {
  let folder = '';
  let browser: Browser;
  let program: Program;
  /** A gateway whose service has no figures, and no request left for the free plan. */
  let failing: Program;
  let ports: readonly Awaited<ReturnType<typeof reservedPort>>[] = [];
  /** The folder in which what all recipes name is installed, at once. */
  let all = '';
  const lanes: Promise<unknown>[] = [];
  const env = { ...process.env, ...QUIET };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'country-graph-recipes-'));
    const checkout = join(folder, 'country-graph');
    await mkdir(checkout);
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'clients/client'], { cwd: ROOT });
    await run('npm', ['pack', '--silent', '--pack-destination', checkout], {
      cwd: join(ROOT, 'clients/client'),
    });
    all = join(folder, 'all');
    await mkdir(all);
    await run('bash', ['-c', BEGINNING], { cwd: all, env });
    await copyFile(join(all, 'package.json'), join(all, 'begun.json'));
    await run('npm', ['install', ...named], { cwd: all, env });
    browser = await openBrowser();
    ports = await Promise.all(recipes.map(reservedPort));
    const origins = ports.map(({ port }) => `http://localhost:${port}`);
    const settings = { CORS_ORIGINS: origins.join(',') };
    program = await openProgram({ env: settings });
    failing = await openProgram({
      env: { ...settings, UPSTREAM_RETRIES: '0' },
      sandbox: { plans: { free: { requestsPerMinute: 0, monthlyRequests: 1_000 } } },
    });
    failing.sandbox.faults.set({ kind: 'status', status: 503, route: '/v1/data' });
  }, RECIPE_MS);
  afterAll(async () => {
    await browser.close();
    for (const one of [program, failing]) await one[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('the guide leads from an empty folder to figures on a page with each client', () => {
    expect(recipes.map(({ name }) => name)).toEqual([
      'Plain fetch',
      'Apollo Client',
      'Apollo Client with generated types',
      'urql',
      'Relay',
      'TanStack Query and gql.tada',
    ]);
    expect(new Set(named.map(nameOf)).size).toBe(named.length);
  });

  it.concurrent.for(recipes.map((recipe, i) => ({ ...recipe, i })))(
    'the recipe leads from an empty folder to figures on a page of another origin: $name',
    // Most of it may be the wait for the recipes before it.
    { timeout: recipes.length * RECIPE_MS },
    async ({ name, steps, i }, { expect }) => {
      const cwd = join(folder, name.replaceAll(/\W+/g, '-'));
      const { port, release } = ports[i] as (typeof ports)[number];
      const commands = commandsOf(steps);
      expect(commands.at(-1)).toBe(SERVING);
      const stdout = await inLane(i, () => follow({ name, steps }, cwd, port));
      if (commands.some((command) => command.startsWith('node '))) expect(stdout).toMatch(FIGURE);
      await release();
      const serving = spawn(join(cwd, 'node_modules/.bin/vite'), ['--port', String(port), '--strictPort'], {
        cwd,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await new Promise((resolve, reject) => {
          serving.once('exit', (code) => reject(new Error(`Vite exited with ${code}.`)));
          serving.stdout.on('data', (chunk) => {
            if (String(chunk).includes(String(port))) resolve(null);
          });
        });
        const page = await browser.newPage();
        await page.goto(`http://localhost:${port}/`, { timeout: RECIPE_MS });
        await page.getByText(FIGURE).first().waitFor({ timeout: 60_000 });
        await page.close();
        await Promise.all(
          FAILURES.map(async (one) => {
            const { failure, words } = one;
            const unlucky = await browser.newPage();
            await unlucky.route(
              ({ href }) => href.startsWith(program.url),
              (request) => fail(request, one),
            );
            await unlucky.goto(`http://localhost:${port}/`);
            const shown = unlucky.getByText(words);
            await expect.poll(() => shown.count(), { message: failure, timeout: 20_000 }).toBe(1);
            const text = (await unlucky.textContent('body')) ?? '';
            expect([failure, text.split(words).length - 1, UNREADABLE.exec(text)]).toEqual([
              failure,
              1,
              null,
            ]);
            await unlucky.close();
          }),
        );
      } finally {
        serving.kill();
        if (serving.exitCode === null) await once(serving, 'exit');
      }
    },
  );

  /** Lets the request of a page fail: at the network, in its answer, or at a gateway whose service fails. */
  async function fail(request: Route, { key, words }: (typeof FAILURES)[number]): Promise<void> {
    if (words === 'Failed to fetch') return request.abort();
    if (key === null) {
      const response = await request.fetch();
      const answer = await response.json();
      const errors = [{ message: words, extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: false } }];
      const withError = (one: object) => ({ ...one, errors });
      return request.fulfill({
        response,
        json: Array.isArray(answer) ? answer.map(withError) : withError(answer),
      });
    }
    const url = failing.url + new URL(request.request().url()).search;
    const headers = { ...request.request().headers(), authorization: `Bearer ${key}` };
    return request.continue({ url, headers });
  }

  /** Has two recipes at once, as many as there are processors. */
  function inLane<T>(i: number, work: () => Promise<T>): Promise<T> {
    const done = (lanes[i % LANES] ?? Promise.resolve()).then(work);
    lanes[i % LANES] = done.catch(() => {});
    return done;
  }

  /**
   * Takes the steps of a recipe in an empty folder, but for the last, which serves the page. It finds the packages that it
   * names itself, and no other's.
   * @returns output of its commands
   */
  async function follow(recipe: Recipe, cwd: string, port: number): Promise<string> {
    const { steps } = recipe;
    // The gateway and the page stand at ports of their own.
    const here = (text: string) =>
      text.replaceAll(':4000/', `:${new URL(program.url).port}/`).replaceAll(':5173', `:${port}`);
    await mkdir(join(cwd, 'node_modules/.bin'), { recursive: true });
    await Promise.all(packagesOf(recipe).map((one) => link(nameOf(one), cwd)));
    for (const { file, text } of steps) if (file !== null) await writeFile(join(cwd, file), here(text));
    let stdout = '';
    for (const command of commandsOf(steps)) {
      if (command === BEGINNING) await copyFile(join(all, 'begun.json'), join(cwd, 'package.json'));
      else if (command !== SERVING && !INSTALLING.test(command))
        stdout += (await run('bash', ['-c', here(command)], { cwd, env })).stdout;
    }
    return stdout;
  }

  /** Puts an installed package into a folder, as if it were installed there. */
  async function link(name: string, cwd: string): Promise<void> {
    const [from, to] = [all, cwd].map((one) => join(one, 'node_modules')) as [string, string];
    await mkdir(dirname(join(to, name)), { recursive: true });
    await symlink(join(from, name), join(to, name));
    const { bin = {} } = JSON.parse(await readFile(join(from, name, 'package.json'), 'utf8'));
    const programs = typeof bin === 'string' ? [name.replace(/.*\//, '')] : Object.keys(bin);
    for (const one of programs) await symlink(join(from, '.bin', one), join(to, '.bin', one));
  }
});

/** With their versions, as the commands of a recipe name them. */
function packagesOf({ steps }: Recipe): string[] {
  const commands = commandsOf(steps).filter((command) => INSTALLING.test(command));
  return commands.flatMap((command) => command.replace(INSTALLING, '').split(' '));
}

function nameOf(one: string): string {
  return one.endsWith('.tgz') ? '@country-graph/client' : one.replace(/(?<=.)@.*/, '');
}
