import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inFlightTogether } from '../support/quiet.ts';
import { open } from './exchange.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FIGURE =
  '{ country(code: "KE") { profile { record } observation(metricKey: "population_total") { value } } }';
const OTHER_FIGURE = '{ country(code: "NG") { observation(metricKey: "population_total") { value } } }';
const BY_CODE =
  'query ByCode($code: CountryCode!, $deep: Boolean = true) { country(code: $code) { code profile @include(if: $deep) { record } } }';
const FIGURES =
  'query ($code: CountryCode!) { country(code: $code) { observation(metricKey: "population_total") { value } } }';
const NEWEST =
  '{ country(code: "KE") { observation(metricKey: "population_total", maxAge: 0) { value freshness { fetchedAt } } } }';

/** The program after an operation was asked so often that its answer is kept. */
async function openWith(query: string, options: Parameters<typeof open>[0] = {}) {
  const program = await open(options);
  await program.ask(query);
  const kept = await program.ask(query);
  expect(kept.upstream.calls).toBe(0);
  program.requests();
  program.repeats();
  return Object.assign(program, { kept });
}

describe('the third time the same is asked', () => {
  it('the third time the same is asked is answered with the bytes of the second, at no cost, and counted', async () => {
    await using program = await open();
    const [first, second, third, fourth] = [
      await program.send({ body: { query: FIGURE } }),
      await program.send({ body: { query: FIGURE } }),
      await program.send({ body: { query: FIGURE } }),
      await program.send({ body: { query: FIGURE } }),
    ];
    expect(program.requests()).toHaveLength(2);
    expect(JSON.parse(first.text).extensions.upstream).toMatchObject({ calls: 2, cached: 0 });
    expect(JSON.parse(second.text)).toEqual({
      data: JSON.parse(first.text).data,
      extensions: { upstream: { calls: 0, byRoute: {}, shared: 0, cached: 2, naive: 2 } },
    });
    for (const again of [third, fourth]) {
      expect(again.bytes.equals(second.bytes)).toBe(true);
      expect(again.status).toBe(200);
      expect({ ...again.headers, date: '' }).toEqual({ ...second.headers, date: '' });
    }
    expect(program.operations).toMatchObject([
      { repeated: false, calls: 2, cached: 0 },
      { repeated: false, calls: 0, cached: 2 },
      { repeated: true, type: 'query', name: null, calls: 0, cached: 2, stale: 0, errorCodes: [] },
      { repeated: true },
    ]);
    const metrics = await (await fetch(new URL('/metrics', program.url))).text();
    expect(metrics).toContain('country_graph_answers_repeated_total 2\n');
    expect(metrics).toContain('country_graph_operations_total{type="query",outcome="ok"} 4\n');
    expect(metrics).toContain('country_graph_upstream_calls_saved_total{by="cached"} 6\n');
  });

  it('the third time the same is asked is the same question by GET and by POST, however its variables are given', async () => {
    await using program = await openWith('{ country(code: "KE") { profile { record } } }');
    const forms = [{ code: 'KE' }, { code: 'KE' }, { code: 'KE' }];
    for (const variables of forms) await program.send({ body: { query: BY_CODE, variables } });
    await program.send({ method: 'GET', body: { query: BY_CODE, variables: '{ "code" :  "KE" }' } });
    await program.send({
      body: { query: BY_CODE, variables: { code: 'KE' }, operationName: null },
    });
    expect(program.repeats()).toEqual([false, false, true, true, true]);
    const plain = '{ country(code: "KE") { profile { record } } }';
    for (const variables of [undefined, null, {}]) await program.send({ body: { query: plain, variables } });
    expect(program.repeats().at(-1)).toBe(true);
    expect(program.requests()).toEqual([]);
  });

  it('the third time the same is asked is the same question with extensions in which a client tells of itself', async () => {
    await using program = await open();
    const extensions = { clientLibrary: { name: '@apollo/client', version: '4.0.0' } };
    for (const method of ['POST', 'POST', 'GET', 'POST'] as const)
      await program.send({ method, body: { query: FIGURES, variables: { code: 'KE' }, extensions } });
    await program.send({ body: { query: FIGURES, variables: { code: 'KE' } } });
    expect(program.repeats()).toEqual([false, false, true, true, true]);
    expect(program.requests()).toHaveLength(1);
    for (const odd of [7, [], 'none', { persistedQuery: 7 }]) {
      const { text } = await program.send({
        body: { query: FIGURES, variables: { code: 'KE' }, extensions: odd },
      });
      expect(JSON.parse(text).errors).toHaveLength(1);
    }
    expect(program.requests()).toEqual([]);
  });

  it('the third time the same is asked is no question with a number beyond all numbers, which JSON would write as null', async () => {
    const query =
      'query ($year: Int) { observations(countryCodes: ["KE"], metricKeys: ["population_total"], fromYear: $year, latest: true) { value } }';
    await using program = await open();
    const asked = (variables: string) => program.send({ method: 'GET', body: { query, variables } });
    for (let i = 0; i < 3; i += 1) await asked('{"year":null}');
    expect(program.repeats()).toEqual([false, false, true]);
    expect(program.requests()).toHaveLength(1);
    const { text } = await asked('{"year":1e999}');
    expect(JSON.parse(text).errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(program.repeats()).toEqual([false]);
    const [together, alone] = await Promise.all([asked('{"year":null,"other":1}'), asked('{"year":-1e999}')]);
    expect(JSON.parse(together.text).errors).toBeUndefined();
    expect(JSON.parse(alone.text).errors).toHaveLength(1);
    expect(program.requests()).toEqual([]);
  });

  it('the third time the same is asked is another question with other variables, another name, another key or another text', async () => {
    const query = `query A { country(code: "KE") { profile { record } } } query B { country(code: "KE") { name } }`;
    await using program = await open();
    const { team, analyst } = program.sandbox.keys;
    const asked = { query: BY_CODE, variables: { code: 'KE' } };
    for (let i = 0; i < 3; i += 1) await program.send({ body: asked });
    for (let i = 0; i < 3; i += 1) await program.send({ body: { query, operationName: 'A' } });
    expect(program.repeats()).toEqual([false, false, true, false, false, true]);
    program.requests();

    const ghana = await program.send({ body: { query: BY_CODE, variables: { code: 'GH' } } });
    expect(JSON.parse(ghana.text).data.country.code).toBe('GH');
    const shallow = await program.send({ body: { ...asked, variables: { code: 'KE', deep: false } } });
    expect(JSON.parse(shallow.text).data).toEqual({ country: { code: 'KE' } });
    const b = await program.send({ body: { query, operationName: 'B' } });
    expect(JSON.parse(b.text).data).toEqual({ country: { name: 'Kenya' } });
    const text = await program.send({ body: { ...asked, query: `${BY_CODE} ` } });
    expect(JSON.parse(text.text).extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    expect(program.requests()).toEqual(['GET /v1/countries/GH/profile', 'GET /v1/countries']);

    const other = await program.send({ body: asked, key: analyst });
    expect(JSON.parse(other.text).extensions.upstream).toMatchObject({ calls: 1, cached: 0 });
    const unknown = await program.send({ body: asked, key: 'nobody' });
    expect(JSON.parse(unknown.text)).toMatchObject({ data: { country: { profile: null } } });
    const none = await program.send({ body: asked, key: null });
    expect(JSON.parse(none.text).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(program.repeats()).toEqual(Array.from({ length: 7 }, () => false));
    expect(program.sandbox.log.map(({ key }) => key)).toEqual(['analyst', 'unknown']);
    await program.send({ body: asked, key: team });
    expect(program.requests()).toHaveLength(2);
  });
});

describe('never repeated', () => {
  it.for([
    ['quota', '{ quota { callsThisMinute } country(code: "KE") { profile { record } } }', 0],
    ['health', '{ health { status } country(code: "KE") { profile { record } } }', 1],
    ['figures that may not be held', NEWEST, 1],
    ['an error', '{ country(code: "KE") { profile { record } } node(id: "none") { id } }', 0],
    ['what reads nothing', '{ __typename }', 0],
  ] as const)('an answer is never repeated: %s', async ([, query, calls]) => {
    await using program = await open();
    await program.ask(query);
    await program.ask(query);
    program.requests();
    for (let i = 0; i < 3; i += 1) expect((await program.ask(query)).upstream.calls).toBe(calls);
    expect(program.requests()).toHaveLength(3 * calls);
    expect(program.repeats()).toEqual(Array.from({ length: 5 }, () => false));
  });

  it('a stale answer is never repeated, nor is one kept from before the service was down', async () => {
    await using program = await openWith(FIGURE);
    program.pass(300);
    program.sandbox.faults.set({ kind: 'status', status: 500 });
    for (let i = 0; i < 6; i += 1) {
      const { data, upstream } = await program.ask(FIGURE);
      expect(data).toEqual(program.kept.data);
      expect(upstream.stale).toHaveLength(2);
      expect(upstream.cached).toBe(0);
    }
    expect(program.repeats()).toEqual(Array.from({ length: 6 }, () => false));
  });

  it('an answer that took a call, or shared one, is never repeated', async () => {
    await using program = await open();
    const both = ['A', 'B'].map((name) => ({
      query: `query ${name}($code: CountryCode!) { country(code: $code) { profile { record } } }`,
    }));
    for (const { query } of both) await program.ask(query, { variables: { code: 'NG' } });
    program.requests();
    program.repeats();
    const variables = { code: 'KE' };
    const replies = await inFlightTogether(program, () =>
      Promise.all(both.map(({ query }) => program.ask(query, { variables }))),
    );
    expect(replies.map(({ upstream }) => [upstream.calls, upstream.shared]).sort()).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(program.requests()).toEqual(['GET /v1/countries/KE/profile']);
    for (const cached of [1, 1]) {
      for (const { query } of both) {
        expect((await program.ask(query, { variables })).upstream).toMatchObject({ cached, shared: 0 });
      }
    }
    expect(program.repeats()).toEqual([false, false, false, false, true, true]);
    expect(program.requests()).toEqual([]);
  });

  it('an answer that shared a call for figures is never repeated', async () => {
    await using program = await open();
    const both = ['A', 'B'].map((name) => FIGURES.replace('query', `query ${name}`));
    for (const query of both) await program.ask(query, { variables: { code: 'NG' } });
    program.requests();
    program.repeats();
    const variables = { code: 'KE' };
    const replies = await Promise.all(both.map((query) => program.ask(query, { variables })));
    expect(replies.map(({ upstream }) => upstream.calls + upstream.shared)).toEqual([1, 1]);
    expect(program.requests()).toHaveLength(1);
    for (const query of [...both, ...both]) {
      expect((await program.ask(query, { variables })).upstream).toMatchObject({ cached: 1, shared: 0 });
    }
    expect(program.repeats()).toEqual([false, false, false, false, true, true]);
  });

  it('no answer is repeated with ANSWERS_MAX_BYTES=0', async () => {
    await using program = await openWith(FIGURE, { env: { ANSWERS_MAX_BYTES: '0' } });
    for (let i = 0; i < 3; i += 1)
      expect(await program.ask(FIGURE)).toMatchObject({ upstream: { calls: 0, cached: 2 } });
    expect(program.repeats()).toEqual([false, false, false]);
    expect(program.requests()).toEqual([]);
  });

  it('an answer that is larger than all there is room for is never repeated', async () => {
    await using program = await openWith(FIGURE, { env: { ANSWERS_MAX_BYTES: '600' } });
    await program.ask(FIGURE);
    expect(program.repeats()).toEqual([false]);
  });

  it('an answer is repeated no less because keys that nobody knows ask for what is public', async () => {
    const version = '{ platformVersion { version } }';
    await using program = await openWith(version, { env: { ANSWERS_MAX_BYTES: '10000' } });
    await program.ask(FIGURE);
    await program.ask(FIGURE);
    program.requests();
    for (let i = 0; i < 30; i += 1) await program.ask(version, { key: `made-up-${i}` });
    program.repeats();
    await program.ask(FIGURE);
    expect(program.repeats()).toEqual([true]);
    expect(program.requests()).toEqual([]);
  });

  it('no answer is repeated where nothing is cached', async () => {
    await using program = await open({ env: { CACHE_URL: 'none' } });
    for (let i = 0; i < 4; i += 1) expect((await program.ask(FIGURE)).upstream.calls).toBe(2);
    expect(program.repeats()).toEqual([false, false, false, false]);
  });
});

describe('time', () => {
  it('a repeated question past CACHE_TTL_SECONDS asks anew', async () => {
    await using program = await openWith(FIGURE, { env: { CACHE_TTL_SECONDS: '100' } });
    program.pass(99);
    await program.ask(FIGURE);
    expect(program.repeats()).toEqual([true]);
    program.pass(1);
    for (const calls of [2, 0, 0]) expect((await program.ask(FIGURE)).upstream.calls).toBe(calls);
    expect(program.repeats()).toEqual([false, false, true]);
    expect(program.requests()).toHaveLength(2);
  });

  it('the time of an answer counts from the oldest of what was read', async () => {
    await using program = await open({ env: { CACHE_TTL_SECONDS: '100' } });
    await program.ask('{ country(code: "KE") { profile { record } } }');
    program.pass(60);
    for (let i = 0; i < 3; i += 1) await program.ask(FIGURE);
    expect(program.repeats()).toEqual([false, false, false, true]);
    program.requests();
    program.pass(40);
    await program.ask(FIGURE);
    expect(program.requests()).toEqual(['GET /v1/countries/KE/profile']);
  });

  it("a repeated question past the service's own Cache-Control asks for the countries anew", async () => {
    const query = '{ countries { name } }';
    await using program = await openWith(query, {
      env: { CACHE_TTL_SECONDS: '86400', AUTH_TTL_SECONDS: '86400' },
    });
    program.pass(299);
    await program.ask(query);
    expect(program.repeats()).toEqual([true]);
    expect(program.requests()).toEqual([]);
    program.pass(1);
    expect((await program.ask(query)).upstream.calls).toBe(1);
    expect(program.requests()).toEqual(['GET /v1/countries']);
    expect(program.repeats()).toEqual([false]);
  });

  it('a repeated question past the maxAge of a field asks anew', async () => {
    const query = FIGURE.replace('"population_total"', '"population_total", maxAge: 10');
    await using program = await openWith(query);
    program.pass(9);
    await program.ask(query);
    expect(program.repeats()).toEqual([true]);
    program.pass(1);
    expect((await program.ask(query)).upstream).toMatchObject({ calls: 1, cached: 1 });
    expect(program.repeats()).toEqual([false]);
  });

  it('a repeated question past AUTH_TTL_SECONDS puts the key to the test', async () => {
    const env = { CACHE_TTL_SECONDS: '86400', AUTH_TTL_SECONDS: '100' };
    await using program = await openWith(OTHER_FIGURE, { env });
    program.pass(100);
    await program.ask(OTHER_FIGURE);
    expect(program.repeats()).toEqual([true]);
    program.pass(1);
    expect((await program.ask(OTHER_FIGURE)).upstream.calls).toBe(1);
    program.pass(101);
    program.sandbox.faults.set({ kind: 'status', status: 401 });
    const refused = await program.ask(OTHER_FIGURE);
    expect([refused.status, refused.data]).toEqual([401, { country: { observation: null } }]);
    expect(program.repeats()).toEqual([false, false]);
    expect(program.requests()).toHaveLength(2);
  });
});

it('a newer figure that another operation brought is served at once', async () => {
  const query =
    '{ country(code: "KE") { observation(metricKey: "population_total") { value freshness { fetchedAt } } } }';
  await using program = await openWith(query);
  program.pass(10);
  program.sandbox.faults.set({
    kind: 'shape',
    patch: (body) => ({ ...body, data: body.data.map((row: object) => ({ ...row, value: 4711 })) }),
  });
  const newer = await program.ask(NEWEST);
  expect(newer.data.country.observation).toEqual({
    value: 4711,
    freshness: { fetchedAt: '2026-03-10T12:00:40.000Z' },
  });
  program.repeats();
  program.requests();
  for (let i = 0; i < 3; i += 1) expect((await program.ask(query)).data).toEqual(newer.data);
  expect(program.repeats()).toEqual([false, true, true]);
  expect(program.requests()).toEqual([]);
});

describe('a key that the service refuses meanwhile', () => {
  it.for([401, 403])(
    'a key that the service refuses meanwhile with %d gets nothing, nor what was kept before once it is accepted again',
    async (status) => {
      await using program = await openWith(FIGURE);
      program.sandbox.faults.set({ kind: 'status', status, times: 3 });
      const asked = await program.ask('{ country(code: "NG") { offices { name } } }');
      expect(asked.errors).toHaveLength(1);
      program.repeats();
      const after = await program.ask(FIGURE);
      expect(after.data).toEqual({ country: status === 401 ? null : { profile: null, observation: null } });
      expect(program.repeats()).toEqual([false]);
      // Words that the service accepts the key with, but that are not held.
      program.pass(1);
      program.sandbox.faults.clear();
      program.sandbox.faults.set({ kind: 'status', status: 400, times: 1 });
      const fault = await program.ask('{ country(code: "GH") { offices { name } } }');
      expect(fault.errors).toHaveLength(1);
      program.requests();
      expect((await program.ask(FIGURE)).upstream.calls).toBe(2);
      expect(program.requests()).toHaveLength(2);
    },
  );

  it('a key that the service refuses meanwhile at one gateway gets nothing at another that shares the store', async () => {
    const env = { CACHE_URL: `sqlite:${join(folder, 'shared.sqlite')}` };
    await using one = await openWith(FIGURE, { env });
    await using two = await open({ env, clock: one.clock, upstreamUrl: one.service.url });
    await one.ask(FIGURE);
    expect(one.repeats()).toEqual([true]);
    one.pass(1);
    one.sandbox.faults.set({ kind: 'status', status: 401 });
    const asked = await two.ask('{ country(code: "NG") { profile { record } } }');
    expect(asked.errors).toHaveLength(1);
    one.requests();
    const after = await one.ask(FIGURE);
    expect(after.data).toEqual({ country: { profile: null, observation: null } });
    expect(one.repeats()).toEqual([false]);
    // Sends nothing more after the first refusal.
    expect(one.requests()).toHaveLength(after.upstream.calls);
    expect(after.upstream.calls).toBeLessThanOrEqual(2);
  });

  it('a key that the service refuses meanwhile and accepts again, both at another gateway, is not served what was kept before', async () => {
    const env = { CACHE_URL: `sqlite:${join(folder, 'again.sqlite')}` };
    await using one = await openWith(FIGURE, { env });
    await using two = await open({ env, clock: one.clock, upstreamUrl: one.service.url });
    const other = '{ country(code: "NG") { profile { record } } }';
    one.pass(1);
    one.sandbox.faults.set({ kind: 'status', status: 401, times: 1 });
    expect((await two.ask(other)).errors).toHaveLength(1);
    one.pass(1);
    expect((await two.ask(other)).errors).toEqual([]);
    one.requests();
    expect((await one.ask(FIGURE)).upstream.calls).toBe(2);
    expect(one.repeats()).toEqual([false]);
    expect(one.requests()).toHaveLength(2);
  });
});
