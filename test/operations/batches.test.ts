import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definePlugin } from '../../src/plugin/index.ts';
import { open } from './exchange.ts';

type Program = Awaited<ReturnType<typeof open>>;

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
  readonly errors?: readonly { readonly message: string; readonly extensions: Record<string, unknown> }[];
  readonly extensions: { readonly upstream: { readonly calls: number; readonly shared: number } };
}

/** A POST of an array, with the headers that a client sends. */
async function post(program: Program, body: readonly unknown[], headers: Record<string, string> = {}) {
  const response = await fetch(program.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${program.sandbox.keys.team}`,
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const figure = (code: string, metricKey = 'population_total') => ({
  operationName: 'Figure',
  variables: { code, metricKey },
  extensions: {},
  query:
    'query Figure($code: CountryCode!, $metricKey: String!) { country(code: $code) { code observation(metricKey: $metricKey) { value } } }',
});
const APOLLO = {
  accept: 'application/graphql-response+json,application/json;q=0.9',
  'apollographql-client-name': 'shop',
  'apollographql-client-version': '1.0',
};

describe('a request of several operations', () => {
  it.for<[string, Record<string, string>]>([
    ['the BatchHttpLink of Apollo Client 4', APOLLO],
    ['Hive Gateway 2 with batching', { accept: 'application/json' }],
  ])(
    'a request of several operations is answered in order, by one call for all of them, as sent by %s',
    async ([, headers]) => {
      await using program = await open();
      const batch = ['KE', 'NG', 'ZA', 'EG', 'MA'].map((code) => figure(code));
      const { status, body } = await post(program, batch, headers);
      const answers = body as readonly Answer[];
      expect(status).toBe(200);
      expect(answers.map(({ data }) => data.country.code)).toEqual(['KE', 'NG', 'ZA', 'EG', 'MA']);
      expect(answers.every(({ data }) => data.country.observation.value > 0)).toBe(true);
      expect(program.requests()).toHaveLength(1);
      const bills = answers.map(({ extensions }) => extensions.upstream);
      expect(bills.map(({ calls }) => calls)).toEqual([1, 0, 0, 0, 0]);
      expect(bills.map(({ shared }) => shared)).toEqual([0, 1, 1, 1, 1]);
      expect(program.operations.map(({ name }) => name)).toEqual(Array(5).fill('Figure'));
    },
  );

  it('a request of several operations merges operations that are new, known, and held, under a key that has plenty of calls', async () => {
    await using program = await open();
    // Six calls in a minute show that the plan is none of the smallest.
    for (let i = 0; i < 7; i += 1) await post(program, [figure('KE', `unlisted_${i}`)]);
    await post(program, [{ query: '{ countries { code name } }' }]);
    program.requests();
    const { body } = await post(program, [
      figure('KE', 'unlisted_1'),
      figure('GH'),
      { query: '{ country(code: "NG") { observation(metricKey: "gdp_current_usd") { value } } }' },
      { query: '{ countries { code name } }' },
      { query: '{ indicator(key: "population_total") { observation(countryCode: "ZA") { value } } }' },
    ]);
    expect(body).toHaveLength(5);
    expect(program.requests()).toHaveLength(1);
  });

  it('a request of several operations waits for those that begin many turns of the event loop later', async () => {
    const slow = definePlugin({
      name: 'slow',
      settings: {},
      open: () => ({
        request: (next) => async (request) => {
          const { variables } = request.body as { readonly variables?: { readonly code?: string } };
          for (let turns = 0; variables?.code === 'GH' && turns < 2_000; turns += 1) await nextTurn();
          return next(request);
        },
      }),
    });
    await using program = await open({ plugins: [slow] });
    // Six calls in a minute show that the plan is none of the smallest: batches leave in the same turn.
    for (let i = 0; i < 7; i += 1) await post(program, [figure('KE', `unlisted_${i}`)]);
    program.requests();
    const { body } = await post(program, [figure('KE'), figure('KE'), figure('GH'), { query: '{' }]);
    const calls = (body as readonly Answer[]).map(({ extensions }) => extensions?.upstream.calls);
    expect(calls).toEqual([1, 0, 0, 0]);
    expect(program.requests()).toHaveLength(1);
  });

  it('a request of several operations waits for none that wait for its own to end', async () => {
    await using program = await open({ env: { MAX_CONCURRENT_OPERATIONS: '3' } });
    // As many wait as may, even where a slow machine begins no more than one at once.
    const codes = ['KE', 'NG', 'ZA', 'EG'];
    const { body } = await post(
      program,
      codes.map((code) => figure(code)),
    );
    expect((body as readonly Answer[]).map(({ data }) => data.country.code)).toEqual(codes);
    expect(program.requests()).toHaveLength(2);
  });

  it('a request of several operations runs wide ones one after the other, narrow ones beside them', async () => {
    // With retries, its text takes up to ten calls.
    const batch = ['KE', 'NG', 'ZA', 'EG'].map((code) => figure(code));
    const callsOf = async (MAX_UPSTREAM_CALLS: string) => {
      await using program = await open({ env: { MAX_UPSTREAM_CALLS } });
      const { body } = await post(program, [...batch, { query: '{ health { status } }' }]);
      const answers = body as readonly Answer[];
      expect(answers.slice(0, 4).every(({ data }) => data.country.observation.value > 0)).toBe(true);
      expect(answers[4]?.data.health.status).toBe('ok');
      const data = program.requests().filter((request) => request.includes('/v1/data'));
      return { calls: answers.map(({ extensions }) => extensions.upstream.calls), data: data.length };
    };
    expect(await callsOf('2')).toEqual({ calls: [1, 1, 1, 1, 1], data: 4 });
    expect(await callsOf('60')).toEqual({ calls: [1, 0, 0, 0, 1], data: 1 });
  });

  it('a request of several operations lets each fail by itself', async () => {
    await using program = await open();
    const { status, headers, body } = await post(program, [
      figure('KE'),
      { query: '{' },
      'nothing',
      { query: '{ nothing }' },
      [],
      figure('KE'),
    ]);
    const answers = body as readonly Answer[];
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(answers.map(({ errors }) => errors?.[0]?.extensions.code ?? null)).toEqual([
      null,
      'GRAPHQL_PARSE_FAILED',
      'BAD_REQUEST',
      'GRAPHQL_VALIDATION_FAILED',
      'BAD_REQUEST',
      null,
    ]);
    for (const { errors = [] } of answers) {
      for (const { extensions } of errors) expect(extensions.requestId).toBe(headers.get('x-request-id'));
    }
    expect(answers[5]?.data).toEqual(answers[0]?.data);
    expect(program.requests()).toHaveLength(1);
  });

  it('a request of several operations has the status that all of them have', async () => {
    await using program = await open();
    const alone = (code: string) => ({
      query: figure(code).query.replace(' code ', ' '),
      variables: figure(code).variables,
    });
    const { status, headers } = await post(program, [alone('KE'), alone('NG')], {
      ...APOLLO,
      authorization: 'Bearer made-up',
    });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(program.requests()).toHaveLength(1);
  });

  it.for<[string, number, string | undefined, RegExp]>([
    ['11 operations', 11, undefined, /has 11 operations.*up to 10.*MAX_BATCHED_OPERATIONS.*batchMax/],
    ['more than the setting allows', 3, '2', /has 3 operations.*up to 2/],
    ['one, where none may come', 1, '0', /takes no batches.*a request of its own/],
    ['none', 0, undefined, /no operations/],
  ])(
    'a request of several operations is refused before anything runs: %s',
    async ([, count, most, message]) => {
      await using program = await open(most === undefined ? {} : { env: { MAX_BATCHED_OPERATIONS: most } });
      const { status, headers, body } = await post(program, Array(count).fill(figure('KE')));
      expect(status).toBe(400);
      expect(body).toMatchObject({
        errors: [
          {
            message: expect.stringMatching(message),
            extensions: { code: 'BAD_REQUEST', retryable: false, requestId: headers.get('x-request-id') },
          },
        ],
        extensions: { upstream: { calls: 0 } },
      });
      expect([program.requests(), program.operations]).toEqual([[], []]);
    },
  );

  it('a request of several operations is no longer than one answer may be', async () => {
    await using program = await open({ env: { MAX_ANSWER_BYTES: '20000' } });
    const query = '{ countries { name officialName capital region subregion } }';
    const { status, body } = await post(program, Array(5).fill({ query }));
    const answers = body as readonly Answer[];
    expect(status).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(25_000);
    const codes = answers.map(({ errors }) => errors?.[0]?.extensions.code ?? null);
    expect(new Set(codes)).toEqual(new Set([null, 'OPERATION_TOO_EXPENSIVE']));
    expect(program.requests()).toHaveLength(1);
  });
});
