import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const opening = openProgram();
beforeEach(async () => (await opening).sandbox.log.clear());
afterAll(async () => (await opening)[Symbol.asyncDispose]());

const KENYA = { __typename: 'Country', code: 'KE' };

const WRONG: [what: string, representation: unknown, message: RegExp][] = [
  ['an unknown type', { __typename: 'Nope' }, /no entity type "Nope"/],
  ['a type that is no entity', { __typename: 'Term', id: 'x' }, /no entity type "Term"/],
  ['no identifier', { __typename: 'Observation', id: 'x' }, /no identifier of this graph/],
  [
    'an identifier of another type',
    { __typename: 'Office', id: Buffer.from('["Country","KE"]').toString('base64url') },
    /is that of Country, not of Office/,
  ],
  ['an interface', { __typename: 'Node', id: 'x' }, /no entity type "Node"/],
  ['a name of every object', { __typename: 'constructor' }, /no entity type "constructor"/],
  ['no type', { code: 'KE' }, /needs `__typename`/],
  ['a type that is no text', { __typename: { toString: 1 } }, /needs `__typename`/],
  ['a text', 'Country', /is an object/],
  ['a number', 5, /is an object/],
  ['a list', [KENYA], /is an object/],
  ['no key', { __typename: 'Country' }, /Country needs `code`/],
  ['a key that is no text', { __typename: 'Indicator', key: 7 }, /Indicator needs `key`/],
  ['half a key', { __typename: 'Ticker', exchangeCode: 'JSE' }, /Ticker needs `symbol`/],
  ['two keys, the first no text', { __typename: 'Country', code: null, iso3: 'KEN' }, /Country needs `code`/],
  ['another key that is no text', { __typename: 'Country', iso3: 404 }, /Country needs `iso3`/],
  ['another key that is no code', { __typename: 'Country', iso3: 'KE' }, /three letters/],
  ['a key that is no code', { __typename: 'Country', code: 'K' }, /two letters/],
];

const BESIDES = { 'by itself': '', 'beside the schema': '__schema { queryType { name } }' };

describe.for(Object.entries(BESIDES))('a representation that is wrong, %s', ([, besides]) => {
  const query = `query ($representations: [_Any!]!) {
    ${besides} _entities(representations: $representations) { __typename ... on Country { code } } }`;

  it.each(WRONG)('a representation that is wrong fails alone: %s', async (_, wrong, message) => {
    const { ask, sandbox, problems } = await opening;
    const representations = [KENYA, wrong, { __typename: 'Country', code: 'ug' }];
    const reply = await ask(query, { variables: { representations } });
    expect(reply.data._entities).toEqual([KENYA, null, { __typename: 'Country', code: 'UG' }]);
    expect(reply.errors.map(({ path, extensions }) => [path, extensions])).toEqual([
      [['_entities', 1], { code: 'BAD_USER_INPUT', retryable: false }],
    ]);
    expect(reply.errors[0]?.message).toMatch(message);
    expect(reply.upstream.byRoute).toEqual({ '/v1/countries': 1 });
    expect([sandbox.log.length, problems]).toEqual([1, []]);
  });
});

describe('a null among representations', () => {
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Country { code } } }`;

  // The specification of Federation has [_Any!]!, and GraphQL's coerces a list of items that may not be null as a whole.
  it('a null among representations is against the type of the argument: the operation is refused before any call', async () => {
    const { ask, sandbox } = await opening;
    const reply = await ask(query, { variables: { representations: [KENYA, null] } });
    expect(reply.errors).toMatchObject([
      {
        message:
          'Variable "$representations" got invalid value null at "representations[1]"; Expected non-nullable type "_Any!" not to be null.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    const inText = await ask(
      `{ _entities(representations: [{ __typename: "Country", code: "KE" }, null]) { ... on Country { code } } }`,
    );
    expect(inText.errors).toMatchObject([
      {
        message: 'Expected value of type "_Any!", found null.',
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
    const byVariable = await ask(
      `query ($one: _Any!, $none: _Any) { _entities(representations: [$one, $none]) { ... on Country { code } } }`,
      { variables: { one: KENYA, none: null } },
    );
    expect(byVariable.errors).toHaveLength(1);
    expect(sandbox.log).toHaveLength(0);
  });
});

describe('a country that is known by its alpha-3 code', () => {
  const COUNTRIES = ['KEN', 'uga', 'XXX'].map((iso3) => ({ __typename: 'Country', iso3 }));
  const ask = async (fields: string, representations: readonly object[]) =>
    (await opening).ask(
      `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Country { ${fields} } } }`,
      { variables: { representations } },
    );

  it('a country that is known by its alpha-3 code is found by the list, and is null where it has none', async () => {
    const { data, errors, upstream } = await ask('code iso3 name', COUNTRIES);
    expect(data._entities).toEqual([
      { code: 'KE', iso3: 'KEN', name: 'Kenya' },
      { code: 'UG', iso3: 'UGA', name: 'Uganda' },
      null,
    ]);
    expect([errors, upstream.byRoute]).toEqual([[], { '/v1/countries': 1 }]);
  });

  it('a country that is known by its alpha-3 code costs no list where figures are asked for', async () => {
    const figure = 'code observation(metricKey: "population_total") { value }';
    const { data, upstream } = await ask(figure, COUNTRIES.slice(0, 2));
    expect(data._entities.map(({ code }: { code: string }) => code)).toEqual(['KE', 'UG']);
    expect(upstream.byRoute).toEqual({ '/v1/data': 1 });
  });
});
