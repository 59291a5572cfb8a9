import { Agent, request } from 'node:http';
import { drawRequests, type SoakRequest } from './mixture.ts';

export interface LoadOrder {
  readonly url: string;
  readonly keys: number;
  /** Requests a second, which are not made up for where as many as may be are under way. */
  readonly perSecond: number;
  readonly seed: number;
}

/** What has been answered since the load was last asked. */
export interface Answered {
  readonly operations: number;
  /** Those that were told to come back. */
  readonly turnedAway: number;
  /** Those that were answered by a fault of ours, or not at all. */
  readonly wrong: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Requests on their way at once. */
const MOST_UNDER_WAY = 64;

/** How often requests are sent that are due, in milliseconds. */
const TICK_MS = 10;

/** Sends drawn requests, evenly spaced, until it is stopped. */
export function startLoad({ url, keys, perSecond, seed }: LoadOrder) {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_UNDER_WAY });
  const draws = drawRequests(keys, seed);
  let times: number[] = [];
  let [underWay, turnedAway, wrong] = [0, 0, 0];
  let due = 0;

  function note(status: number, ms: number): void {
    times.push(ms);
    if (status === 503) turnedAway += 1;
    // 406: not each operation has a list that makes a table.
    else if (status !== 200 && status !== 406) wrong += 1;
  }

  async function send(drawn: SoakRequest): Promise<void> {
    underWay += 1;
    const sentAtMs = performance.now();
    note(await statusOf(url, agent, drawn), performance.now() - sentAtMs);
    underWay -= 1;
  }

  const timer = setInterval(() => {
    due += (perSecond * TICK_MS) / 1000;
    for (; due >= 1; due -= 1) if (underWay < MOST_UNDER_WAY) void send(draws.next().value as SoakRequest);
  }, TICK_MS);

  return {
    take(): Answered {
      const sorted = times.sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
      const taken = { operations: sorted.length, turnedAway, wrong, p50Ms: at(0.5), p99Ms: at(0.99) };
      times = [];
      [turnedAway, wrong] = [0, 0];
      return taken;
    },
    stop() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** @returns 0 where there is no whole answer */
function statusOf(url: string, agent: Agent, { headers, body }: SoakRequest): Promise<number> {
  return new Promise((resolve) => {
    const options = {
      agent,
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    };
    const sent = request(url, options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('close', () => resolve(0));
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}
