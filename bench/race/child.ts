import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** True if processes can be kept to a core of their own: the gateway to 0, service and load to 1. */
export const isPinned = cpus().length > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** Leaves core 0 to the gateway, as far as this process is concerned. */
export function pinSelf(): void {
  pin(process.pid, 1);
}

/** Keeps all threads of a process that is running to a core. */
export function pin(pid: number, core: number): void {
  if (isPinned) spawnSync('taskset', ['-acp', String(core), String(pid)]);
}

/** Ticks of the kernel's CPU accounting in a second: 100 on every Linux that is in use. */
const TICKS_PER_SECOND = 100;

const living = new Set<ChildProcess>();

/** Some peers take a SIGINT of the terminal for a wish to drain, and stay. */
function endAll(): void {
  for (const child of living) child.kill('SIGKILL');
}
process.on('exit', endAll);

export interface Child {
  readonly process: ChildProcess;
  readonly lines: Interface;
  /** User and system time of all its threads so far; NaN if there is no /proc. */
  cpuMs(): number;
  /** The most memory it ever held, in MB (10⁶ bytes); NaN if there is no /proc. */
  peakRssMb(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ChildOptions {
  /** Node unless told. */
  readonly program?: string;
  readonly args: readonly string[];
  /** Core or cores that it is kept to. */
  readonly core: number | readonly number[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of the race, in production mode. It is ended with its owner. */
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

/** Time that the gateway's core has spent on anybody's work so far; NaN if it has none of its own. */
export function coreMs(): number {
  if (!isPinned) return Number.NaN;
  const [, user, nice, system, , , irq, softirq, steal] =
    /^cpu0 .*/m.exec(readProc('stat'))?.[0].split(' ') ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum, part) => sum + Number(part), 0);
  return (ticks / TICKS_PER_SECOND) * 1000;
}

/** User and system time of all threads of a process so far; NaN if there is no /proc. */
export function cpuMsOf(pid: number | undefined): number {
  const stat = readProc(`${pid}/stat`);
  // The name in brackets may hold spaces; utime and stime are the 12th and 13th field after it.
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

/** The next line that it prints of this form. */
export function lineOf(child: Child, form: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) =>
      reject(new Error(`${child.process.spawnargs.join(' ')} ended with ${code}`));
    const onLine = (line: string) => {
      const found = form.exec(line);
      if (found === null) return;
      child.lines.off('line', onLine);
      child.process.off('exit', onExit);
      resolve(found);
    };
    child.lines.on('line', onLine);
    child.process.once('exit', onExit);
  });
}

export interface Listening extends Child {
  readonly url: string;
  /** Time from its start to the line that tells its address. */
  readonly startMs: number;
}

/** Starts a server and waits for the line that tells its address. */
export async function startListening(options: ChildOptions): Promise<Listening> {
  const startedAt = performance.now();
  const child = startChild({ ...options, env: { PORT: '0', ...options.env } });
  const [, url = ''] = await lineOf(child, / at (http\S+)$/);
  return { ...child, url, startMs: performance.now() - startedAt };
}

/** A program that doesn't tell its address. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
}

const LOOK_MS = 10;
const MOST_LOOKS = 2_000;

/** Starts it and waits until it takes a connection. */
export async function startSilent(
  { url, ...command }: Command,
  core: ChildOptions['core'],
): Promise<Listening> {
  const startedAt = performance.now();
  const child = startChild({ ...command, core });
  const { port } = new URL(url);
  for (let look = 0; !(await takesConnections(Number(port))); look += 1) {
    if (look === MOST_LOOKS || child.process.exitCode !== null)
      throw new Error(`${command.program} does not listen at ${url}`);
    await pause(LOOK_MS);
  }
  return { ...child, url, startMs: performance.now() - startedAt };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((told) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => told(true));
    socket.on('connect', () => socket.destroy());
    socket.on('error', () => told(false));
  });
}
