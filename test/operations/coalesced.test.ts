import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GraphQLSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { AnswersTable } from '../../src/graphql/request/answers.ts';
import type { RanOperation } from '../../src/graphql/request/operation-run.ts';
import { createPersisted } from '../../src/graphql/request/persisted.ts';
import type { Incoming } from '../../src/graphql/request/stages.ts';
import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { inFlightTogether } from '../support/quiet.ts';
import { callerOf } from '../support/tenants.ts';
import { open, type Received } from './exchange.ts';

const FIGURE =
  'query ($code: CountryCode = "KE") { country(code: $code) { name observation(metricKey: "population_total") { value } } }';

/**
 * The program with nothing held between operations, once it has made an operation ready to be run by its
 * plan.
 */
async function openReady(query: string) {
  const program = await open({ env: { CACHE_URL: 'none' } });
  for (let i = 0; i < 3; i += 1) await program.send({ body: { query } });
  const batched = async () => {
    const metrics = await (await fetch(new URL('/metrics', program.url))).text();
    return Number(/country_graph_batch_operations_sum (\d+)/.exec(metrics)?.[1]);
  };
  const before = await batched();
  program.requests();
  program.operations.splice(0);
  return Object.assign(program, {
    /** Number of operations that have asked for figures since. */
    asked: async () => (await batched()) - before,
  });
}

const read = ({ text }: Received) => JSON.parse(text);
const billOf = (received: Received) => read(received).extensions.upstream;

describe('equal operations of one key at the same time', () => {
  it('equal operations of one key at the same time are run once: the first pays, the others share, and each is counted', async () => {
    await using program = await openReady(FIGURE);
    const names = Array.from({ length: 8 }, (_, i) => `request-${i}`);
    const replies = await inFlightTogether(program, () =>
      Promise.all(
        names.map((name) => program.send({ body: { query: FIGURE }, headers: { 'x-request-id': name } })),
      ),
    );
    expect(program.requests()).toHaveLength(2);
    expect(await program.asked()).toBe(1);
    const paid = { calls: 2, byRoute: { '/v1/countries': 1, '/v1/data': 1 }, shared: 0, cached: 0, naive: 2 };
    const shared = { calls: 0, byRoute: {}, shared: 2, cached: 0, naive: 2 };
    expect(replies.map(billOf).sort((a, b) => b.calls - a.calls)).toEqual([paid, ...Array(7).fill(shared)]);
    expect(replies.map((reply) => read(reply).data)).toEqual(
      Array(8).fill({ country: { name: 'Kenya', observation: { value: expect.any(Number) } } }),
    );
    expect(replies.map(({ timing }) => timing)).toEqual(
      Array(8).fill(expect.stringMatching(/^upstream;dur=\d/)),
    );
    expect(program.operations.map(({ requestId }) => requestId).sort()).toEqual(names);
    expect(program.operations.map(({ calls, shared }) => [calls, shared]).sort()).toEqual([
      ...Array(7).fill([0, 2]),
      [2, 0],
    ]);
  });

  it('equal operations of one key at the same time are told of by the headers that each has asked for', async () => {
    await using program = await openReady(FIGURE);
    const body = { query: FIGURE };
    const [posted, got] = await inFlightTogether(program, () =>
      Promise.all([program.send({ body }), program.send({ method: 'GET', body }), program.send({ body })]),
    );
    expect(await program.asked()).toBe(1);
    expect(posted.headers.etag).toBeUndefined();
    const etag = String(got.headers.etag);
    const again = [
      program.send({ body }),
      program.send({ method: 'GET', body, headers: { 'if-none-match': etag } }),
    ];
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([200, 304]);
  });

  it('equal operations of one key at the same time fail alike, for the calls of one, and each error names the request that it is told to', async () => {
    await using program = await openReady(FIGURE);
    program.sandbox.faults.set({
      kind: 'status',
      status: 500,
      when: ({ metric_keys }) => metric_keys !== undefined,
    });
    const names = ['one', 'two', 'three'];
    const replies = await inFlightTogether(program, () =>
      Promise.all(
        names.map((name) => program.send({ body: { query: FIGURE }, headers: { 'x-request-id': name } })),
      ),
    );
    expect(program.requests()).toHaveLength(2);
    for (const [i, reply] of replies.entries()) {
      const [{ extensions }] = read(reply).errors;
      expect(extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', requestId: names[i] });
      expect(reply.headers['cache-control']).toBe('no-store');
    }
    const calls = replies.map((reply) => billOf(reply).calls);
    expect(calls.sort()).toEqual([0, 0, 2]);
    const codes = program.operations.map(({ errorCodes }) => errorCodes);
    expect(codes).toEqual(Array(3).fill(['UPSTREAM_UNAVAILABLE']));
  });
});

describe('operations that differ', () => {
  it.each<[string, Difference]>([
    ['by key', { key: 'analyst' }],
    ['by variables', { variables: { code: 'NG' } }],
    ['by text', { query: `${FIGURE} ` }],
    ['by the type that is accepted', { accept: 'application/graphql-response+json' }],
  ])(
    'operations that differ are run each: %s',
    async (_, { key, variables, query = FIGURE, accept = '*/*' }) => {
      await using program = await openReady(FIGURE);
      const other = {
        body: { query, variables },
        key: key === undefined ? program.sandbox.keys.team : program.sandbox.keys[key],
        headers: { accept },
      };
      const usual = { body: { query: FIGURE }, headers: { accept: '*/*' } };
      // Runs both by their plans, so that their figures are asked for at the same time.
      for (let i = 0; i < 3; i += 1) for (const each of [usual, other]) await program.send(each);
      const before = await program.asked();
      const [one, another] = await Promise.all([program.send(usual), program.send(other)]);
      expect([one.status, another.status]).toEqual([200, 200]);
      expect((await program.asked()) - before).toBe(2);
    },
  );
});

/** Resolves once all promises that were settled are followed. */
const tick = promisify(process.nextTick);

interface Difference {
  readonly key?: 'analyst';
  readonly variables?: object;
  readonly query?: string;
  readonly accept?: string;
}

describe('a run that several wait for', () => {
  function openStage() {
    const runs: { incoming: Incoming; end: PromiseWithResolvers<RanOperation> }[] = [];
    let nowMs = 0;
    const parts = {
      config: readConfig({ CACHE_URL: 'none', OPERATION_TIMEOUT_MS: '1000' }),
      schema: new GraphQLSchema({}),
      persisted: createPersisted(),
      tenantCache: NO_TENANT_CACHE,
      learned: createLearned(),
      now: () => nowMs,
      steadyNow: () => nowMs,
      after: systemClock.after,
      onOperation() {},
      onError() {},
    };
    const run = (incoming: Incoming) => {
      const end = Promise.withResolvers<RanOperation>();
      runs.push({ incoming, end });
      return end.promise;
    };
    const handle = new AnswersTable(parts, { hits: 0, misses: 0 }).answersStage(run, (next) => next);
    const params = {
      text: '{ a }',
      operationName: undefined,
      variables: {},
      onError: 'PROPAGATE' as const,
      isPersisted: false,
    };
    return {
      runs,
      pass(ms: number) {
        nowMs += ms;
      },
      ask() {
        const client = new AbortController();
        const request = { method: 'POST', headers: {}, search: '', body: {}, signal: client.signal };
        const plain = {
          params,
          question: params.text,
          mayReadSchema: false,
          contentType: 'application/json',
        };
        void handle({ request, caller: callerOf('key', null), plain, delivery: null });
        return client;
      },
    };
  }

  it('a run that several wait for is given up when the last of them has left, and not before', () => {
    const { runs, ask } = openStage();
    const clients = [ask(), ask()];
    expect(runs).toHaveLength(1);
    const { signal } = runs[0]?.incoming.request ?? {};
    const late = ask();
    for (const client of clients) client.abort();
    expect(signal?.aborted).toBe(false);
    late.abort(new Error('left'));
    expect(signal?.reason).toEqual(new Error('left'));
    ask();
    expect(runs).toHaveLength(2);
  });

  it('a run that several wait for is not joined once a hundredth of its time is over, so that its deadline is that of all', () => {
    const { runs, ask, pass } = openStage();
    ask();
    pass(9);
    ask();
    expect(runs).toHaveLength(1);
    pass(1);
    ask();
    ask();
    expect(runs).toHaveLength(2);
  });

  it('a run that several wait for is not joined once it is over', async () => {
    const { runs, ask } = openStage();
    ask();
    runs[0]?.end.resolve({} as RanOperation);
    await setImmediate();
    ask();
    expect(runs).toHaveLength(2);
  });

  it('a run that several wait for leaves those who have joined to runs of their own where no plan has written its answer', async () => {
    const { runs, ask } = openStage();
    for (let i = 0; i < 11; i += 1) ask();
    runs[0]?.end.resolve({ run: { written: null } } as RanOperation);
    await tick();
    expect(runs).toHaveLength(11);
  });
});
