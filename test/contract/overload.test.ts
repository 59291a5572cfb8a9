import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { open } from '../operations/exchange.ts';

const FIGURE = '{ country(code: "KE") { profile { record } } }';
const OTHERS = ['NG', 'GH', 'SS', 'TZ'].map((code) => `{ country(code: "${code}") { profile { record } } }`);

/** The program with one place, or as many as are set. */
async function openFull(env: Readonly<Record<string, string>> = {}) {
  const program = await open({ env: { MAX_CONCURRENT_OPERATIONS: '1', ...env } });
  const metrics = async () => (await fetch(new URL('/metrics', program.url))).text();
  const { sandbox, ask } = program;
  return Object.assign(program, {
    metrics,
    /** Has as many operations under way as may be, which end when they are let go, and another one waiting. */
    async fill(places = 1) {
      sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'hang', times: places });
      const leaving = new AbortController();
      const ended = OTHERS.slice(0, places).map((query) =>
        ask(query, { signal: leaving.signal }).catch(() => null),
      );
      await expect.poll(metrics).toContain(`country_graph_operations_under_way ${places}\n`);
      await expect.poll(() => sandbox.log.length).toBe(places);
      const waiting = ask(OTHERS[places] as string);
      await expect.poll(metrics).toContain('country_graph_operations_waiting 1\n');
      return {
        waiting,
        async release() {
          leaving.abort();
          await Promise.all(ended);
        },
      };
    },
  });
}

describe('more than the gateway takes on', () => {
  it('load beyond what the gateway takes on is refused with 503 before anything is run, and taken again as soon as there is room', async () => {
    await using program = await openFull();
    const { ask, requests } = program;
    const { waiting, release } = await program.fill();
    expect(requests()).toHaveLength(1);
    const refused = await ask(OTHERS[2] as string);
    expect(refused.status).toBe(503);
    expect(refused.errors).toMatchObject([
      {
        message: expect.stringContaining('MAX_CONCURRENT_OPERATIONS'),
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterSeconds: expect.any(Number) },
      },
    ]);
    expect(refused.data).toBeUndefined();
    expect(refused.upstream).toEqual({ calls: 0, byRoute: {}, shared: 0, cached: 0, naive: 0 });
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBe(refused.errors[0]?.extensions.retryAfterSeconds);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('content-type')).toContain('application/graphql-response+json');
    const older = await ask(OTHERS[2] as string, { headers: { accept: 'application/json' } });
    expect([older.status, older.headers.get('content-type')]).toEqual([
      503,
      'application/json; charset=utf-8',
    ]);
    expect(requests()).toEqual([]);
    expect(await program.metrics()).toContain('country_graph_operations_refused_total{reason="full"} 2\n');

    await release();
    expect((await waiting).errors).toEqual([]);
    const later = await ask(OTHERS[3] as string);
    expect([later.status, later.errors]).toEqual([200, []]);
    expect(await program.metrics()).toContain('country_graph_operations_under_way 0\n');
    expect(requests()).toHaveLength(2);
  });

  it('load beyond what the gateway takes on leaves health and metrics as they are', async () => {
    await using program = await openFull();
    const { waiting, release } = await program.fill();
    for (const path of ['/health/live', '/health/ready', '/metrics', '/schema.graphql'])
      expect((await fetch(new URL(path, program.url))).status).toBe(200);
    await release();
    expect((await waiting).errors).toEqual([]);
  });

  it('load beyond what the gateway takes on makes an operation wait in vain no longer than it should', async () => {
    await using program = await openFull();
    const { waiting, release } = await program.fill();
    const late = await waiting;
    expect([late.status, late.errors[0]?.extensions.code]).toEqual([503, 'OVERLOADED']);
    await release();
    expect(program.requests()).toHaveLength(1);
    expect(await program.metrics()).toContain('country_graph_operations_refused_total{reason="late"} 1\n');
  });

  it('load beyond what the gateway takes on does not concern what is answered from bytes', async () => {
    await using program = await openFull({ MAX_CONCURRENT_OPERATIONS: '2' });
    const { ask, sandbox } = program;
    for (let i = 0; i < 3; i += 1) await ask(FIGURE);
    sandbox.log.clear();
    const { waiting, release } = await program.fill(2);
    program.repeats();
    expect((await ask(FIGURE)).errors).toEqual([]);
    expect(program.repeats()).toEqual([true]);
    await release();
    expect((await waiting).errors).toEqual([]);
  });
});

describe('a look at the schema', () => {
  const kinds = {
    introspection: getIntrospectionQuery(),
    'a type': '{ __typename country: __type(name: "Country") { name } }',
    'the SDL': '{ _service { sdl } }',
  };

  it.for(Object.entries(kinds))(
    'a look at the schema is answered with the same bytes, whoever asks: %s',
    async ([, query]) => {
      await using program = await open();
      const { team, analyst } = program.sandbox.keys;
      const first = await program.send({ body: { query } });
      await program.send({ body: { query } });
      program.repeats();
      for (const key of [team, analyst]) {
        const again = await program.send({ body: { query }, key });
        expect(again.bytes.equals(first.bytes)).toBe(true);
        expect({ ...again.headers, date: '' }).toEqual({ ...first.headers, date: '' });
      }
      expect(program.repeats()).toEqual([true, true]);
      expect(program.requests()).toEqual([]);
      const explained = await program.ask(query, { headers: { 'x-explain': '1' } });
      expect(explained.extensions.explain).toMatchObject({ calls: 0 });
    },
  );

  it('a look at the schema is repeated alone, for the same variables', async () => {
    await using program = await open({ env: { CACHE_URL: 'none' } });
    const mixed = '{ __type(name: "Country") { name } quota { plan } }';
    for (let i = 0; i < 3; i += 1) await program.ask(mixed);
    const named = 'query ($name: String!) { __type(name: $name) { name } }';
    for (const name of ['Country', 'Country', 'Query'])
      expect((await program.ask(named, { variables: { name } })).data.__type).toEqual({ name });
    expect(program.repeats()).toEqual([false, false, false, false, true, false]);
  });

  it('a look at the schema is refused as ever where the schema is not to be looked at', async () => {
    await using program = await open({ env: { INTROSPECTION: 'off' } });
    for (let i = 0; i < 4; i += 1) {
      const reply = await program.ask(getIntrospectionQuery());
      expect(reply.errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });
});
