import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const FIGURES = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';

const billOf = ({ headers }: { readonly headers: Headers }) =>
  JSON.parse(headers.get('x-upstream-bill') ?? 'null');

describe('with SUBGRAPH=on', () => {
  it.for([
    ['an answer', FIGURES, 2],
    [
      'an answer of entities',
      '{ _entities(representations: [{ __typename: "Country", code: "KE" }]) { ... on Country { observation(metricKey: "population_total") { value } } } }',
      1,
    ],
    ['a name like that of a bill', '{ upstream: country(code: "KE") { name } }', 1],
    ['an invalid operation', '{ nothing }', 0],
    ['no operation', '', 0],
  ] as const)('each answer has its bill as a header: %s', async ([, query, calls]) => {
    await using program = await openProgram({ env: { SUBGRAPH: 'on', CACHE_URL: 'memory:' } });
    // The second answer is from the cache, and the third is cached bytes.
    for (const expected of [calls, 0, 0]) {
      const answer = await program.ask(query);
      expect([answer.status, answer.upstream?.calls ?? 0]).toEqual([200, expected]);
      expect(billOf(answer)).toMatchObject(answer.upstream ?? { calls: 0 });
    }
    expect(program.requests()).toHaveLength(calls);
  });

  it('each answer has its bill as a header: all of a list, those refused unread, and those that share a run', async () => {
    await using program = await openProgram({
      env: { SUBGRAPH: 'on', CACHE_URL: 'memory:', MAX_BATCHED_OPERATIONS: '5' },
    });
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${program.sandbox.keys.team}`,
    };
    const post = (body: string) => fetch(program.url, { method: 'POST', headers, body });
    const list = await post(JSON.stringify([{ query: FIGURES }, { query: '{ sources { key } }' }]));
    expect(billOf(list)).toMatchObject({ calls: 3, byRoute: { '/v1/data': 1, '/v1/countries': 1 } });
    expect(billOf(await post('{ not json'))).toMatchObject({ calls: 0 });
    const equal = { query: '{ indicators { key } }' };
    const shared = await Promise.all([post(JSON.stringify(equal)), post(JSON.stringify(equal))]);
    expect(shared.map((answer) => billOf(answer).calls).sort()).toEqual([0, 1]);
    await using plain = await openProgram();
    expect((await plain.ask(FIGURES)).headers.get('x-upstream-bill')).toBeNull();
  });
});

it('introspection describes the schema', async () => {
  await using program = await openProgram();
  const { data } = await program.ask('{ __schema { description queryType { description } } }');
  expect(data.__schema.description).toMatch(/^Figures, markets, government/);
  expect(data.__schema.description).toBe(data.__schema.queryType.description);
});
