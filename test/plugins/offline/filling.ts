import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { commandView } from '../../../src/cli/command-view.ts';
import { type FillOptions, fill } from '../../../src/plugins/offline/fill.ts';
import { plugins } from '../../../src/plugins.ts';
import { systemClock } from '../../../src/shared/async/clock.ts';

/** A clock that several processes share, and the test moves. */
export interface SharedClock {
  nowMs: number;
}

export interface Filling {
  readonly sources?: readonly string[];
  readonly options: FillOptions;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: SharedClock;
  /** Waits for a minute after which it is killed; left out to let it end. */
  readonly killAfterWaits?: number;
  /** Kilobytes that no file may grow beyond, as on a disk that is full; left out for as many as there are. */
  readonly roomKb?: number;
  /** Has it killed once this settles. */
  readonly killed?: Promise<unknown>;
}

/** Runs a fill in a process of its own. A wait for the next minute takes none: the clock is set forward. */
export async function fillApart({ sources = [], options, clock, ...around }: Filling) {
  const { env, killAfterWaits, roomKb, killed } = around;
  // POSIX counts files in blocks of 512 bytes.
  const room = roomKb === undefined ? '' : `ulimit -f ${2 * roomKb} && `;
  const file = fileURLToPath(new URL('fill-child.ts', import.meta.url));
  const child = spawn(
    'sh',
    ['-c', `${room}exec "$0" "$@"`, process.execPath, file, JSON.stringify([sources, options, clock.nowMs])],
    { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  void killed?.then(() => child.kill('SIGKILL'));
  let waits = 0;
  child.on('message', (message: { readonly sleepMs?: number }) => {
    if (message.sleepMs === undefined) return;
    waits += 1;
    clock.nowMs += message.sleepMs;
    if (waits === killAfterWaits) child.kill('SIGKILL');
    else child.send(clock.nowMs);
  });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code: code as number | null, signal: signal as string | null, waits };
}

/** Runs a fill in this process, and returns what it has written. A wait takes none, as above. */
export async function fillHere({
  sources = [],
  options,
  env,
  clock,
  confirm = null,
}: Omit<Filling, 'killAfterWaits'> & { readonly confirm?: ((question: string) => Promise<boolean>) | null }) {
  let stdout = '';
  let stderr = '';
  const now = () => clock.nowMs;
  const openSandbox = () => {
    throw new Error('The service is the sandbox of the test.');
  };
  const kernelClock = {
    ...systemClock,
    now,
    async sleep(ms: number) {
      clock.nowMs += ms;
    },
  };
  const code = await fill(sources, options, {
    host: commandView({ env, plugins, openSandbox }, kernelClock),
    now,
    isTerminal: false,
    print(text) {
      stdout += text;
    },
    note(text) {
      stderr += text;
    },
    confirm,
  });
  return { code, stdout, stderr };
}
