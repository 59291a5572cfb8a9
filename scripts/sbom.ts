/**
 * `npm run sbom`: the packages that `npm ci --omit=dev` installs, as a CycloneDX document on standard output.
 *
 * The document is npm's own. `npm sbom --omit dev` leaves out every package that a development dependency needs as well,
 * half of ours, so npm is given a project that has no others.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLock, runTimePackages } from './run-time-packages.ts';

const NPM_ARGS = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];

const { devDependencies: _, ...project } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const lock = readLock();
const { devDependencies: __, ...root } = lock.packages[''] as { devDependencies?: unknown };
const packages = { '': root, ...runTimePackages(lock) };

const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
try {
  // npm names the project after its folder.
  const cwd = join(folder, project.name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(project));
  writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const { status } = spawnSync('npm', NPM_ARGS, { cwd, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
