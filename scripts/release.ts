/**
 * `npm run release -- 0.2.0 [--dry-run]`: makes a release of the last commit. Writes the version in all of
 * its places, the section of the changelog and the released graph; commits; puts all that is published into
 * `dist/release`: the package, that for frontends, the SBOM, and their digests; and tags. It publishes
 * nothing: `git push --follow-tags` has the workflow do that, with provenance. With `--dry-run` all of it is
 * done in a copy, and left nowhere.
 *
 * The day is today's, or that of `SOURCE_DATE_EPOCH`; all else is the same at any time.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sectionOf } from './changelog.ts';
import { linkPackages } from './linked-packages.ts';
import { sectionBelow } from './sections.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const OUT = 'dist/release';

/** A release that can't be made, and why. */
class ReleaseFault extends Error {}

/** The head of `docs/released.graphql`: which release it is of. */
export function headOf(version: string, isReleased: boolean): string {
  return `# The graph of ${version}${isReleased ? '' : ', which is not released yet'}.\n`;
}

/** The changelog with its unreleased part under a version; null if there is none. */
export function releasedChangelog(changelog: string, version: string, day: string): string | null {
  const unreleased = sectionBelow(changelog, (heading) => heading === 'Unreleased');
  const told = unreleased?.replace(/^This is to become .*\n/m, '').trim();
  if (unreleased === null || !told) return null;
  return changelog.replace(
    `## Unreleased\n${unreleased}`,
    () => `## Unreleased\n\n## ${version} (${day})\n\n${told}\n${unreleased.endsWith('\n\n') ? '\n' : ''}`,
  );
}

/** Files that name the version, with their text for the new one. */
function edited(root: string, before: string, version: string, day: string): ReadonlyMap<string, string> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const files = new Map<string, string>();
  const replaceIn = (file: string, from: string, to: string) => {
    const text = read(file);
    if (!text.includes(from)) throw new ReleaseFault(`${file} doesn't say ${JSON.stringify(from)}.`);
    files.set(file, text.replaceAll(from, to));
  };
  for (const file of ['package.json', 'clients/client/package.json'])
    files.set(file, read(file).replace(/"version": ".*"/, `"version": "${version}"`));
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  lock.packages[''].version = version;
  files.set('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
  const tarball = (of: string) => `country-graph-${of}.tgz`;
  for (const file of ['README.md', 'docs/operating.md']) replaceIn(file, tarball(before), tarball(version));
  replaceIn('docker/kubernetes/kustomization.yaml', `newTag: ${before}`, `newTag: ${version}`);
  const changelog = releasedChangelog(read('CHANGELOG.md'), version, day);
  if (changelog === null) throw new ReleaseFault('CHANGELOG.md says nothing under ## Unreleased.');
  files.set('CHANGELOG.md', changelog);
  const sdl = ran(root, process.execPath, 'bin/country-graph.cjs', 'schema');
  files.set('docs/released.graphql', `${headOf(version, true)}${sdl}`);
  return files;
}

function versionIn(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

function check(root: string, before: string, version: string): void {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new ReleaseFault(`${JSON.stringify(version)} is no version, such as 0.2.0.`);
  const tags = ran(root, 'git', 'tag', '--list').split('\n');
  if (tags.includes(`v${version}`)) throw new ReleaseFault(`${version} is released already.`);
  const numbers = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number);
  const [now, next] = [numbers(before), numbers(version)];
  const at = now.findIndex((number, i) => number !== next[i]);
  if (at !== -1 && (next[at] ?? 0) < (now[at] ?? 0))
    throw new ReleaseFault(`${version} comes before ${before}, which the package is.`);
}

function ran(cwd: string, command: string, ...args: string[]): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
}

/** Makes the published files of a commit. */
async function makeFiles(root: string, isDry: boolean): Promise<void> {
  const out = join(root, OUT);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  // GraphiQL's pages take a minute, and are the same.
  if (isDry) ran(root, process.execPath, 'scripts/prepare.mjs', '--without-pages');
  ran(root, 'npm', 'pack', '--silent', ...(isDry ? ['--ignore-scripts'] : []), '--pack-destination', OUT);
  ran(root, join(root, 'node_modules/.bin/tsc'), '-p', 'clients/client');
  ran(root, 'npm', 'pack', '--silent', '--pack-destination', OUT, './clients/client');
  writeFileSync(join(out, 'sbom.json'), ran(root, process.execPath, 'scripts/sbom.ts'));
  const files = (await readdir(out)).toSorted();
  const digests = files.map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(out, file)))
      .digest('hex');
    return `${digest}  ${file}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), digests.join(''));
  process.stdout.write(digests.join(''));
}

async function release(root: string, version: string, isDry: boolean): Promise<void> {
  const before = versionIn(root);
  const epoch = process.env.SOURCE_DATE_EPOCH;
  const day = new Date(epoch ? Number(epoch) * 1000 : Date.now()).toISOString().slice(0, 10);
  for (const [file, text] of edited(root, before, version, day)) writeFileSync(join(root, file), text);
  const tag = `v${version}`;
  if (sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version) === null)
    throw new ReleaseFault(`CHANGELOG.md has no section ## ${version}.`);
  ran(root, 'git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  await makeFiles(root, isDry);
  // Comes last: after an earlier failure, there is a commit to take back, and no tag.
  ran(root, 'git', 'tag', '--annotate', '--message', `Country Graph ${version}`, tag);
  process.stdout.write(ran(root, 'git', 'show', '--stat', '--format=%s', tag));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false } },
  });
  const [version = ''] = positionals;
  check(ROOT, versionIn(ROOT), version);
  if (!values['dry-run']) {
    if (ran(ROOT, 'git', 'status', '--porcelain') !== '')
      throw new ReleaseFault('Something is not committed: a release is of what is.');
    await release(ROOT, version, false);
    console.log(`${OUT} has what is published. git push --follow-tags has the forge publish it.`);
    return;
  }
  const copy = await mkdtemp(join(tmpdir(), 'country-graph-release-'));
  try {
    ran(ROOT, 'git', 'clone', '--quiet', '--no-hardlinks', ROOT, copy);
    for (const [name, value] of [
      ['user.name', 'Dry run'],
      ['user.email', 'dry@run.invalid'],
    ] as const)
      ran(copy, 'git', 'config', name, value);
    await linkPackages(ROOT, copy);
    if (existsSync(join(ROOT, 'dist/graphiql')))
      await cp(join(ROOT, 'dist/graphiql'), join(copy, 'dist/graphiql'), { recursive: true });
    await release(copy, version, true);
    console.log(`Nothing is released: this was done in a copy, which is gone.`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main().catch((fault: unknown) => {
    if (!(fault instanceof ReleaseFault)) throw fault;
    console.error(fault.message);
    process.exitCode = 1;
  });
