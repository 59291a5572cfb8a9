import cluster from 'node:cluster';
import { openChannel } from '../async/channel.ts';
import { createHubListening } from '../cache/hub-link.ts';
import type { Config } from '../config.ts';
import type { Log } from '../server/log.ts';
import { CHANNEL_TIMEOUT_MS, type Welcome } from './primary.ts';
import { type OwnProgram, type Program, startProgram } from './serve.ts';

export interface OwnWorker extends Pick<Program, 'drain'> {
  start(): Promise<void>;
}

/**
 * Creates one worker: it runs the program of `serve` in one process, at the port that the supervising process says. It
 * ends when that one says so, and lets operations in flight finish if that one has gone.
 */
export function createWorker(config: Config, log: Log): OwnWorker {
  const { answers, listening } = createHubListening();
  let program: OwnProgram | undefined;
  let draining: Promise<number> | undefined;

  const drain: Program['drain'] = (delayMs, isReplaced) => {
    draining ??= program?.drain(delayMs, isReplaced) ?? Promise.resolve(0);
    return draining;
  };

  async function end(delayMs: number | undefined, isReplaced: boolean): Promise<void> {
    const cut = await drain(delayMs, isReplaced);
    await channel.ask('drained', cut, await program?.snapshot()).catch(() => {});
    process.exit(cut === 0 ? 0 : 1);
  }

  const channel = openChannel({
    send: (message) => void (process.connected && process.send?.(message, undefined, undefined, () => {})),
    listen: (onMessage) => void process.on('message', onMessage),
    timeoutMs: Math.max(CHANNEL_TIMEOUT_MS, config.cacheTimeoutMs),
    answers: {
      ...answers,
      snapshot: () => program?.snapshot() ?? [],
      // It is told that this has begun; `drained` says when it is over.
      drain(delayMs: number | undefined, isReplaced: boolean) {
        void end(delayMs, isReplaced);
      },
    },
  });
  // A group of processes is sent a signal together: the first process decides the answer to it.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  cluster.worker?.on('disconnect', () => {
    channel.close();
    // Node would end the process at once.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    log.note('The supervising process has gone: draining');
    void end(0, false);
  });

  return {
    drain,
    async start() {
      const welcome = (await channel.ask('welcome')) as Welcome;
      const nearBytes = config.cacheMaxBytes / 2 / config.workers;
      const textOfAll = () => channel.ask('metrics').then(String, () => null);
      const link = { ask: channel.ask, ...listening, nearBytes };
      const { port, adminPort } = welcome;
      program = await startProgram({ ...config, port, adminPort }, log, { ...welcome, link, textOfAll });
      await channel.ask('ready', program.url, program.adminUrl);
    },
  };
}
