import { describe, expect, it } from 'vitest';
import { open, type Received, type Sent } from './exchange.ts';

const MODERN = 'application/graphql-response+json';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const BY_CODE = 'query ByCode($code: CountryCode!) { country(code: $code) { profile { record } } }';
const TWO =
  'query A { country(code: "KE") { profile { record } } } query B { country(code: "NG") { profile { record } } }';

interface Case {
  readonly asked: Sent;
  /** The question before, if it is another one. */
  readonly before?: Sent;
  readonly status: number;
  /** Calls of each. */
  readonly calls: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Status that the service answers every call with. */
  readonly fault?: number;
}

const post = (body: Sent['body'], headers: Sent['headers'] = {}): Sent => ({ body, headers });
const get = (body: Sent['body'], headers: Sent['headers'] = {}): Sent => ({ method: 'GET', body, headers });
const accepting = (accept: string) => post({ query: FIGURE }, { accept });

const CASES: Readonly<Record<string, Case>> = {
  figures: { asked: post({ query: FIGURE }), status: 200, calls: 1 },
  'figures by GET': { asked: get({ query: FIGURE }), status: 200, calls: 1 },
  'one field that fails by itself': {
    asked: post({ query: `{ node(id: "none") { id } ${FIGURE.slice(1)}` }, { accept: MODERN }),
    status: 200,
    calls: 1,
  },
  'a service that is down': { asked: accepting(MODERN), status: 200, calls: 1, fault: 500 },
  'a key that is refused': { asked: accepting(MODERN), status: 401, calls: 1, fault: 401 },
  'a key that may not': { asked: accepting(MODERN), status: 200, calls: 1, fault: 403 },
  'no key': { asked: { ...accepting(MODERN), key: null }, status: 401, calls: 0 },
  'no key, and a client of old': {
    asked: { ...accepting('application/json'), key: null },
    status: 200,
    calls: 0,
  },
  'variables that fit': { asked: post({ query: BY_CODE, variables: { code: 'KE' } }), status: 200, calls: 1 },
  "variables that don't fit, after some that did": {
    before: post({ query: BY_CODE, variables: { code: 'KE' } }),
    asked: post({ query: BY_CODE, variables: { code: 'Kenya' } }),
    status: 200,
    calls: 0,
  },
  "variables that don't fit, told to a client of today": {
    before: post({ query: BY_CODE, variables: { code: 'KE' } }, { accept: MODERN }),
    asked: post({ query: BY_CODE, variables: { code: 'Kenya' } }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'a variable that is missing, after it was there': {
    before: post({ query: BY_CODE, variables: { code: 'KE' } }, { accept: MODERN }),
    asked: post({ query: BY_CODE, variables: {} }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'the other operation of the two': {
    before: post({ query: TWO, operationName: 'A' }),
    asked: post({ query: TWO, operationName: 'B' }),
    status: 200,
    calls: 1,
  },
  'an operation that is not there, after one that is': {
    before: post({ query: TWO, operationName: 'A' }, { accept: MODERN }),
    asked: post({ query: TWO, operationName: 'C' }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'no operation of two, after one': {
    before: post({ query: TWO, operationName: 'A' }, { accept: MODERN }),
    asked: post({ query: TWO }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'an operation without a name by an empty one': {
    before: post({ query: FIGURE }, { accept: MODERN }),
    asked: post({ query: FIGURE, operationName: '' }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'a name that the text of a known operation could go on from': {
    before: post({ query: `query A {\n${FIGURE.slice(1)}` }, { accept: MODERN }),
    asked: post({ query: FIGURE.slice(1), operationName: '\nquery A {' }, { accept: MODERN }),
    status: 400,
    calls: 0,
  },
  'an operation that is too dear': {
    asked: post({ query: '{ countries(codes: ["KE", "NG"]) { profile { record } } }' }, { accept: MODERN }),
    status: 400,
    calls: 0,
    env: { MAX_UPSTREAM_CALLS: '1' },
  },
  'an operation that is too dear with these variables': {
    before: post({
      query: 'query Q($codes: [CountryCode!]) { countries(codes: $codes) { profile { record } } }',
      variables: { codes: ['KE'] },
    }),
    asked: post({
      query: 'query Q($codes: [CountryCode!]) { countries(codes: $codes) { profile { record } } }',
      variables: { codes: ['KE', 'NG'] },
    }),
    status: 200,
    calls: 0,
    env: { MAX_UPSTREAM_CALLS: '1' },
  },
  introspection: { asked: post({ query: '{ __schema { queryType { name } } }' }), status: 200, calls: 0 },
  'introspection beside figures': {
    asked: post({ query: `{ __schema { queryType { name } } ${FIGURE.slice(1)}` }),
    status: 200,
    calls: 1,
  },
  'the plan, after the answer': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE }, { 'x-explain': '1' }),
    status: 200,
    calls: 0,
  },
  'no Accept': { asked: post({ query: FIGURE }), status: 200, calls: 1 },
  'an Accept of anything': { asked: accepting('*/*'), status: 200, calls: 1 },
  'an Accept of any application': { asked: accepting('application/*'), status: 200, calls: 1 },
  'an Accept with shares': {
    asked: accepting(`application/json;q=0.1, ${MODERN};q=0.9, text/html`),
    status: 200,
    calls: 1,
  },
  'an Accept of a browser': {
    asked: get({ query: FIGURE }, { accept: 'text/html, */*;q=0.1' }),
    status: 200,
    calls: 1,
  },
  'an Accept that nothing of ours meets': { asked: accepting('image/png'), status: 406, calls: 0 },
  'an Accept that nothing of ours meets, after one that is met': {
    before: post({ query: FIGURE }),
    asked: accepting('text/plain'),
    status: 406,
    calls: 0,
  },
  'null for all that may be left out': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE, variables: null, operationName: null, extensions: null }),
    status: 200,
    calls: 1,
  },
  'variables in a string': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE, variables: '{}' }),
    status: 400,
    calls: 0,
  },
  'a list for variables': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE, variables: [] }),
    status: 400,
    calls: 0,
  },
  'a number for a name': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE, operationName: 1 }),
    status: 400,
    calls: 0,
  },
  'a list for extensions': {
    before: post({ query: FIGURE }),
    asked: post({ query: FIGURE, extensions: [] }),
    status: 400,
    calls: 0,
  },
  'null for variables by GET': {
    before: get({ query: FIGURE }),
    asked: get({ query: FIGURE, variables: 'null' }),
    status: 400,
    calls: 0,
  },
  'variables by GET that are no JSON': {
    before: get({ query: FIGURE }),
    asked: get({ query: FIGURE, variables: '{' }),
    status: 400,
    calls: 0,
  },
  'a GET that says it is a text': {
    before: get({ query: FIGURE }),
    asked: get({ query: FIGURE }, { 'content-type': 'text/plain' }),
    status: 415,
    calls: 0,
  },
  'a GET that says it is almost JSON': {
    before: get({ query: FIGURE }),
    asked: get({ query: FIGURE }, { 'content-type': 'application/json5' }),
    status: 415,
    calls: 0,
  },
};

const whole = ({ status, headers, text }: Received) => ({ status, headers: { ...headers, date: '' }, text });

describe('asked later, the response is what it is the first time, byte for byte', () => {
  it.for(Object.entries(CASES))(
    'a response that is asked for later is the first one, byte for byte: %s',
    async ([, { asked, before = asked, status, calls, env = {}, fault }]) => {
      // Each costs as much as the first, with nothing held.
      const options = { env: { CACHE_URL: 'none', ...env } };
      await using fresh = await open(options);
      await using known = await open(options);
      for (let i = 0; i < 2; i += 1) await known.send(before);
      known.requests();
      for (const { sandbox } of [fresh, known])
        if (fault) sandbox.faults.set({ kind: 'status', status: fault });
      const first = await fresh.send(asked);
      expect(first.status).toBe(status);
      expect(fresh.requests()).toHaveLength(calls);
      expect(JSON.parse(first.text).extensions.upstream).toMatchObject({ calls });
      for (let i = 0; i < 3; i += 1) {
        // Waits until calls are sent again under a key that was refused.
        if (fault) known.pass(60);
        expect(whole(await known.send(asked))).toEqual(whole(first));
        expect(known.requests()).toHaveLength(calls);
      }
      expect([...fresh.problems, ...known.problems]).toEqual([]);
    },
  );
});

it('a name of a search parameter that is there twice is refused later on too', async () => {
  await using program = await open();
  const headers = { 'apollo-require-preflight': '1', authorization: `Bearer ${program.sandbox.keys.team}` };
  for (let i = 0; i < 3; i += 1) await program.send(get({ query: FIGURE }, { accept: '*/*' }));
  program.requests();
  const search = new URLSearchParams([
    ['query', FIGURE],
    ['query', '{ countries { name } }'],
  ]);
  const response = await fetch(`${program.url}?${search}`, { headers });
  expect(response.status).toBe(400);
  expect(program.requests()).toEqual([]);
});

it('a spent minute says when it is over, the first time and later', async () => {
  await using program = await open({
    env: { CACHE_URL: 'none' },
    sandbox: { plans: { team: { requestsPerMinute: 2, monthlyRequests: 100 } } },
  });
  for (let i = 0; i < 2; i += 1) await program.send(post({ query: FIGURE }));
  const replies = [await program.send(post({ query: FIGURE })), await program.send(post({ query: FIGURE }))];
  for (const { status, headers, text } of replies) {
    expect([status, headers['retry-after'], headers['cache-control']]).toEqual([200, '30', 'no-store']);
    expect(JSON.parse(text).errors[0].extensions).toMatchObject({
      code: 'RATE_LIMITED',
      retryAt: '2026-03-10T12:01:00.000Z',
    });
  }
  // An operation of its first time is told the same.
  const other = await program.send(post({ query: FIGURE.replace('KE', 'NG') }));
  expect({ ...other.headers, date: '' }).toEqual({ ...replies[1]?.headers, date: '' });
  expect(program.sandbox.log.map(({ status }) => status)).toEqual([200, 200, 429]);
});
