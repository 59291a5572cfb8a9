/**
 * `npm run release [-- --dry-run]`: makes a release of the last commit. The changes in `.changeset` determine its version and
 * become its section of the changelog; if the current version was never released, they are added to its section. Updates the
 * version everywhere, and the released schema; commits; writes the files to publish into `dist/release` (the package, those
 * for frontends and of GraphiQL, the SBOM, and their digests); and tags. It publishes nothing: `git push --follow-tags` triggers the
 * workflow that does, with provenance. `--dry-run` does all of it in a temporary copy; `--files` only writes the files to
 * publish, of a release that is made. `--repository`, `--homepage`, `--bugs` and `--author` become those of the packages.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { linkPackages } from './linked-packages.ts';
import { makePublishable, type Origin } from './publishable.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const OUT = 'dist/release';
const OPTIONS = {
  'dry-run': { type: 'boolean', default: false },
  files: { type: 'boolean', default: false },
  repository: { type: 'string' },
  homepage: { type: 'string' },
  bugs: { type: 'string' },
  author: { type: 'string' },
} as const;

/** The reason why a release can't be made. */
class ReleaseError extends Error {}

/** The first line of `docs/released.graphql`. */
export function headOf(version: string, isReleased: boolean): string {
  return `# The graph of ${version}${isReleased ? '' : ', which is not released yet'}.\n`;
}

/** The section of a version in a changelog, without its heading; empty if there is none. */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.split('\n', 1)[0] === version) ?? version;
  return section.slice(version.length).trim();
}

/** A changelog with its first section moved to the end of the second. */
export function mergedSections(changelog: string): string {
  const [head = '', newest = '', version = '', ...older] = changelog.split(/^(?=## )/m);
  const changes = newest.replace(/^## .*\n+/, '').trimEnd();
  return `${head}${version.trimEnd()}\n\n${changes}\n${older.map((section) => `\n${section}`).join('')}`;
}

/** The files that contain the version, with their new text. */
function edited(root: string, before: string, version: string): ReadonlyMap<string, string> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const files = new Map<string, string>();
  const replaceIn = (file: string, from: string, to: string) => {
    const text = read(file);
    if (!text.includes(from)) throw new ReleaseError(`${file} doesn't contain ${JSON.stringify(from)}.`);
    files.set(file, text.replaceAll(from, to));
  };
  for (const folder of ['', 'clients/client/', 'clients/graphiql/']) {
    const [manifest, locked] = [`${folder}package.json`, `${folder}package-lock.json`];
    files.set(manifest, withVersion(read(manifest), version));
    if (!existsSync(join(root, locked))) continue;
    const lock = JSON.parse(read(locked));
    lock.version = version;
    lock.packages[''].version = version;
    files.set(locked, `${JSON.stringify(lock, null, 2)}\n`);
  }
  const tarball = (of: string) => `country-graph-${of}.tgz`;
  for (const file of ['README.md', 'docs/operating.md']) replaceIn(file, tarball(before), tarball(version));
  replaceIn('docker/kubernetes/kustomization.yaml', `newTag: ${before}`, `newTag: ${version}`);
  const sdl = ran(root, process.execPath, 'bin/country-graph.cjs', 'schema');
  files.set('docs/released.graphql', `${headOf(version, true)}${sdl}`);
  return files;
}

function versionIn(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

const withVersion = (text: string, version: string) =>
  text.replace(/"version": ".*"/, `"version": "${version}"`);

/** Turns the changes in `.changeset` into a version and its section of the changelog. Returns the version. */
function applyChanges(root: string): string {
  const before = versionIn(root);
  const wasReleased = ran(root, 'git', 'tag', '--list', `v${before}`) !== '';
  const hasChanges = readdirSync(join(root, '.changeset')).some(
    (file) => file.endsWith('.md') && file !== 'README.md',
  );
  if (!hasChanges && wasReleased) throw new ReleaseError(`.changeset has no change since ${before}.`);
  if (hasChanges) ran(root, join(root, 'node_modules/.bin/changeset'), 'version');
  if (wasReleased || !hasChanges) return versionIn(root);
  for (const [file, change] of [
    ['package.json', (text: string) => withVersion(text, before)],
    ['CHANGELOG.md', mergedSections],
  ] as const)
    writeFileSync(join(root, file), change(readFileSync(join(root, file), 'utf8')));
  return before;
}

function ran(cwd: string, command: string, ...args: string[]): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
}

/** Packs a folder of the root into the files to publish. */
async function pack(
  root: string,
  folder: string,
  origin: Origin,
  flags: readonly string[] = [],
): Promise<void> {
  const packed = await mkdtemp(join(tmpdir(), 'country-graph-packed-'));
  try {
    ran(root, 'npm', 'pack', '--silent', ...flags, '--pack-destination', packed, `./${folder}`);
    const [file = ''] = await readdir(packed);
    ran(packed, 'tar', 'xzf', file);
    makePublishable(join(packed, 'package'), origin, folder);
    ran(
      join(packed, 'package'),
      'npm',
      'pack',
      '--silent',
      '--ignore-scripts',
      '--pack-destination',
      join(root, OUT),
    );
  } finally {
    await rm(packed, { recursive: true, force: true });
  }
}

/** Builds the files to publish. */
async function makeFiles(root: string, origin: Origin, isDry: boolean): Promise<void> {
  const out = join(root, OUT);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  // GraphiQL's pages take a minute to build, and don't depend on the version.
  if (isDry) ran(root, process.execPath, 'scripts/prepare.mjs', '--without-pages');
  await pack(root, '', origin, isDry ? ['--ignore-scripts'] : []);
  ran(root, join(root, 'node_modules/.bin/tsc'), '-p', 'clients/client');
  await pack(root, 'clients/client', origin);
  await pack(root, 'clients/graphiql', origin);
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

async function release(root: string, origin: Origin, isDry: boolean): Promise<void> {
  const before = versionIn(root);
  const version = applyChanges(root);
  const notes = sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (notes === '') throw new ReleaseError(`CHANGELOG.md has no section for ${version}.`);
  for (const [file, text] of edited(root, before, version)) writeFileSync(join(root, file), text);
  const tag = `v${version}`;
  ran(root, 'git', 'commit', '--quiet', '--all', '--message', `Release ${version}`);
  await makeFiles(root, origin, isDry);
  // Last, so that a failure leaves a commit to undo, but no tag. The workflow uses the tag's message as the release notes.
  ran(root, 'git', 'tag', '--annotate', '--cleanup=whitespace', '--message', notes, tag);
  process.stdout.write(ran(root, 'git', 'show', '--stat', '--format=%s', `${tag}^{commit}`));
}

async function main(): Promise<void> {
  const { 'dry-run': isDry, files, ...origin } = parseArgs({ options: OPTIONS }).values;
  if (files) return makeFiles(ROOT, origin, false);
  if (!isDry) {
    if (ran(ROOT, 'git', 'status', '--porcelain') !== '')
      throw new ReleaseError('There are uncommitted changes.');
    await release(ROOT, origin, false);
    console.log(
      `${OUT} has the files to publish; git push --follow-tags triggers the workflow that publishes them.`,
    );
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
    for (const pages of ['dist/graphiql', 'clients/graphiql/dist'])
      if (existsSync(join(ROOT, pages))) await cp(join(ROOT, pages), join(copy, pages), { recursive: true });
    await release(copy, origin, true);
    console.log(`Dry run: nothing is released, and the copy is removed.`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main().catch((error: unknown) => {
    if (!(error instanceof ReleaseError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  });
