import { median } from './load.ts';
import { OURS_DEFAULT, SERVERS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';

const STARTS = 3;

export interface StartResult {
  readonly server: Server;
  /** From the start of the process to the line that tells its address, in milliseconds. */
  readonly medianMs: number;
}

/** How soon ours and each peer is there. */
export async function measureStarts(): Promise<StartResult[]> {
  await using upstream = await startUpstream();
  const results: StartResult[] = [];
  for (const server of [OURS_DEFAULT, ...SERVERS.filter(({ kind }) => kind === 'peer')]) {
    const times: number[] = [];
    for (let i = 0; i < STARTS; i += 1) {
      const { child } = await startServer(server, upstream.url);
      await using _child = child;
      times.push(child.startMs);
    }
    results.push({ server, medianMs: median(times) });
  }
  return results;
}
