import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { type Recipe, recipesIn } from '../support/markdown.ts';
import { openProgram, type Program } from '../support/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const recipes = recipesIn(await readFile(join(ROOT, 'docs/getting-started.md'), 'utf8'));

/** A figure, as the page of each recipe draws it. */
const FIGURE = /Kenya: [\d.]+ years \(\d{4}\)/;
const SERVING = 'npx vite';
const RECIPE_MS = 300_000;

/** Installs from what lies on the machine, where it does. */
const QUIET = { npm_config_prefer_offline: 'true', npm_config_fund: 'false', npm_config_audit: 'false' };

describe.runIf(hasChromium)('from an empty folder to figures on a page of another origin, by', () => {
  let folder = '';
  let browser: Browser;
  let program: Program;
  let port = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'country-graph-recipes-'));
    const checkout = join(folder, 'country-graph');
    await mkdir(checkout);
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'clients/client'], { cwd: ROOT });
    await run('npm', ['pack', '--silent', '--pack-destination', checkout], {
      cwd: join(ROOT, 'clients/client'),
    });
    browser = await openBrowser();
    port = await freePort();
    program = await openProgram({ env: { CORS_ORIGINS: `http://localhost:${port}` } });
  }, RECIPE_MS);
  afterAll(async () => {
    await browser.close();
    await program[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('has a recipe for each client', () => {
    expect(recipes.map(({ name }) => name)).toEqual([
      'Plain fetch',
      'Apollo Client',
      'urql',
      'Relay',
      'TanStack Query and gql.tada',
    ]);
  });

  it.for(recipes)('$name', { timeout: RECIPE_MS }, async ({ name, steps }: Recipe) => {
    const cwd = join(folder, name.replaceAll(/\W+/g, '-'));
    await mkdir(cwd);
    // The gateway and the page stand at ports of their own.
    const here = (text: string) =>
      text.replaceAll(':4000/', `:${new URL(program.url).port}/`).replaceAll(':5173', `:${port}`);
    for (const { file, text } of steps.filter((step) => step.file !== null))
      await writeFile(join(cwd, file ?? ''), here(text));
    const commands = steps.filter(({ file }) => file === null).flatMap(({ text }) => text.trim().split('\n'));
    expect(commands.pop()).toBe(SERVING);
    const env = { ...process.env, ...QUIET };
    for (const command of commands) {
      const { stdout } = await run('bash', ['-c', here(command)], { cwd, env });
      if (command.startsWith('node ')) expect(stdout).toMatch(FIGURE);
    }
    const serving = spawn(join(cwd, 'node_modules/.bin/vite'), ['--port', String(port), '--strictPort'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await new Promise((resolve) => {
        serving.stdout.on('data', (chunk) => {
          if (String(chunk).includes(String(port))) resolve(null);
        });
      });
      const page = await browser.newPage();
      await page.goto(`http://localhost:${port}/`);
      await page.getByText(FIGURE).first().waitFor({ timeout: 60_000 });
      await page.close();
    } finally {
      serving.kill();
      if (serving.exitCode === null) await once(serving, 'exit');
    }
  });
});
