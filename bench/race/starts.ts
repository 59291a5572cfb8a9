import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './load.ts';
import { OURS_DEFAULT, SERVERS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';

const STARTS = 3;

/** Milliseconds after SIGTERM after which a server is killed. */
const MAX_END_MS = 3_000;

export interface StartResult {
  readonly server: Server;
  /** From the start of the process until it accepts requests. */
  readonly medianMs: number;
  /** The times of which this is the median. */
  readonly times: readonly number[];
}

/** Starts a server and stops it as an operator does: on SIGTERM, some write a compile cache for the next start. */
async function startOnce(server: Server, upstreamUrl: string): Promise<void> {
  const { child } = await startServer(server, upstreamUrl);
  await using _child = child;
  const ended = once(child.process, 'exit');
  child.process.kill('SIGTERM');
  await Promise.race([ended, pause(MAX_END_MS)]);
}

/** Startup time of ours and of each peer. */
export async function measureStarts(): Promise<StartResult[]> {
  await using upstream = await startUpstream();
  const results: StartResult[] = [];
  for (const server of [OURS_DEFAULT, ...SERVERS.filter(({ kind }) => kind === 'peer')]) {
    await startOnce(server, upstream.url);
    const times: number[] = [];
    for (let i = 0; i < STARTS; i += 1) {
      const { child } = await startServer(server, upstream.url);
      await using _child = child;
      times.push(child.startMs);
    }
    results.push({ server, medianMs: median(times), times });
  }
  return results;
}
