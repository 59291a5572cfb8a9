import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { runCommand } from '../support/command.ts';
import { startSandbox } from '../support/sandbox-service.ts';

const CAPITAL = '{ country(code: "KE") { capital } }';
const TRADE = 'query Trade { country(code: "KE") { tradeOverview { record } } }';
const TOOL = '# Tells a capital.\nquery Capital { country(code: "KE") { capital } }';

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let folder: string;
let service: Readonly<Record<string, string>>;
let files = 0;

beforeAll(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), 'country-graph-settings-'));
  await writeFile(join(folder, 'trade.graphql'), TRADE);
  await writeFile(join(folder, 'tools.json'), JSON.stringify({ [sha256Of(TOOL)]: TOOL }));
  service = { COUNTRY_DATA_URL: sandbox.url, COUNTRY_GRAPH_KEY: sandbox.keys.team };
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => sandbox.log.clear());

const newStore = () => {
  files += 1;
  return `sqlite:${join(folder, `${files}.db`)}`;
};

const paths = () => sandbox.log.map(({ path }) => path);

/** Settings that some commands need. */
const needsOf = (command: string | undefined): Readonly<Record<string, string>> =>
  command === 'mcp'
    ? { TRUSTED_DOCUMENTS: join(folder, 'tools.json') }
    : command?.endsWith('publish')
      ? {
          TRUSTED_DOCUMENTS: join(folder, 'published.json'),
          PUBLIC_DOCUMENTS: join(folder, 'public.json'),
          COUNTRY_DATA_KEY: sandbox.keys.team,
        }
      : {};

/** Runs a command with a store of its own. */
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(args, {
    env: {
      CACHE_URL: newStore(),
      ...needsOf(args[0]),
      ...service,
      ...env,
    },
  });

/** Every command that a gateway's settings matter to. */
const COMMANDS: Readonly<Record<string, () => readonly string[]>> = {
  schema: () => ['schema'],
  explain: () => ['explain', CAPITAL],
  query: () => ['query', CAPITAL],
  doctor: () => ['doctor'],
  fill: () => ['fill', CAPITAL, '--yes'],
  price: () => ['price', join(folder, 'trade.graphql'), '--out', join(folder, 'prices.json')],
  record: () => ['record', '--out', join(folder, 'fixtures.ndjson'), '--', 'true'],
  publish: () => ['publish', join(folder, 'trade.graphql')],
  // Takes back the page of the line before.
  unpublish: () => ['unpublish', 'trade'],
  mcp: () => ['mcp'],
  keys: () => ['keys', 'list'],
  usage: () => ['usage'],
};

describe('settings of all commands', () => {
  it('the table of commands has all of the program but those without settings', async () => {
    const { stdout } = await runCommand(['--help']);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const commands = listed.filter((name) => !['help', 'country', 'sandbox', 'serve'].includes(String(name)));
    expect(new Set(commands)).toEqual(new Set(Object.keys(COMMANDS)));
  });

  it.for(Object.keys(COMMANDS))(
    'country-graph %s refuses a setting that is wrong, and sends nothing',
    async (name) => {
      const { stdout, stderr, code } = await run(COMMANDS[name]?.() ?? [], { MAX_DEPTH: '0' });
      expect(stdout + stderr).toContain('MAX_DEPTH: must be from 1 to 1000');
      expect([code, paths()]).toEqual([name === 'doctor' ? 1 : 2, []]);
    },
  );

  it.for(Object.keys(COMMANDS))(
    'country-graph %s names what looks like a setting and is none',
    async (name) => {
      const { stdout, stderr, code } = await run(COMMANDS[name]?.() ?? [], {
        EXTRA_ROUTES: 'trade',
        CACHE_TTL: '3',
      });
      expect(stdout + stderr).toContain(
        'CACHE_TTL is no setting, and does nothing: did you mean CACHE_TTL_SECONDS?',
      );
      expect([name, code]).toEqual([name, 0]);
    },
  );

  it.for([
    ['schema', ['schema'], /\n {2}tradeOverview\b/],
    ['schema', ['schema', '--for', 'clients'], /\n {2}tradeOverview\b/],
    ['explain', ['explain', TRADE], /GET \/v1\/.*trade/],
    ['query', ['query', TRADE], /"tradeOverview": \{/],
  ] as const)('country-graph %s knows the routes of EXTRA_ROUTES: %o', async ([, args, shown]) => {
    const [without, beside] = [await run(args), await run(args, { EXTRA_ROUTES: 'trade' })];
    expect(without.stdout).not.toMatch(shown);
    expect([beside.stdout.match(shown) !== null, beside.code]).toEqual([true, 0]);
  });

  it('country-graph explain, query, publish and fill refuse what a gateway of these settings would', async () => {
    const env = { MAX_DEPTH: '1', EXTRA_ROUTES: 'trade' };
    for (const name of ['explain', 'query', 'publish', 'fill']) {
      const { stdout, stderr, code } = await run(COMMANDS[name]?.() ?? [], env);
      expect([name, code]).toEqual([name, 1]);
      expect(stdout + stderr).toContain('levels deep; this gateway takes 1');
    }
    expect(paths()).toEqual([]);
  });

  it('country-graph explain prices for the calls that CODES_PER_CALL leaves, and what CACHE_URL has', async () => {
    const operation =
      '{ observations(metricKeys: ["population_total"], countryCodes: ["KE", "NG"], latest: true) { value } }';
    const env = { CACHE_URL: newStore() };
    const split = await run(['explain', operation], { ...env, CODES_PER_CALL: '1' });
    expect(split.stdout).toMatch(/^ +2 {2}in all/m);
    await run(['query', operation], env);
    sandbox.log.clear();
    const held = await run(['explain', operation], env);
    expect(held.stdout).toMatch(/^ +0 {2}in all .*; 2 answered by the cache\)$/m);
    expect(paths()).toEqual([]);
  });

  it('country-graph query asks COUNTRY_DATA_URL, keeps what comes in CACHE_URL, and sends nothing with OFFLINE', async () => {
    const env = { CACHE_URL: newStore() };
    const ask = (more = {}) =>
      run(
        [
          'query',
          '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
          '--format',
          'csv',
        ],
        { ...env, ...more },
      );
    const unheld = await ask({ OFFLINE: 'on' });
    expect([unheld.stdout, unheld.code, paths()]).toEqual(['', 1, []]);
    expect(unheld.stderr).toMatch(
      /^What is missing is fetched by: country-graph fill --indicators population_total --countries KE --latest$/m,
    );
    const first = await ask();
    expect([first.code, paths()]).toEqual([0, ['/v1/data']]);
    expect(first.stderr).not.toContain('synthetic');
    for (const more of [{}, { OFFLINE: 'on' }]) {
      const again = await ask(more);
      expect([again.stdout, again.code, paths()]).toEqual([first.stdout, 0, ['/v1/data']]);
    }
    const { stdout, stderr, code } = await run(['query', CAPITAL], { COUNTRY_GRAPH_KEY: 'of-somebody-else' });
    expect([JSON.parse(stdout), code]).toEqual([{ country: { capital: null } }, 1]);
    expect(stderr).toMatch(/^error UNAUTHENTICATED at country\.capital: /m);
  });

  it('country-graph query, fill and record say that figures are synthetic where COUNTRY_DATA_URL is not set', async () => {
    const words =
      'COUNTRY_DATA_URL is not set, so the embedded sandbox answers: all figures are synthetic.\n';
    for (const name of ['query', 'fill', 'record']) {
      const { stderr, code } = await runCommand(COMMANDS[name]?.() ?? [], { env: { CACHE_URL: newStore() } });
      expect([name, code, stderr.includes(words)]).toEqual([name, 0, true]);
      expect((await run(COMMANDS[name]?.() ?? [])).stderr).not.toContain('synthetic');
    }
    expect(await readFile(join(folder, 'fixtures.ndjson'), 'utf8')).toContain('countryGraphFixtures');
  });
});
