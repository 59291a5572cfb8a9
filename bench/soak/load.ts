import { Agent, request } from 'node:http';
import { drawRequests, type SoakRequest } from './mixture.ts';

export interface LoadOrder {
  readonly url: string;
  readonly keys: number;
  /** Requests a second. Those that are due while the limit of concurrent requests is reached are skipped. */
  readonly perSecond: number;
  readonly seed: number;
}

/** Responses since the previous call of `take`. */
export interface Answered {
  readonly operations: number;
  /** Requests that were rejected with 503. */
  readonly turnedAway: number;
  /** Requests with an unexpected status, or without a response. */
  readonly wrong: number;
  /** The status of each wrong one, or the error of its connection. */
  readonly errors: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The most requests in flight at once. */
const MAX_IN_FLIGHT = 64;

/** Statuses that this load may get. */
const EXPECTED = new Set([200, 406, 503]);

/** Bytes that are shown of an unexpected response. */
const SHOWN = 200;

/** Interval at which due requests are sent. */
const TICK_MS = 10;

/** Sends drawn requests at a fixed rate, until it is stopped. */
export function startLoad({ url, keys, perSecond, seed }: LoadOrder) {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_IN_FLIGHT });
  const draws = drawRequests(keys, seed);
  let times: number[] = [];
  let errors: string[] = [];
  let [inFlight, turnedAway] = [0, 0];
  let due = 0;

  function note(ending: string, ms: number): void {
    times.push(ms);
    if (ending === '503') turnedAway += 1;
    // 406: not every operation has a list that can be a table.
    else if (!EXPECTED.has(Number(ending))) errors.push(`${ending} after ${Math.round(ms)} ms`);
  }

  async function send(drawn: SoakRequest): Promise<void> {
    inFlight += 1;
    const sentAtMs = performance.now();
    note(await endingOf(url, agent, drawn), performance.now() - sentAtMs);
    inFlight -= 1;
  }

  const timer = setInterval(() => {
    due += (perSecond * TICK_MS) / 1000;
    for (; due >= 1; due -= 1) if (inFlight < MAX_IN_FLIGHT) void send(draws.next().value as SoakRequest);
  }, TICK_MS);

  return {
    take(): Answered {
      const sorted = times.sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
      const taken = { operations: sorted.length, turnedAway, errors, p50Ms: at(0.5), p99Ms: at(0.99) };
      [times, errors, turnedAway] = [[], [], 0];
      return { ...taken, wrong: taken.errors.length };
    },
    stop() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** @returns the status of a complete response, with its beginning if unexpected; otherwise the connection's error */
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
      answer.on('close', () => resolve('truncated response'));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The gateway closed the idle connection while the request was on its way: clients retry.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(endingOf(url, agent, drawn));
      else resolve(error.message);
    });
    sent.end(body);
  });
}
