import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
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
}

/** Runs a fill in a process of its own. A wait for the next minute takes none: the clock is set forward. */
export async function fillApart({ sources = [], options, env, clock, killAfterWaits }: Filling) {
  const child = fork(
    new URL('fill-child.ts', import.meta.url),
    [JSON.stringify([sources, options, clock.nowMs])],
    { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] },
  );
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
export async function fillHere({ sources = [], options, env, clock }: Omit<Filling, 'killAfterWaits'>) {
  let stdout = '';
  let stderr = '';
  const code = await fill(sources, options, {
    env,
    plugins,
    clock: {
      ...systemClock,
      now: () => clock.nowMs,
      async sleep(ms) {
        clock.nowMs += ms;
      },
    },
    isTerminal: false,
    print(text) {
      stdout += text;
    },
    note(text) {
      stderr += text;
    },
    confirm: null,
    openSandbox() {
      throw new Error('The service is the sandbox of the test.');
    },
  });
  return { code, stdout, stderr };
}
