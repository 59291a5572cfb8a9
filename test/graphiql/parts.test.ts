import { expect, it } from 'vitest';
import type { Answer, Arrival } from '../../clients/graphiql/src/answer.ts';
import { arrivalsIn, grownBy, type Part } from '../../clients/graphiql/src/parts.ts';
import { ACCEPTS, canonical } from '../defer/parts.ts';
import { openProgram, type Program } from '../support/program.ts';

const PROFILE = '/v1/countries/{code}/profile';

async function ask({ url, sandbox }: Program, query: string, accept: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${sandbox.keys.team}`,
      accept,
    },
    body: JSON.stringify({ query }),
  });
}

async function all(response: Response): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  for await (const arrival of arrivalsIn(response)) arrivals.push(arrival);
  return arrivals;
}

/** An answer without the parts that differ from one request to the next. */
const told = ({ data, errors, extensions }: Answer) =>
  canonical({
    data,
    errors: errors?.map(({ message, path, extensions }) => ({ message, path, code: extensions?.code })),
    upstream: extensions?.upstream,
  });

it.for([
  [
    'a fragment within a fragment',
    `{ country(code: "KE") {
      name
      ... @defer { profile { indicators { name } ... @defer { indicators { value } } } }
      observation(metricKey: "population_total") { value }
    } }`,
  ],
  [
    'fragments of the items of a list',
    `{ countries(codes: ["KE", "NG", "GH", "RW"]) {
      code
      ... @defer { profile { indicators { name } } }
    } }`,
  ],
  [
    'a list within a fragment, and an alias of the root',
    `{ a: country(code: "KE") { code ... @defer { tickers { symbol } } } ... @defer { health { status } } }`,
  ],
] as const)('an answer in parts grows to the whole: %s', async ([, query]) => {
  // Each of a gateway that has learned nothing of the other.
  await using other = await openProgram();
  const without = query.replaceAll('@defer', '');
  const plain = (await (await ask(other, without, 'application/json')).json()) as Answer;
  await using program = await openProgram();
  const arrivals = await all(await ask(program, query, ACCEPTS.draft2022));
  expect(arrivals.length).toBeGreaterThan(2);
  expect(arrivals.map(({ isLast }) => isLast)).toEqual(arrivals.map((_, at) => at === arrivals.length - 1));
  expect(arrivals.map(({ parts }) => parts)).toEqual(arrivals.map((_, at) => at + 1));
  expect(told(arrivals.at(-1)?.answer ?? {})).toBe(told(plain));
});

it('errors of parts stand with those of the first one', async () => {
  await using program = await openProgram({ env: { UPSTREAM_RETRIES: '0' } });
  program.sandbox.faults.set({ kind: 'status', status: 500, route: PROFILE });
  const query = `{
    bad: country(code: "KE") { observation(metricKey: "no such key") { value } }
    country(code: "KE") { name ... @defer { profile { indicators { name } } } }
  }`;
  const arrivals = await all(await ask(program, query, ACCEPTS.draft2022));
  const codes = ({ answer }: Arrival) => answer.errors?.map(({ extensions }) => extensions?.code);
  expect(codes(arrivals[0] as Arrival)).toHaveLength(1);
  expect(codes(arrivals.at(-1) as Arrival)).toEqual([expect.any(String), 'UPSTREAM_UNAVAILABLE']);
  expect(arrivals.at(-1)?.answer.data).toMatchObject({ country: { name: 'Kenya', profile: null } });
});

it.for([
  ['data that are lost', { path: ['a'], data: null }, { a: { b: 1 }, list: [1] }],
  ['fields', { path: ['a'], data: { c: [{ d: 2 }] } }, { a: { b: 1, c: [{ d: 2 }] }, list: [1] }],
  ['fields of the root', { path: [], data: { a: { e: 3 } } }, { a: { b: 1, e: 3 }, list: [1] }],
] as const)('a part of an answer is put in its place: %s', ([, piece, expected]) => {
  const before: Answer = { data: { a: { b: 1 }, list: [1] } };
  const frozen = structuredClone(before);
  expect(grownBy(before, { incremental: [piece] } as Part).data).toEqual(expected);
  expect(before).toEqual(frozen);
});

const part = (json: string) => `\r\n---\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${json}`;
const FIRST = part('{"data":{"a":1},"errors":[{"message":"one"}],"hasNext":true}');

it.for([
  ['ends without its last part', `${FIRST}\r\n---`],
  ['is no JSON any more', `${FIRST}${part('<h1>Bad gateway</h1>')}\r\n-----\r\n`],
])('an answer that %s says so, and keeps what came', async ([, body]) => {
  const headers = { 'content-type': 'multipart/mixed; boundary="-"; deferSpec=20220824' };
  const last = (await all(new Response(body, { headers }))).at(-1);
  expect(last).toMatchObject({ parts: 1, isLast: true, answer: { data: { a: 1 } } });
  expect(last?.answer.errors).toMatchObject([{ message: 'one' }, { extensions: { code: 'CUT_OFF' } }]);
});
