import { readFileSync } from 'node:fs';

const PARENT_LOOK_MS = 1_000;

/** Shells by which npm and the like run scripts. */
const SHELL = /^(?:\S*\/)?(?:sh|ash|bash|busybox|dash|ksh|zsh)$/;

/**
 * Calls back once if a package manager that runs the program ends without it: `npx` ends at a SIGTERM by itself, and
 * would leave the program as an orphan that holds its port. The operating system gives orphans another parent, which
 * shows it; Windows doesn't, so nothing is noticed there. A program that was started otherwise, or was orphaned before
 * this (`nohup … &` in a script), has no such parent.
 * @returns a function that stops looking
 */
export function onParentLost(env: NodeJS.ProcessEnv, lost: () => void): () => void {
  const parent = process.ppid;
  // Each package manager sets it.
  if (env.npm_config_user_agent === undefined || parent <= 1) return () => {};
  // A shell between the two outlives its own parent if that is killed.
  const above = isShell(parent) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const isLeft = process.ppid === parent && (above === undefined || (parentOf(parent) ?? above) === above);
    if (isLeft) return;
    clearInterval(timer);
    lost();
  }, PARENT_LOOK_MS).unref();
  return () => clearInterval(timer);
}

function isShell(pid: number): boolean {
  const [name = '', flag] = read(`/proc/${pid}/cmdline`).split('\0');
  return SHELL.test(name) && flag === '-c';
}

/** Undefined if the system doesn't tell. */
function parentOf(pid: number): number | undefined {
  // The name in parentheses may have any characters.
  const [, parent] = /^\d+ \(.*\) \S (\d+) /s.exec(read(`/proc/${pid}/stat`)) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
