import { describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { open } from '../operations/exchange.ts';
import { openProgram } from '../support/program.ts';
import { ACCEPTS, askInParts, canonical, type Json, type Spec } from './parts.ts';

const PROFILE = '/v1/countries/{code}/profile';

const CARD = `query Card($if: Boolean! = true) {
  country(code: "KE") {
    code
    name
    ... @defer(if: $if, label: "profile") { profile { indicators { name value } } }
    observation(metricKey: "population_total") { value year }
  }
}`;
const PLAIN = CARD.replace(/@defer\([^)]*\)/, '').replace('($if: Boolean! = true)', '');

const SPECS: readonly Spec[] = ['draft2022', 'v02'];

const payloads = ({ parts }: { readonly parts: readonly { readonly payload: Json }[] }) =>
  parts.map(({ payload }) => payload);

describe.for(SPECS)('a deferred profile, by %s', (spec) => {
  it('a deferred profile holds nothing back that is there before it', async () => {
    await using program = await openProgram();
    const first = Promise.withResolvers<void>();
    program.sandbox.faults.set({ kind: 'paused', until: first.promise, route: PROFILE });
    const statuses: unknown[] = [];
    const reply = await askInParts(program, CARD, {
      spec,
      onPart() {
        const sent = [...program.sandbox.log].find(({ route }) => route === PROFILE);
        statuses.push(sent?.status);
        first.resolve();
      },
    });
    // The request was on its way when the first part came, and not yet answered.
    expect(statuses).toEqual([null, 200, 200]);
    const [early, second, last] = payloads(reply);
    expect(early.data.country).toMatchObject({ code: 'KE', name: 'Kenya' });
    expect(early.data.country.observation.value).toBeGreaterThan(0);
    expect(early.data.country).not.toHaveProperty('profile');
    expect(early).toMatchObject(
      spec === 'v02'
        ? { pending: [{ id: '0', path: ['country'], label: 'profile' }], hasNext: true }
        : { hasNext: true },
    );
    expect(second).toMatchObject(
      spec === 'v02'
        ? { incremental: [{ id: '0', data: { profile: {} } }], completed: [{ id: '0' }], hasNext: true }
        : { incremental: [{ path: ['country'], label: 'profile', data: { profile: {} } }], hasNext: true },
    );
    expect(last).toEqual({ extensions: { upstream: expect.objectContaining({ calls: 3 }) }, hasNext: false });
    expect(reply.ended).toBe('whole');
    expect(reply.type).toBe(`multipart/mixed; boundary="-"; ${ACCEPTS[spec].split(/[;,]/)[1]}`);
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) });
    expect(reply.headers.vary).toContain('Accept');
  });

  it('a deferred profile is the plain answer at the same price and bill', async () => {
    await using program = await openProgram();
    const plain = await program.ask(PLAIN);
    const asked = program.requests();
    const { whole } = await askInParts(program, CARD, { spec });
    expect(canonical(whole.data)).toBe(canonical(plain.data));
    expect(whole.extensions).toEqual(plain.extensions);
    expect(program.requests().sort()).toEqual(asked.sort());
    const headers = { 'x-explain': '1' };
    const price = await program.ask(PLAIN, { headers });
    const told = await askInParts(program, CARD, { spec, headers });
    expect(told.type).toMatch(/^application\/graphql-response\+json/);
    expect(told.parts[0]?.payload.extensions).toEqual(price.extensions);
    expect(program.requests()).toEqual([]);
    expect(program.operations.map(({ calls }) => calls)).toEqual([3, 3, 0, 0]);
  });

  it('a deferred profile tells of what went wrong in its own part', async () => {
    await using program = await openProgram({ env: { UPSTREAM_RETRIES: '0' } });
    program.sandbox.faults.set({ kind: 'status', status: 500, route: PROFILE });
    const reply = await askInParts(program, CARD, { spec });
    const [first, second] = payloads(reply);
    expect(first).not.toHaveProperty('errors');
    expect(second.incremental[0]).toMatchObject({
      data: { profile: null },
      errors: [
        { path: ['country', 'profile'], extensions: { code: 'UPSTREAM_UNAVAILABLE', route: PROFILE } },
      ],
    });
    expect(program.operations[0]?.errorCodes).toEqual(['UPSTREAM_UNAVAILABLE']);
  });

  it('a deferred profile is given up at the deadline of the operation', async () => {
    await using program = await openProgram({ env: { UPSTREAM_TIMEOUT_MS: '60000' } });
    program.sandbox.faults.set({ kind: 'hang', route: PROFILE });
    // The first part has come, and the profile, which is asked for before it, has not.
    const onPart = () => program.timers.pass(30_000);
    const reply = await askInParts(program, CARD, { spec, onPart });
    expect(reply.ended).toBe('whole');
    expect(reply.whole.data.country).toMatchObject({ name: 'Kenya', profile: null });
    expect(reply.whole.errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TIMEOUT']);
  });
});

describe('who gets the whole at once', () => {
  const WHOLE = [
    ['does not accept parts', CARD, 'application/json', {}],
    ['names a version that is unknown', CARD, 'multipart/mixed;deferSpec=20990101, application/json', {}],
    ['rules parts out', CARD, 'multipart/mixed;q=0, application/json', {}],
    ['has switched the directive off', CARD, ACCEPTS.v02, { if: false }],
    ['defers nothing', PLAIN, ACCEPTS.v02, {}],
  ] as const;
  it.for(WHOLE)('a client that %s gets the whole at once', async ([, query, accept, variables]) => {
    await using program = await openProgram();
    const reply = await askInParts(program, query, { accept, variables });
    expect(reply.type).toMatch(/json; charset=utf-8$/);
    expect(reply.parts).toHaveLength(1);
    expect(reply.whole.errors).toEqual([]);
    expect(Object.keys(reply.parts[0]?.payload)).toEqual(['data', 'extensions']);
    const { data } = await program.ask(query, { variables });
    expect(JSON.stringify(reply.whole.data)).toBe(JSON.stringify(data));
  });

  it('a client of several operations in one request gets the whole at once', async () => {
    await using program = await openProgram();
    const response = await fetch(program.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: ACCEPTS.v02,
        authorization: `Bearer ${program.sandbox.keys.team}`,
      },
      body: JSON.stringify([{ query: CARD }, { query: CARD }]),
    });
    const answers = (await response.json()) as Json[];
    expect(answers.map(({ data }) => Object.keys(data.country).sort())).toEqual(
      Array(2).fill(['code', 'name', 'observation', 'profile']),
    );
    expect(program.requests()).toHaveLength(3);
  });

  it('a client that names no version gets the older one, as GraphiQL and urql know it', async () => {
    await using program = await openProgram();
    const reply = await askInParts(program, CARD, { accept: 'application/json, multipart/mixed' });
    expect(reply.type).toContain('deferSpec=20220824');
    expect(payloads(reply)[1].incremental[0]).toMatchObject({ path: ['country'], label: 'profile' });
  });

  it('a client that asks again for what is cached gets the whole at once, and the other way round', async () => {
    await using program = await open();
    const first = await askInParts(program, CARD);
    const whole = await program.ask(CARD);
    expect(whole.upstream.calls).toBe(0);
    const again = await askInParts(program, CARD);
    await program.ask(CARD);
    const last = await askInParts(program, CARD);
    for (const { whole: other } of [first, again, last])
      expect(canonical(other.data)).toBe(canonical(whole.data));
    expect(program.requests()).toHaveLength(3);
  });
});

describe('what is refused', () => {
  const REFUSED = [
    [
      'a label twice',
      '{ a: __typename ... @defer(label: "a") { b: __typename } ... @defer(label: "a") { c: __typename } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a label that is a variable',
      'query($l: String) { a: __typename ... @defer(label: $l) { b: __typename } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['a list in parts', '{ countries @stream(initialCount: 1) { code } }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'what is too dear',
      '{ countries { code ... @defer { profile { name: __typename } signals { __typename } } } }',
      'OPERATION_TOO_EXPENSIVE',
    ],
    ['what nobody may read', CARD.replace('country(', 'country(kode: 1, '), 'GRAPHQL_VALIDATION_FAILED'],
  ] as const;
  it.for(REFUSED)(
    "a request for parts that can't be met is refused by one answer and at no cost: %s",
    async ([, query, code]) => {
      await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '20' } });
      const reply = await askInParts(program, query);
      expect(reply.type).toMatch(/^application\/graphql-response\+json/);
      expect(reply.status).toBe(400);
      expect(reply.parts).toHaveLength(1);
      expect(reply.whole.errors[0]?.extensions.code).toBe(code);
      expect(reply.whole.extensions.upstream.calls).toBe(0);
      expect(program.requests()).toEqual([]);
    },
  );

  it('an operation without a key is refused before any part', async () => {
    await using program = await openProgram();
    const reply = await askInParts(program, CARD, { key: null });
    expect([reply.status, reply.parts.length]).toEqual([401, 1]);
    expect(reply.whole.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(program.requests()).toEqual([]);
  });
});

describe('while parts are on their way', () => {
  it('while parts are on their way, a client that leaves ends what is done for it', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({ kind: 'hang', route: PROFILE });
    const reply = await askInParts(program, CARD, { onPart: (_, connection) => connection.destroy() });
    expect(reply.ended).toBe('cut');
    const sent = () => [...program.sandbox.log].find(({ route }) => route === PROFILE);
    await expect.poll(() => sent()?.aborted).toBe(true);
    await expect.poll(() => program.operations.length).toBe(1);
    expect(program.problems).toEqual([]);
  });

  it('while parts are on their way, the operation keeps its place until the last of them', async () => {
    await using program = await openProgram({ env: { MAX_CONCURRENT_OPERATIONS: '1' } });
    const profile = Promise.withResolvers<void>();
    program.sandbox.faults.set({ kind: 'paused', until: profile.promise, route: PROFILE });
    const order: string[] = [];
    let other: Promise<unknown> = Promise.resolve();
    const asked = askInParts(program, CARD, {
      onPart({ payload }) {
        order.push('part');
        if (payload.data) other = program.ask('{ __typename }').then(() => order.push('other'));
      },
    });
    const metrics = async () => (await fetch(new URL('/metrics', program.url))).text();
    await expect.poll(metrics).toMatch(/operations_waiting\S* 1$/m);
    profile.resolve();
    await asked;
    await other;
    expect(order.indexOf('other')).toBeGreaterThanOrEqual(2);
  });

  it('while parts are on their way, a gateway that is stopped lets them come', async () => {
    const program = await openProgram();
    const profile = Promise.withResolvers<void>();
    program.sandbox.faults.set({ kind: 'paused', until: profile.promise, route: PROFILE });
    let stopped: Promise<unknown> = Promise.resolve();
    const reply = await askInParts(program, CARD, {
      onPart({ payload }) {
        if (!payload.data) return;
        stopped = program[Symbol.asyncDispose]();
        profile.resolve();
      },
    });
    expect(reply.ended).toBe('whole');
    expect(reply.whole.data.country.profile.indicators.length).toBeGreaterThan(0);
    await stopped;
  });
});

describe('bounds', () => {
  it('bounds of answers in parts deliver no more than so many parts apart, and the rest with what it stands in', async () => {
    await using program = await openProgram();
    const query = (directive: string) =>
      `{ countries { code observations(metricKeys: ["population_total"]) { nodes: year ... ${directive} { value } } } }`;
    const plain = await program.ask(query(''));
    const reply = await askInParts(program, query('@defer'));
    expect(reply.whole.errors).toEqual([]);
    expect(canonical(reply.whole.data)).toBe(canonical(plain.data));
    const pending = payloads(reply).flatMap((part) => part.pending ?? []);
    const rows = plain.data.countries.flatMap((country: Json) => country.observations);
    expect(rows.length).toBeGreaterThan(1_000);
    expect(pending.length).toBeLessThanOrEqual(1_000);
  });

  it('bounds of answers in parts refuse the whole where what is there at once is too long', async () => {
    await using program = await openProgram({ env: { MAX_ANSWER_BYTES: '5000' } });
    const query = '{ indicators { key name record } ... @defer { country(code: "KE") { code } } }';
    const reply = await askInParts(program, query);
    expect(reply.parts).toHaveLength(1);
    expect(reply.whole.data).toBe(null);
    expect(reply.whole.errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
  });

  it('bounds of answers in parts send no more than an answer may have in all', async () => {
    await using program = await openProgram({ env: { MAX_ANSWER_BYTES: '5000' } });
    const query = '{ country(code: "KE") { code } ... @defer { indicators { key name record } } }';
    const reply = await askInParts(program, query);
    expect(reply.whole.data).toEqual({ country: { code: 'KE' } });
    expect(reply.whole.errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
    expect(reply.ended).toBe('whole');
  });
});

describe('the directives', () => {
  it('the directives for parts are told to clients, and not to routers, which have their own', async () => {
    await using program = await openProgram();
    const { data } = await program.ask('{ __schema { directives { name locations } } _service { sdl } }');
    const told = data.__schema.directives.filter(({ name }: Json) => name === 'defer');
    expect(told).toEqual([{ name: 'defer', locations: ['FRAGMENT_SPREAD', 'INLINE_FRAGMENT'] }]);
    expect(data._service.sdl).not.toMatch(/@defer/);
    const sdl = await fetch(new URL('/schema.graphql', program.url));
    expect(await sdl.text()).not.toMatch(/@defer/);
  });

  it('the directives for parts may stand in operations that are asked for by their hash, and by GET', async () => {
    await using program = await openProgram();
    const sha256Hash = sha256Of(CARD);
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${program.sandbox.keys.team}`,
      accept: ACCEPTS.v02,
    };
    await fetch(program.url, {
      method: 'POST',
      headers: { ...headers, accept: 'application/json' },
      body: JSON.stringify({ query: CARD, extensions }),
    });
    program.requests();
    const search = new URLSearchParams({ extensions: JSON.stringify(extensions) });
    const reply = await fetch(`${program.url}?${search}`, { headers: { ...headers, 'if-none-match': '*' } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('incrementalSpec=v0.2');
    expect(reply.headers.get('etag')).toBe(null);
    expect(await reply.text()).toContain('"hasNext":false');
    expect(program.requests()).toHaveLength(3);
  });
});
