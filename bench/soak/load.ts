import { Agent, request } from 'node:http';
import { drawRequests, type SoakRequest } from './mixture.ts';

export interface LoadOrder {
  readonly url: string;
  readonly keys: number;
  /** Requests a second, which are not made up for while as many as may be are under way. */
  readonly perSecond: number;
  readonly seed: number;
}

/** Answers since the last look. */
export interface Answered {
  readonly operations: number;
  /** Requests that were told to come back. */
  readonly turnedAway: number;
  /** Requests that were answered by a fault of ours, or not at all. */
  readonly wrong: number;
  /** The status of each, or the error of its connection. */
  readonly faults: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Requests on their way at once. */
const MOST_UNDER_WAY = 64;

/** Statuses that this load has a right to. */
const EXPECTED = new Set([200, 406, 503]);

/** Bytes of another answer that are shown. */
const SHOWN = 200;

/** Interval, in milliseconds, at which due requests are sent. */
const TICK_MS = 10;

/** Sends drawn requests, evenly spaced, until it is stopped. */
export function startLoad({ url, keys, perSecond, seed }: LoadOrder) {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_UNDER_WAY });
  const draws = drawRequests(keys, seed);
  let times: number[] = [];
  let faults: string[] = [];
  let [underWay, turnedAway] = [0, 0];
  let due = 0;

  function note(ending: string, ms: number): void {
    times.push(ms);
    if (ending === '503') turnedAway += 1;
    // 406: not each operation has a list that makes a table.
    else if (!EXPECTED.has(Number(ending))) faults.push(`${ending} after ${Math.round(ms)} ms`);
  }

  async function send(drawn: SoakRequest): Promise<void> {
    underWay += 1;
    const sentAtMs = performance.now();
    note(await endingOf(url, agent, drawn), performance.now() - sentAtMs);
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
      const taken = { operations: sorted.length, turnedAway, faults, p50Ms: at(0.5), p99Ms: at(0.99) };
      [times, faults, turnedAway] = [[], [], 0];
      return { ...taken, wrong: taken.faults.length };
    },
    stop() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** @returns the status of a whole answer, with its first words if it is none of the expected ones; else the connection's error */
function endingOf(url: string, agent: Agent, drawn: SoakRequest): Promise<string> {
  const { headers, body } = drawn;
  return new Promise((resolve) => {
    const options = {
      agent,
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    };
    const sent = request(url, options, (answer) => {
      const { statusCode = 0 } = answer;
      let start = '';
      answer.on('data', (chunk: Buffer) => {
        if (statusCode >= 400 && start === '') start = chunk.toString('latin1', 0, SHOWN);
      });
      answer.on('end', () =>
        resolve(EXPECTED.has(statusCode) ? String(statusCode) : `${statusCode}: ${start}`),
      );
      answer.on('close', () => resolve('an answer that was cut'));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A connection that the gateway has closed for its age while the request was on its way: clients ask again.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(endingOf(url, agent, drawn));
      else resolve(error.message);
    });
    sent.end(body);
  });
}
