import { setTimeout as pause } from 'node:timers/promises';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';
import { afterEach, expect } from 'vitest';
import { WebSocket } from 'ws';
import { heldTimers } from '../support/held-timers.ts';
import { openProgram, type ProgramOptions } from '../support/program.ts';

/** Start after the last runs of the sandbox's sources. */
export const START = Date.parse('2026-11-10T12:00:30Z');

/** Time that a client waits before it comes back, in milliseconds. */
const RETRY_MS = 50;

/** Time between two looks at the sources, which the test moves. Deadlines, which are shorter, never end by themselves. */
const LOOK_MS = 60_000;

/** A clock that the test moves; who waits for a long while is called back once it has moved far enough. */
function timedClock(startMs = START) {
  let nowMs = startMs;
  const deadlines = heldTimers();
  const timers = new Set<{ readonly atMs: number; readonly then: () => void }>();
  const isArmed = () => expect.poll(() => timers.size).toBeGreaterThan(0);
  return {
    /** Has a minute pass in which somebody waits, and waits until they wait again: one look at the sources is over by then. */
    async round(seconds = 60) {
      await isArmed();
      this.pass(seconds);
      await isArmed();
    },
    clock: {
      now: () => nowMs,
      sleep: async () => {},
      after(ms: number, then: () => void) {
        if (ms < LOOK_MS) return deadlines.after(ms, then);
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
  const time = timedClock();
  const { clock } = time;
  const program = await openProgram({
    clock,
    ...options,
    sandbox: { now: clock.now, ...options.sandbox },
    env: { SUBSCRIPTIONS: 'on', CACHE_URL: 'memory:', ...env },
  });
  /** Factors of figures, by metric. */
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
    pass: time.pass,
    round: (seconds?: number) => time.round(seconds),
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

/** News of one subscription so far. */
export interface Told {
  readonly results: Result[];
  readonly failures: unknown[];
  isOver: boolean;
  stop(): void;
}

export interface Subscribing {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly onError?: string;
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
  /** Address that a proxy tells of the client of a WebSocket. */
  readonly from?: string;
  /** Called with the code and the reason that a WebSocket was closed with. */
  readonly onClosed?: (code: number, reason: string) => void;
}

/** A WebSocket whose client a proxy tells of. */
const behindProxy = (address: string) =>
  class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { headers: { 'x-forwarded-for': address } });
    }
  };

/** A client of a transport's own library. */
export function connect(
  url: string,
  transport: Transport,
  { key = 'demo-team', retries = 0, from, onClosed }: Connecting = {},
) {
  const authorization = key === null ? undefined : `Bearer ${key}`;
  if (transport === 'ws') {
    const client = createWs({
      url: url.replace('http', 'ws'),
      webSocketImpl: from === undefined ? WebSocket : behindProxy(from),
      retryAttempts: retries,
      retryWait: () => pause(RETRY_MS),
      // A refused connection is one that is made again, too.
      shouldRetry: () => true,
      connectionParams: authorization === undefined ? {} : { authorization },
      on: { closed: (event) => onClosed?.((event as CloseEvent).code, (event as CloseEvent).reason) },
      onNonLazyError() {},
    });
    return {
      subscribe: (asked: Subscribing) => telling(client as Client, asked),
      dispose: () => void Promise.resolve(client.dispose()).catch(() => {}),
    };
  }
  const client = createSse({
    url: `${url}/stream`,
    singleConnection: transport !== 'sse',
    retryAttempts: retries,
    retry: () => pause(RETRY_MS),
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

export const CHANGED = `subscription ($codes: [CountryCode!], $keys: [String!], $latest: Boolean = true, $since: String) {
  observationsChanged(countryCodes: $codes, metricKeys: $keys, latest: $latest, since: $since) {
    changes { kind observation { id value country { code } indicator { key } } formerId before { value } }
    isWhole
    revision
    at
  }
}`;

export const REFRESHED =
  'subscription ($keys: [String!]) { sourceRefreshed(keys: $keys) { key lastSuccessfulRefresh } }';

export const POPULATION = { codes: ['KE'], keys: ['population_total'] };
export const LOOK = 'GET /v1/platform/etl-status';

const clients: { dispose(): void }[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.dispose();
});

/** A client that is closed once the test is over. */
export function open(program: { readonly url: string }, transport: Transport, connecting?: Connecting) {
  const client = connect(program.url, transport, connecting);
  clients.push(client);
  return client;
}

/** Subscribes, and waits until all of them have begun. */
export async function begin(
  program: { readonly url: string },
  ...subscribe: (() => Told)[]
): Promise<Told[]> {
  const before = await subscriptionsOf(program);
  const told = subscribe.map((one) => one());
  // Each look has the program write all of its metrics.
  await expect.poll(() => subscriptionsOf(program), { interval: 50 }).toBe(before + subscribe.length);
  return told;
}

export const eventsOf = ({ results }: Told) => results.map(({ data }) => data.observationsChanged);
export const valuesOf = (told: Told) =>
  eventsOf(told).map(({ changes }) => changes.map((change: Change) => change.observation.value));

export interface Change {
  readonly kind: string;
  readonly observation: { readonly id: string; readonly value: number };
}
