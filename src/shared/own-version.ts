import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the package: built or not, the code is two levels below. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The path of a file of the package. */
export function packageFile(path: string): string {
  return ROOT + path;
}

let build: { readonly version: string; readonly commit: string | null } | undefined;

/**
 * `commit` is a short name, with `.dirty` behind it if files differ; null if unknown. What was built has its stamp; for
 * sources that run as they are, git is asked.
 */
export function ownBuild() {
  build ??= {
    version: JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).version,
    commit: (import.meta.url.endsWith('.ts') ? null : stampedCommit()) ?? commitHere(),
  };
  return build;
}

/** With the commit, if that is known: `0.1.0+1a2b3c4`. */
export function ownVersion(): string {
  const { version, commit } = ownBuild();
  return commit === null ? version : `${version}+${commit}`;
}

/** The commit of a checkout; null if this is none, or there is no git. `scripts/prepare.mjs` uses it, too. */
export function commitHere(): string | null {
  if (!existsSync(`${ROOT}.git`)) return null;
  const args = ['-C', ROOT, 'describe', '--always', '--exclude=*', '--abbrev=7', '--dirty=.dirty'];
  // Git must not write, not even to refresh the index.
  const { stdout, status } = spawnSync('git', ['--no-optional-locks', ...args], {
    encoding: 'utf8',
    timeout: 5_000,
  });
  return status === 0 ? stdout.trim() : null;
}

/** Reads the file that `scripts/prepare.mjs` writes. */
function stampedCommit(): string | null {
  try {
    const { commit } = JSON.parse(readFileSync(`${ROOT}lib/build.json`, 'utf8'));
    return typeof commit === 'string' ? commit : null;
  } catch {
    return null;
  }
}
