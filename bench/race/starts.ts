import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './load.ts';
import { OURS_DEFAULT, SERVERS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';

const STARTS = 3;

/** Time that a server may take to end, in milliseconds; then it is killed. */
const MOST_END_MS = 3_000;

export interface StartResult {
  readonly server: Server;
  /** Time from the start of the process to the line that tells its address, in milliseconds. */
  readonly medianMs: number;
  /** Times that this is the median of. */
  readonly times: readonly number[];
}

/** Starts a server, and ends it as an operator does: some leave the code that they have compiled for the next start. */
async function startOnce(server: Server, upstreamUrl: string): Promise<void> {
  const { child } = await startServer(server, upstreamUrl);
  await using _child = child;
  const ended = once(child.process, 'exit');
  child.process.kill('SIGTERM');
  await Promise.race([ended, pause(MOST_END_MS)]);
}

/** Time until ours and each peer is there. */
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
