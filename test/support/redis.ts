import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-port.ts';

/** True if suites with a real Redis run. Without it they are skipped, except in CI, where they fail. */
export const hasRedis = process.env.CI === 'true' || spawnSync('redis-server', ['--version']).status === 0;

/** Attempts with different ports: a port that was free a moment ago may be in use by now. */
const MAX_ATTEMPTS = 5;

/**
 * An empty Redis in a separate process, without persistence.
 * @throws if it ends before it is ready
 */
export async function startRedis(port?: number, options: readonly string[] = []) {
  for (let attempts = 1; ; attempts += 1) {
    const at = port ?? (await freePort());
    const child = await readyAt(at, options);
    if (child !== null) return running(child, at);
    if (port !== undefined || attempts === MAX_ATTEMPTS)
      throw new Error(`Redis doesn't start at port ${at}.`);
  }
}

/** Null if it has exited instead. */
async function readyAt(port: number, options: readonly string[]): Promise<ChildProcess | null> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...options],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let output = '';
  const ready = new Promise<ChildProcess>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Ready to accept connections')) resolve(child);
    });
  });
  return Promise.race([ready, once(child, 'exit').then(() => null)]);
}

function running(child: ChildProcess, port: number) {
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    /** Kills it, like a crash. */
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async [Symbol.asyncDispose]() {
      await this.kill();
    },
  };
}
