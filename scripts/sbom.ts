/**
 * `npm run sbom`: prints the packages that `npm ci --omit=dev` installs as a CycloneDX document.
 *
 * The document comes from npm. `npm sbom --omit dev` omits every package that a development dependency needs as well, which is
 * half of ours, so npm runs in a copy of the project without development dependencies.
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
  // npm takes the name of the project from its folder.
  const cwd = join(folder, project.name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(project));
  writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const { status } = spawnSync('npm', NPM_ARGS, { cwd, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
