import { describe, expect, it } from 'vitest';
import { open } from '../../operations/exchange.ts';

type Program = Awaited<ReturnType<typeof open>>;

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
  readonly errors?: readonly { readonly message: string; readonly extensions: Record<string, unknown> }[];
  readonly extensions: { readonly upstream: { readonly calls: number; readonly shared: number } };
  readonly variableIndex?: number;
  readonly requestIndex?: number;
}

/** As Fusion sends them: Hot Chocolate's gateway, `Accept` of its requests with a list of variables. */
const FUSION =
  'application/jsonl; charset=utf-8, text/event-stream; charset=utf-8, application/graphql-response+json; charset=utf-8, application/json; charset=utf-8';

const query =
  'query Figure($code: CountryCode!) { country(code: $code) { code observation(metricKey: "population_total") { value } } }';
const forCodes = (...codes: readonly string[]) => ({ query, variables: codes.map((code) => ({ code })) });

type Headers = Readonly<Record<string, string>>;

const send = (program: Program, body: unknown, headers: Headers) =>
  fetch(program.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${program.sandbox.keys.team}`,
      accept: 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });

async function post(program: Program, body: unknown, headers: Headers = {}) {
  const response = await send(program, body, headers);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const answers: readonly Answer[] = type.includes('jsonl')
    ? text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
  return { status: response.status, headers: response.headers, type, answers };
}

describe('an operation with a list of variables', () => {
  it('an operation with a list of variables is answered in their order, by one call and bills that make one', async () => {
    await using program = await open();
    const { status, type, answers } = await post(program, forCodes('KE', 'NG', 'ZA', 'EG'));
    expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answers.map(({ data }) => data.country.code)).toEqual(['KE', 'NG', 'ZA', 'EG']);
    expect(answers.map(({ variableIndex }) => variableIndex)).toEqual([0, 1, 2, 3]);
    expect(answers.every(({ requestIndex }) => requestIndex === undefined)).toBe(true);
    expect(program.requests()).toHaveLength(1);
    expect(answers.map(({ extensions }) => extensions.upstream.calls)).toEqual([1, 0, 0, 0]);
    // And once more, by a plan that is ready, from the cache.
    const again = await post(program, forCodes('KE', 'NG', 'ZA', 'EG'));
    expect(again.answers.map(({ data }) => data)).toEqual(answers.map(({ data }) => data));
    expect(program.requests()).toEqual([]);
  });

  it('an operation with a list of variables is answered with a line for each, as Fusion reads them', async () => {
    await using program = await open();
    const { status, type, answers, headers } = await post(program, forCodes('KE', 'NG'), { accept: FUSION });
    expect([status, type]).toEqual([200, 'application/jsonl; charset=utf-8']);
    expect(answers.map(({ variableIndex, data }) => [variableIndex, data.country.code])).toEqual([
      [0, 'KE'],
      [1, 'NG'],
    ]);
    expect(headers.get('cache-control')).toBe('private');
    expect(program.requests()).toHaveLength(1);
    for (const accept of ['application/graphql-response+jsonl', 'application/graphql+jsonl']) {
      const drafted = await post(program, forCodes('KE'), { accept });
      expect([drafted.type, drafted.answers[0]?.variableIndex]).toEqual([`${accept}; charset=utf-8`, 0]);
    }
    // A client that likes an array better gets one.
    const array = await post(program, forCodes('KE'), {
      accept: 'application/jsonl;q=0.5, application/json',
    });
    expect(array.type).toBe('application/json; charset=utf-8');
    expect(program.requests()).toEqual([]);
  });

  it('an operation with a list of variables may stand in an array, and each answer says where it belongs', async () => {
    await using program = await open();
    const body = [forCodes('KE', 'NG'), { query, variables: { code: 'ZA' } }];
    const places = ({ requestIndex, variableIndex, data }: Answer) => [
      requestIndex,
      variableIndex,
      data.country.code,
    ];
    const expected = [
      [0, 0, 'KE'],
      [0, 1, 'NG'],
      [1, undefined, 'ZA'],
    ];
    const lines = await post(program, body, { accept: FUSION });
    expect(lines.answers.map(places)).toEqual(expected);
    expect(program.requests()).toHaveLength(1);
    expect((await post(program, body)).answers.map(places)).toEqual(expected);
    expect(program.requests()).toEqual([]);
  });

  it('an operation with a list of variables has each fail by itself', async () => {
    await using program = await open();
    const variables = [{ code: 'KE' }, { code: 'KENYA' }, {}, 7, { code: 'NG' }];
    for (const accept of ['application/json', FUSION]) {
      const { status, answers, headers } = await post(program, { query, variables }, { accept });
      expect(status).toBe(200);
      expect(answers.map(({ errors }) => errors?.[0]?.extensions.code ?? null)).toEqual([
        null,
        'BAD_USER_INPUT',
        'BAD_USER_INPUT',
        'BAD_REQUEST',
        null,
      ]);
      expect(answers.map(({ variableIndex }) => variableIndex)).toEqual([0, 1, 2, 3, 4]);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(program.requests()).toHaveLength(1);
  });

  it.for<[string, number, string | undefined, RegExp]>([
    ['11 of them', 11, undefined, /has 11 operations.*up to 10.*MAX_BATCHED_OPERATIONS/],
    ['more than the setting allows', 3, '2', /has 3 operations.*up to 2/],
    ['one, where none may come', 1, '0', /takes no batches/],
    ['none', 0, undefined, /no operations/],
  ])(
    'an operation with a list of variables is refused before anything runs: %s',
    async ([, count, most, message]) => {
      await using program = await open(most === undefined ? {} : { env: { MAX_BATCHED_OPERATIONS: most } });
      for (const accept of ['application/json', FUSION]) {
        const { status, answers } = await post(program, forCodes(...Array(count).fill('KE')), { accept });
        expect(status).toBe(400);
        expect(answers).toMatchObject({
          errors: [{ message: expect.stringMatching(message), extensions: { code: 'BAD_REQUEST' } }],
        });
      }
      expect([program.requests(), program.operations]).toEqual([[], []]);
    },
  );

  it('an operation with a list of variables counts all of them against the bound of an array', async () => {
    await using program = await open({ env: { MAX_BATCHED_OPERATIONS: '3' } });
    const { status } = await post(program, [forCodes('KE', 'NG'), forCodes('ZA', 'EG')]);
    expect([status, program.requests()]).toEqual([400, []]);
  });

  it('an operation with a list of variables makes no table', async () => {
    await using program = await open();
    const rows = '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { value } }';
    const response = await send(program, { query: rows, variables: [{}, {}] }, { accept: 'text/csv' });
    expect([response.status, await response.text()]).toEqual([
      406,
      expect.stringContaining('A table is made of one operation'),
    ]);
    expect(program.requests()).toEqual([]);
  });
});
