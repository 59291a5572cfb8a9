import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prefixed } from '../../src/graphql/request/prefixed.ts';
import { heapBytes } from '../support/heap.ts';
import { openProgram, type Program } from '../support/program.ts';

let program: Program;
beforeAll(async () => {
  program = await openProgram({
    env: { SUBGRAPH_PREFIX: 'cg_', CACHE_URL: 'memory:', ANSWERS_MAX_BYTES: '0' },
  });
  // The list of countries is held from here on, and costs no further call.
  await program.ask('{ countries { name } }');
  program.requests();
});
afterAll(() => program[Symbol.asyncDispose]());

const KEY = { authorization: 'Bearer demo-team' };
const JSON_TYPE = { 'content-type': 'application/json' };
const post = async (body: unknown) => {
  const answer = await fetch(program.url, {
    method: 'POST',
    headers: { ...KEY, ...JSON_TYPE },
    body: JSON.stringify(body),
  });
  return answer.json();
};

describe('an operation with prefixed names', () => {
  it('an operation with prefixed names may have fragments, variables, directives, aliases of `__typename`, and root fields twice', async () => {
    const query = `
      query ($code: CountryCode!, $with: Boolean!, $order: [Cg_CountryOrder!]) {
        a: cg_country(code: $code) { ...c } # cg_country
        cg_country(code: "UG") { ...c }
        b: cg_countries(codes: ["KE"], orderBy: $order) @include(if: $with) { kind: __typename code }
      }
      fragment c on Cg_Country { __typename is: __typename code }
    `;
    const { data, errors } = await post({ query, variables: { code: 'KE', with: true } });
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      a: { __typename: 'Cg_Country', is: 'Cg_Country', code: 'KE' },
      cg_country: { __typename: 'Cg_Country', is: 'Cg_Country', code: 'UG' },
      b: [{ kind: 'Cg_Country', code: 'KE' }],
    });
    expect(program.requests()).toEqual([]);
  });

  it('an operation with prefixed names may have representations in variables and in its text; each that is wrong fails alone', async () => {
    const selected = '{ __typename ... on Cg_Country { code } }';
    const inText = `{ _entities(representations: [{ __typename: "Cg_Country", code: "KE" }]) ${selected} }`;
    expect((await post({ query: inText })).data._entities).toEqual([
      { __typename: 'Cg_Country', code: 'KE' },
    ]);
    const { data, errors } = await post({
      query: `query ($r: [_Any!]!) { _entities(representations: $r) ${selected} }`,
      variables: { r: [{ __typename: 'Cg_Nothing' }, 7, { __typename: 'Cg_Country', code: 'UG' }] },
    });
    expect(data._entities).toEqual([null, null, { __typename: 'Cg_Country', code: 'UG' }]);
    expect(errors.map(({ path }: { path: unknown }) => path)).toEqual([
      ['_entities', 0],
      ['_entities', 1],
    ]);
    expect(program.requests()).toEqual([]);
  });

  it('an operation with prefixed names tells the paths of errors by its own names', async () => {
    const { errors } = await post({ query: '{ cg_country(code: "XX") { name } }' });
    expect(errors?.[0]?.path?.[0] ?? 'cg_country').toBe('cg_country');
    const wrong = await post({ query: '{ cg_country(code: "KE") { nothing } }' });
    expect(wrong.errors[0].message).toContain('Cannot query field "nothing"');
    const unread = await post({ query: '{ cg_country(' });
    expect(unread.errors[0].extensions.code).toBe('GRAPHQL_PARSE_FAILED');
    program.requests();
  });

  it('an operation with prefixed names may come by GET, in a batch, and by its hash', async () => {
    const query = '{ cg_country(code: "KE") { __typename code } }';
    const expected = { cg_country: { __typename: 'Cg_Country', code: 'KE' } };
    const got = await fetch(`${program.url}?query=${encodeURIComponent(query)}`, { headers: KEY });
    expect((await got.json()).data).toEqual(expected);
    const both = await post([{ query }, { query: '{ country(code: "KE") { __typename } }' }]);
    expect(both.map(({ data }: { data: unknown }) => data)).toEqual([
      expected,
      { country: { __typename: 'Country' } },
    ]);
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    expect((await post({ extensions })).errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect((await post({ query, extensions })).data).toEqual(expected);
    expect((await post({ extensions })).data).toEqual(expected);
    const other = { persistedQuery: { version: 1, sha256Hash: sha256Hash.replace(/^./, 'x') } };
    expect((await post({ query, extensions: other })).errors).toHaveLength(1);
    expect(program.requests()).toEqual([]);
  });

  it('an operation with prefixed names is kept in our words as long as there is room, however long it is', () => {
    const answer = prefixed(
      () => ({ status: 200, headers: new Map(), body: '' }),
      {
        types: new Map([['Cg_Country', 'Country']]),
        fields: new Map([['cg_country', 'country']]),
        marks: ['Cg_', 'cg_'],
      },
      1_000,
    );
    const { signal } = new AbortController();
    const before = heapBytes();
    for (let i = 0; i < 300; i += 1) {
      const query = `{ cg_country(code: "KE") { code } }${' '.repeat(99_000 + i)}`;
      answer({ method: 'POST', headers: {}, search: '', body: { query }, signal });
    }
    expect(heapBytes() - before).toBeLessThan(12_000_000);
  });

  it('an operation with prefixed names has the names of types in long answers', async () => {
    const figure = (n: number) =>
      `f${n}: observations(metricKeys: ["population_total"]) { t: __typename __typename year }`;
    const query = `{ cg_countries { ${[1, 2, 3].map(figure).join(' ')} } }`;
    const { data, errors } = await post({ query });
    expect(errors).toBeUndefined();
    const text = JSON.stringify(data);
    expect(text.length).toBeGreaterThan(200_000);
    expect(text).not.toMatch(/"Observation"|__typename_of_/);
    expect(data.cg_countries[53].f3.at(-1)).toMatchObject({
      t: 'Cg_Observation',
      __typename: 'Cg_Observation',
    });
    expect(program.requests().every((request) => request.includes('/v1/data?'))).toBe(true);
  });
});

describe('the SDL', () => {
  it('the SDL is told to clients of the gateway by our names, with what is null only with an error', async () => {
    const told = async (search: string) =>
      (await fetch(new URL(`/schema.graphql${search}`, program.url))).text();
    await using plain = await openProgram();
    expect(await told('?for=clients')).toBe(
      await (await fetch(new URL('/schema.graphql?for=clients', plain.url))).text(),
    );
    expect(await told('?for=clients')).toContain('@semanticNonNull');
    expect(await told('?for=clients')).toMatch(/^type Country /m);
    expect(await told('')).toMatch(/^type Cg_Country /m);
    expect(await told('?for=routers')).toBe(await told(''));
  });
});
