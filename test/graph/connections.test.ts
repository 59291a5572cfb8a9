import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListing, encodeId } from '../../src/graphql/resolvers/lists.ts';
import type { GraphContext, Page } from '../../src/graphql/schema/context.ts';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram, type Program } from '../support/program.ts';

const CONNECTIONS = [
  ['countriesConnection', '', 'code', 'countries', 1],
  ['indicatorsConnection', 'category: "demographics"', 'key', 'indicators', 1],
  ['tickersConnection', 'exchangeCode: "JSE"', 'symbol', 'tickers', 2],
  [
    'observationsConnection',
    'countryCodes: ["KE", "SO"], metricKeys: ["population_total", "idps_total"]',
    'id',
    'observations',
    1,
  ],
] as const;

const given = (...args: readonly string[]) => {
  const there = args.filter((arg) => arg !== '');
  return there.length === 0 ? '' : `(${there.join(', ')})`;
};

/** Pages of a connection until there are no more. */
async function pages(program: Program, name: string, args: string, field: string, isForward: boolean) {
  const found: string[][] = [];
  let cursor = '';
  for (;;) {
    const paging = isForward
      ? `first: 60${cursor === '' ? '' : `, after: "${cursor}"`}`
      : `last: 60${cursor === '' ? '' : `, before: "${cursor}"`}`;
    const text = `{ page: ${name}${given(args, paging)} {
      totalCount edges { cursor node { ${field} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    } }`;
    const { data, errors, upstream } = await program.ask(text);
    expect([errors, upstream.calls]).toEqual([[], 0]);
    const { edges, pageInfo, totalCount } = data.page;
    const values = edges.map(({ node }: { node: Record<string, string> }) => node[field]);
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges.at(0).cursor, edges.at(-1).cursor]);
    found.push(values);
    const before = found.slice(0, -1).flat().length;
    const [ahead, behind] = [before + values.length < totalCount, before > 0];
    expect([pageInfo.hasNextPage, pageInfo.hasPreviousPage]).toEqual(
      isForward ? [ahead, behind] : [behind, ahead],
    );
    if (!ahead) return isForward ? found : found.reverse();
    cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

describe('pages', () => {
  it.for(CONNECTIONS)(
    'pages of lists of %s are the list, in either direction, and cost no call while it is held',
    async ([name, args, field, list, calls]) => {
      await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
      const first = await program.ask(
        `{ ${name}${given(args, 'first: 0')} { totalCount edges { cursor } pageInfo { hasNextPage startCursor } } }`,
      );
      expect([first.errors, first.upstream.calls, program.requests().length]).toEqual([[], calls, calls]);
      expect(first.data[name]).toMatchObject({
        edges: [],
        pageInfo: { hasNextPage: true, startCursor: null },
      });
      const whole = await program.ask(`{ list: ${list}${given(args)} { ${field} } }`);
      expect([whole.errors, whole.upstream.calls]).toEqual([[], 0]);
      const values = whole.data.list.map((row: Record<string, string>) => row[field]);
      expect(values.length).toBe(first.data[name].totalCount);
      for (const isForward of [true, false]) {
        const found = await pages(program, name, args, field, isForward);
        expect(found.flat()).toEqual(values);
      }
      expect(program.requests()).toEqual([]);
    },
  );

  it('pages of lists go on where they were when rows have been added before, or the order has changed', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const page = (args: string) =>
      `{ observationsConnection(metricKeys: ["population_total"], ${args}) { nodes { country { code } year } pageInfo { endCursor } } }`;
    const { data } = await program.ask(page('countryCodes: ["KE"], fromYear: 2020, first: 2'));
    const { endCursor } = data.observationsConnection.pageInfo;
    const wider = await program.ask(
      page(`countryCodes: ["GH", "KE"], fromYear: 2018, first: 1, after: "${endCursor}"`),
    );
    expect(wider.data.observationsConnection.nodes).toEqual([{ country: { code: 'KE' }, year: 2022 }]);
    const turned = await program.ask(
      page(
        `countryCodes: ["KE"], orderBy: { field: YEAR, direction: DESC }, first: 1, after: "${endCursor}"`,
      ),
    );
    expect(turned.data.observationsConnection.nodes).toEqual([{ country: { code: 'KE' }, year: 2020 }]);
    expect(turned.upstream.calls).toBe(0);
    const elsewhere = await program.ask(page(`countryCodes: ["KE"], fromYear: 2023, after: "${endCursor}"`));
    expect(elsewhere.errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(elsewhere.errors[0]?.message).toMatch(/not in this list, or no longer.*begin anew/);
  });

  it('rows that the service lists twice have a page each, in either direction', async () => {
    const symbols = ['A', 'B', 'A', 'C', 'A'];
    const tickers = symbols.map((symbol, i) => ({ exchange_code: 'NGX', symbol, security_name: `n${i}` }));
    await using service = await openFixedService({ tickers, countries: ['ke', 'ng', 'ke'] });
    await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
    for (const [name, field, rows] of [
      ['tickersConnection', 'name', tickers.map((row) => row.security_name)],
      ['countriesConnection', 'code', ['KE', 'NG', 'KE']],
    ] as const) {
      const found: string[] = [];
      let paging = 'first: 1';
      while (found.length < 2 * rows.length) {
        const text = `{ page: ${name}(${paging}) { totalCount nodes { ${field} } pageInfo { hasNextPage endCursor startCursor } } }`;
        const { totalCount, nodes, pageInfo } = (await program.ask(text)).data.page;
        found.push(nodes[0][field]);
        expect(totalCount).toBe(rows.length);
        if (found.length < rows.length) paging = `first: 1, after: "${pageInfo.endCursor}"`;
        else if (found.length === rows.length) paging = 'last: 1';
        else paging = `last: 1, before: "${pageInfo.startCursor}"`;
      }
      expect(found).toEqual([...rows, ...rows.toReversed()]);
    }
  });

  it('pages of lists are priced as the lists are', async () => {
    await using program = await openProgram();
    const explain = async (text: string) =>
      (await program.ask(text, { headers: { 'x-explain': '1' } })).extensions.explain;
    for (const [name, args, field, list] of CONNECTIONS) {
      const plain = await explain(`{ ${list}${given(args)} { ${field} } }`);
      expect(plain).toMatchObject({ calls: expect.any(Number) });
      expect(await explain(`{ ${name}${given(args)} { nodes { ${field} } } }`)).toEqual(plain);
      expect(await explain(`{ ${name}${given(args)} { edges { node { ${field} } } } }`)).toEqual(plain);
    }
    expect(program.requests()).toEqual([]);
    // Codes alone were asked for, so that the list of countries costs nothing.
    const figures = 'observation(metricKey: "population_total") { value }';
    const { errors, upstream } = await program.ask(
      `{ countriesConnection(codes: ["KE", "NG"], first: 1) { edges { node { code ${figures} } } } }`,
    );
    expect([errors, upstream.byRoute]).toEqual([[], { '/v1/data': 1 }]);
  });

  it('pages of lists have what stands below them priced by the rows that they have', async () => {
    await using program = await openProgram();
    await program.ask('{ countries { name } }');
    const text = '{ countriesConnection(first: 2) { nodes { profile { record } } } }';
    const plan = await program.ask(text, { headers: { 'x-explain': '1' } });
    expect(plan.extensions.explain).toMatchObject({ least: 3, calls: 3, most: 3 });
    expect((await program.ask(text)).upstream.calls).toBe(3);
    const dear = await program.ask(
      '{ countriesConnection { edges { node { profile { record } signals { record } } } } }',
    );
    expect(dear.errors[0]?.extensions).toMatchObject({
      code: 'OPERATION_TOO_EXPENSIVE',
      field: 'countriesConnection.edges.node.profile',
    });
  });
});

describe('a page that makes no sense', () => {
  const ofTicker = Buffer.from(JSON.stringify(['Cursor', 'Ticker', 'NGX', 'A'])).toString('base64url');
  it.for<[args: string, says: RegExp]>([
    ['first: -1', /`first` is from 0 to 1000 \(MAX_LIST_ITEMS\); this is -1/],
    ['last: -1', /`last` is from 0 to 1000/],
    ['first: 1001', /this is 1001\. Ask for several pages/],
    ['first: 1, last: 1', /give `first` or `last`, and not both/],
    ['after: ""', /`after` is no cursor of this list/],
    ['after: "%%%"', /`after` is no cursor of this list/],
    ['before: "bm9uc2Vuc2U"', /`before` is no cursor of this list/],
    [`after: "${encodeId('Country', 'KE')}"`, /`after` is no cursor of this list/],
    [`after: "${ofTicker}"`, /`after` is no cursor of this list/],
  ])('a page that makes no sense is refused before any call: %s', async ([args, says]) => {
    await using program = await openProgram();
    for (const name of ['countriesConnection', 'indicatorsConnection', 'observationsConnection']) {
      const { errors, upstream } = await program.ask(`{ ${name}(${args}) { totalCount } }`);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
      expect(errors[0]?.message).toMatch(says);
      expect(errors[0]?.path).toEqual([name]);
      expect(upstream.calls).toBe(0);
    }
    expect(program.requests()).toEqual([]);
  });

  it('a page that makes no sense is refused by the setting where it is lower', async () => {
    await using program = await openProgram({ env: { MAX_LIST_ITEMS: '5' } });
    const { errors } = await program.ask('{ countriesConnection(first: 6) { totalCount } }');
    expect(errors[0]?.message).toMatch(/from 0 to 5 /);
    expect(program.requests()).toEqual([]);
    const { data } = await program.ask(
      '{ countriesConnection { totalCount nodes { code } pageInfo { hasNextPage } } }',
    );
    expect(data.countriesConnection.nodes).toHaveLength(5);
    expect(data.countriesConnection).toMatchObject({ totalCount: 54, pageInfo: { hasNextPage: true } });
  });
});

describe('a page of any list', () => {
  const listing = createListing('Country', {}, (n: number) => [`A${String.fromCharCode(65 + n)}`]);
  const batchGate = { closeDuring: <T>(loading: Promise<T>) => loading };
  const context = { maxListItems: 100, batchGate } as unknown as GraphContext;
  const pageOf = (args: Parameters<typeof listing.page>[0], rows: readonly number[]) =>
    listing.page(args, context, () => rows) as Page<number>;
  const cursorAt = (list: readonly number[], n: number) => pageOf({}, list).cursors()[n] ?? null;

  it('a page of any list is what the specification of Relay says', async () => {
    await pageOf({}, []);
    const list = fc.integer({ min: 0, max: 20 }).map((length) => Array.from({ length }, (_, i) => i));
    fc.assert(
      fc.property(list, fc.nat(20), fc.nat(20), fc.nat(25), fc.boolean(), (rows, a, b, count, isFromEnd) => {
        const [after, before] = [cursorAt(rows, a), cursorAt(rows, b)];
        const counted = isFromEnd ? { last: count } : { first: count };
        const page = pageOf({ ...counted, after, before }, rows);
        let expected = rows.filter((_, i) => (after === null || i > a) && (before === null || i < b));
        expected = isFromEnd
          ? expected.slice(Math.max(0, expected.length - count))
          : expected.slice(0, count);
        expect(page.nodes).toEqual(expected);
        expect(page.totalCount).toBe(rows.length);
        if (expected.length === 0) return;
        expect(page.hasPreviousPage).toBe(expected[0] !== rows[0]);
        expect(page.hasNextPage).toBe(expected.at(-1) !== rows.at(-1));
      }),
    );
  });
});
