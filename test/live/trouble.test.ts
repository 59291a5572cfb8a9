import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../support/free-port.ts';
import {
  begin,
  CHANGED,
  eventsOf,
  LOOK,
  open,
  openLive,
  POPULATION,
  type Result,
  subscriptionsOf,
  TRANSPORTS,
  valuesOf,
} from './live.ts';

/** Events of a megabyte and more, so that no buffer on the way takes several. */
const LONG = `subscription { observationsChanged(metricKeys: ["population_total"]) {
  changes { observation { record id value } before { record } } } }`;

/** A reader that doesn't read until it is told to. */
interface SlowReader {
  /**
   * Reads all that comes until an event of the factor has come.
   * @returns those events
   */
  readUntil(factor: number): Promise<Result[]>;
}

async function slowSocket(url: string): Promise<SlowReader> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    headers: { authorization: 'Bearer demo-team' },
  });
  const results: Result[] = [];
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: LONG } }));
  socket.pause();
  return {
    async readUntil(factor) {
      socket.on('message', (text) => results.push(JSON.parse(String(text)).payload));
      socket.resume();
      while (factorIn(results.at(-1)) !== factor) await once(socket, 'message');
      socket.terminate();
      return results;
    },
  };
}

async function slowStream(url: string): Promise<SlowReader> {
  const request = get(`${url}/stream?query=${encodeURIComponent(LONG)}`, {
    headers: { authorization: 'Bearer demo-team', accept: 'text/event-stream' },
  });
  const [response]: IncomingMessage[] = (await once(request, 'response')) as IncomingMessage[];
  if (response === undefined) throw new Error('There is no response.');
  response.pause();
  return {
    async readUntil(factor) {
      const results: Result[] = [];
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) {
        text += chunk;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const [, data] = /^data: (.*)$/m.exec(event) ?? [];
          if (data !== undefined) results.push(JSON.parse(data));
        }
        if (factorIn(results.at(-1)) === factor) break;
      }
      request.destroy();
      return results;
    },
  };
}

/** Ratio of a figure to the one that the service has by itself. */
function factorIn(result: Result): number {
  const [first] = result?.data.observationsChanged.changes ?? [];
  return first === undefined ? 0 : first.observation.value / (ORIGINAL.get(first.observation.id) ?? 0);
}
const ORIGINAL = new Map<string, number>();

describe.each([
  ['ws', slowSocket],
  ['sse', slowStream],
] as const)('a slow reader over %s', (_, connect) => {
  it('a slow reader of subscriptions misses what was in between, and not the last', async () => {
    await using program = await openLive();
    const { data } = await program.ask('{ observations(metricKeys: ["population_total"]) { id value } }');
    for (const { id, value } of data.observations) ORIGINAL.set(id, value);
    const reader = await connect(program.url);
    await expect.poll(() => subscriptionsOf(program)).toBe(1);
    program.requests();
    const last = 9;
    for (let factor = 2; factor <= last; factor += 1) {
      program.revise('world_bank_wdi', 'population_total', factor);
      await program.round();
      expect(program.requests()).toHaveLength(6);
    }
    const results = await reader.readUntil(last);
    expect(factorIn(results.at(-1))).toBe(last);
    expect(results.length).toBeLessThan(last - 1);
    // Each event tells the value of the one before it as its own past.
    const values = results.map((result) => result.data.observationsChanged.changes[0]);
    for (const [i, { before }] of values.entries())
      if (i > 0) expect(before.record.value).toBe(values[i - 1].observation.value);
  });
});

describe.each(TRANSPORTS)('over %s, a month that is spent', (transport) => {
  it('a month that is spent pauses subscriptions, which are told, and go on by themselves', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    const [told] = await begin(program, () => client.subscribe({ query: CHANGED, variables: POPULATION }));
    await program.round();
    const detail =
      "request blocked: the monthly request limit for plan 'team' (2000000 requests) was reached";
    program.sandbox.faults.set({
      kind: 'status',
      status: 429,
      body: { detail },
      route: '/v1/platform/etl-status',
      times: 1,
    });
    program.revise('world_bank_wdi', 'population_total', 2);
    program.requests();
    await program.round();
    await expect.poll(() => told?.results.length).toBe(1);
    expect(told?.results[0]).toMatchObject({
      data: { observationsChanged: { changes: [], isWhole: false } },
      extensions: {
        warnings: [
          {
            code: 'SUBSCRIPTION_PAUSED',
            path: ['observationsChanged'],
            reason: 'MONTHLY_QUOTA_EXCEEDED',
            resumesAt: '2026-12-01T00:00:00.000Z',
          },
        ],
      },
    });
    expect(program.requests()).toEqual([LOOK]);
    for (let minute = 0; minute < 30; minute += 1) await program.round();
    expect(program.requests()).toEqual([]);
    await program.round(22 * 86_400);
    await expect.poll(() => told?.results.length).toBe(2);
    expect(told?.results[1].extensions.warnings).toBeUndefined();
    expect(told && valuesOf(told)[1]).toEqual([115_000_000]);
    // The catalogue tells which sources bring the figures, and is three weeks old by now.
    expect(program.requests()).toEqual([LOOK, 'GET /v1/indicators', expect.stringContaining('/v1/data')]);
  });
});

describe('looks at the sources', () => {
  it('looks at the sources take no more than a tenth of what a plan leaves, the smallest while nobody has named it', async () => {
    await using program = await openLive();
    const client = open(program, 'ws', { key: 'demo-free' });
    await begin(program, () => client.subscribe({ query: CHANGED, variables: POPULATION }));
    const before = program.sandbox.usage('free').month;
    expect(before).toBe(3);
    // A hundredth of 997 at once, and nine of a hundred over the three weeks that are left: one in six hours.
    for (let minute = 0; minute < 60; minute += 1) await program.round();
    expect(program.sandbox.usage('free').month - before).toBe(10);
    for (let day = 0; day < 5; day += 1) await program.round(86_400);
    expect(program.sandbox.usage('free').month - before).toBe(15);
  });
});

describe.each(TRANSPORTS)('a drain, over %s,', (transport) => {
  it('a drain has clients come back, and what they missed is their first event', async () => {
    // The drain ends, though operations in flight may take an hour.
    const env = { PORT: String(await freePort()), DRAIN_TIMEOUT_MS: '3600000' };
    const program = await openLive({ env });
    const codes: number[] = [];
    const client = open(program, transport, { retries: 200, onClosed: (code) => void codes.push(code) });
    const variables = { ...POPULATION, since: '0' };
    const [told] = await begin(program, () => client.subscribe({ query: CHANGED, variables }));
    await expect.poll(() => told?.results.length).toBe(1);
    expect(eventsOf(told as never)[0]).toMatchObject({
      isWhole: true,
      changes: [{ kind: 'ADDED', before: null }],
    });
    await program[Symbol.asyncDispose]();
    if (transport === 'ws') await expect.poll(() => codes[0]).toBe(1012);
    await using next = await openLive({ env });
    await expect.poll(() => subscriptionsOf(next)).toBe(1);
    await expect.poll(() => told?.results.length).toBe(2);
    expect(told?.isOver).toBe(false);
    next.revise('world_bank_wdi', 'population_total', 2);
    next.pass(60);
    await expect.poll(() => told?.results.length).toBe(3);
    expect(told && valuesOf(told)[2]).toEqual([115_000_000]);
  });
});

describe('texts that a stranger sends all at once', () => {
  const FIELDS = Array.from({ length: 150 }, (_, i) => `a${i}: revision`).join(' ');
  const TEXTS = Array.from({ length: 300 }, (_, i) => `subscription S${i} { nobodyChanged { ${FIELDS} } }`);
  const authorization = 'Bearer stranger';

  /** Sends texts all at once, and returns the codes of their refusals. */
  type Send = (url: string) => Promise<() => Promise<readonly string[]>>;

  const overWebSocket: Send = async (url) => {
    const headers = { authorization };
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    return async () => {
      const codes: string[] = [];
      const over = Promise.withResolvers<void>();
      socket.on('message', (message) => {
        codes.push(JSON.parse(String(message)).payload[0].extensions.code);
        if (codes.length === TEXTS.length) over.resolve();
      });
      for (const [i, query] of TEXTS.entries())
        socket.send(JSON.stringify({ id: String(i), type: 'subscribe', payload: { query } }));
      await over.promise;
      socket.terminate();
      return codes;
    };
  };

  const overHttp: Send = async (url) => async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const requests = TEXTS.map((query) => {
      const body = JSON.stringify({ query });
      return `POST /graphql HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nAuthorization: ${authorization}\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    });
    socket.write(requests.join(''));
    let text = '';
    const codes = () => [...text.matchAll(/"code":"(\w+)"/g)].map(([, code = '']) => code);
    for await (const chunk of socket) {
      text += chunk;
      if (codes().length === TEXTS.length) break;
    }
    return codes();
  };

  it('texts that a stranger sends all at once close a WebSocket if they nest far deeper than any operation, before they are parsed', async () => {
    await using program = await openLive();
    const socket = new WebSocket(program.url.replace('http', 'ws'), 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send('['.repeat(1_000_000));
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).toEqual([4400, expect.stringContaining('nested more than 500 levels')]);
  });

  it.each([
    ['over one WebSocket', overWebSocket],
    ['as requests for events over one connection', overHttp],
  ])(
    'texts that a stranger sends all at once are read one by one, and others have their turns in between: %s',
    async (_, send) => {
      await using program = await openLive({ env: { MAX_SUBSCRIPTIONS: '1000' } });
      const sent = await send(program.url);
      let [longestMs, isOver] = [0, false];
      const cpuMs = (since: NodeJS.CpuUsage) => {
        const { user, system } = process.threadCpuUsage(since);
        return (user + system) / 1_000;
      };
      const began = process.threadCpuUsage();
      let before = began;
      const turn = () => {
        longestMs = Math.max(longestMs, cpuMs(before));
        before = process.threadCpuUsage();
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const codes = await sent();
      isOver = true;
      expect(codes).toEqual(TEXTS.map(() => 'GRAPHQL_VALIDATION_FAILED'));
      expect(longestMs / cpuMs(began)).toBeLessThan(0.15);
      expect(program.requests()).toEqual([]);
    },
  );
});
