/**
 * `npm run adopters`: installs the package into empty projects as users do, with `graphql` 16, 17 and none, with the
 * current npm, an older npm and pnpm, and tries it on Node 22 and 24. Takes some minutes and needs a registry. Ends with
 * exit code 1 if a combination fails.
 *
 * `npm run adopters -- --tarball FILE` tries a package that is already built.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);

/** Major versions of `graphql` that a project may already have; null for none. */
export const BESIDE = ['16', '17', null] as const;

/** A package manager: its program and the arguments before the packages. */
export interface Installer {
  readonly name: string;
  readonly command: readonly string[];
}

export const NPM: Installer = { name: 'npm', command: ['npm', 'install', '--prefer-offline'] };

/** Installs package managers and versions of Node into a folder. */
export async function installTools(tools: string, ...packages: readonly string[]): Promise<void> {
  await mkdir(tools, { recursive: true });
  await writeFile(join(tools, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--prefer-offline', ...packages], { cwd: tools });
}

export const pnpmIn = (tools: string): Installer => ({
  name: 'pnpm',
  command: [join(tools, 'node_modules/.bin/pnpm'), 'add'],
});

const LIBRARY = `
import { createGateway } from 'country-graph';
const gateway = await createGateway({
  settings: { COUNTRY_DATA_URL: process.argv[2] },
  onProblem: (error, where) => console.error(where, error),
});
const { body } = await gateway.handle({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  search: '',
  body: { query: '{ health { status } }' },
  signal: new AbortController().signal,
});
await gateway.stop();
console.log(String(body));
`;

/** Creates a project in a folder, and installs the package there. */
export async function adopt(
  folder: string,
  tarball: string,
  graphql: string | null,
  { command: [file = '', ...args] }: Installer = NPM,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await writeFile(join(folder, 'library.mjs'), LIBRARY);
  const packages = [...(graphql === null ? [] : [`graphql@${graphql}`]), resolve(tarball)];
  await run(file, [...args, ...packages], { cwd: folder });
}

/** What the installed package answers in several ways; should equal `ANSWERS`. */
export async function tryAdopted(folder: string, node = process.execPath) {
  const bin = join(folder, 'node_modules/country-graph/bin/country-graph.cjs');
  const env = { ...process.env, PORT: '0', CACHE_URL: 'none' };
  const command = async (...args: string[]) =>
    (await run(node, args, { cwd: folder, env }).catch((failed) => failed)).stdout;
  const serving = await start(spawn(node, [bin, 'serve'], { cwd: folder, env }));
  try {
    const [, service = ''] = /sandbox is at (\S+?)\.?\s/.exec(serving.text) ?? [];
    const [, url = ''] = /answers at (\S+)/.exec(serving.text) ?? [];
    const served = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ health { status } }"}',
    }).then(
      (answer) => answer.text(),
      (error) => `${error}: ${serving.text}`,
    );
    return {
      serve: served.slice(0, ANSWER.length),
      query: await command(bin, 'query', '{ countries(codes: ["KE"]) { capital } }', '--format', 'csv'),
      library: (await command('library.mjs', service)).slice(0, ANSWER.length),
      doctor: /^.. {2}settings: .*$/m.exec(await command(bin, 'doctor'))?.[0],
    };
  } finally {
    serving.child.kill('SIGKILL');
  }
}

const ANSWER = '{"data":{"health":{"status":"ok"}}';

export const ANSWERS: Awaited<ReturnType<typeof tryAdopted>> = {
  serve: ANSWER,
  query: 'capital\r\nNairobi\r\n',
  library: ANSWER,
  doctor: 'ok  settings: all can be read',
};

/** Waits until a program has printed its URL, or has ended. */
async function start(child: ReturnType<typeof spawn>) {
  const started = { child, text: '' };
  const ended = once(child, 'close');
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      started.text += chunk;
    });
  while (child.exitCode === null && !/answers at/.test(started.text))
    await Promise.race([ended, ...(child.stdout === null ? [] : [once(child.stdout, 'data')])]);
  return started;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { tarball: { type: 'string' } } });
  const home = await mkdtemp(join(tmpdir(), 'country-graph-adopters-'));
  try {
    const tools = join(home, 'tools');
    await installTools(tools, 'npm@10', 'pnpm', 'node@22');
    const installers: readonly Installer[] = [
      NPM,
      { name: 'npm 10', command: [join(tools, 'node_modules/.bin/npm'), 'install', '--prefer-offline'] },
      pnpmIn(tools),
    ];
    const nodes = [process.execPath, join(tools, 'node_modules/node/bin/node')];
    const tarball = values.tarball ?? (await packed(home));
    let failures = 0;
    for (const installer of installers) {
      for (const graphql of BESIDE) {
        const folder = join(home, `${installer.name}-${graphql}`.replace(' ', '-'));
        await adopt(folder, tarball, graphql, installer);
        for (const node of nodes) {
          const { stdout } = await run(node, ['--version']);
          const answers = JSON.stringify(await tryAdopted(folder, node));
          const isOk = answers === JSON.stringify(ANSWERS);
          failures += isOk ? 0 : 1;
          const name = `${installer.name}, graphql ${graphql ?? 'none'}, Node ${stdout.trim()}`;
          console.log(`${isOk ? 'ok' : 'FAILED'}  ${name}${isOk ? '' : `: ${answers}`}`);
        }
      }
    }
    process.exitCode = failures === 0 ? 0 : 1;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function packed(folder: string): Promise<string> {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, maxBuffer: 2 ** 26 });
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  return join(folder, name ?? '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
