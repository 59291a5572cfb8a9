import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCommand } from '../../support/command.ts';
import { startSandbox } from '../../support/sandbox-service.ts';
import { servingStarter } from '../../support/serving.ts';

const folder = await mkdtemp(join(tmpdir(), 'country-graph-record-test-'));
afterAll(() => rm(folder, { recursive: true }));

const QUERY = `{
  countries(codes: ["KE", "NG"]) { name observation(metricKey: "population_total") { value year } }
  country(code: "KE") { observations(metricKeys: ["gdp_current_usd"], fromYear: 2001, toYear: 2004) { year value } }
  indicators(search: "population") { key }
}`;

/** What a team's tests do, as far as a gateway sees it. */
const TESTS = `
const response = await fetch(process.env.COUNTRY_GRAPH_URL, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer any-key' },
  body: JSON.stringify({ query: ${JSON.stringify(QUERY)} }),
});
const { data, errors } = await response.json();
if (errors) throw new Error(JSON.stringify(errors));
console.log(JSON.stringify(data));
process.exitCode = Number(process.argv[2] ?? 0);
`;

const script = join(folder, 'tests.mjs');
const file = join(folder, 'fixtures.ndjson');

const start = servingStarter({ args: ['--offline', file] });

async function ask(url: string, key: string, query = QUERY) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query }),
  });
  return response.text();
}

it.for([
  ['a line that is null', 'null', 'line 3: must be {"name": …, "value": …} (got null)'],
  ['20,000 brackets', '['.repeat(20_000), 'nested more than 500 levels deep in line 3: [[['],
  ['a list as a name', '{"name":[],"value":[]}', 'line 3: name: must be a text (got [])'],
  ['a figure that is none', '{"name":"latest KE a","value":[1]}', 'line 3: value: must be an answer'],
  [
    'an answer without a status',
    '{"name":"answer /v1/countries","value":{"body":{}}}',
    'line 3: value: must be',
  ],
  ['half a line', '{"name":"latest KE a"', 'is no JSON in line 3: '],
])('fixtures are refused before anything is answered: %s', async ([, line, words]) => {
  const malformed = join(folder, 'malformed.ndjson');
  const head = '{"countryGraphFixtures":1,"recordedAt":"2026-11-28T16:24:07.067Z"}';
  await writeFile(malformed, `${head}\n{"name":"latest KE b","value":[]}\n${line}\n`);
  const { stdout, stderr, code } = await runCommand(['serve', '--offline', malformed], {
    env: { PORT: '0' },
  });
  expect([stdout, code]).toEqual(['', 2]);
  expect(stderr).toMatch(/^OFFLINE_FIXTURES: [^\n]*malformed\.ndjson[^\n]*\n$/);
  expect(stderr).toContain(words);
});

it.for(['SIGTERM', 'SIGHUP'] as const)(
  'a record that is ended leaves neither its store nor its command: %s',
  async (signal) => {
    const own = join(folder, signal);
    await mkdir(own);
    const stores = async () =>
      (await readdir(own)).filter((name) => name.startsWith('country-graph-record-'));
    const waiting = join(folder, 'waiting.mjs');
    await writeFile(waiting, 'console.log(process.pid); setInterval(() => {}, 1_000);');
    const child = spawn(
      process.execPath,
      ['bin/country-graph.cjs', 'record', '--out', file, '--', process.execPath, waiting],
      { env: { PATH: process.env.PATH, TMPDIR: own }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [line] = await once(child.stdout, 'data');
    expect(await stores()).toHaveLength(1);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    expect(code).toBe(128 + constants.signals[signal]);
    expect(await stores()).toEqual([]);
    expect(() => process.kill(Number(line), 0)).toThrow('ESRCH');
  },
);

it('a recorded test run answers again from its file, under any key, the same bytes twice, and a second record differs in its time alone', async () => {
  await using sandbox = await startSandbox();
  await writeFile(script, TESTS);
  const env = { COUNTRY_DATA_URL: sandbox.url, COUNTRY_GRAPH_KEY: sandbox.keys.team };
  const record = (...args: string[]) =>
    runCommand(['record', '--out', file, '--', process.execPath, script, ...args], { env });
  const { stdout, code } = await record();
  expect(code).toBe(0);
  const data = JSON.parse(stdout);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const names = lines.slice(1).map((line) => JSON.parse(line).name);
  expect(names).toEqual(names.toSorted());
  expect(names).toContain('latest KE population_total');
  expect(lines.join('\n')).not.toContain(sandbox.keys.team);

  expect((await record('7')).code).toBe(7);
  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toEqual(lines);
  await record();
  expect((await readFile(file, 'utf8')).trimEnd().split('\n').slice(1)).toEqual(lines.slice(1));
  const calls = sandbox.log.length;

  const served = await start();
  const first = await ask(served.url, 'somebody');
  expect(await ask(served.url, 'another')).toBe(first);
  expect(JSON.parse(first)).toMatchObject({ data, extensions: { upstream: { calls: 0 } } });
  const again = await start();
  expect(await ask(again.url, 'somebody')).toBe(first);
  const missing = JSON.parse(await ask(again.url, 'x', '{ country(code: "ZA") { profile { record } } }'));
  expect(missing.errors[0].extensions).toMatchObject({ code: 'NOT_HELD', command: expect.any(String) });
  expect(sandbox.log.length).toBe(calls);
});
