import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** Starts a server that stands in front of a program, and waits until it passes requests on. Its folder is removed at the end. */
export async function startFront(command: string, args: readonly string[], port: number, folder: string) {
  const child = spawn(command, args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const ready = await fetch(`${url}/health/live`).catch(() => null);
    if (ready?.status === 200) break;
    await pause(50);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
