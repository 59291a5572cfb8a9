import { request } from 'node:http';
import type { Program } from './program.ts';
import { threadMs } from './thread-ms.ts';

/** Sends an operation, and keeps no more than the start of its answer: the client shares this thread. */
export function send({ url, sandbox }: Program, query: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${sandbox.keys.team}` };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (response) => {
      let start = '';
      response
        .on('data', (chunk: Buffer) => {
          if (start === '') start = chunk.toString('utf8', 0, 400);
        })
        .on('end', () => resolve(start))
        .on('error', reject);
    });
    sent.on('error', reject).end(JSON.stringify({ query }));
  });
}

/** The longest turn of the event loop meanwhile, in milliseconds of CPU time, which other processes don't affect. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    longestMs = Math.max(longestMs, threadMs(last));
    last = process.threadCpuUsage();
  };
  const watch = setInterval(look, 1);
  await work();
  look();
  clearInterval(watch);
  return longestMs;
}
