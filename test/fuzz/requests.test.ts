import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Fuzzed, openFuzzed, posted } from './asking.ts';
import { CAMPAIGN, campaign } from './campaign.ts';

/**
 * Requests that nobody would write, sent to the gateway over HTTP. It answers each in well-formed JSON with
 * codes that its schema names, goes on, and asks the service for nothing on behalf of refused ones.
 */
let fuzzed: Fuzzed;
beforeAll(async () => {
  fuzzed = await openFuzzed();
});
afterAll(() => fuzzed[Symbol.asyncDispose]());

/** Sends a request, and counts those that reached the service. */
async function send(search: string, init: RequestInit): Promise<Answered & { readonly calls: number }> {
  const { log } = fuzzed.program.sandbox;
  log.clear();
  const answered = await fuzzed.send(search, init);
  if (answered.body.data == null) expect(log.length, answered.text).toBe(0);
  return { ...answered, calls: log.length };
}

const post = (body: unknown) => send('', posted(body));

/** Texts with halves of surrogate pairs, control characters, and names that every object has. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('\ud800', '\udc00', '\u0000', ',', '/', '%', '"', '\n', 'K', 'E'),
    maxLength: 5,
  }),
  fc.constantFrom(
    'constructor',
    '__typename',
    'toString',
    'KE',
    'ke',
    'population_total',
    'NGX',
    'x'.repeat(300),
  ),
);

/** Fastify refuses bodies with these names as poisoned, as it should. */
const isPoisoned = (value: unknown) => /"__proto__"|"constructor"/.test(JSON.stringify(value));

const json = fc
  .oneof(text, fc.jsonValue({ maxDepth: 4 }), fc.integer(), fc.constantFrom(null, true, [], {}, -0, 1e308))
  .filter((value) => !isPoisoned(value));

const KEYS: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<string>>>>> = {
  Country: { code: fc.constantFrom('KE', 'ng', 'ZZ') },
  Indicator: { key: fc.constantFrom('population_total', 'no_such_metric') },
  Source: { key: fc.constantFrom('world_bank_wdi', 'none') },
  Ticker: { exchangeCode: fc.constantFrom('NGX', 'none'), symbol: fc.constantFrom('SYN001', 'none') },
};

const sound = fc
  .constantFrom(...Object.keys(KEYS))
  .chain((__typename) => fc.record({ __typename: fc.constant(__typename), ...KEYS[__typename] }));

/** A representation, one of whose fields is left out, or is something else. */
const damaged = fc.tuple(sound, fc.nat(2), fc.option(json)).map(([representation, at, value]) => {
  const entries = Object.entries(representation);
  const [name = ''] = entries[at % entries.length] ?? [];
  const { [name]: _, ...others } = representation as Record<string, unknown>;
  return value === null ? others : { ...others, [name]: value };
});

const representation = fc.oneof(
  sound,
  damaged,
  json.filter((value) => value !== null),
);

/** True if there can be an entity of a representation, so that the service may be asked for it. */
function isSound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { __typename, ...fields } = value as Record<string, unknown>;
  if (typeof __typename !== 'string' || !Object.hasOwn(KEYS, __typename)) return false;
  return Object.keys(KEYS[__typename] ?? {}).every((name) => {
    const key = fields[name];
    if (typeof key !== 'string' || key === '') return false;
    if (__typename === 'Country') return /^[a-z]{2}$/i.test(key);
    if (__typename === 'Indicator') return /^[^\s,]{1,200}$/.test(key) && key.isWellFormed();
    return __typename !== 'Ticker' || (key.length <= 200 && key.isWellFormed());
  });
}

const SELECTIONS = [
  '__typename',
  '... on Country { code name } ... on Indicator { key unit } ... on Source { nextRun } ... on Ticker { name }',
  '... on Country { observation(metricKey: "population_total") { value } tickers { symbol } } ... on Indicator { observation(countryCode: "KE") { value } }',
];

const OPERATIONS: readonly (readonly [query: string, names: readonly string[]])[] = [
  [
    'query ($a: CountryCode!, $b: String!) { country(code: $a) { name observation(metricKey: $b) { value } } }',
    ['a', 'b'],
  ],
  [
    'query ($a: [CountryCode!], $b: [String!]) { observations(countryCodes: $a, metricKeys: $b, latest: true) { value } }',
    ['a', 'b'],
  ],
  [
    'query ($a: Int, $b: Int, $c: Int) { observations(countryCodes: ["KE"], metricKeys: ["population_total"], fromYear: $a, toYear: $b, maxAge: $c) { year } }',
    ['a', 'b', 'c'],
  ],
  [
    'query ($a: String, $b: CountryCode, $c: String) { tickers(exchangeCode: $a, countryCode: $b, instrumentType: $c) { symbol } }',
    ['a', 'b', 'c'],
  ],
  [
    'query ($a: String!, $b: String!) { ticker(exchangeCode: $a, symbol: $b) { symbol } source(key: $a) { key } }',
    ['a', 'b'],
  ],
  ['query ($a: [ID!]!, $b: ID!) { nodes(ids: $a) { id } node(id: $b) { id } }', ['a', 'b']],
  [
    'query ($a: String, $b: Boolean, $c: [String!]) { indicators(category: $a, hasData: $b, keys: $c) { key } }',
    ['a', 'b', 'c'],
  ],
  [
    'query ($a: Boolean = true, $b: String = "x") { quota @include(if: $a) { state } indicator(key: $b) { key } }',
    ['a', 'b'],
  ],
];

const id = fc
  .array(fc.oneof(text, fc.constantFrom('Country', 'Observation', 'Office', 'Ticker', 'KE')), {
    maxLength: 8,
  })
  .map((key) => Buffer.from(JSON.stringify(key)).toString('base64url'));

const variable = fc.oneof(
  json,
  id,
  fc.array(fc.oneof(text, id, fc.constantFrom('KE', 'ug', null)), { maxLength: 4 }),
  fc.constantFrom<unknown>('KE', 2020, 0, -1, true, ['KE', 'NG'], ['population_total'], 2 ** 31),
);

const QUERY = '{ quota { state } country(code: "KE") { code } }';

/** Bodies that were sound before something happened to them. */
const brokenBody = fc
  .tuple(fc.nat(), fc.nat(20), fc.string({ unit: 'binary', maxLength: 8 }))
  .map(([at, cut, put]) => {
    const body = JSON.stringify({ query: QUERY, variables: { a: [1, { b: null }] }, operationName: null });
    const place = at % body.length;
    return body.slice(0, place) + put + body.slice(place + cut);
  });

/** Operations that were sound before something happened to them. */
const brokenQuery = fc
  .tuple(fc.constantFrom(QUERY, ...OPERATIONS.map(([query]) => query)), fc.nat(), fc.nat(10), text)
  .map(
    ([query, at, cut, put]) =>
      query.slice(0, at % query.length) + put + query.slice((at % query.length) + cut),
  );

const oddRequest = fc.record(
  {
    query: fc.oneof(json, brokenQuery, fc.constant(QUERY)),
    variables: json,
    operationName: json,
    extensions: fc.oneof(
      json,
      fc.record({ persistedQuery: json }),
      fc.constant({ persistedQuery: { version: 1, sha256Hash: 'x' } }),
    ),
    documentId: json,
  },
  { requiredKeys: [] },
);

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'application/graphql',
  'multipart/form-data',
  'x',
  '',
];

describe('a gateway that is asked nonsense', CAMPAIGN, () => {
  it('a gateway that is asked nonsense answers each representation by itself', async () => {
    await campaign(
      'representations',
      fc.tuple(fc.constantFrom(...SELECTIONS), fc.array(representation, { maxLength: 6 })),
      async ([selection, representations]) => {
        const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ${selection} } }`;
        fc.pre(!isPoisoned(representations));
        const { body, calls } = await post({ query, variables: { r: representations } });
        const failed = new Set((body.errors ?? []).map(({ path }: { path: unknown[] }) => path[1]));
        const isRight = representations.map(isSound);
        for (const [at, is] of isRight.entries()) {
          if (is) continue;
          expect([body.data._entities[at], failed.has(at)]).toEqual([null, true]);
        }
        if (!isRight.includes(true)) expect(calls).toBe(0);
      },
    );
  });

  it('a gateway that is asked nonsense answers whatever stands in variables', async () => {
    await campaign(
      'variables',
      fc.tuple(fc.constantFrom(...OPERATIONS), fc.array(variable, { minLength: 3, maxLength: 3 })),
      async ([[query, names], values]) => {
        const variables = Object.fromEntries(names.map((name, i) => [name, values[i]]));
        fc.pre(!isPoisoned(variables));
        await post({ query, variables });
      },
    );
  });

  it('a gateway that is asked nonsense answers whatever stands in a body or an address', async () => {
    const body = fc.oneof(
      brokenBody,
      oddRequest.map((request) => JSON.stringify(request)),
      fc.string({ unit: 'binary' }),
      json.map((value) => JSON.stringify(value)),
    );
    const search = fc
      .dictionary(
        fc.constantFrom('query', 'variables', 'operationName', 'extensions', 'documentId', 'x'),
        fc.oneof(
          text,
          brokenQuery,
          json.map((value) => JSON.stringify(value)),
        ),
      )
      .map((params) => `?${new URLSearchParams(params)}`);
    const request = fc.oneof(
      fc.record({
        method: fc.constant('POST'),
        search: fc.oneof(fc.constant(''), search),
        body,
        type: fc.constantFrom(...TYPES),
      }),
      fc.record({
        method: fc.constantFrom('GET', 'DELETE'),
        search,
        body: fc.constant(null),
        type: fc.constantFrom(...TYPES),
      }),
    );
    await campaign('bodies and addresses', request, async ({ method, search, body, type }) => {
      const headers = type === '' ? {} : { 'content-type': type };
      await send(search, { method, headers, ...(body === null ? {} : { body: Buffer.from(body) }) });
    });
  });
});
