import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/async/clock.ts';
import { openProgram, type ProgramOptions } from '../support/program.ts';

/** After the last runs of the sandbox's sources. */
export const START = Date.parse('2026-11-10T12:00:30Z');

/** Timers that last as long are the test's to move; shorter ones run as they do. */
const LONG_MS = 1_000;

/** A clock that the test moves; who waits for a long while is called back once it has moved far enough. */
export function timedClock(startMs = START) {
  let nowMs = startMs;
  const timers = new Set<{ readonly atMs: number; readonly then: () => void }>();
  return {
    clock: {
      now: () => nowMs,
      sleep: async () => {},
      after(ms: number, then: () => void) {
        if (ms < LONG_MS) return systemClock.after(ms, then);
        const timer = { atMs: nowMs + ms, then };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    pass(seconds: number) {
      nowMs += seconds * 1000;
      for (const timer of [...timers]) {
        if (timer.atMs > nowMs || !timers.delete(timer)) continue;
        timer.then();
      }
    },
  };
}

/** The program over a service whose figures the test revises. */
export async function openLive({ env = {}, ...options }: ProgramOptions = {}) {
  const { clock, pass } = timedClock();
  const program = await openProgram({
    clock,
    ...options,
    sandbox: { now: clock.now, ...options.sandbox },
    env: { SUBSCRIPTIONS: 'on', CACHE_URL: 'memory:', ...env },
  });
  /** By metric, what its figures are multiplied with. */
  const factors = new Map<string, number>();
  program.sandbox.faults.set({
    kind: 'shape',
    route: '/v1/data',
    patch: (body) => ({
      ...body,
      data: body.data.map((row: { metric_key: string; value: number }) => ({
        ...row,
        value: row.value * (factors.get(row.metric_key) ?? 1),
      })),
    }),
  });
  return Object.assign(program, {
    pass,
    /** A source has run, and has other figures of a metric. */
    revise(source: string, metric: string, factor: number) {
      factors.set(metric, factor);
      program.sandbox.refresh(source);
    },
  });
}

export type Live = Awaited<ReturnType<typeof openLive>>;

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
export type Result = any;

/** What one subscription has been told so far. */
export interface Told {
  readonly results: Result[];
  readonly failures: unknown[];
  isOver: boolean;
  stop(): void;
}

export interface Subscribing {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

interface Client {
  subscribe(
    asked: Subscribing,
    sink: { next(value: unknown): void; error(error: unknown): void; complete(): void },
  ): () => void;
}

function telling(client: Client, asked: Subscribing): Told {
  const told: Told = { results: [], failures: [], isOver: false, stop: () => {} };
  told.stop = client.subscribe(asked, {
    next: (result) => void told.results.push(result),
    error(error) {
      told.failures.push(error);
      told.isOver = true;
    },
    complete() {
      told.isOver = true;
    },
  });
  return told;
}

export type Transport = 'ws' | 'sse' | 'sse, single connection';

export const TRANSPORTS: readonly Transport[] = ['ws', 'sse', 'sse, single connection'];

export interface Connecting {
  /** Null for none. */
  readonly key?: string | null;
  readonly retries?: number;
  /** Called with the code and the reason that a WebSocket was closed with. */
  readonly onClosed?: (code: number, reason: string) => void;
}

/** A client of a transport's own library. */
export function connect(url: string, transport: Transport, { key = 'demo-team', retries = 0, onClosed }: Connecting = {}) {
  const authorization = key === null ? undefined : `Bearer ${key}`;
  if (transport === 'ws') {
    const client = createWs({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: retries,
      retryWait: async () => {},
      connectionParams: authorization === undefined ? {} : { authorization },
      on: { closed: (event) => onClosed?.((event as CloseEvent).code, (event as CloseEvent).reason) },
      onNonLazyError() {},
    });
    return {
      subscribe: (asked: Subscribing) => telling(client as Client, asked),
      dispose: () => void client.dispose(),
    };
  }
  const client = createSse({
    url: `${url}/stream`,
    singleConnection: transport !== 'sse',
    retryAttempts: retries,
    retry: async () => {},
    headers: authorization === undefined ? {} : { authorization },
    onNonLazyError() {},
  });
  return {
    subscribe: (asked: Subscribing) => telling(client as Client, asked),
    dispose: () => client.dispose(),
  };
}

/** Subscriptions that are open, as the program tells it. */
export async function subscriptionsOf({ url }: { readonly url: string }): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^country_graph_subscriptions (\d+)$/m.exec(text)?.[1]);
}
