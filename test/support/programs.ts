import { spawnSync } from 'node:child_process';

/** Whether suites that need another program run: where it is missing they skip, but never in CI. */
export function hasProgram(name: string, versionArg = '--version'): boolean {
  return process.env.CI === 'true' || spawnSync(name, [versionArg]).status === 0;
}
