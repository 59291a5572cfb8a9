import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-port.ts';

/** Whether suites with a real Redis run: where the program is missing they skip, but never in CI. */
export const hasRedis = process.env.CI === 'true' || spawnSync('redis-server', ['--version']).status === 0;

/** A Redis in a process of its own, with nothing in it and nothing on disk. */
export async function startRedis(port?: number) {
  const at = port ?? (await freePort());
  const child: ChildProcess = spawn(
    'redis-server',
    ['--port', String(at), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk) => {
      if (String(chunk).includes('Ready to accept connections')) resolve();
    });
  });
  await Promise.race([ready, failed]);
  return {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    /** Ends it at once, as a crash would. */
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
