import { spawnSync } from 'node:child_process';

/** True if suites that need another program run: without it they skip, but never in CI. */
export function hasProgram(name: string, versionArg = '--version'): boolean {
  return process.env.CI === 'true' || spawnSync(name, [versionArg]).status === 0;
}
