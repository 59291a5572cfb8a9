import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
