import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { connect } from '../live/live.ts';
import { openFolder, openIssuing } from './issuing.ts';

const QUOTA = '"The plan."\nquery Quota($unused: Boolean = true) { quota { state @include(if: $unused) } }';
const NAMELESS = '{ quota { state } }';
const WATCH = 'subscription Watch { sourceRefreshed { key } }';

/** One of each kind of entry, under a key that the operator names or the visitor brings. */
async function openDoors() {
  const folder = openFolder();
  const trusted = join(folder.path, 'trusted.json');
  const named = join(folder.path, 'public.json');
  const texts = [QUOTA, NAMELESS, WATCH];
  writeFileSync(trusted, JSON.stringify(Object.fromEntries(texts.map((text) => [sha256Of(text), text]))));
  writeFileSync(named, JSON.stringify({ quota: { document: 'Quota', key: 'page' } }));
  const program = await openIssuing({
    ...folder,
    env: {
      TRUSTED_DOCUMENTS: trusted,
      PUBLIC_DOCUMENTS: named,
      MCP: 'on',
      SUBSCRIPTIONS: 'on',
      MAX_BATCHED_OPERATIONS: '1000',
    },
  });
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    async [Symbol.asyncDispose]() {
      await close();
      folder[Symbol.dispose]();
    },
  });
}

type Doors = Awaited<ReturnType<typeof openDoors>>;

type Send = (program: Doors, key: string) => Promise<unknown>;

const JSON_TYPE = { 'content-type': 'application/json' };

const bring =
  (body: unknown, method = 'POST'): Send =>
  async ({ url }, key) => {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
    return (await fetch(url, { method, headers, body: JSON.stringify(body) })).text();
  };

const get =
  (params: Record<string, string>, at = '/graphql'): Send =>
  async ({ url }, key) => {
    const address = new URL(`${at}?${new URLSearchParams(params)}`, url);
    return (await fetch(address, { headers: { ...JSON_TYPE, authorization: `Bearer ${key}` } })).text();
  };

const tool =
  (request: object): Send =>
  async ({ url }, key) => {
    const headers = {
      ...JSON_TYPE,
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
    };
    const params = { name: 'Quota', arguments: {}, ...request };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return (await fetch(new URL('/mcp', url), { method: 'POST', headers, body })).text();
  };

const subscribe =
  (transport: 'ws' | 'sse' | 'sse, single connection'): Send =>
  async (program, key) => {
    const client = connect(program.url, transport, { key });
    const told = client.subscribe({ query: WATCH });
    const isOpen = async () =>
      told.isOver || /^country_graph_subscriptions 1$/m.test(await metricsOf(program));
    await expect.poll(isOpen).toBe(true);
    client.dispose();
  };

const metricsOf = async ({ url }: Doors) => (await fetch(new URL('/metrics', url))).text();

const query = QUOTA;
const documentId = sha256Of(QUOTA);
const extensions = { persistedQuery: { version: 1, sha256Hash: documentId } };
const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

/** Operations that each request holds. */
const DOORS: Readonly<Record<string, readonly [held: number, send: Send]>> = {
  'a POST': [1, bring({ query })],
  'a POST with one set of variables': [1, bring({ query, variables: { unused: false } })],
  'a GET': [1, get({ query })],
  'a GET whose variables are a list': [1, get({ query, variables: '[{},{},{}]' })],
  'a QUERY': [1, bring({ query }, 'QUERY')],
  'a persisted operation': [1, bring({ extensions })],
  'a persisted operation of a GET': [1, get({ extensions: JSON.stringify(extensions) })],
  'an array': [3, bring(times(3, { query }))],
  'an array of one': [1, bring([{ query }])],
  'an array by QUERY': [3, bring(times(3, { query }), 'QUERY')],
  'an array of what is no operation': [3, bring([7, null, 'text'])],
  'an array in an array': [2, bring([times(3, { query }), { query }])],
  'no operation': [0, bring([])],
  'a list of variables': [4, bring({ query, variables: times(4, {}) })],
  'a list of variables by QUERY': [4, bring({ query, variables: times(4, {}) }, 'QUERY')],
  'a list of one set of variables': [1, bring({ query, variables: [{}] })],
  'a list of no variables': [0, bring({ query, variables: [] })],
  'a list of variables of a persisted operation': [4, bring({ extensions, variables: times(4, {}) })],
  'a list of variables of a trusted document': [4, bring({ documentId, variables: times(4, {}) })],
  'lists of variables in an array': [
    6,
    bring([...times(2, { query, variables: [{}, {}] }), { query }, { query }]),
  ],
  'a form of a public document': [1, get({}, '/c/quota.json')],
  'a tool': [1, tool({})],
  'a tool that is priced first': [1, tool({ _meta: { 'country-graph/maxCalls': 9 } })],
  'a tool whose arguments are a list': [0, tool({ arguments: [{}, {}, {}] })],
  'a subscription over ws': [1, subscribe('ws')],
  'a subscription over sse': [1, subscribe('sse')],
  'a subscription over a reserved stream': [1, subscribe('sse, single connection')],
};

const MOST = 12;

it.for(Object.entries(DOORS))(
  'a visitor is counted each operation that a request holds: %s',
  async ([, [held, send]]) => {
    await using program = await openDoors();
    const key = await program.issue({ name: 'page', visitorPerMinute: MOST });
    await send(program, key);
    let left = 0;
    for (let codes: unknown[] = []; codes.length === 0; left += 1)
      codes = await program.codes(NAMELESS, { key });
    expect(MOST - (left - 1)).toBe(held);
  },
);

it.for(Object.entries(DOORS).filter(([, [held]]) => held > 1))(
  'a visitor without room for all operations that a request holds has none of them run: %s',
  async ([, [held, send]]) => {
    await using program = await openDoors();
    const key = await program.issue({ name: 'page', visitorPerMinute: held - 1 });
    expect(await send(program, key)).toContain('"RATE_LIMITED"');
    expect(program.operations).toEqual([]);
    expect(program.requests()).toEqual([]);
    await program.codes(QUOTA, { key });
    expect(program.operations).toHaveLength(1);
  },
);

it('usage tells the document of each operation that a request holds', async () => {
  await using program = await openDoors();
  const key = await program.issue({ name: 'page' });
  const nameless = sha256Of(NAMELESS);
  await bring([{ documentId: nameless, variables: [{}, {}] }, { documentId: nameless }, { query }])(
    program,
    key,
  );
  await program.gather();
  const { usage } = await program.desk.usage({ days: 1 });
  const rows = usage.map(({ document, operations }) => [document, operations]);
  expect(rows.toSorted()).toEqual(
    [
      [nameless, 3],
      ['Quota', 1],
    ].toSorted(),
  );
  expect(program.requests()).toEqual([]);
});
