import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { openProgram, type Program } from '../support/program.ts';
import { SOURCES, startServing } from '../support/serving.ts';

const KEY = 'key-that-nobody-may-read-7423';
const CAPITALS = '{ countries(codes: ["KE", "NG"]) { code capital } }';

let program: Program;
let folder: string;
beforeAll(async () => {
  program = await openProgram();
  folder = await mkdtemp(join(tmpdir(), 'country-graph-commands-'));
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A server of the test's own. */
async function answering(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('query', () => {
  const run = async (args: readonly string[], more: Parameters<typeof runCommand>[1] = {}) => {
    program.requests();
    const ran = await runCommand(['query', '--url', program.url, ...args], {
      ...more,
      env: { COUNTRY_GRAPH_KEY: program.sandbox.keys.team, ...more.env },
    });
    return { ...ran, requests: program.requests() };
  };

  it('country-graph query prints data to standard output and the bill to standard error', async () => {
    const { stdout, stderr, code, requests } = await run([CAPITALS]);
    expect(JSON.parse(stdout)).toEqual({
      countries: [
        { code: 'KE', capital: 'Nairobi' },
        { code: 'NG', capital: 'Abuja' },
      ],
    });
    expect(stderr).toMatch(/^1 call \(1 \/v1\/countries\), 0 shared, 0 cached; /);
    expect([code, requests]).toEqual([0, ['GET /v1/countries']]);
  });

  it('country-graph query names the service beside what it writes, and not beside nothing', async () => {
    const env = { ATTRIBUTION_NAME: 'Office for Données', ATTRIBUTION_URL: 'https://data.example/about' };
    const byDefault = await run([CAPITALS, '--format', 'csv']);
    expect(byDefault.stdout).not.toContain('Data');
    expect(byDefault.stderr).toMatch(/^1 call .*\nData: Country Data Service\.\n$/);
    const named = await run([CAPITALS], { env });
    expect(named.stderr).toMatch(
      /^1 call .*\nData: Office for Données \(https:\/\/data\.example\/about\)\.\n$/,
    );
    const failed = await run(['{ sources { key } }', '--format', 'csv'], { env: { COUNTRY_GRAPH_KEY: KEY } });
    expect(failed.stderr).not.toContain('Data: ');
    const wrong = await run([CAPITALS], { env: { ATTRIBUTION_URL: 'nowhere' } });
    expect([wrong.stdout, wrong.code]).toEqual(['', 2]);
    expect(wrong.stderr).toMatch(/^ {2}ATTRIBUTION_URL: /m);
    expect([byDefault, named, failed, wrong].map(({ requests }) => requests.length)).toEqual([1, 1, 1, 0]);
  });

  it('country-graph query reads a file, or standard input, with variables and the name of an operation', async () => {
    const file = join(folder, 'two.graphql');
    const text =
      'query A { nothing } query B($codes: [CountryCode!]) { countries(codes: $codes) { capital } }';
    await writeFile(file, text.replace('nothing', 'health { status }'));
    const options = ['--variables', '{"codes":["KE"]}', '--operation', 'B', '--format', 'ndjson'];
    for (const [source, input] of [
      [file, ''],
      ['-', text.replace('nothing', 'health { status }')],
    ] as const) {
      const ran = await run([source, ...options], { input });
      expect(ran).toMatchObject({
        stdout: '{"capital":"Nairobi"}\n',
        code: 0,
        requests: ['GET /v1/countries'],
      });
    }
  });

  it.for([
    ['table', 'code  capital\nKE    Nairobi\nNG    Abuja\n'],
    ['csv', 'code,capital\r\nKE,Nairobi\r\nNG,Abuja\r\n'],
    ['ndjson', '{"code":"KE","capital":"Nairobi"}\n{"code":"NG","capital":"Abuja"}\n'],
  ])('country-graph query prints lists as %s', async ([format = '', expected]) => {
    const { stdout, code } = await run([CAPITALS, '--format', format]);
    expect([stdout, code]).toEqual([expected, 0]);
  });

  it('country-graph query writes a column for each year where that is asked for', async () => {
    const query =
      '{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], fromYear: 2022, toYear: 2023) { country { code } year value } }';
    const { stdout, code } = await run([query, '--format', 'csv', '--wide']);
    expect(stdout).toMatch(/^country\.code,2022,2023\r\nKE,\d+,\d+\r\nNG,\d+,\d+\r\n$/);
    expect(code).toBe(0);
  });

  it('country-graph query begins CSV with a byte order mark where that is asked for, and no cell with a formula', async () => {
    const rows = (body: { data: object[] }) => ({
      ...body,
      data: body.data.map((row) => ({ ...row, name: '\u200b＝1+1' })),
    });
    program.sandbox.faults.set({ kind: 'shape', route: '/v1/countries', patch: rows as never });
    try {
      const query = '{ countries(codes: ["KE"]) { code name } }';
      const { stdout, code } = await run([query, '--format', 'csv', '--bom']);
      expect([stdout, code]).toEqual(["\ufeffcode,name\r\nKE,'\u200b＝1+1\r\n", 0]);
    } finally {
      program.sandbox.faults.clear();
    }
  });

  it('country-graph query ends with 1 where the answer holds an error, and prints what is there all the same', async () => {
    const { stdout, stderr, code, requests } = await run(['{ health { status } sources { key } }'], {
      env: { COUNTRY_GRAPH_KEY: KEY },
    });
    expect(JSON.parse(stdout)).toEqual({ health: { status: 'ok' }, sources: null });
    expect(stderr).toMatch(/^error UNAUTHENTICATED at sources: The service does not accept this key\.$/m);
    expect(stderr).toMatch(/^2 calls /m);
    expect(code).toBe(1);
    expect(requests.toSorted()).toEqual(['GET /health', 'GET /v1/platform/etl-status']);
  });

  it('country-graph query says when to ask again', async () => {
    const body = { detail: "rate limit exceeded for plan 'free': 5 requests per minute" };
    program.sandbox.faults.set({ kind: 'status', status: 429, body });
    try {
      const { stderr, code } = await run(['{ sources { key } }'], {
        env: { COUNTRY_GRAPH_KEY: 'demo-analyst' },
      });
      expect(stderr).toMatch(/^error RATE_LIMITED at sources: .* Ask again in \d+ s\.$/m);
      expect(code).toBe(1);
    } finally {
      program.sandbox.faults.clear();
    }
  });

  it('country-graph query repeats warnings', async () => {
    const { stdout, stderr, code } = await run([
      '{ countries(codes: ["KE", "ZZ"]) { capital } }',
      '--format',
      'csv',
    ]);
    expect([stdout, code]).toEqual(['capital\r\nNairobi\r\n', 0]);
    expect(stderr).toMatch(/^warning UNKNOWN_COUNTRY: .*ZZ/m);
  });

  it.for([
    ['{ country(code: "KE") { observation(metricKey: "gdp_curren_usd") { value } } }', 1],
    [
      '{ observations(metricKeys: ["gdp_curren_usd"], countryCodes: ["KE", "NG"], latest: true) { value } }',
      1,
    ],
    [
      '{ observations(metricKeys: ["gdp_curren_usd", "gdp_current_usd"], countryCodes: ["KE"], latest: true) { value } }',
      0,
    ],
    ['{ countries(codes: ["KE"]) { code observation(metricKey: "gdp_curren_usd") { value } } }', 1],
    [
      '{ countries(codes: ["KE"]) { a: observation(metricKey: "gdp_curren_usd") { value } b: observation(metricKey: "gdp_current_usd") { value } } }',
      0,
    ],
    [
      '{ a: observations(metricKeys: ["gdp_curren_usd"], countryCodes: ["KE"]) { value } b: countries(codes: ["KE"]) { code } }',
      1,
    ],
  ] as const)(
    'country-graph query tells of a key that may be misspelt, and ends with 1 where all of a table is empty for it: %s',
    async ([query, expected]) => {
      for (const format of ['json', 'csv']) {
        const { stderr, code } = await run([query, '--format', format]);
        expect([format, code]).toEqual([format, expected]);
        expect(stderr).toMatch(/^warning UNKNOWN_INDICATOR: No figure of gdp_curren_usd has come /m);
      }
    },
  );

  it.for<[what: string, args: readonly string[], said: RegExp, env?: Record<string, string>]>([
    [
      'no such file',
      ['nothing.graphql'],
      /^There is no file "nothing.graphql", and it is no operation either\. An operation begins with /,
    ],
    ['no operation', ['{ health {'], /^The operation can't be read: Syntax Error/],
    ['no variables', ['{ health { status } }', '--variables', 'x'], /^--variables must be JSON\.\n$/],
    ['no format', ['{ health { status } }', '--format', 'xml'], /json, table, csv, ndjson, arrow/],
    ['years as columns of JSON', ['{ health { status } }', '--wide'], /^--wide is for rows: /],
    [
      'years as columns, and none selected',
      ['{ countries { code } }', '--format', 'csv', '--wide'],
      /^A wide table has a column for each year/,
    ],
    ['a mark for JSON', ['{ health { status } }', '--bom'], /^--bom is for --format csv\.\n$/],
    ['no address', ['{ health { status } }', '--url', 'ftp://x'], /^--url must be an http/],
    [
      'a password',
      ['{ health { status } }', '--url', 'http://a:b@127.0.0.1'],
      /^--url must hold no password/,
    ],
  ])('country-graph query asks nothing where it is given %s', async ([, args, said]) => {
    const { stdout, stderr, code, requests } = await run(args, { env: { COUNTRY_GRAPH_KEY: KEY } });
    expect([stdout, code, requests]).toEqual(['', 1, []]);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain(KEY);
  });

  it.for([
    ['a list', '{ countries { code capital } }', '/v1/countries', 1],
    [
      'a list within an object',
      '{ country(code: "KE") { code observations(metricKeys: ["population_total"]) { year } } }',
      '/v1/data',
      1,
    ],
    [
      'a list within a list',
      '{ countries(codes: ["KE", "NG"]) { code observations(metricKeys: ["population_total"]) { year } } }',
      '/v1/data',
      1,
    ],
    ['one of two lists', '{ countries(codes: ["KE"]) { code } indicators { key } }', '/v1/indicators', 2],
    [
      'a figure',
      '{ countries(codes: ["KE"]) { observation(metricKey: "population_total") { value } } }',
      '/v1/data',
      1,
    ],
  ] as const)(
    'country-graph query writes no rows where %s failed, and leaves the file of an earlier time',
    async ([, query, route, calls]) => {
      const file = join(folder, 'nightly.csv');
      await writeFile(file, 'of yesterday');
      program.sandbox.faults.set({ kind: 'shape', route, patch: () => ({ wrong: 1 }) });
      try {
        const { stdout, stderr, code, requests } = await run([query, '--format', 'csv']);
        expect([stdout, code, requests.length]).toEqual(['', 1, calls]);
        expect(stderr).toMatch(/^error UPSTREAM_INVALID_RESPONSE at /m);
        expect(stderr).toMatch(/^Nothing is written: .*--format json/m);
        const kept = await run([query, '--format', 'csv', '--out', file]);
        expect([kept.stdout, kept.code, await readFile(file, 'utf8')]).toEqual(['', 1, 'of yesterday']);
        expect(kept.stderr).toContain(`${file} is as it was.\n`);
      } finally {
        program.sandbox.faults.clear();
      }
    },
  );

  it.for(['ndjson', 'table', 'arrow', 'json'])(
    'country-graph query writes a file of %s only if all went well',
    async (format) => {
      const file = join(folder, `nightly.${format}`);
      await writeFile(file, 'of yesterday');
      const args = [CAPITALS, '--format', format, '--out', file];
      program.sandbox.faults.set({ kind: 'shape', route: '/v1/countries', patch: () => ({ wrong: 1 }) });
      const failed = await run(args).finally(() => program.sandbox.faults.clear());
      expect([failed.stdout, failed.code, await readFile(file, 'utf8')]).toEqual(['', 1, 'of yesterday']);
      const { stdout, code } = await run(args);
      expect([stdout, code, (await readFile(file, 'utf8')).includes('Nairobi')]).toEqual(['', 0, true]);
    },
  );

  it('country-graph query has the columns of a list that is empty, and no row', async () => {
    const query =
      '{ country(code: "KE") { observations(metricKeys: ["population_total"], toYear: 1900) { year indicator { key } } } }';
    const { stdout, code } = await run([query, '--format', 'csv']);
    expect([stdout, code]).toEqual(['year,indicator.key\r\n', 0]);
  });

  it('country-graph query writes Arrow with the types of the schema', async () => {
    const file = join(folder, 'figures.arrow');
    const query =
      '{ country(code: "KE") { observations(metricKeys: ["population_total"]) { year value isModelled record indicator { key } } } }';
    const { code } = await run([query, '--format', 'arrow', '--out', file]);
    const table = tableFromIPC(await readFile(file));
    expect([code, table.numRows > 10]).toEqual([0, true]);
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'year Int32',
      'value Float64',
      'isModelled Bool',
      'record Utf8',
      'indicator.key Utf8',
    ]);
  });

  it('country-graph query says why what is absent is, where it is asked to', async () => {
    const query = '{ country(code: "KE") { observation(metricKey: "gdp_curren_usd") { value } } }';
    const { stderr } = await run([query, '--absences']);
    expect(stderr).toMatch(/^absence NO_FIGURE at country\.observation$/m);
    expect((await run([query])).stderr).not.toContain('absence');
  });

  it('country-graph query prints which names may be meant, and the command of what is not cached', async () => {
    const { stderr } = await run(['{ indicators(keys: ["gdp_curren_usd", "gdp_current_usd"]) { name } }']);
    expect(stderr).toMatch(/^warning UNKNOWN_INDICATOR: .*Did you mean .*gdp_current_usd/m);
    await using offline = await openProgram({ env: { OFFLINE: 'on' } });
    const asked = await runCommand(['query', CAPITALS, '--url', offline.url, '--key', 'demo-team']);
    expect(asked.stderr).toMatch(
      /^What is missing is fetched by: country-graph fill '\{ countries \{ code \} \}'$/m,
    );
    expect(asked.code).toBe(1);
  });

  it('country-graph query says in one line that nobody answers, or no gateway', async () => {
    const port = await freePort();
    const nobody = await runCommand(['query', CAPITALS, '--key', KEY, '--url', `http://127.0.0.1:${port}`]);
    expect(nobody).toMatchObject({ stdout: '', code: 1 });
    expect(nobody.stderr).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/graphql can't be reached: .*ECONNREFUSED.*\.\n$/,
    );

    const other = await runCommand([
      'query',
      CAPITALS,
      '--key',
      KEY,
      '--url',
      `${program.service.url}/graphql`,
    ]);
    expect(other).toMatchObject({ stdout: '', code: 1 });
    expect(other.stderr).toMatch(/answered with status \d+, which is no answer of GraphQL\.\n$/);
    for (const { stderr } of [nobody, other]) expect(stderr).not.toContain(KEY);
  });

  it('country-graph query takes the key nowhere else', async () => {
    program.requests();
    const seen: unknown[] = [];
    await using other = await answering((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(307, { location: program.url }).end();
    });
    const { stdout, code } = await runCommand(['query', CAPITALS, '--key', KEY, '--url', other.url]);
    expect([stdout, code, seen, program.requests()]).toEqual(['', 1, [`Bearer ${KEY}`], []]);
  });

  it('country-graph query asks the embedded sandbox where no address is given, and says so', async () => {
    const { stdout, stderr, code } = await runCommand(['query', CAPITALS, '--format', 'csv']);
    expect([stdout, code]).toEqual(['code,capital\r\nKE,Nairobi\r\nNG,Abuja\r\n', 0]);
    expect(stderr).toMatch(/^1 call /);
    expect(stderr).toContain('synthetic');
  });
});

describe('what a person types first', () => {
  it('country-graph without a command prints help with examples, and starts no server', async () => {
    for (const args of [[], ['--help']]) {
      const { stdout, stderr, code } = await runCommand(args);
      expect(stdout + stderr).toMatch(
        /Commands:[\s\S]*serve[\s\S]*Examples:\n {2}country-graph serve --port 4000\n/,
      );
      expect(code).toBe(args.length === 0 ? 1 : 0);
    }
    for (const command of ['query', 'explain', 'doctor'])
      expect((await runCommand([command, '--help'])).stdout).toMatch(/Examples?:\n/);
  });

  it('a misspelt command is told which one may be meant', async () => {
    const { stderr, code } = await runCommand(['qurey', '{ countries { name } }']);
    expect([stderr, code]).toEqual(["error: unknown command 'qurey'\n(Did you mean query?)\n", 1]);
  });

  it('country-graph explain takes an operation as a file, as text or by standard input', async () => {
    const file = join(folder, 'capitals.graphql');
    await writeFile(file, CAPITALS);
    const price = '    1  /v1/countries  GET /v1/countries\n';
    for (const [source, input] of [[file], [CAPITALS], ['-', CAPITALS]] as const) {
      const { stdout, code } = await runCommand(['explain', source], input === undefined ? {} : { input });
      expect([stdout.includes(price), code]).toEqual([true, 0]);
    }
    const { stderr, code } = await runCommand(['explain', 'missing.graphql']);
    expect([stderr, code]).toEqual([expect.stringMatching(/^There is no file "missing.graphql"/), 1]);
  });

  it.each([1, 2])(
    'country-graph serve names a port that is taken, and the setting that takes another (%i workers)',
    async (workers) => {
      await using other = await answering((_, response) => response.end());
      const port = new URL(other.url).port;
      const { stdout, stderr, code } = await runCommand(['serve', '--port', port], {
        env: { WORKERS: String(workers) },
      });
      expect(stderr).toContain(`Another program listens on port ${port} already.`);
      expect(stderr).toContain('--port');
      expect([stdout.includes('Country Graph answers'), code]).toEqual([false, 1]);
    },
  );
});

describe('doctor', () => {
  const doctor = (env: Record<string, string>, args: readonly string[] = []) =>
    runCommand(['doctor', ...args], { env });
  const service = () => ({ COUNTRY_DATA_URL: program.service.url });

  it('country-graph doctor finds all well without a metered call', async () => {
    program.requests();
    const { stdout, stderr, code } = await doctor(service());
    expect(stdout.split('\n')).toEqual([
      'ok  settings: all can be read',
      'ok  service: /health answers 200',
      "ok  clock: goes with the service's",
      '--  key: none given, so none was tried',
      'ok  cache: memory: needs nothing beside the program',
      '',
    ]);
    expect([stderr, code, program.requests()]).toEqual(['', 0, ['GET /health']]);
  });

  it('country-graph doctor tries a key by one call, and never shows it', async () => {
    program.requests();
    const good = await doctor({ ...service(), COUNTRY_GRAPH_KEY: program.sandbox.keys.team });
    expect(good.stdout).toContain('ok  key: accepted, for one call of its quota\n');
    expect([good.code, program.requests()]).toEqual([0, ['GET /health', 'GET /v1/countries']]);
    for (const [key, said] of [
      [KEY, 'refused: the service does not know it'],
      [program.sandbox.keys.forbidden, 'refused: it may not read /v1/countries'],
      [program.sandbox.keys.spent, 'has nothing left: '],
    ] as const) {
      const { stdout, stderr, code } = await doctor(service(), ['--key', key]);
      expect(stdout).toContain(`NO  key: `);
      expect(stdout).toContain(said);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain(key);
      expect(program.requests()).toEqual(['GET /health', 'GET /v1/countries']);
    }
  });

  it("country-graph doctor takes no page for the service's word on a key, and goes by a proxy", async () => {
    await using proxy = await answering(({ url = '' }, response) => {
      const isHealth = url === 'http://data.service.example/health';
      response.writeHead(isHealth ? 200 : 403, { 'content-type': 'text/html' }).end('<h1>Checking</h1>');
    });
    const { stdout, code } = await doctor(
      { COUNTRY_DATA_URL: 'http://data.service.example', HTTP_PROXY: proxy.url },
      ['--key', KEY],
    );
    expect(stdout).toContain(
      '--  proxy: calls leave by HTTP_PROXY and HTTPS_PROXY, but for hosts of NO_PROXY\n',
    );
    expect(stdout).toContain('ok  service: /health answers 200\n');
    expect(stdout).toContain(
      "NO  key: /v1/countries answers 403 with a page that is not the service's, which says nothing of the key\n",
    );
    expect(code).toBe(1);
  });

  it('country-graph doctor says that a key is not tried while there is no service to send it to', async () => {
    const { stdout, code } = await doctor({}, ['--key', KEY]);
    expect(stdout).toContain('--  key: not tried: it would be sent to COUNTRY_DATA_URL, which is not set\n');
    expect([stdout.includes(KEY), code]).toEqual([false, 0]);
  });

  it('country-graph doctor names what looks like a setting and is none, which is no fault', async () => {
    const { stdout, code } = await doctor({ ...service(), CACHE_TTL: '60', KEY_PEPPER: '' });
    expect(stdout).toContain(
      '--  settings: CACHE_TTL is no setting, and does nothing: did you mean CACHE_TTL_SECONDS?\n',
    );
    expect(stdout).toContain('--  settings: KEY_PEPPER is empty, and so counts as unset\n');
    expect(code).toBe(0);
  });

  it('country-graph doctor says what is wrong with settings, and looks no further', async () => {
    program.requests();
    const { stdout, code } = await doctor({ ...service(), PORT: 'x', MAX_DEPTH: '0' });
    expect(stdout).toMatch(
      /^NO {2}settings: The settings have 2 error\(s\):\n {2}PORT: .*\n {2}MAX_DEPTH: .*\n$/,
    );
    expect([code, program.requests()]).toEqual([1, []]);
  });

  it('country-graph doctor says which service, store and file are not reached', async () => {
    const port = await freePort();
    const { stdout, code } = await doctor({
      COUNTRY_DATA_URL: `http://127.0.0.1:${port}`,
      CACHE_URL: `redis://:secret-word@127.0.0.1:${port}`,
      TRUSTED_DOCUMENTS: join(folder, 'missing.json'),
    });
    expect(stdout).toMatch(/^NO {2}trusted documents: /m);
    expect(stdout).toMatch(/^NO {2}service: not reached: .*ECONNREFUSED/m);
    expect(stdout).toMatch(/^NO {2}cache: the store is not reached: /m);
    expect(stdout).not.toContain('secret-word');
    expect(code).toBe(1);
  });

  it('country-graph doctor says whether a file can be made, and makes none', async () => {
    const good = await doctor({ CACHE_URL: `sqlite:${join(folder, 'cache.sqlite')}` });
    expect(good.stdout).toContain('ok  cache: the file can be made\n');
    const bad = await doctor({ CACHE_URL: `sqlite:${join(folder, 'missing/cache.sqlite')}` });
    expect(bad.stdout).toMatch(/^NO {2}settings: .*\n {2}CACHE_URL: .* can't hold a cache: ENOENT/m);
    expect([good.code, bad.code]).toEqual([0, 1]);
    expect(existsSync(join(folder, 'cache.sqlite'))).toBe(false);
  });

  it('country-graph doctor offers the fill of what a file lacks, with its price, until it is complete', async () => {
    const env = {
      ...service(),
      CACHE_URL: `sqlite:${join(folder, 'known.sqlite')}`,
      COUNTRY_GRAPH_KEY: program.sandbox.keys.team,
    };
    const figures = async () => {
      program.requests();
      const { stdout, code } = await doctor(env);
      expect([code, program.requests()]).toEqual([0, ['GET /health', 'GET /v1/countries']]);
      return /^(?:ok|--) {2}figures: .*$/m.exec(stdout)?.[0];
    };
    const fill = (...args: string[]) =>
      runCommand(['fill', '--latest', '--yes', '--plan', 'team', ...args], { env });
    expect(await figures()).toBeUndefined();
    expect((await fill('--indicators', 'population_total')).code).toBe(0);
    const offer =
      '--  figures: 54 of the 11178 latest ones are known; country-graph fill --all --latest brings the others, by up to 12 call(s)';
    expect(await figures()).toBe(offer);
    program.requests();
    expect((await fill('--all')).code).toBe(0);
    expect(program.requests()).toHaveLength(12);
    expect(await figures()).toMatch(/^ok {2}figures: all latest ones are known, complete since 20.*Z$/);
    const { stdout } = await doctor({ ...env, COUNTRY_GRAPH_KEY: '' });
    expect(stdout).toContain('--  figures: not looked at: There is no key: ');
    await writeFile(join(folder, 'known.sqlite'), 'damaged'.repeat(1000));
    expect(await figures()).toBeUndefined();
    expect(await readFile(join(folder, 'known.sqlite'), 'utf8')).toBe('damaged'.repeat(1000));
  });

  it('country-graph doctor tells how far the clock is off', async () => {
    await using there = await answering((_request, response) => {
      response.writeHead(200, { date: new Date(Date.now() - 90_000).toUTCString() }).end('{}');
    });
    const { stdout, code } = await doctor({ COUNTRY_DATA_URL: there.url });
    expect(stdout).toMatch(/^NO {2}clock: (89|90|91|92) s ahead of the service's: /m);
    expect(code).toBe(1);
  });
});

describe('the command line', () => {
  it.skipIf(!existsSync('.git'))(
    'the command line tells the version of the package with the commit, as metrics and the log do',
    async () => {
      const { stdout, code } = await runCommand(['--version'], { bin: SOURCES });
      const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
      const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
      const commit = git('rev-parse', '--short=7', 'HEAD');
      const isDirty = git('status', '--porcelain', '--untracked-files=no') !== '';
      const told = `${commit}${isDirty ? '.dirty' : ''}`;
      expect([stdout, code]).toEqual([`${version}+${told}\n`, 0]);
      const serving = await startServing({ isLogKept: true, bin: SOURCES });
      try {
        const metrics = await (await fetch(new URL('/metrics', serving.url))).text();
        expect(metrics).toContain(`country_graph_build_info{version="${version}",commit="${told}",node="`);
        await expect.poll(serving.errors).toContain(`Country Graph ${version}+${told} on Node `);
      } finally {
        serving.child.kill('SIGKILL');
      }
    },
  );
});
