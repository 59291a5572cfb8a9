import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWERS, adopt, installTools, pnpmIn, tryAdopted } from '../../scripts/adopters.ts';
import { linkPackages } from '../../scripts/linked-packages.ts';
import { makePublishable } from '../../scripts/publishable.ts';
import { readLock, runTimePackages } from '../../scripts/run-time-packages.ts';
import { openFiles } from '../address/publishing.ts';
import { runCommand } from '../support/command.ts';
import { type Installed, installPacked } from '../support/packed.ts';
import { openProgram } from '../support/program.ts';
import { packingProblems } from '../support/publishable.ts';
import { startServing } from '../support/serving.ts';

const run = promisify(execFile);
const ours = JSON.parse(await readFile('package.json', 'utf8'));

/** A Node of some major version: `NODE_22` names one, or one is on the path. */
function nodeOf(major: number): string | undefined {
  const named = [process.env[`NODE_${major}`] ?? ''];
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => [join(folder, 'node'), join(folder, `node${major}`), join(folder, `node-${major}`)]);
  return [...named, ...onPath]
    .filter((path) => path !== '' && existsSync(path))
    .find((path) => spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.startsWith(`v${major}.`));
}

/**
 * True if packages can be had: without a network, suites that take them are left out by name, but not in CI.
 */
function hasRegistry(): boolean {
  const args = ['ping', '--fetch-retries=0', '--fetch-timeout=5000'];
  return process.env.CI === 'true' || spawnSync('npm', args).status === 0;
}

/** The code of `docs/operating.md`, but for the service and the checks. */
const USING = `
import fastify from 'fastify';
import { ConfigError, type CountryGraph, createGateway, type GatewayRequest, type OperationEvent } from 'country-graph';

const events: OperationEvent[] = [];
const gateway: CountryGraph = await createGateway({
  settings: { COUNTRY_DATA_URL: process.argv[2] ?? '', CACHE_URL: 'none' },
  onOperation: (event) => void events.push(event),
  onProblem: (error, where) => console.error(where, error),
});
const app = fastify({ requestIdHeader: 'x-request-id' });
app.get('/', async () => 'ours');
await app.register(gateway.plugin);
await app.register(gateway.plugin, { prefix: '/v2' });
app.addHook('onClose', () => gateway.stop());
const origin = await app.listen({ port: 0 });
const headers = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json',
  authorization: 'Bearer demo-team',
  'x-request-id': 'od"d',
};
const query = '{ countries(codes: ["KE"]) { capital } sources { nothing: __typename } }';
const posted = await fetch(origin + '/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
const elsewhere = await fetch(origin + '/v2/graphql', { method: 'POST', headers, body: '{"query":"{ nope }"}' });
const long = await fetch(origin + '/graphql', { method: 'POST', headers, body: JSON.stringify({ query: ' '.repeat(2e6) }) });
const request: GatewayRequest = {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
  search: '',
  body: { query: '{ health { status } }' },
  signal: new AbortController().signal,
};
const handled = await gateway.handle(request);
const refusal = await createGateway({ settings: { MAX_DEPHT: '1' } as {}, onProblem() {} }).catch((error: unknown) => error);
const unset = await createGateway({ settings: {}, onProblem() {} }).catch((error: unknown) => error);
console.log(
  JSON.stringify({
    posted: await posted.json(),
    id: posted.headers.get('x-request-id'),
    elsewhere: [elsewhere.status, await elsewhere.json()],
    long: long.status,
    root: await (await fetch(origin)).text(),
    handled: [handled.status, JSON.parse(String(handled.body)).data],
    sdl: gateway.sdl.includes('type Country'),
    events: events.map(({ calls }) => calls),
    refusals: [refusal, unset].map((error) => (error instanceof ConfigError ? error.message : 'none')),
  }),
);
await app.close();
`;

/** A neighbour that has advice on every country, and notes what it is asked, and by which key. */
async function openAdvice() {
  const asked: unknown[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push([url, headers.authorization]);
    response.setHeader('content-type', 'application/json').end('{"level":2,"text":"Mind the lions."}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Fields of a manifest that no published package has. */
const OF_DEVELOPMENT = ['scripts', 'devDependencies', 'private'];

/** Where the documents of a published package lead: nowhere, or to files of its repository. */
async function linksIn(folder: string, repository: string | undefined) {
  const broken: string[] = [];
  const files = new Set<string>();
  const place = `^${repository}/(?:blob|raw)/v${ours.version}/`;
  for (const document of await readdir(folder, { recursive: true })) {
    if (!document.endsWith('.md')) continue;
    // Code may look like a link.
    const text = readFileSync(join(folder, document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
    for (const [, a, b = ''] of text.matchAll(/\]\(([^)#\s]+)|<img src="([^"]+)"/g)) {
      const target = a ?? b;
      const file = target.replace(new RegExp(place), '');
      if (file !== target) files.add(file);
      const isThere =
        file === target ? existsSync(join(folder, dirname(document), target)) : existsSync(file);
      if (!file.startsWith('http') && !isThere) broken.push(`${document}: ${target}`);
    }
  }
  return { broken, files: [...files] };
}

/** A sentence of documents that speak of the sources. */
const AS_IN_A_CHECKOUT =
  'Files are named as in a checkout: the package has `src` compiled, as `lib`, and no tests.';

describe('the package', () => {
  let installed: Installed;
  beforeAll(async () => {
    installed = await installPacked();
  }, 180_000);
  afterAll(() => installed[Symbol.asyncDispose]());

  it('the package holds what runs and what is to be read, and nothing else', async () => {
    expect((await readdir(installed.installed)).toSorted()).toEqual(
      [
        'ARCHITECTURE.md',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'bin',
        'clients',
        'dist',
        'docker',
        'docs',
        'lib',
        'node_modules',
        'package.json',
        'schema',
      ].toSorted(),
    );
    expect((await stat(installed.tarball)).size).toBeLessThan(6_000_000);
    const files = await readdir(installed.installed, { recursive: true });
    expect(files).toContain('dist/graphiql/index.html');
    // Finds the code that draws, with the fonts of pictures and their licence.
    expect((await readdir(join(installed.installed, 'dist/graphiql/pictures'))).toSorted()).toEqual([
      'Inter-LICENSE.txt',
      'Inter-Regular.ttf.br',
      'Inter-SemiBold.ttf.br',
      'LICENCES.txt',
      ...['Adlam', 'Arabic', 'Ethiopic', 'NKo', 'Tifinagh', 'Vai'].flatMap((script) => [
        `NotoSans${script}-LICENSE.txt`,
        `NotoSans${script}-Regular.ttf.br`,
      ]),
      'countries.js',
      'needed-fields.js',
      'picture-worker.js',
    ]);
    const licences = readFileSync(join(installed.installed, 'lib/program/LICENCES.txt'), 'utf8');
    for (const name of ['fastify', 'graphql', 'undici', 'zod'])
      expect(licences).toMatch(new RegExp(`^${name} \\d.*: MIT$`, 'm'));
    const ofPages = ['dist/graphiql/LICENCES.txt', 'dist/graphiql/pictures/LICENCES.txt'];
    const [pages, pictures] = ofPages.map((file) => readFileSync(join(installed.installed, file), 'utf8'));
    for (const name of ['graphiql', 'monaco-editor', 'react-dom'])
      expect(pages).toMatch(new RegExp(`^## ${name} - \\d.*\\(MIT\\)$`, 'm'));
    expect(pictures).toMatch(/^## @observablehq\/plot - \d.*\(ISC\)$/m);
    expect(
      files.filter((file) => !file.startsWith('node_modules') && /(?<!\.d)\.tsx?$|node_modules/.test(file)),
    ).toEqual([]);
    expect(await readdir(join(installed.installed, 'schema'))).toEqual(await readdir('schema'));
  });

  it('the package has an entry and types that every bundler and compiler of modules finds', async () => {
    expect(await packingProblems(installed.tarball)).toEqual([]);
  });

  it.for([undefined, 'https://forge.example/team/country-graph'])(
    'the package that is published leads to files that are there, and has nothing of its development: from %s',
    async (repository) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-published-'));
      const filter = (path: string) => !path.slice(installed.installed.length).includes('node_modules');
      await cp(installed.installed, folder.path, { recursive: true, filter });
      makePublishable(folder.path, { repository });
      const { broken, files } = await linksIn(folder.path, repository);
      expect(broken).toEqual([]);
      if (repository !== undefined) expect(files).toContain('docs/images/light.png');
      const published = manifestIn(folder.path);
      expect(OF_DEVELOPMENT.filter((field) => field in published)).toEqual([]);
      expect(published.dependencies).toEqual(ours.dependencies);
      expect([published.repository?.url, published.bugs?.url]).toEqual(
        repository === undefined ? [undefined, undefined] : [`git+${repository}.git`, `${repository}/issues`],
      );
    },
  );

  it('a document of the package that names files of a checkout alone says so', async () => {
    const has = (path: string) => existsSync(join(installed.installed, path));
    const unsaid: string[] = [];
    for (const file of await readdir(installed.installed, { recursive: true })) {
      if (!file.endsWith('.md') || /node_modules/.test(file)) continue;
      const text = readFileSync(join(installed.installed, file), 'utf8');
      if (text.replaceAll('\n', ' ').includes(AS_IN_A_CHECKOUT)) continue;
      for (const paragraph of text.split(/\n{2,}/)) {
        const named = [...paragraph.matchAll(/`([^`\s]+)`/g)].map(([, path = '']) => path);
        if (
          named.some((path) => path.includes('/') && existsSync(path) && !has(path)) &&
          !/checkout/.test(paragraph)
        )
          unsaid.push(`${file}: ${named.join(' ')}`);
        if (/\btest\/\w/.test(paragraph)) unsaid.push(`${file}: ${paragraph}`);
      }
    }
    expect(unsaid).toEqual([]);
  });

  it('the package brings all of its packages that know graphql, so that no other copy is found by any', async () => {
    const brought = await readdir(join(installed.installed, 'node_modules'), { recursive: true });
    const knowing = Object.keys(runTimePackages(readLock())).filter((folder) => {
      const { dependencies, peerDependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
      return 'graphql' in { ...dependencies, ...peerDependencies };
    });
    expect(knowing.length).toBeGreaterThan(10);
    for (const folder of ['node_modules/graphql', ...knowing])
      expect(brought).toContain(`${folder.replace('node_modules/', '')}/package.json`);
    expect(brought.filter((file) => /(^|\/)graphql\/package\.json$/.test(file))).toEqual([
      'graphql/package.json',
    ]);
  });

  it('the package has whoever would run a script when it is installed among those that it brings', () => {
    const scripted = Object.entries(runTimePackages(readLock())).filter(
      ([, one]) => 'hasInstallScript' in one && !one.inBundle,
    );
    expect(scripted).toEqual([]);
  });

  it.each(['country-graph serve', 'a server of its own'])(
    'the package runs the plugins of docs/plugins.md by %s, as that says',
    async (by) => {
      const folder = join(installed.home, by.replaceAll(' ', '-'));
      await mkdir(folder);
      const files = readFileSync('docs/plugins.md', 'utf8').matchAll(
        /^\*\*`(\S+)`\*\*\n\n```ts\n([\s\S]*?)^```$/gm,
      );
      for (const [, name = '', text = ''] of files) await writeFile(join(folder, name), text);
      await symlink(resolve('node_modules/jose'), join(installed.home, 'node_modules/jose')).catch(() => {});
      await using program = await openProgram();
      await using advised = await openAdvice();
      const secret = 'a secret of the company, 32 letters';
      const env = {
        ...process.env,
        COUNTRY_DATA_URL: program.service.url,
        ADVICE_URL: advised.url,
        TEAM_SECRET: secret,
        TEAM_KEYS: JSON.stringify({ maps: program.sandbox.keys.team }),
        PORT: '0',
      };
      const args = by === 'a server of its own' ? ['server.ts'] : [installed.bin, 'serve'];
      const PLUGINS = './teams.ts,./advice.ts';
      const serving = spawn(process.execPath, args, { cwd: folder, env: { ...env, PLUGINS } });
      try {
        const [line] = await once(createInterface(serving.stdout), 'line');
        const origin = new URL(String(/http:\S+/.exec(String(line)))).origin;
        const token = await new SignJWT({ team: 'maps' })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(secret));
        const ask = async (authorization: string) => {
          const headers = { 'content-type': 'application/json', authorization };
          const body = JSON.stringify({ query: '{ country(code: "KE") { name travelAdvice { level } } }' });
          const answer = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
          const { data, errors, extensions } = await answer.json();
          const { byRoute } = extensions.upstream;
          return [data?.country, errors?.[0].extensions.code, byRoute];
        };
        const country = { name: 'Kenya', travelAdvice: { level: 2 } };
        const calls = { '/v1/countries': 1, '/advice/{code}': 1 };
        expect(await ask(`Bearer ${token}`)).toEqual([country, undefined, calls]);
        expect(await ask(`Bearer ${token}`)).toEqual([country, undefined, {}]);
        expect(await ask(`Bearer ${token}x`)).toEqual([undefined, 'UNAUTHENTICATED', {}]);
        expect(advised.asked).toEqual([['/advice/KE', undefined]]);
        expect([...program.sandbox.log].map(({ key }) => key)).toEqual(['team']);
        expect(await (await fetch(`${origin}/teams`)).json()).toEqual(['maps']);
      } finally {
        serving.kill();
      }
    },
  );

  // `npm run adopters` does so beside every graphql, and beside none.
  it.skipIf(!hasRegistry())('the package answers where npm has installed it beside graphql 17', async () => {
    const folder = join(installed.home, '../beside-17');
    await adopt(folder, installed.tarball, '17');
    expect(await tryAdopted(folder)).toEqual(ANSWERS);
    const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/graphql/package.json'), 'utf8'));
    expect(version.split('.')[0]).toBe('17');
  });

  it.skipIf(!hasRegistry())('the package answers where pnpm has installed it beside graphql 16', async () => {
    const tools = join(installed.home, '../tools');
    await installTools(tools, 'pnpm');
    const folder = join(installed.home, '../beside-16-pnpm');
    await adopt(folder, installed.tarball, '16', pnpmIn(tools));
    expect(await tryAdopted(folder)).toEqual(ANSWERS);
  });

  const nodes = [
    ['the Node of the tests', process.execPath],
    ['Node 22', nodeOf(22)],
  ] as const;
  for (const [name, node] of nodes) {
    describe.skipIf(node === undefined)(`on ${name}`, () => {
      it.for([{ WORKERS: '1' }, { WORKERS: '2' }])(`the package on ${name} serves with %o`, async (env) => {
        const { child, url, errors } = await startServing({
          env,
          bin: installed.bin,
          node,
          cwd: installed.home,
          isLogKept: true,
        });
        try {
          const answer = await fetch(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
            body: '{"query":"{ country(code: \\"KE\\") { observation(metricKey: \\"population_total\\") { value } } }"}',
          });
          expect(await answer.json()).toMatchObject({
            data: { country: { observation: { value: expect.any(Number) } } },
            extensions: { upstream: { byRoute: { '/v1/data': 1 } } },
          });
          expect((await fetch(url.replace('graphql', 'graphiql'))).status).toBe(200);
          expect(await (await fetch(url.replace('graphql', 'schema.graphql'))).text()).toContain(
            'type Country',
          );
          // The warm-up has its own server, whose packages the bundle may lack.
          expect(errors()).not.toContain('"msg":"problem"');
        } finally {
          child.kill('SIGKILL');
        }
      });

      it(`the package on ${name} draws what is public`, async () => {
        const { folder, env: files } = openFiles();
        const env = { CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team', ...files };
        const made = await runCommand(['keys', 'create', 'page'], {
          bin: installed.bin,
          node: node ?? '',
          env,
        });
        expect(made.code).toBe(0);
        const { child, url } = await startServing({ env, bin: installed.bin, node, cwd: installed.home });
        try {
          const picture = await fetch(url.replace('graphql', 'c/lines.png'));
          expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
          expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(50_000);
        } finally {
          child.kill('SIGKILL');
          folder[Symbol.dispose]();
        }
      });

      it(`the package on ${name} has the other commands`, async () => {
        const command = (...args: string[]) => runCommand(args, { bin: installed.bin, node: node ?? '' });
        expect((await command('--version')).stdout).toBe(`${ours.version}+1a2b3c4\n`);
        expect((await command('schema')).stdout).toBe((await runCommand(['schema'])).stdout);
        const queried = await command('query', '{ countries(codes: ["KE"]) { capital } }', '--format', 'csv');
        expect(queried).toMatchObject({ stdout: 'capital\r\nNairobi\r\n', code: 0 });
        expect(queried.stderr).toMatch(/^1 call /);
      });
    });
  }

  it('the package is a library with types, as a plugin and by itself', async () => {
    const { createSandbox } = await import('../../src/sandbox/sandbox.ts');
    const sandbox = createSandbox();
    const { url } = await sandbox.listen();
    await writeFile(join(installed.home, 'using.ts'), USING);
    await mkdir(join(installed.home, 'node_modules/@types'), { recursive: true });
    await cp('node_modules/@types/node', join(installed.home, 'node_modules/@types/node'), {
      recursive: true,
    });
    // A dependency may have brought it.
    await rm(join(installed.home, 'node_modules/undici-types'), { force: true });
    await cp('node_modules/undici-types', join(installed.home, 'node_modules/undici-types'), {
      recursive: true,
    });
    const options = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      'node',
    ];
    await run(resolve('node_modules/.bin/tsc'), [...options, 'using.ts'], { cwd: installed.home }).catch(
      ({ stdout }) => {
        throw new Error(stdout);
      },
    );
    const { stdout, stderr } = await run(process.execPath, ['using.js', url], { cwd: installed.home });
    expect(stderr).toBe('');
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({
      posted: {
        data: { countries: [{ capital: 'Nairobi' }] },
        extensions: { upstream: { byRoute: { '/v1/countries': 1, '/v1/platform/etl-status': 1 } } },
      },
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      elsewhere: [400, { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] }],
      long: 413,
      root: 'ours',
      handled: [200, { health: { status: 'ok' } }],
      sdl: true,
      events: [2, 0, 1],
    });
    expect(told.refusals).toEqual([
      'There is no setting MAX_DEPHT.',
      expect.stringContaining('COUNTRY_DATA_URL: must be given'),
    ]);
    expect(sandbox.log.map(({ path }) => path).toSorted()).toEqual([
      '/health',
      '/v1/countries',
      '/v1/platform/etl-status',
    ]);
    await sandbox.close();
  });
});

it.for(['client', 'graphiql'])(
  'the package of clients/%s is published with what it exports, and documents that lead to files that are there',
  async (name) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-client-'));
    await run('npm', ['pack', '--pack-destination', folder.path, `./clients/${name}`]);
    const tarball = join(folder.path, `country-graph-${name}-${ours.version}.tgz`);
    expect(await packingProblems(tarball)).toEqual([]);
    expect((await stat(tarball)).size).toBeLessThan(6_000_000);
    await run('tar', ['xzf', tarball, '-C', folder.path]);
    const unpacked = join(folder.path, 'package');
    const repository = 'https://forge.example/team/country-graph';
    makePublishable(unpacked, { repository }, `clients/${name}`);
    expect((await linksIn(unpacked, repository)).broken).toEqual([]);
    const published = manifestIn(unpacked);
    expect([...OF_DEVELOPMENT, 'dependencies'].filter((field) => field in published)).toEqual([]);
    expect(published.repository.directory).toBe(`clients/${name}`);
    expect(await readdir(unpacked)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist']));
    if (name === 'graphiql')
      expect(await readdir(join(unpacked, 'dist'))).toEqual(
        expect.arrayContaining(['LICENCES.txt', 'assets', 'index.html']),
      );
  },
);

describe('an old Node', () => {
  it('an old Node is told what is needed, in one sentence', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-old-'));
    // Nothing else that the command needs is there, as far as such a Node comes.
    await cp('bin', join(folder.path, 'bin'), { recursive: true });
    const pretended = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.PRETENDED } })`;
    const bin = join(folder.path, 'bin/country-graph.cjs');
    for (const version of ['20.20.2', '22.18.0', '18.0.0']) {
      const { stdout, stderr, code } = await runCommand(['serve'], {
        bin,
        env: {
          NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(pretended)}`,
          PRETENDED: version,
        },
      });
      expect([stdout, stderr, code]).toEqual([
        '',
        `Country Graph needs Node 22.19 or newer, and this is Node ${version}.\n`,
        1,
      ]);
    }
    expect(ours.engines.node).toBe('>=22.19');
  });

  const old = nodeOf(20);
  it.skipIf(old === undefined)('an old Node such as Node 20 runs as far as to say so', async () => {
    const { stderr, code } = await runCommand(['serve'], { node: old ?? '' });
    expect(stderr).toMatch(/^Country Graph needs Node 22\.19 or newer, and this is Node 20\.\d+\.\d+\.\n$/);
    expect(code).toBe(1);
  });
});

describe('the command', () => {
  it('the command runs the program that was built, but in a checkout that has changed since', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-command-'));
    const at = (file: string) => join(folder.path, file);
    for (const [file, text] of [
      ['package-lock.json', '{}'],
      ['schema/root.graphql', ''],
      ['src/cli/main.ts', 'console.log("sources")'],
      ['lib/program/main.cjs', 'console.log("built")'],
    ] as const) {
      await mkdir(dirname(at(file)), { recursive: true });
      await writeFile(at(file), text);
    }
    await cp('bin/country-graph.cjs', at('bin/country-graph.cjs'));
    const runs = async () =>
      (await run(process.execPath, [at('bin/country-graph.cjs'), 'help'])).stdout.trim();
    expect(await runs()).toBe('built');
    const [later, latest] = [new Date(Date.now() + 60_000), new Date(Date.now() + 120_000)];
    await utimes(at('src/cli'), later, later);
    expect(await runs()).toBe('sources');
    await utimes(at('lib/program/main.cjs'), latest, latest);
    expect(await runs()).toBe('built');
    await utimes(at('schema/root.graphql'), later, new Date(Date.now() + 180_000));
    expect(await runs()).toBe('sources');
    await rm(at('lib'), { recursive: true });
    expect(await runs()).toBe('sources');
  });
});

describe.skipIf(!existsSync('.git'))('a release', () => {
  it('a release takes its version and its changelog from changesets, and is tried in a copy first', {
    timeout: 400_000,
  }, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-clone-'));
    const git = (...args: string[]) => run('git', ['-C', folder.path, ...args]);
    await run('git', ['clone', '--quiet', '--no-hardlinks', '.', folder.path]);
    await linkPackages(resolve('.'), folder.path);
    for (const built of ['dist', 'clients/graphiql/dist'])
      await symlink(resolve(built), join(folder.path, built));
    await git('config', 'user.name', 'A test');
    await git('config', 'user.email', 'a@test.invalid');
    const commit = async (changes: Readonly<Record<string, string>>) => {
      for (const [file, text] of Object.entries(changes))
        await writeFile(join(folder.path, '.changeset', file), text);
      await git('add', '.changeset');
      await git('commit', '--quiet', '--allow-empty', '--all', '--message', 'test: change something');
    };
    const release = () =>
      run(
        process.execPath,
        ['scripts/release.ts', '--dry-run', '--repository', 'https://forge.example/a/b'],
        {
          cwd: folder.path,
        },
      );

    for (const file of await readdir(join(folder.path, '.changeset')))
      if (file.endsWith('.md')) await rm(join(folder.path, '.changeset', file));
    await commit({});
    await git('tag', '--force', `v${ours.version}`);
    const refused = await release().catch((fault) => fault);
    expect([refused.code, refused.stderr]).toEqual([1, `.changeset has no change since ${ours.version}.\n`]);

    await commit({
      'new-thing.md': "---\n'country-graph': minor\n---\n\n`Country.motto` is new.\n",
      'old-fault.md': "---\n'country-graph': patch\n---\n\nA fault is gone.\n",
    });
    const before = await git('rev-parse', 'HEAD');
    const { stdout } = await release();
    const [major, minor] = ours.version.split('.').map(Number);
    const next = `${major}.${minor + 1}.0`;
    const packages = ['', '-client', '-graphiql'].map((name) => `country-graph${name}-${next}.tgz`);
    for (const file of [...packages, 'sbom.json'])
      expect(stdout).toMatch(new RegExp(`^[\\da-f]{64} {2}${file.replaceAll('.', '\\.')}$`, 'm'));
    const changed = [...stdout.matchAll(/^ (\S+) +\| /gm)].map(([, file]) => file);
    expect(changed).toEqual([
      '.changeset/new-thing.md',
      '.changeset/old-fault.md',
      'CHANGELOG.md',
      'README.md',
      'clients/client/package.json',
      'clients/graphiql/package-lock.json',
      'clients/graphiql/package.json',
      'docker/kubernetes/kustomization.yaml',
      'docs/operating.md',
      'docs/released.graphql',
      'package-lock.json',
      'package.json',
    ]);
    expect(await git('rev-parse', 'HEAD')).toEqual(before);
  });
});

describe('what npm runs after an installation', () => {
  it('what npm runs after an installation builds nothing, and ends well, where what builds is not installed', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-prepare-'));
    await cp('scripts/prepare.mjs', join(folder.path, 'scripts/prepare.mjs'));
    const { stdout, stderr } = await run(nodeOf(20) ?? process.execPath, ['scripts/prepare.mjs'], {
      cwd: folder.path,
    });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Nothing is built: /);
    expect(await readdir(folder.path)).toEqual(['scripts']);
  });
});
