import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const opening = openProgram();
beforeEach(async () => (await opening).sandbox.log.clear());
afterAll(async () => (await opening)[Symbol.asyncDispose]());

const idOf = (...key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url');

/** Refuses the operation before it runs, and names the code. */
async function expectRefused(query: string, variables: object | undefined, code: string) {
  const { ask, sandbox } = await opening;
  const reply = await ask(query, variables === undefined ? {} : { variables: variables as never });
  expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
  expect(reply.data ?? null).toBeNull();
  expect(reply.status).toBe(400);
  expect(reply.upstream.calls).toBe(0);
  expect(sandbox.log).toEqual([]);
}

const CODES = ['', 'K', 'KEN', 'K1', ' KE', 'KE ', 'K,', 'KЕ', 'KE\n', 254, 1.5, true, [], ['KE', 'UG'], {}];

describe('a malformed country code', () => {
  // A list is not a literal of one code; JSON is close enough to a literal for the rest but objects.
  it.each(CODES.filter((code) => typeof code !== 'object'))(
    'a malformed country code is refused: %j as a literal',
    (code) =>
      expectRefused(
        `{ country(code: ${JSON.stringify(code)}) { name } }`,
        undefined,
        'GRAPHQL_VALIDATION_FAILED',
      ),
  );
  it.each(CODES)('a malformed country code is refused: %j as a variable', (code) =>
    expectRefused(
      'query ($code: CountryCode!) { country(code: $code) { name } }',
      { code },
      'BAD_USER_INPUT',
    ),
  );
  it.each([{ codes: [['KE', 'Kenya']] }, { codes: ['Kenya'] }, { codes: ['KE', null] }, { codes: 254 }])(
    'a malformed country code is refused: %j in a list',
    (variables) =>
      expectRefused(
        'query ($codes: [CountryCode!]) { countries(codes: $codes) { name } }',
        variables,
        'BAD_USER_INPUT',
      ),
  );
});

describe('a variable', () => {
  it.each([
    { name: 'missing', variables: {} },
    { name: 'null', variables: { year: null } },
    { name: 'a text', variables: { year: '2020' } },
    { name: 'a fraction', variables: { year: 2020.5 } },
    { name: 'too large', variables: { year: 2 ** 31 } },
  ])('a variable that does not fit is refused: $name', ({ variables }) =>
    expectRefused(
      'query ($year: Int!) { country(code: "KE") { observations(metricKeys: [], fromYear: $year) { value } } }',
      variables,
      'BAD_USER_INPUT',
    ),
  );
});

describe('an operation that does not fit the schema', () => {
  it.each([
    '{ country { name } }',
    '{ country(code: null) { name } }',
    '{ country(code: "KE") }',
    '{ country(code: "KE") { mayor } }',
    '{ country(code: "KE") { observations(fromYear: "2020") { value } } }',
    '{ tickers(exchange: "NGX") { symbol } }',
    'query ($code: String!) { country(code: $code) { name } }',
    '{ country(code: "KE") { ...F } }',
    'mutation { country(code: "KE") { name } }',
    'subscription { health { status } }',
  ])('an operation that does not fit the schema is refused: %s', (query) =>
    expectRefused(query, undefined, 'GRAPHQL_VALIDATION_FAILED'),
  );
});

it.each(['', '{', 'query', '{ country(code: "KE) { name } }', '{ health { status } }}'])(
  'an operation that is no GraphQL is refused: %j',
  async (query) => {
    const code = query === '' ? 'BAD_REQUEST' : 'GRAPHQL_PARSE_FAILED';
    const { ask, sandbox } = await opening;
    const reply = await ask(query);
    expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
    expect([reply.status, sandbox.log.length]).toEqual([400, 0]);
  },
);

const KEYS = [
  '',
  ' ',
  '\ud800',
  'population total',
  'population_total,gdp_current_usd',
  'a\n',
  '\t',
  'x'.repeat(201),
];

describe('a variable with a default that is null where null may not stand', () => {
  const nothing = { data: null, status: 200 };
  it.each([
    ['query ($x: String = "KE") { bad: indicator(key: $x) { key } good: quota { state } }', { bad: null }],
    ['query ($x: Boolean = true) { bad: quota @include(if: $x) { state } }', null],
    [
      'query ($x: Boolean = true) { bad: quota { state @skip(if: $x) } good: quota { state } }',
      { bad: null },
    ],
  ])(
    'a variable with a default that is null where null may not stand is refused: %s',
    async (query, data) => {
      const { ask, sandbox, problems } = await opening;
      // The second time the operation is known.
      for (const _ of [1, 2]) {
        const reply = await ask(query, { variables: { x: null } });
        expect(reply.errors.map(({ extensions }) => extensions)).toEqual([
          { code: 'BAD_USER_INPUT', retryable: false },
        ]);
        if (data === null) expect(reply).toMatchObject(nothing);
        else expect(reply.data).toEqual({ ...data, good: { state: 'OK' } });
        expect([reply.upstream.calls, sandbox.log.length, problems]).toEqual([0, 0, []]);
      }
    },
  );
});

describe('a request that nests deeper than anybody can walk', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const post = (body: string) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
    body,
  });
  const code = 'query ($c: CountryCode!) { country(code: $c) { code } }';
  const cases: [string, string, RequestInit | undefined][] = [3_000, 200_000].flatMap((levels) => [
    ['in a variable', '', post(`{"query": "${code}", "variables": {"c": ${nested(levels)}}}`)],
    ['in extensions', '', post(`{"query": "${code}", "extensions": {"c": ${nested(levels)}}}`)],
    ['in a literal', '', post(JSON.stringify({ query: `{ country(code: ${nested(levels)}) { code } }` }))],
    ['in a selection', '', post(JSON.stringify({ query: `${'{ a '.repeat(levels)}${'}'.repeat(levels)}` }))],
  ]);
  const inAddress = `?query=${encodeURIComponent(code)}&variables={"c":${nested(3_000)}}`;

  it.each([
    ...cases,
    ['in an address', inAddress, { headers: { 'apollo-require-preflight': '1' } }],
  ] as const)('a request that nests deeper than anybody can walk is refused: %s', async (_, search, init) => {
    const { url, sandbox, problems } = await opening;
    const response = await fetch(url + search, init);
    const { errors } = (await response.json()) as { errors: { extensions: object }[] };
    const requestId = response.headers.get('x-request-id');
    expect([response.status, errors.map(({ extensions }) => extensions)]).toEqual([
      400,
      [{ code: 'BAD_REQUEST', retryable: false, requestId }],
    ]);
    expect([sandbox.log.length, problems]).toEqual([0, []]);
  });
});

/** Fails the field of such an argument alone: nothing is sent for it. */
describe('an argument that makes no sense', () => {
  const fields: [string, string, object][] = [
    ...KEYS.flatMap((key): [string, string, object][] => [
      ['a figure of a country', 'country(code: "KE") { observation(metricKey: $key) { value } }', { key }],
      ['series of a country', 'country(code: "KE") { observations(metricKeys: [$key]) { value } }', { key }],
      ['observations', 'observations(countryCodes: ["KE"], metricKeys: ["a", $key]) { value }', { key }],
      ['an indicator', 'indicator(key: $key) { name }', { key }],
      [
        'a figure of an indicator',
        'indicator(key: $key) { observation(countryCode: "KE") { value } }',
        { key },
      ],
    ]),
    ...['\ud800', 'x'.repeat(201)].flatMap((key): [string, string, object][] => [
      ['an exchange', 'tickers(exchangeCode: $key) { name }', { key }],
      ['a kind of listing', 'tickers(instrumentType: $key) { name }', { key }],
      ['a symbol', 'ticker(exchangeCode: "NGX", symbol: $key) { name }', { key }],
      ['a category', 'indicators(category: $key) { name }', { key }],
    ]),
    ...[
      '',
      'nothing',
      'KE',
      '!!!',
      idOf(),
      idOf('Country'),
      idOf('Country', 'KE', 'KE'),
      idOf('Country', 254),
      idOf('Country', 'Kenya'),
      idOf('City', 'Nairobi'),
      idOf('Health', 'ok'),
      idOf('constructor', 'x'),
      idOf('Indicator', 'a,b'),
      idOf('Ticker', 'NGX', '\ud800'),
      idOf('Office', '..', 'x', 'y'),
      idOf('Office', 'KE/../..', 'x', 'y'),
      idOf('Observation', 'KE,UG', 'population_total', '2020', '2020', '', '', 's'),
      idOf('Observation', 'KE', 'population_total,gdp_current_usd', '2020', '2020', '', '', 's'),
    ].map((key): [string, string, object] => ['a node', 'node(id: $key) { id }', { key }]),
    [
      'years the wrong way round',
      'observations(countryCodes: ["KE"], metricKeys: [$key], fromYear: 2001, toYear: 2000) { value }',
      { key: 'population_total' },
    ],
    [
      'years the wrong way round below a country',
      'country(code: "KE") { observations(metricKeys: [$key], latest: true, fromYear: 2001, toYear: 2000) { value } }',
      { key: 'population_total' },
    ],
    [
      'years the wrong way round below an indicator',
      'indicator(key: $key) { observations(countryCodes: ["KE"], fromYear: 2001, toYear: 2000) { value } }',
      { key: 'population_total' },
    ],
  ];

  it.each(fields)('an argument that makes no sense is refused: %s, %s of %j', async (_, field, variables) => {
    const { ask, sandbox, problems } = await opening;
    const type = field.startsWith('node') ? 'ID!' : 'String!';
    const query = `query ($key: ${type}) { bad: ${field} good: quota { state } }`;
    const reply = await ask(query, { variables: variables as never });
    expect(reply.errors.map(({ extensions }) => extensions)).toEqual([
      { code: 'BAD_USER_INPUT', retryable: false },
    ]);
    expect(reply.errors[0]?.path?.[0]).toBe('bad');
    expect(reply.data.good).toEqual({ state: 'OK' });
    expect(reply.status).toBe(200);
    expect(reply.upstream.calls).toBe(0);
    expect(sandbox.log).toEqual([]);
    expect(problems).toEqual([]);
  });
});

describe('a limit on the text of an operation', () => {
  const widened =
    'query Wide { ...Two } fragment Two on Query { quota { plan } ...One } fragment One on Query';
  it.each([
    {
      env: { MAX_ROOT_FIELDS: '2' },
      query: `${widened} { a: quota { plan } b: quota { plan } }`,
      planned: 3,
      says: 'has 3 root fields',
    },
    {
      env: { MAX_ROOT_FIELDS: '1' },
      query: '{ ... { quota { plan } __typename } }',
      planned: 2,
      says: 'has 2 root fields',
    },
    {
      env: { MAX_ALIASES: '1' },
      query: '{ quota { a: __typename ...F } } fragment F on Quota { b: plan }',
      planned: 2,
      says: 'has 2 aliases',
    },
    {
      env: { MAX_DEPTH: '2' },
      query: '{ country(code: "KE") { ...F } } fragment F on Country { profile { record } }',
      planned: 3,
      says: 'is 3 levels deep',
    },
  ])(
    'a limit on the text of an operation looks into fragments: $query',
    async ({ env, query, planned, says }) => {
      await using program = await openProgram({ env });
      const reply = await program.ask(query);
      expect(reply.errors[0]?.extensions).toMatchObject({
        code: 'OPERATION_TOO_EXPENSIVE',
        planned,
        limit: planned - 1,
      });
      expect(reply.errors[0]?.message).toBe(`The operation ${says}; this gateway takes ${planned - 1}.`);
      expect([reply.status, program.requests()]).toEqual([400, []]);
      // Runs at the limit that just fits.
      const [name = ''] = Object.keys(env);
      await using roomier = await openProgram({ env: { [name]: String(planned) } });
      expect((await roomier.ask(query)).errors).toEqual([]);
    },
  );
});

describe('a request that names an operation which is not there', () => {
  it.for([
    ['run', {}],
    ['explained', { 'x-explain': '1' }],
  ] as const)(
    'a request that names an operation which is not there is told so, and nothing is sent: %s',
    async ([, headers]) => {
      await using program = await openProgram();
      const response = await fetch(program.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          authorization: `Bearer ${program.sandbox.keys.team}`,
          ...headers,
        },
        body: JSON.stringify({ query: 'query A { countries { code } }', operationName: 'B' }),
      });
      const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
      expect([response.status, errors.map(({ extensions }) => extensions.code)]).toEqual([
        400,
        ['OPERATION_RESOLUTION_FAILURE'],
      ]);
      expect(program.requests()).toEqual([]);
      expect(program.problems).toEqual([]);
    },
  );
});
