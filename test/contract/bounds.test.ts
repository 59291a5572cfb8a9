import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { drawn } from '../support/draws.ts';
import { openProgram } from '../support/program.ts';
import { threadMs } from '../support/thread-ms.ts';

/*
 * A client needs no valid key to send a few bytes that stand for a great deal of work: requests here are
 * refused before that work is begun. The times are processor time, bounded by orders of magnitude, so that a
 * busy machine changes nothing.
 */

const opening = openProgram();
beforeEach(async () => (await opening).sandbox.log.clear());
afterAll(async () => (await opening)[Symbol.asyncDispose]());

const UNPROVEN = { key: 'cds_live_made_up' };
const EXPLAIN = { 'x-explain': '1' };

/** Asks under a key that nobody knows, and expects an early refusal of the code that costs no call. */
async function expectRefused(query: string, code: string, message: RegExp, asking: object = {}) {
  const { ask, sandbox, problems } = await opening;
  const before = process.threadCpuUsage();
  const reply = await ask(query, { ...UNPROVEN, ...asking });
  expect(threadMs(before)).toBeLessThan(1_500);
  expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
  expect(reply.errors[0]?.message).toMatch(message);
  expect([reply.data ?? null, reply.upstream.calls, sandbox.log.length, problems]).toEqual([null, 0, 0, []]);
  return reply;
}

describe('fragments that spread each other', () => {
  const bomb = (levels: number) => {
    const fragments = Array.from(
      { length: levels },
      (_, i) => `fragment f${i} on Country{...f${i + 1} ...f${i + 1}}`,
    );
    return `{country(code:"KE"){...f0}}${fragments.join('')}fragment f${levels} on Country{code}`;
  };

  it.each([16, 24, 40, 400])(
    '2^%i paths through fragments are refused before anybody walks them',
    async (levels) => {
      const { errors } = await expectRefused(
        bomb(levels),
        'OPERATION_TOO_EXPENSIVE',
        /selections.*MAX_TOKENS/,
      );
      expect(errors[0]?.extensions.limit).toBe(6_000);
      expect(errors[0]?.extensions.planned).toBeGreaterThan(2 ** Math.min(levels, 40));
    },
  );

  it('fragments that spread each other are refused where the plan is asked for, too', () =>
    expectRefused(bomb(40), 'OPERATION_TOO_EXPENSIVE', /MAX_TOKENS/, { headers: EXPLAIN }));

  it('fragments that spread each other run where that is no more than a document without fragments may have', async () => {
    const { ask, sandbox } = await opening;
    const reply = await ask(bomb(10), { key: sandbox.keys.team });
    expect(reply.data).toEqual({ country: { code: 'KE' } });
    expect(reply.upstream.calls).toBe(1);
  });
});

describe('a list argument', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);
  const ids = names(1001).map((key) => Buffer.from(JSON.stringify(['Indicator', key])).toString('base64url'));
  const lists: [string, string, object][] = [
    ['query ($l: [String!]) { observations(metricKeys: $l) { year } }', 'metric keys', names(5000)],
    [
      'query ($l: [String!]) { country(code: "KE") { observations(metricKeys: $l) { year } } }',
      'below',
      names(1001),
    ],
    ['query ($l: [String!]) { indicators(keys: $l) { name } }', 'keys', names(1001)],
    ['query ($l: [ID!]!) { nodes(ids: $l) { id } }', 'identifiers', ids],
    [
      'query ($l: [_Any!]!) { _entities(representations: $l) { __typename } }',
      'representations',
      names(1001).map((key) => ({ __typename: 'Indicator', key })),
    ],
  ];

  it.each(lists)('a list argument is refused where it is longer than may be: %s', async (query, _, list) => {
    // The second time, and the third, the operation is known.
    for (let time = 0; time < 3; time += 1)
      await expectRefused(query, 'BAD_USER_INPUT', /MAX_LIST_ITEMS/, { variables: { l: list } });
    await expectRefused(query, 'BAD_USER_INPUT', /MAX_LIST_ITEMS/, {
      variables: { l: list },
      headers: EXPLAIN,
    });
  });

  it('a list argument is refused in the text of an operation, too', () =>
    expectRefused(
      `{ observations(metricKeys: ${JSON.stringify(names(1001))}) { year } }`,
      'GRAPHQL_VALIDATION_FAILED',
      /MAX_LIST_ITEMS/,
    ));

  it('a list argument may be as long as the setting says', async () => {
    await using program = await openProgram({ env: { MAX_LIST_ITEMS: '2' } });
    const query = 'query ($l: [CountryCode!]) { countries(codes: $l) { code } }';
    const two = await program.ask(query, { variables: { l: ['KE', 'NG'] } });
    expect([two.data.countries.length, two.upstream.calls]).toEqual([2, 1]);
    const three = await program.ask(query, { variables: { l: ['KE', 'NG', 'ZA'] } });
    expect(three.errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', limit: 2 });
    expect([three.status, three.upstream.calls]).toEqual([400, 0]);
  });
});

describe('lists that multiply', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const metrics = Array.from({ length: 1000 }, (_, i) => `m${i}`);
  const table =
    'query ($c: [CountryCode!], $m: [String!]) { observations(countryCodes: $c, metricKeys: $m, latest: true) { year } }';
  const aliases = metrics
    .slice(0, 50)
    .map((key) => `${key}: observations(countryCodes: $c, metricKeys: ["${key}"], latest: true) { year }`);
  const products: [string, string, object][] = [
    ['names in one field', table, { c: codes, m: metrics }],
    ['names under aliases', `query ($c: [CountryCode!]) { ${aliases.join(' ')} }`, { c: codes }],
    ['series that are not named', '{ observations { year } }', {}],
    ['series below countries', '{ countries { observations(fromYear: 1950) { id value } } }', {}],
  ];

  it.each(products)(
    'lists that multiply are refused before a figure is wanted: %s',
    async (_, query, variables) => {
      const { errors } = await expectRefused(query, 'OPERATION_TOO_EXPENSIVE', /this gateway/, { variables });
      const { planned, limit } = { planned: 0, limit: 0, ...errors[0]?.extensions };
      expect(planned).toBeGreaterThan(limit);
      await expectRefused(query, 'OPERATION_TOO_EXPENSIVE', /not accepted lately|MAX_UPSTREAM_CALLS/, {
        variables,
        headers: EXPLAIN,
      });
    },
  );

  it('lists that multiply are refused for a key that the service accepts by what they come to', async () => {
    const { ask, sandbox } = await opening;
    const key = sandbox.keys.team;
    await ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }', { key });
    sandbox.log.clear();
    // Fifty metrics of all codes take 34 calls, the allowance of this key.
    for (const [what, query, variables] of products.filter(([what]) => !what.includes('aliases'))) {
      const { errors, upstream } = await ask(query, { key, variables: variables as never });
      expect([what, ...errors.map(({ extensions }) => extensions.code)]).toEqual([
        what,
        'OPERATION_TOO_EXPENSIVE',
      ]);
      expect([upstream.calls, sandbox.log.length]).toEqual([0, 0]);
    }
  });

  it.each([
    ['{ countries { observations(fromYear: 1950) { id value } } }', 'countries.observations'],
    ['{ all: countries { ...F } } fragment F on Country { figures: observations { value } }', 'all.figures'],
    ['{ indicators { key observations { value } } countries { name } }', 'indicators.observations'],
    ['{ observations { value } }', 'observations'],
  ])(
    'lists that multiply are planned no further than it takes to know that they are too many: %s',
    async (query, field) => {
      const { ask, sandbox } = await opening;
      for (const key of [UNPROVEN.key, sandbox.keys.team]) {
        const { errors, upstream } = await ask(query, { key });
        const { message = '', extensions } = { ...errors[0] };
        const planned = Number(extensions?.planned);
        expect(message).toMatch(/plans at least \d+ upstream calls/);
        expect(message).toContain(`most of them to /v1/data for ${field};`);
        expect(extensions).toMatchObject({ route: '/v1/data', field, limit: 60 });
        // All of them come to more than 860; a list of 250 names is looked at before the next look at the count.
        expect(planned).toBeGreaterThan(60);
        expect(planned).toBeLessThanOrEqual(60 + Math.ceil((250 * 77) / 1_000));
        expect([upstream.calls, sandbox.log.length]).toEqual([0, 0]);
      }
    },
  );

  it('lists that multiply are planned by the plan that is asked for, up to some way beyond the limit', async () => {
    const { ask, sandbox } = await opening;
    const key = sandbox.keys.team;
    await ask('{ country(code: "KE") { observation(metricKey: "population_total") { value } } }', { key });
    sandbox.log.clear();
    const { errors } = await ask('{ observations { value } }', { key, headers: EXPLAIN });
    expect(errors[0]?.message).toMatch(/plans at least 60\d upstream calls/);
    const metrics = Array.from({ length: 20 }, (_, i) => `m${i}`);
    const some = 'query ($m: [String!]) { observations(metricKeys: $m) { value } }';
    const { extensions } = await ask(some, { key, headers: EXPLAIN, variables: { m: metrics } as never });
    expect(extensions.explain).toMatchObject({ calls: expect.any(Number), limit: 60 });
    expect((extensions.explain as { calls: number }).calls).toBeGreaterThan(80);
    expect(sandbox.log.length).toBe(0);
  });

  it.each(
    drawn<[string, string, number]>(
      [
        ['all latest figures', '{ observations(latest: true) { value } }', 14],
        ['all latest figures, below countries', '{ countries { observations(latest: true) { value } } }', 14],
        [
          'three of each country',
          '{ countries { a: observation(metricKey: "population_total") { value } b: observation(metricKey: "gdp_current_usd") { value } c: observation(metricKey: "life_expectancy") { value } } }',
          2,
        ],
      ],
      2,
    ),
  )(
    'lists that multiply are no reason to refuse the first operation of a key: %s',
    async (_, query, calls) => {
      // However slow the machine is.
      const env = { UPSTREAM_TIMEOUT_MS: '60000', OPERATION_TIMEOUT_MS: '60000' };
      await using program = await openProgram({ env });
      const { errors, upstream } = await program.ask(query);
      expect([errors, upstream.calls]).toEqual([[], calls]);
    },
  );

  const nested = `{ countries { ${'tickers { country { '.repeat(5)}code${' } }'.repeat(5)} } }`;

  it.each([nested, nested.replace('{', '{ __schema { queryType { name } }')])(
    'lists that multiply end where they are too long, whatever the service has in them: %s',
    async (query) => {
      const { ask, problems } = await opening;
      const { data, errors } = await ask(query);
      expect(data ?? null).toBeNull();
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_EXPENSIVE']);
      expect(errors[0]?.message).toMatch(/more items of lists than the 250000/);
      expect(problems).toEqual([]);
    },
  );

  const SCHEMA = '__schema { queryType { name } }';
  it.each(
    drawn<[string, string, number, number, string]>(
      [
        ['pages from both ends', '', 2, 10, 'first: 1, last: 1'],
        ['what is no cursor', '', 2, 10, 'after: "none"'],
        ['what is no cursor, beside the schema', SCHEMA, 1, 80, 'after: "none"'],
      ],
      2,
    ),
  )(
    'lists that multiply end where they come to very many errors: %s',
    async (_, beside, depth, count, wrong) => {
      const { ask, sandbox, problems } = await opening;
      const key = sandbox.keys.team;
      await ask('{ countries { tickers { symbol } } }', { key });
      sandbox.log.clear();
      const page = `observationsConnection(metricKeys: ["x"], ${wrong}) { totalCount }`;
      const pages = Array.from({ length: count }, (_, i) => `page${i}: ${page}`).join(' ');
      const nested = `${'tickers { country { '.repeat(depth)}${pages}${' } }'.repeat(depth)}`;
      const query = `{ ${beside} countries { ${nested} } }`;
      for (const headers of [{}, EXPLAIN]) {
        const { data, errors, upstream } = await ask(query, { key, headers });
        expect(data ?? null).toBeNull();
        expect(errors).toEqual([
          expect.objectContaining({
            message: 'The operation has more errors than the 25000 that this gateway accepts.',
            extensions: expect.objectContaining({
              code: 'OPERATION_TOO_EXPENSIVE',
              planned: 25_001,
              limit: 25_000,
            }),
          }),
        ]);
        expect([upstream.calls, sandbox.log.length, problems]).toEqual([0, 0, []]);
      }
    },
  );
});

describe('an Accept header', () => {
  const QUERY = '{ countries { name } }';

  it('an Accept header is not weighed if it names very many types', async () => {
    const { ask, sandbox } = await opening;
    const { errors } = await ask(QUERY, { headers: { accept: 'a/b,'.repeat(3_750) } });
    expect(errors).toMatchObject([
      {
        message: 'The Accept header has 15000 characters; this gateway reads 1000.',
        extensions: { code: 'BAD_REQUEST' },
      },
    ]);
    expect(sandbox.log).toHaveLength(0);
  });

  it('an Accept header may name as many as there is room for', async () => {
    const { ask } = await opening;
    const accept = `${'a/b,'.repeat(240)}application/json`;
    const { data, upstream } = await ask('{ __typename }', { headers: { accept } });
    expect([data, upstream.calls]).toEqual([{ __typename: 'Query' }, 0]);
  });
});

it('an address with very many parameters is not read', async () => {
  const { url, sandbox } = await opening;
  const search = `query=${encodeURIComponent('{ countries { name } }')}${'&a'.repeat(100)}`;
  const response = await fetch(`${url}?${search}`, { headers: { authorization: `Bearer ${UNPROVEN.key}` } });
  expect([response.status, (await response.json()).errors]).toMatchObject([
    400,
    [{ message: expect.stringContaining('more than 100 parameters'), extensions: { code: 'BAD_REQUEST' } }],
  ]);
  expect(sandbox.log).toHaveLength(0);
});

describe('what the schema says of itself', () => {
  const FULL =
    '{ types { name description fields { name description args { name type { ...T } } type { ...T } } } }';
  const T = 'fragment T on __Type { kind name ofType { kind name ofType { kind name } } }';
  const many = (count: number, made: (name: string) => string) =>
    Array.from({ length: count }, (_, i) => made(`a${i}`)).join(' ');

  it.for([
    ['all of it, 100 times', `{ ${many(100, (name) => `${name}: __schema ${FULL}`)} } ${T}`],
    [
      'its lists in each other',
      `{ ${many(20, (name) => `${name}: __schema { types { fields { type { fields { name } } } } }`)} }`,
    ],
    [
      'its texts, 200 times',
      `{ __schema { types { fields { ${many(200, (name) => `${name}: description`)} } } } }`,
    ],
    ['long names for each of its types', `{ __schema { types { ${'x'.repeat(50_000)}: name } } }`],
    [
      'names of types alone',
      `{ __schema { types { fields { ${many(200, (name) => `${name}_by_another_name: __typename`)} } } } }`,
    ],
  ])('what the schema says of itself is bounded for everybody: %s', async ([, query = '']) => {
    const reply = await expectRefused(
      query,
      'OPERATION_TOO_EXPENSIVE',
      /more items of lists than the 12500/,
      { key: null },
    );
    expect(JSON.stringify(reply).length).toBeLessThan(1_000);
  });

  it('what the schema says of itself is not read in one go where a condition is null', async () => {
    const query = `query ($c: Boolean = true) { ${many(90, (name) => `${name}: __schema ${FULL}`)} x: __type (name: "A") { name @include(if: $c) } } ${T}`;
    await expectRefused(query, 'BAD_USER_INPUT', /^Variable "\$c" stands in a condition/, {
      key: null,
      variables: { c: null },
    });
  });

  it('what the schema says of itself is told in full to tools, under no key', async () => {
    const { ask } = await opening;
    const query = getIntrospectionQuery({
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      typeDepth: 15,
    });
    const { data, errors } = await ask(query, { key: null });
    expect(errors).toEqual([]);
    expect(Object.keys(buildClientSchema(data as unknown as IntrospectionQuery).getTypeMap())).toContain(
      'Observation',
    );
  });
});
