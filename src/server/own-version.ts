import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What this program is: which version, and of what state of its sources. */
export interface Build {
  readonly version: string;
  /** Short name of the commit, with `.dirty` behind it where files differed from it; null where nobody knows. */
  readonly commit: string | null;
}

/** Beside the folder of the program's code, built or not. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Written by `scripts/prepare.mjs`. */
const STAMP = `${ROOT}lib/build.json`;

/** The version of the package. */
export function ownVersion(): string {
  return JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).version;
}

let build: Build | undefined;

/** A checkout runs as it stands, so git is asked there; what was built is what was written then. */
export function ownBuild(): Build {
  build ??= { version: ownVersion(), commit: commitHere() ?? stampedCommit() };
  return build;
}

/** As Semantic Versioning has it: `0.1.0+1a2b3c4`. */
export function buildText({ version, commit }: Build = ownBuild()): string {
  return commit === null ? version : `${version}+${commit}`;
}

/** The commit that a checkout is of; null where this is none, or there is no git. */
export function commitHere(): string | null {
  if (!existsSync(`${ROOT}.git`)) return null;
  const args = ['-C', ROOT, 'describe', '--always', '--exclude=*', '--abbrev=7', '--dirty=.dirty'];
  // Nothing is written, not even that an index is fresh.
  const { stdout, status } = spawnSync('git', ['--no-optional-locks', ...args], {
    encoding: 'utf8',
    timeout: 5_000,
  });
  return status === 0 ? stdout.trim() : null;
}

function stampedCommit(): string | null {
  try {
    const { commit } = JSON.parse(readFileSync(STAMP, 'utf8'));
    return typeof commit === 'string' ? commit : null;
  } catch {
    return null;
  }
}
