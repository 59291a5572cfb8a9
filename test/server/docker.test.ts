import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { freePort } from '../support/free-port.ts';
import { hasRedis } from '../support/redis.ts';

const run = promisify(execFile);

/**
 * The image's own steps, taken one by one in a folder for each stage instead of a container: its copies,
 * installations, commands and questions. So a file that the image lacks, or a production dependency declared
 * as a development one, shows without an engine.
 */
interface Step {
  readonly word: string;
  readonly rest: string;
}

async function readSteps(): Promise<readonly (readonly Step[])[]> {
  const text = (await readFile('docker/Dockerfile', 'utf8')).replaceAll('\\\n', ' ');
  const stages: Step[][] = [];
  for (const line of text.split('\n')) {
    const [, word, rest] = line.match(/^([A-Z]+)\s+(.+)$/) ?? [];
    if (word === undefined || rest === undefined) continue;
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, rest });
  }
  return stages;
}

let folder: string;
/** Of the last stage. */
let image: string;
let stages: readonly (readonly Step[])[];

/**
 * Files of the checkout that `.dockerignore` lets through: it names the wanted ones, all others are left out.
 */
let wanted: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'country-graph-image-'));
  stages = await readSteps();
  const ignore = (await readFile('.dockerignore', 'utf8')).trim().split('\n');
  expect(ignore[0]).toBe('*');
  wanted = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));

  for (const [number, stage] of stages.entries()) {
    image = join(folder, nameOf(stage) ?? String(number));
    await mkdir(image);
    for (const { word, rest } of stage) {
      if (word === 'COPY') await copy(rest);
      if (word === 'RUN') await runStep(rest, stage);
    }
  }
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const nameOf = (stage: readonly Step[]): string | undefined => stage[0]?.rest.match(/\bAS (\w+)$/)?.[1];

async function copy(rest: string): Promise<void> {
  const words = rest.split(/\s+/);
  const from = words[0]?.match(/^--from=(\w+)$/)?.[1];
  const paths = from === undefined ? words : words.slice(1);
  const to = paths.pop() ?? '.';
  for (const path of paths) {
    await mkdir(dirname(join(image, to)), { recursive: true });
    if (from !== undefined) {
      // Nothing else needs it.
      await rename(join(folder, from, path.replace(/^\/app\//, '')), join(image, to));
      continue;
    }
    const isWanted = wanted.some((one) => path === one || path.startsWith(`${one}/`));
    expect(isWanted, `.dockerignore keeps ${path} from the build`).toBe(true);
    const filter = (one: string) => !one.includes('node_modules');
    await cp(path, to.endsWith('/') ? join(image, to, basename(path)) : join(image, to), {
      recursive: true,
      filter,
    });
  }
}

async function runStep(command: string, stage: readonly Step[]): Promise<void> {
  const env = environment(
    { COMMIT: '1a2b3c4', NODE_OPTIONS: `--import ${resolve('test/support/quick-brotli.ts')}` },
    stage,
  );
  const shell = (line: string) => run('sh', ['-c', line], { cwd: image, env, maxBuffer: 2 ** 24 });
  if (!command.startsWith('npm ci') || !(await isInstalledAsLocked())) return void (await shell(command));
  // Takes the installed packages at hand.
  const modules = join(image, 'node_modules');
  if (command === 'npm ci --ignore-scripts') return symlink(resolve('node_modules'), modules);
  if (command === 'npm ci --prefix clients/graphiql') {
    if (!existsSync('clients/graphiql/node_modules')) return void (await shell(command));
    return symlink(resolve('clients/graphiql/node_modules'), join(image, 'clients/graphiql/node_modules'));
  }
  expect(command).toBe('npm ci --omit=dev --ignore-scripts');
  // Reads from npm the packages that it would add, if the lock file fits the package at all.
  const { stdout } = await shell(`${command} --dry-run --json`);
  const { add }: { add: readonly { readonly path: string }[] } = JSON.parse(
    stdout.slice(stdout.indexOf('{\n')),
  );
  const at = await realpath(image);
  for (const path of add.map((added) => relative(at, added.path))) {
    // A package brings those along that it has for itself.
    if (!existsSync(join(image, path))) cpSync(path, join(image, path), { recursive: true });
  }
}

/**
 * True if the checkout has the packages of the lock file, in these editions: all of them, but for other
 * machines' packages.
 */
async function isInstalledAsLocked(): Promise<boolean> {
  type Packages = Readonly<Record<string, { readonly optional?: boolean; readonly inBundle?: boolean }>>;
  const packagesOf = async (path: string): Promise<Packages> =>
    JSON.parse(await readFile(path, 'utf8').catch(() => '{}')).packages ?? {};
  const { '': _, ...locked } = await packagesOf('package-lock.json');
  const installed = await packagesOf('node_modules/.package-lock.json');
  // Compares packages within ours as all others: they are installed alike.
  const edition = (one: Packages[string] | undefined) => ({ ...one, inBundle: undefined });
  const isAlike = (path: string) =>
    path in installed
      ? isDeepStrictEqual(edition(installed[path]), edition(locked[path]))
      : locked[path]?.optional === true;
  return Object.keys({ ...locked, ...installed }).every(isAlike);
}

/** The image's Node first on the path, the ENV of a stage, and nothing that npm tells the scripts of this checkout. */
function environment(
  more: Record<string, string> = {},
  stage: readonly Step[] = stages.at(-1) ?? [],
): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^npm_(package|lifecycle|config_local_prefix)|^NODE_ENV$|^VITEST/.test(entry[0]),
  );
  const own = stage
    .filter(({ word }) => word === 'ENV')
    .map(({ rest }) => rest.split('=') as [string, string]);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(own),
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    ...more,
  };
}

const last = (word: string): string => stages.at(-1)?.findLast((step) => step.word === word)?.rest ?? '';
const commandOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));

describe('the image', () => {
  it('the image has the Node that the project is written for', async () => {
    const { stdout } = await run('node', ['--version'], { env: environment() });
    const major = stdout.match(/^v(\d+)/)?.[1];
    for (const [from] of stages) expect(from?.rest).toMatch(new RegExp(`^node:${major}-slim\\b`));
  });

  it('the image does not run as root', () => {
    expect(last('USER')).toBe('node');
  });

  it('the image says of which commit it was built', async () => {
    const { stdout } = await run('node', ['bin/country-graph.cjs', '--version'], {
      cwd: image,
      env: environment(),
    });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\+1a2b3c4\n$/);
  });

  it('the image runs what npm start runs', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(`exec ${commandOf(last('CMD')).join(' ')}`).toBe(scripts.start);
  });

  it('the image starts without development dependencies, and its health check tells when it is ready', async () => {
    const port = await freePort();
    const env = environment({ PORT: String(port) });
    expect(env.HOST).toBe('0.0.0.0');
    const [health = '', ...healthArgs] = commandOf(last('HEALTHCHECK'));
    const healthy = () => run(health, healthArgs, { cwd: image, env });
    await expect(healthy()).rejects.toMatchObject({ code: 1 });

    const [command = '', ...args] = commandOf(last('CMD'));
    const program = spawn(command, args, { cwd: image, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(program, 'exit');
    try {
      let printed = '';
      for await (const chunk of program.stdout) {
        printed += chunk;
        if (printed.includes('/graphql\n')) break;
      }
      expect(printed).toContain(`http://0.0.0.0:${port}/graphql`);
      await healthy();
      const graphiql = await fetch(`http://127.0.0.1:${port}/graphiql`);
      expect([graphiql.status, await graphiql.text()]).toEqual([
        200,
        expect.stringContaining('<div id="root">'),
      ]);
    } finally {
      program.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });
});

describe('the compose file', () => {
  interface Service {
    readonly image: string;
    readonly volumes?: readonly string[];
    readonly profiles?: readonly string[];
    readonly depends_on?: Readonly<Record<string, unknown>>;
    readonly environment?: Readonly<Record<string, string>>;
    readonly ports?: readonly string[];
    readonly command?: readonly string[];
  }
  const read = async (): Promise<Record<string, Service>> =>
    parse(await readFile('docker/compose.yaml', 'utf8'), { merge: true }).services;
  /** Environment as compose fills in variables that are not set. */
  const filled = (environment: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:-(.*?)\}/g, '$1')]),
    );

  it('the compose file gives every gateway settings that hold, and waits for what they name', async () => {
    const services = await read();
    const gateways = Object.entries(services).filter(([, { environment }]) => environment?.COUNTRY_DATA_URL);
    expect(gateways.map(([name]) => name)).toEqual(['gateway', 'gateway-one', 'gateway-two']);
    for (const [, { environment = {}, depends_on = {} }] of gateways) {
      const { countryDataUrl, cacheUrl } = readConfig(filled(environment));
      const hosts = [countryDataUrl, cacheUrl].flatMap((url) => URL.parse(url ?? '')?.hostname || []);
      expect(Object.keys(depends_on)).toEqual(hosts);
      for (const host of hosts) expect(services).toHaveProperty(host);
    }
  });

  it('the compose file has a profile of two gateways over one Redis, behind a balancer', async () => {
    const services = Object.entries(await read()).filter(([, { profiles }]) => profiles?.includes('shared'));
    expect(services.map(([name]) => name)).toEqual(['gateway-one', 'gateway-two', 'balancer', 'redis']);
    const [one, two] = services.map(([, service]) => service);
    expect(one?.environment).toEqual(two?.environment);
    expect(one?.ports).not.toEqual(two?.ports);
  });

  it('the compose file lets nothing that is ours write to its file system', async () => {
    const ours = Object.values(await read()).filter(({ image }) => image === 'country-graph');
    expect(ours).toHaveLength(4);
    for (const service of ours) expect(service).toMatchObject({ read_only: true, tmpfs: ['/tmp'] });
  });

  it('the compose file mounts files that are there, and gives no port away twice', async () => {
    const services = Object.values(await read());
    const mounted = services.flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    expect(mounted.length).toBeGreaterThan(5);
    for (const file of mounted) expect(existsSync(join('docker', file)), file).toBe(true);
    const ports = services.flatMap((service) => service.ports ?? []).map((port) => port.split(':')[0]);
    expect(new Set(ports).size).toBe(ports.length);
  });

  it.skipIf(!hasRedis)('the compose file starts that Redis with options it takes', async () => {
    const [command = '', ...args] = (await read()).redis?.command ?? [];
    const port = await freePort();
    const redis = spawn(command, [...args, '--port', String(port)], { stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    for await (const chunk of redis.stdout) {
      printed += chunk;
      if (printed.includes('Ready to accept connections')) break;
    }
    redis.kill('SIGKILL');
    expect(printed).toContain('Ready to accept connections');
  });
});
