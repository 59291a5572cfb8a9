import { execFileSync } from 'node:child_process';

/** Processes that have not ended, with those that started them. */
function processes(): { readonly pid: number; readonly parent: number }[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=']).toString().trim().split('\n');
  return rows.flatMap((row) => {
    const [pid, parent, state = ''] = row.trim().split(/\s+/);
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

/** The processes that a process has started and that have not ended. */
export function childrenOf(pid: number | undefined): number[] {
  return processes().flatMap((one) => (one.parent === pid ? [one.pid] : []));
}

export function isRunning(pid: number): boolean {
  return processes().some((one) => one.pid === pid);
}
