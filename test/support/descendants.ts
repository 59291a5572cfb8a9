import { execFileSync } from 'node:child_process';

/** Running processes, with their parents. */
function processes(): { readonly pid: number; readonly parent: number }[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=']).toString().trim().split('\n');
  return rows.flatMap((row) => {
    const [pid, parent, state = ''] = row.trim().split(/\s+/);
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

/** The running child processes of a process. */
export function childrenOf(pid: number | undefined): number[] {
  return processes().flatMap((one) => (one.parent === pid ? [one.pid] : []));
}

export function isRunning(pid: number): boolean {
  return processes().some((one) => one.pid === pid);
}
