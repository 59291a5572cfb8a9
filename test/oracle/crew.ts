import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Habits } from './habits.ts';
import type { OwnMode } from './modes.ts';
import { addTally, createTally, type Tally } from './run.ts';

export interface Task {
  readonly seed: number;
  readonly service: number;
  readonly operations: number;
  /** Failures to minimise and tell in full. */
  readonly shown: number;
  readonly kind: string | undefined;
  readonly mode?: OwnMode | undefined;
  readonly verbose: boolean;
  /** Habits in place of those that are drawn. */
  readonly habits?: Partial<Habits>;
}

export interface Result {
  readonly tally: Tally;
  readonly lines: readonly string[];
}

/** Runs services on so many processes at once; lines are told as they come. */
export async function runTasks(
  tasks: readonly Task[],
  processes: number,
  tell: (line: string) => void,
): Promise<Tally> {
  const sum = createTally();
  const waiting = [...tasks];
  const runAll = async () => {
    const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), { execArgv: [] });
    try {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        const { tally, lines } = await runIn(worker, task);
        addTally(sum, tally);
        for (const line of lines) tell(line);
      }
    } finally {
      worker.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, tasks.length) }, runAll));
  return sum;
}

function runIn(worker: ChildProcess, task: Task): Promise<Result> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`service ${task.service} ended its process: ${code}`));
    worker.once('exit', ended);
    worker.once('message', (result) => {
      worker.off('exit', ended);
      resolve(result as Result);
    });
    worker.send(task);
  });
}
