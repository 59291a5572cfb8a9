/**
 * `npm run adopters`: installs the package into empty folders as adopters do, beside `graphql` 16, 17 and
 * none, by the npm at hand, an older npm and pnpm, and tries it on Node 22 and 24. Takes some minutes, and a
 * registry. Ends with exit code 1 if something doesn't answer.
 *
 * `npm run adopters -- --tarball FILE` tries a package that has been made already.
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

/** Generations of `graphql` that a project may have already; null for none. */
export const BESIDE = ['16', '17', null] as const;

/** An installer: the file of a program, the Node that runs it, and its arguments before the packages. */
export interface Installer {
  readonly name: string;
  readonly command: readonly string[];
}

export const NPM: Installer = { name: 'npm', command: ['npm', 'install', '--prefer-offline'] };

/** Installs programs, which install or run others, into a folder of their own. */
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

/** Makes a project of a folder, and installs the package there. */
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

/** Answers of a project that has installed the package: each should be as `ANSWERS`. */
export async function tryAdopted(folder: string, node = process.execPath) {
  const bin = join(folder, 'node_modules/country-graph/bin/country-graph.cjs');
  const env = { ...process.env, PORT: '0', CACHE_URL: 'none' };
  const command = async (...args: string[]) =>
    (await run(node, args, { cwd: folder, env }).catch((failed) => failed)).stdout;
  const serving = await started(spawn(node, [bin, 'serve'], { cwd: folder, env }));
  try {
    const [, service = ''] = /sandbox is at (\S+?)\.?\s/.exec(serving.text) ?? [];
    const [, url = ''] = /answers at (\S+)/.exec(serving.text) ?? [];
    const served = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ health { status } }"}',
    }).then(
      (answer) => answer.text(),
      (fault) => `${fault}: ${serving.text}`,
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

/** A program that has told its address, or has ended. */
async function started(child: ReturnType<typeof spawn>) {
  const told = { child, text: '' };
  const ended = once(child, 'close');
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      told.text += chunk;
    });
  while (child.exitCode === null && !/answers at/.test(told.text))
    await Promise.race([ended, ...(child.stdout === null ? [] : [once(child.stdout, 'data')])]);
  return told;
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
    let faults = 0;
    for (const installer of installers) {
      for (const graphql of BESIDE) {
        const folder = join(home, `${installer.name}-${graphql}`.replace(' ', '-'));
        await adopt(folder, tarball, graphql, installer);
        for (const node of nodes) {
          const { stdout } = await run(node, ['--version']);
          const answers = JSON.stringify(await tryAdopted(folder, node));
          const isWell = answers === JSON.stringify(ANSWERS);
          faults += isWell ? 0 : 1;
          const name = `${installer.name}, graphql ${graphql ?? 'none'}, Node ${stdout.trim()}`;
          console.log(`${isWell ? 'ok' : 'NO'}  ${name}${isWell ? '' : `: ${answers}`}`);
        }
      }
    }
    process.exitCode = faults === 0 ? 0 : 1;
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
