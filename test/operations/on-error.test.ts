import { describe, expect, it } from 'vitest';
import { askInParts, type Spec } from '../defer/parts.ts';
import { brokenSchema } from '../support/broken-schema.ts';
import { inFlightTogether, settled } from '../support/quiet.ts';
import { open } from './exchange.ts';

const CITED =
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { year citation } }';
const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';

/** Several ways to say the same. */
const WAYS = [{ method: 'POST' }, { method: 'GET' }, { method: 'QUERY' }] as const;

describe('onError', () => {
  it.for(WAYS)(
    'onError of a $method that nobody knows is refused before anything is sent',
    async ({ method }) => {
      await using program = await open();
      for (const onError of ['null', 'ABORT', '', 'NULL ']) {
        const { status, text } = await program.send({ method, body: { query: FIGURE, onError } });
        const { data, errors, extensions } = JSON.parse(text);
        expect([status, data, extensions.upstream.calls]).toEqual([400, undefined, 0]);
        expect(errors).toMatchObject([
          {
            message: 'onError must be PROPAGATE, NULL, HALT or left out. Nothing was run.',
            extensions: { code: 'BAD_USER_INPUT', retryable: false, requestId: 'test' },
          },
        ]);
      }
      for (const onError of [5, ['NULL'], { NULL: true }]) {
        if (method === 'GET') continue;
        expect((await program.send({ method, body: { query: FIGURE, onError } })).status).toBe(400);
      }
      expect(program.requests()).toEqual([]);
    },
  );

  it.for(WAYS)(
    'onError of a $method says where an error goes, by Apollo and by a plan',
    async ({ method }) => {
      await using program = await open({ opened: await brokenSchema() });
      const error = {
        message: 'There is no citation.',
        path: ['observations', 0, 'citation'],
        extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
      };
      // The first time, Apollo reads the operation; from the second on it is kept ready.
      for (let times = 0; times < 3; times += 1) {
        const answer = async (onError?: string | null) => {
          const body = { query: CITED, ...(onError === undefined ? {} : { onError }) };
          return JSON.parse((await program.send({ method, body })).text);
        };
        const [left, told, halted] = [await answer('NULL'), await answer('PROPAGATE'), await answer('HALT')];
        expect(left.data).toEqual({ observations: [{ year: expect.any(Number), citation: null }] });
        expect(told.data).toEqual({ observations: null });
        expect(halted.data).toBeNull();
        for (const { errors } of [left, told, halted]) expect(errors).toMatchObject([error]);
        expect((await answer()).data).toEqual(told.data);
        if (method !== 'GET') expect((await answer(null)).data).toEqual(told.data);
      }
      expect(program.requests()).toHaveLength(1);
    },
  );

  it('onError is part of the question: neither bytes that are kept nor tags are those of another', async () => {
    await using program = await open();
    const ask = (onError: string, headers = {}) =>
      program.send({ method: 'GET', body: { query: FIGURE, onError }, headers });
    const tags: unknown[] = [];
    for (const onError of ['PROPAGATE', 'NULL', 'HALT']) {
      for (let times = 0; times < 4; times += 1) await ask(onError);
      const { headers } = await ask(onError);
      tags.push(headers.etag);
      const conditional = { 'if-none-match': String(headers.etag) };
      expect((await ask(onError, conditional)).status).toBe(304);
      for (const other of ['PROPAGATE', 'NULL', 'HALT'])
        if (other !== onError) expect((await ask(other, conditional)).status).toBe(200);
    }
    expect(new Set(tags).size).toBe(3);
    expect(program.requests()).toHaveLength(1);
  });

  it('onError keeps equal operations in flight apart, which share their calls all the same', async () => {
    await using program = await open({ opened: await brokenSchema() });
    await program.ask(CITED.replace('KE', 'UG'));
    program.requests();
    const answers = await inFlightTogether(program, () =>
      Promise.all(['NULL', 'PROPAGATE', 'HALT', 'NULL'].map((onError) => program.ask(CITED, { onError }))),
    );
    const left = [{ year: expect.any(Number), citation: null }];
    expect(answers.map(({ data }) => data)).toEqual([
      { observations: left },
      { observations: null },
      null,
      { observations: left },
    ]);
    expect(answers.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(1);
    expect(program.requests()).toHaveLength(1);
  });

  it('onError stands in each operation of a batch by itself', async () => {
    await using program = await open({ opened: await brokenSchema() });
    const body = ['NULL', 'HALT', 'other'].map((onError) => ({ query: CITED, onError }));
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${program.sandbox.keys.team}` },
      body: JSON.stringify(body),
    });
    const [left, halted, refused] = await response.json();
    expect([left.data.observations[0].citation, halted.data, refused.data]).toEqual([null, null, undefined]);
    expect(refused.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(program.requests()).toHaveLength(1);
  });
});

const isOver = ({ status, aborted }: { readonly status: number | null; readonly aborted: boolean }) =>
  status !== null || aborted;

describe('an operation that halts', () => {
  /** The sources fail at once; the list of countries is late, and six calls would follow it. */
  const DEAR =
    '{ sources { key } countries(codes: ["KE", "UG", "TZ", "RW", "BI", "SS"]) { name signals { record } } }';

  it('an operation that halts sends no call after its first error, and its bill has those that were under way', async () => {
    await using program = await open();
    const { sandbox } = program;
    sandbox.faults.set({ kind: 'status', status: 503, route: '/v1/platform/etl-status' });
    for (let times = 0; times < 2; times += 1) {
      const countries = Promise.withResolvers<void>();
      program.sandbox.faults.set({
        kind: 'paused',
        until: countries.promise,
        route: '/v1/countries',
        times: 1,
      });
      const { data, errors, upstream } = await program.ask(DEAR, { onError: 'HALT' });
      expect(data).toBeNull();
      expect(errors).toMatchObject([{ path: ['sources'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
      countries.resolve();
      await expect.poll(() => sandbox.log.every(isOver)).toBe(true);
      await settled(program);
      const sent = program.requests();
      expect(sent.filter((request) => request.includes('signals'))).toEqual([]);
      expect(upstream.calls).toBe(sent.length);
      program.pass(400);
    }
    const whole = await program.ask(DEAR, { onError: 'NULL' });
    expect(whole.data.countries.length).toBeGreaterThan(5);
    expect(whole.upstream.calls).toBe(program.requests().length);
    expect(whole.upstream.calls).toBeGreaterThan(5);
  });

  it('an operation that halts answers 401 if the key is the reason', async () => {
    await using program = await open();
    const { status, data, errors } = await program.ask(`{ quota { plan } ${FIGURE.slice(1)}`, {
      key: null,
      onError: 'HALT',
    });
    expect([status, data, errors.length]).toEqual([401, null, 1]);
    expect(program.requests()).toEqual([]);
  });
});

const PROFILE = '/v1/countries/{code}/profile';

describe.for<Spec>(['draft2022', 'v02'])('in parts, by %s,', (spec) => {
  const CARD = `{
    country(code: "KE") {
      code
      ... @defer(label: "cited") { observations(metricKeys: ["population_total"], latest: true) { year citation } }
      ... @defer(label: "profile") { profile { indicators { name } } }
    }
  }`;

  it('in parts, an error stays in its place by NULL, and ends all that is to come by HALT', async () => {
    await using program = await open({ opened: await brokenSchema() });
    const plain = await program.ask(CARD, { onError: 'NULL' });
    expect(plain.data.country.observations).toEqual([{ year: expect.any(Number), citation: null }]);
    const left = await askInParts(program, CARD, { spec, onError: 'NULL' });
    expect(left.parts.length).toBeGreaterThan(1);
    expect(left.whole.data).toEqual(plain.data);
    expect(left.whole.errors).toMatchObject([{ path: ['country', 'observations', 0, 'citation'] }]);
    expect(program.requests()).toHaveLength(2);

    const profile = Promise.withResolvers<void>();
    program.sandbox.faults.set({ kind: 'paused', until: profile.promise, route: PROFILE });
    program.pass(400);
    const halted = await askInParts(program, CARD, { spec, onError: 'HALT' });
    // It waited neither for the profile nor until that was given up.
    const { sandbox } = program;
    expect(sandbox.log.find(({ route }) => route === PROFILE)).toMatchObject({
      status: null,
      aborted: false,
    });
    profile.resolve();
    expect(halted.ended).toBe('whole');
    expect(JSON.stringify(halted.parts)).not.toContain('indicators');
    expect(halted.whole.errors.map(({ path }) => path?.at(-1))).toContain('citation');
    const { calls } = halted.whole.extensions.upstream;
    await expect.poll(() => sandbox.log.every(isOver)).toBe(true);
    await settled(program);
    expect(program.requests()).toHaveLength(calls);
  });
});
