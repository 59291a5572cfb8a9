/**
 * Starts Tailcall, the peer that isn't a Node program. Its binary comes as an npm package and needs glibc 2.39. If the
 * system has an older one, that of Debian 13 is unpacked next to the binary, which is then started by its loader.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from './child.ts';

const MODULES = resolve('bench/peers/node_modules');
const BINARY = join(MODULES, '@tailcallhq/core-linux-x64-gnu/bin/tailcall');
/** Within `node_modules`, so that a fresh install removes it. */
const LIBC = join(MODULES, '.tailcall-libc');
const LIBRARIES = join(LIBC, 'usr/lib/x86_64-linux-gnu');
const LOADER = join(LIBRARIES, 'ld-linux-x86-64.so.2');
const SOURCES = '/etc/apt/sources.list.d/debian.sources';
const MIN_MINOR = 39;

/** A sentence why it can't run here; null if it can. */
export function tailcallMissing(): string | null {
  if (!existsSync(BINARY)) return 'Tailcall is skipped: its binary is for Linux on x64 only.';
  if (hasLibc() || existsSync(LOADER)) return null;
  return 'Tailcall is skipped: it needs glibc 2.39, and that of Debian 13 could not be unpacked.';
}

function hasLibc(): boolean {
  const { stdout = '' } = spawnSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' });
  const [, minor] = /^glibc 2\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(minor) >= MIN_MINOR;
}

/** Unpacks Debian 13's C library from the system's package sources; changes nothing of the system. Failures show in `tailcallMissing`. */
export function unpackLibc(): void {
  if (!existsSync(BINARY) || hasLibc() || existsSync(LOADER) || !existsSync(SOURCES)) return;
  console.error(`Unpacking the C library of Debian 13 into ${LIBC}.`);
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-libc-'));
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'packages']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  const [main = ''] = readFileSync(SOURCES, 'utf8').split(/\n\s*\n/);
  writeFileSync(join(folder, 'debian.sources'), main.replace(/^Suites: .*$/m, 'Suites: trixie'));
  const options = [
    `Dir::State=${folder}/state`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${folder}/cache`,
    `Dir::Etc::sourcelist=${folder}/debian.sources`,
    'Dir::Etc::sourceparts=-',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const run = (program: string, args: readonly string[]) =>
    spawnSync(program, args, { cwd: join(folder, 'packages'), stdio: 'ignore', timeout: 120_000 });
  run('apt-get', [...options, 'update']);
  run('apt-get', [...options, 'download', 'libc6/trixie', 'libgcc-s1/trixie']);
  for (const name of readdirSync(join(folder, 'packages'))) run('dpkg-deb', ['-x', name, LIBC]);
}

/** One worker, since it has one core. The key is forwarded. */
const config = (port: number, upstreamUrl: string) => `
schema @server(port: ${port}, hostname: "127.0.0.1", workers: 1) @upstream(allowedHeaders: ["authorization"]) {
  query: Query
}
type Query {
  countries: CountryList @http(url: "${upstreamUrl}/v1/countries")
  figures(country_codes: String, metric_keys: String, latest: Boolean, start_year: Int, end_year: Int, limit: Int): FigureList
    @http(url: "${upstreamUrl}/v1/data", query: [${PARAMETERS.map((name) => `{ key: "${name}", value: "{{.args.${name}}}", skipEmpty: true }`).join(', ')}])
}
type CountryList { data: [Country!] }
type Country { id: String! name: String! }
type FigureList { data: [Figure!] }
type Figure {
  country_code: String! country_name: String! metric_key: String! metric_name: String! year: Int! period: String!
  as_of_period: String location_name: String value: Float unit: String! source: String! value_status: String!
  estimate_low: Float estimate_high: Float dataset_version: String retrieved_at: String!
}
`;

const PARAMETERS = ['country_codes', 'metric_keys', 'latest', 'start_year', 'end_year', 'limit'];

/** The command that starts it over this service, and its URL. */
export async function tailcallCommand(upstreamUrl: string): Promise<Command> {
  const port = await freePort();
  const file = join(mkdtempSync(join(tmpdir(), 'country-graph-tailcall-')), 'race.graphql');
  writeFileSync(file, config(port, upstreamUrl));
  const start = ['start', file];
  const [program, args] = hasLibc()
    ? [BINARY, start]
    : [LOADER, ['--library-path', LIBRARIES, BINARY, ...start]];
  return {
    program,
    args,
    env: { TAILCALL_LOG_LEVEL: 'error', TAILCALL_TRACKER: 'false' },
    url: `http://127.0.0.1:${port}/graphql`,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
