import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** True if processes can be pinned: the gateway to core 0, service and load generator to core 1. */
export const isPinned = cpus().length > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** Moves this process off core 0, which is the gateway's. */
export function pinSelf(): void {
  pin(process.pid, 1);
}

/** Pins all threads of a running process to a core. */
export function pin(pid: number, core: number): void {
  if (isPinned) spawnSync('taskset', ['-acp', String(core), String(pid)]);
}

/** Clock ticks of the kernel's CPU accounting: 100 a second on every common Linux. */
const TICKS_PER_SECOND = 100;

const living = new Set<ChildProcess>();

/** The terminal's SIGINT isn't enough: some peers begin to drain on it, and don't end. */
function endAll(): void {
  for (const child of living) child.kill('SIGKILL');
}
process.on('exit', endAll);

export interface Child {
  readonly process: ChildProcess;
  readonly lines: Interface;
  /** CPU time of all its threads so far; NaN without /proc. */
  cpuMs(): number;
  /** Peak resident memory, in MB (10⁶ bytes); NaN without /proc. */
  peakRssMb(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ChildOptions {
  /** Node by default. */
  readonly program?: string;
  readonly args: readonly string[];
  /** The core or cores that it is pinned to. */
  readonly core: number | readonly number[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a child process with `NODE_ENV=production`. It is killed when it is disposed of, or when this process exits. */
export function startChild({ program = process.execPath, args, core, env = {} }: ChildOptions): Child {
  const pinning = isPinned ? ['-c', String(core), program] : [];
  const child = spawn(isPinned ? 'taskset' : program, [...pinning, ...args], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  living.add(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let isWanted = false;
  child.once('exit', (code, signal) => {
    living.delete(child);
    if (!isWanted && code !== 0 && signal !== 'SIGTERM')
      console.error(`${args.join(' ')} ended with ${signal ?? code}`);
  });
  return {
    process: child,
    lines: createInterface({ input: child.stdout }),
    cpuMs: () => cpuMsOf(child.pid),
    peakRssMb: () => (Number(/VmHWM:\s+(\d+)/.exec(readProc(`${child.pid}/status`))?.[1]) * 1024) / 1e6,
    async [Symbol.asyncDispose]() {
      isWanted = true;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Busy time of the gateway's core so far, for all processes; NaN if processes are not pinned. */
export function coreMs(): number {
  if (!isPinned) return Number.NaN;
  const [, user, nice, system, , , irq, softirq, steal] =
    /^cpu0 .*/m.exec(readProc('stat'))?.[0].split(' ') ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum, part) => sum + Number(part), 0);
  return (ticks / TICKS_PER_SECOND) * 1000;
}

/** CPU time of all threads of a process so far; NaN without /proc. */
export function cpuMsOf(pid: number | undefined): number {
  const stat = readProc(`${pid}/stat`);
  // The name in brackets may contain spaces; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The next line of its output that matches. Rejects if it exits before. */
export function lineOf(child: Child, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) =>
      reject(new Error(`${child.process.spawnargs.join(' ')} ended with ${code}`));
    const onLine = (line: string) => {
      const match = pattern.exec(line);
      if (match === null) return;
      child.lines.off('line', onLine);
      child.process.off('exit', onExit);
      resolve(match);
    };
    child.lines.on('line', onLine);
    child.process.once('exit', onExit);
  });
}

export interface Listening extends Child {
  readonly url: string;
  /** Time from its start until it accepts requests. */
  readonly startMs: number;
}

/** Starts a server and waits for the line of its output with its URL. */
export async function startListening(options: ChildOptions): Promise<Listening> {
  const startedAt = performance.now();
  const child = startChild({ ...options, env: { PORT: '0', ...options.env } });
  const [, url = ''] = await lineOf(child, / at (http\S+)$/);
  return { ...child, url, startMs: performance.now() - startedAt };
}

/** A server that doesn't print its URL, which is therefore given. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
}

const POLL_MS = 10;
const MAX_POLLS = 2_000;

/** Starts such a server and waits until it accepts a connection. */
export async function startSilent(
  { url, ...command }: Command,
  core: ChildOptions['core'],
): Promise<Listening> {
  const startedAt = performance.now();
  const child = startChild({ ...command, core });
  const { port } = new URL(url);
  for (let poll = 0; !(await acceptsConnections(Number(port))); poll += 1) {
    if (poll === MAX_POLLS || child.process.exitCode !== null)
      throw new Error(`${command.program} does not listen on ${url}`);
    await pause(POLL_MS);
  }
  return { ...child, url, startMs: performance.now() - startedAt };
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('connect', () => socket.destroy());
    socket.on('error', () => resolve(false));
  });
}
