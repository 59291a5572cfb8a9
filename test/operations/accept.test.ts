import { expect, it } from 'vitest';
import { makeKey } from '../../src/plugins/issued-keys/key.ts';
import { openProgram } from '../support/program.ts';

const MODERN = 'application/graphql-response+json; charset=utf-8';
const OLDER = 'application/json; charset=utf-8';

/** `Accept` headers, and the type that each client likes best; null if it takes none. */
const ACCEPTS: readonly (readonly [accept: string, type: string | null])[] = [
  ['application/json;q=0.1, application/*;q=0.9', MODERN],
  ['application/json;q=0, */*', MODERN],
  ['application/graphql-response+json;q=0.5, application/json', OLDER],
  ['application/graphql-response+json, application/json;q=0.9', MODERN],
  ['application/json, application/graphql-response+json', OLDER],
  ['application/graphql-response+json;charset=utf-8', MODERN],
  ['Application/GraphQL-Response+JSON;Q=0.2', MODERN],
  ['application/graphql-response+json;q=0, */*', OLDER],
  ['application/*', OLDER],
  ['*/*', OLDER],
  ['application/xml', null],
  ['application/json;q=0', null],
];

/** Requests of which nothing runs, and their statuses in the type of GraphQL. */
const REFUSED: Readonly<Record<string, readonly [status: number, body: object, key: string | null]>> = {
  'a wrong document': [400, { query: '{ nothing }' }, 'demo-team'],
  'a text that is none': [400, { query: '{' }, 'demo-team'],
  'wrong variables': [400, { query: 'query ($c: CountryCode!) { country(code: $c) { name } }' }, 'demo-team'],
  'no key': [401, { query: '{ countries { code } }' }, null],
  'an issued key that nobody has issued': [401, { query: '{ countries { code } }' }, makeKey()],
};

it.each(ACCEPTS)('the type of an answer and its status agree: %s', async (accept, type) => {
  await using program = await openProgram();
  const post = (body: unknown, key: string | null) => {
    const bearer = key === null ? {} : { authorization: `Bearer ${key}` };
    const headers = { 'content-type': 'application/json', accept, ...bearer };
    return fetch(program.url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  for (const [name, [status, body, key]] of Object.entries(REFUSED)) {
    for (const once of ['first', 'again']) {
      const answer = await post(body, key);
      await answer.text();
      const seen = [name, once, answer.status, answer.headers.get('content-type')];
      if (type === null) expect(answer.status).not.toBe(200);
      else expect(seen).toEqual([name, once, type === MODERN ? status : 200, type]);
    }
  }
  expect(program.requests()).toEqual([]);
  for (let times = 0; times < 3; times += 1) {
    const answer = await post({ query: '{ __typename }' }, 'demo-team');
    await answer.text();
    expect([answer.status, type === null || answer.headers.get('content-type')]).toEqual(
      type === null ? [406, true] : [200, type],
    );
  }
});
