import { request } from 'node:http';
import { METRICS } from '../../bench/race/mixed-operations.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Dice } from '../execution/dice.ts';

/** An operation that has been answered, or lost; instants by `performance.now()`. */
export interface Timed {
  readonly startMs: number;
  readonly endMs: number;
  /** Null for a whole answer without an error; else the fault, in words. */
  readonly fault: string | null;
  readonly text: string;
  /** Calls of its own, and those of others that it shares. */
  readonly calls: number;
  readonly shared: number;
}

/** Times that the service takes for a call, each of them for a while. */
const LATENCIES_MS = [200, 450, 700];
const LATENCY_LASTS_MS = 5_000;
const MOST_LATENCY_MS = Math.max(...LATENCIES_MS);

/** Milliseconds between two looks for operations that are due. */
const TICK_MS = 10;

/** The fault of an operation that nobody has answered, nor cut. */
export const HUNG = 'never answered';

/** An answer that takes longer has been lost. */
const HUNG_MS = 30_000;

/** The chance that an operation is sent once more while it is under way: mostly to another process. */
const AGAIN = 0.6;

/** Countries with a national row of each metric in nearly every year. */
export const CODES =
  'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RW SC SD SL SN ST SZ TD TG TN TZ'.split(
    ' ',
  );

/**
 * An operation that takes one round of calls if nothing is held, since its metrics have a national row nearly every year:
 * the service's own time is that of one call.
 */
export function drawText(dice: Dice): string {
  const metrics = Array.from({ length: 1 + dice.below(3) }, () => dice.pick(METRICS));
  if (dice.chance(0.5)) {
    const fields = metrics.map((key, i) => `f${i}: observation(metricKey: "${key}") { value year }`);
    return `{ country(code: "${dice.pick(CODES)}") { code ${fields.join(' ')} } }`;
  }
  const codes = Array.from({ length: 1 + dice.below(4) }, () => dice.pick(CODES));
  return `{ observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ${JSON.stringify(metrics)}, latest: true) { value year } }`;
}

/** Every figure that operations ask for, so that the sandbox has made them before. */
export const ALL_TEXT = `{ observations(metricKeys: ${JSON.stringify(METRICS)}, latest: true) { value } }`;

/** A call each: even of three workers that take turns, each makes more than the smallest plan has in a minute, and knows the plan. */
export const PROFILE_TEXTS = CODES.map((code) => `{ country(code: "${code}") { profile { record } } }`);

/** Has the service take one of its times for each call, then another. */
export function varyLatency(sandbox: Sandbox, dice: Dice) {
  const phases: { readonly fromMs: number; readonly latencyMs: number }[] = [];
  const begin = () => {
    const latencyMs = dice.pick(LATENCIES_MS);
    sandbox.faults.clear();
    sandbox.faults.set({ kind: 'latency', ms: latencyMs });
    sandbox.log.clear();
    phases.push({ fromMs: performance.now(), latencyMs });
  };
  begin();
  const timer = setInterval(begin, LATENCY_LASTS_MS);
  return {
    /** The longest that a call took which an operation may have waited for, one that was under way before it included. */
    ownMs({ startMs, endMs }: Pick<Timed, 'startMs' | 'endMs'>): number {
      const inForce = phases.filter(({ fromMs }, i) => {
        const untilMs = phases[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
        return fromMs < endMs && untilMs > startMs - MOST_LATENCY_MS;
      });
      return Math.max(...inForce.map(({ latencyMs }) => latencyMs));
    },
    stop: () => clearInterval(timer),
  };
}

/** Milliseconds between two operations that take nothing but the machine's time. */
const PROBE_MS = 50;

/**
 * Sends operations that ask for nothing, which show how late the machine itself is.
 * @returns the reader of their times, and their end
 */
export function startProbes(urls: readonly string[]) {
  const done: Timed[] = [];
  const timer = setInterval(() => {
    for (const url of urls)
      void ask(url, null, '{ __typename }').then((timed) => {
        // One that was lost with a worker tells nothing of the machine.
        if (timed.fault === null) done.push(timed);
      });
  }, PROBE_MS);
  return {
    /** The longest that one took which was under way beside an operation. */
    besideMs({ startMs, endMs }: Pick<Timed, 'startMs' | 'endMs'>): number {
      let mostMs = 0;
      for (const probe of done)
        if (probe.startMs < endMs && probe.endMs > startMs)
          mostMs = Math.max(mostMs, probe.endMs - probe.startMs);
      return mostMs;
    },
    mostMs: () => Math.max(...done.map(({ startMs, endMs }) => endMs - startMs)),
    stop: () => clearInterval(timer),
  };
}

export interface TimedLoadOrder {
  readonly urls: readonly string[];
  readonly keys: readonly string[];
  /** Drawn operations a second, beside those that are sent again. */
  readonly perSecond: number;
  readonly dice: Dice;
}

/**
 * Sends drawn operations, evenly spaced, each over a connection of its own.
 * @returns ends it, once all are answered
 */
export function startTimedLoad({ urls, keys, perSecond, dice }: TimedLoadOrder) {
  const done: Timed[] = [];
  const underWay = new Set<Promise<unknown>>();
  let due = 0;

  function send(key: string, text: string): void {
    const asking = ask(dice.pick(urls), key, text).then((timed) => {
      done.push(timed);
      underWay.delete(asking);
    });
    underWay.add(asking);
  }

  const timer = setInterval(() => {
    due += (perSecond * TICK_MS) / 1000;
    for (; due >= 1; due -= 1) {
      const [key, text] = [dice.pick(keys), drawText(dice)];
      send(key, text);
      if (dice.chance(AGAIN)) setTimeout(send, dice.below(MOST_LATENCY_MS), key, text);
    }
  }, TICK_MS);

  return {
    async stop(): Promise<readonly Timed[]> {
      clearInterval(timer);
      await new Promise((resolve) => setTimeout(resolve, MOST_LATENCY_MS));
      while (underWay.size > 0) await Promise.all(underWay);
      return done;
    },
  };
}

/** @param key null for none */
export function ask(url: string, key: string | null, text: string): Promise<Timed> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const finish = (fault: string | null, { calls = 0, shared = 0 } = {}) =>
      resolve({ startMs, endMs: performance.now(), fault, text, calls, shared });
    const body = JSON.stringify({ query: text });
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
    const sent = request(url, { method: 'POST', headers, agent: false, timeout: HUNG_MS }, (answer) => {
      let said = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        said += chunk;
      });
      answer.on('error', (error) => finish(error.message));
      answer.on('end', () => {
        const { errors, extensions } = JSON.parse(said);
        finish(errors === undefined ? null : JSON.stringify(errors[0]), extensions?.upstream);
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(HUNG)));
    sent.on('error', (error) => finish(error.message));
    sent.end(body);
  });
}
