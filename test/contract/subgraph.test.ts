import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const MODERN = 'application/graphql-response+json';
const json = { 'content-type': 'application/json', accept: MODERN };
const post = (query: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: JSON.stringify({ query }),
});
const keyed = { authorization: 'Bearer demo-team' };

/** Refusals, one of each place that refuses, with the status that tells others so. */
const REFUSED: Readonly<Record<string, readonly [status: number, code: string, RequestInit]>> = {
  'no key': [401, 'UNAUTHENTICATED', post('{ countries { name } }')],
  'a malformed key': [401, 'UNAUTHENTICATED', post('{ quota { plan } }', { authorization: 'Bearer a b' })],
  'an unknown field': [400, 'GRAPHQL_VALIDATION_FAILED', post('{ nothing }', keyed)],
  'what is not GraphQL': [400, 'GRAPHQL_PARSE_FAILED', post('{', keyed)],
  'what is not JSON': [400, 'BAD_REQUEST', { ...post('', keyed), body: '{' }],
  'a body that is too long': [413, 'BAD_REQUEST', post(`{ quota { plan } }${' '.repeat(3_000)}`, keyed)],
  'a batch that is too long': [400, 'BAD_REQUEST', { ...post(''), body: JSON.stringify(Array(11).fill({})) }],
  'a type of answer that there is none of': [
    406,
    'BAD_REQUEST',
    post('{ quota { plan } }', { accept: 'a/b' }),
  ],
};

describe.for(['off', 'on'])('with SUBGRAPH=%s', (subgraph) => {
  it.for(Object.entries(REFUSED))(
    'with SUBGRAPH on and off, the status is that of its clients: %s',
    async ([, [status, code, request]]) => {
      await using program = await openProgram({ env: { SUBGRAPH: subgraph, MAX_BODY_BYTES: '3000' } });
      const response = await fetch(program.url, request);
      expect(response.status).toBe(subgraph === 'on' ? 200 : status);
      const { errors } = await response.json();
      expect(errors).toMatchObject([{ extensions: { code } }]);
      expect(program.requests()).toEqual([]);
    },
  );
});

describe('a router that asks for entities, without the setting', () => {
  it.for([
    ['refused for want of a key', '{ name }', undefined],
    ['invalid', '{ nothing }', 'Bearer demo-team'],
  ] as const)(
    'a router that asks for entities, without the setting is told with status 200 what is %s',
    async ([, fields, authorization]) => {
      await using program = await openProgram();
      const query = `{ _entities(representations: [{ __typename: "Country", code: "KE" }]) { ... on Country ${fields} } }`;
      const response = await fetch(program.url, post(query, authorization && { authorization }));
      expect(response.status).toBe(200);
      expect((await response.json()).errors).toHaveLength(1);
      expect(program.requests()).toEqual([]);
    },
  );
});

describe('a type of answer that a client rules out', () => {
  it.for([
    [`${MODERN};q=0, application/json`, 200],
    [`application/json, ${MODERN}; q=0.0`, 200],
    [`${MODERN};charset=utf-8;q=0`, 406],
    ['application/json;q=0', 406],
    ['*/*;q=0.000', 406],
    [`${MODERN};q=0.1`, 401],
    [`APPLICATION/GRAPHQL-RESPONSE+JSON`, 401],
  ] as const)(
    'a type of answer that a client rules out is not given, without a key: %s is answered with %i',
    async ([accept, status]) => {
      await using program = await openProgram();
      const response = await fetch(program.url, post('{ countries { name } }', { accept }));
      expect(response.status).toBe(status);
      const type = status === 200 ? 'application/json' : MODERN;
      if (status !== 406) expect(response.headers.get('content-type')).toContain(type);
    },
  );

  it('a type of answer that a client rules out costs no call', async () => {
    await using program = await openProgram();
    const request = post('{ countries { name } }', { ...keyed, accept: `${MODERN};q=0` });
    expect((await fetch(program.url, request)).status).toBe(406);
    expect(program.requests()).toEqual([]);
  });
});
