import { spawnSync } from 'node:child_process';

/** True if suites that need another program run. Without it they are skipped, except in CI, where they fail. */
export function hasProgram(name: string, versionArg = '--version'): boolean {
  return process.env.CI === 'true' || spawnSync(name, [versionArg]).status === 0;
}
