import { existsSync, globSync, readFileSync } from 'node:fs';
import { getVariableValues, parse } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { boundOf } from '../../src/graphql/cost/bound.ts';
import { openGivenLists } from '../../src/graphql/cost/given-lists.ts';
import { planOperation } from '../../src/graphql/execution/plan.ts';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';
import { leadToFigures } from '../../src/graphql/schema/selection.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { heapBytes } from '../support/heap.ts';
import { openProgram } from '../support/program.ts';
import { callerOf } from '../support/tenants.ts';

const MAX_ROWS = 1000;

const schema = createSchema({ resolvers, entities, batches });

type Variables = Readonly<Record<string, unknown>>;

function planOf(text: string, given: Variables) {
  const document = parse(text);
  const [operation] = document.definitions.filter(({ kind }) => kind === 'OperationDefinition');
  if (operation?.kind !== 'OperationDefinition') throw new TypeError('There is no operation.');
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  const variables: Variables = coerced ?? {};
  return { plan: planOperation(schema, document, operation, variables), variables };
}

function boundOfText(text: string, given: Variables = {}): number {
  const { plan, variables } = planOf(text, given);
  return boundOf(plan, variables)(MAX_ROWS);
}

/** Subscriptions have no price: they are refused with the address of theirs. */
const files = [
  ...globSync('test/queries/!(live)/*.graphql'),
  ...globSync('bench/operations/*.graphql'),
].sort();

const program = await openProgram({ env: { ...WHOLE_GRAPH, MAX_UPSTREAM_CALLS: '1000' } });
afterAll(() => program[Symbol.asyncDispose]());

beforeAll(async () => {
  // Of a key that the service has accepted, plans of any size are told.
  await program.ask('{ country(code: "KE") { signals { record } } }');
  program.requests();
});

it.for(files)('%s takes no more calls than its bound', async (file) => {
  const text = readFileSync(file, 'utf8');
  const variablesFile = file.replace('.graphql', '.variables.json');
  const variables: Variables = existsSync(variablesFile)
    ? JSON.parse(readFileSync(variablesFile, 'utf8'))
    : {};
  const { extensions } = await program.ask(text, { variables, headers: { 'x-explain': '1' } });
  const { calls } = extensions.explain as { calls: number };
  expect(calls).toBeLessThanOrEqual(boundOfText(text, variables));
  expect(program.requests()).toEqual([]);
});

it.for<[string, number]>([
  ['{ country(code: "KE") { observation(metricKey: "population_total") { value } } }', 10],
  ['{ countries { a: observation(metricKey: "a") { value } b: observation(metricKey: "b") { value } } }', 10],
  ['{ observations(countryCodes: ["KE", "NG"], metricKeys: ["a", "b", "c"]) { value } }', 14],
  ['{ observations(countryCodes: ["KE"], metricKeys: ["a"], latest: true) { value } }', 10],
  ['{ observations(metricKeys: ["a"]) { value } }', 68],
  ['{ observations { value } }', 15_008],
  ['{ observations(latest: true) { value } }', 39],
  ['{ countries { observations(latest: true) { value } } }', 39],
  ['{ countries { profile { country { code } } } }', Number.POSITIVE_INFINITY],
])('the operation %s takes %i calls at the most', ([text, calls]) => {
  expect(boundOfText(text)).toBe(calls);
});

/** Fragments each of which spreads the next one twice. */
function fragmentBomb(levels: number, last: string): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment f${i} on Country { ...f${i + 1} ...f${i + 1} }`,
  );
  return `{ country(code: "KE") { ...f0 } } ${fragments.join(' ')} fragment f${levels} on Country { ${last} }`;
}

it('the bound of calls counts a field once, by however many paths fragments that spread each other lead to it', () => {
  const text = fragmentBomb(40, 'observation(metricKey: "a") { value }');
  expect(boundOfText(text)).toBe(10);
});

it('the bound of calls leaves out what the variables skip', () => {
  const text =
    'query ($no: Boolean!) { countries { profile @include(if: $no) { record } observation(metricKey: "a") { value } } }';
  expect(boundOfText(text, { no: false })).toBe(10);
  expect(boundOfText(text, { no: true })).toBe(Number.POSITIVE_INFINITY);
});

it('the bound of calls looks for figures without walking every such path', () => {
  expect(leadToFigures(planOf(fragmentBomb(40, 'code'), {}).plan.root.selected)).toBe(false);
});

it('the bound of calls holds for figures however they are scattered over countries and indicators', async () => {
  const codes = [
    'KE',
    'NG',
    'ZA',
    'EG',
    'GH',
    'TZ',
    'UG',
    'RW',
    'MA',
    'TN',
    'SN',
    'ML',
    'NE',
    'TD',
    'CM',
    'GA',
  ];
  const fields = Array.from(
    { length: 96 },
    (_, i) => `f${i}: country(code: "${codes[i % 16]}") { observation(metricKey: "m_${i}") { value } }`,
  );
  const text = `{ ${fields.join(' ')} }`;
  const { extensions } = await program.ask(text, { headers: { 'x-explain': '1' } });
  const { calls } = extensions.explain as { calls: number };
  expect(calls).toBeGreaterThan(1);
  expect(calls).toBeLessThanOrEqual(boundOfText(text));
});

it('the bound of calls remembers no more lists than there is room for, however long they are', async () => {
  const { notedListsStage } = openGivenLists([]);
  const rows = () => Array.from({ length: 2_000 }, (_, i) => ({ key: `key ${i}`, name: `A name ${i}` }));
  const call = { route: '/v1/indicators', target: '/v1/indicators', isPublic: false };
  const before = heapBytes();
  for (let i = 0; i < 200; i += 1) {
    const send = notedListsStage(async () => ({
      status: 200,
      headers: {},
      body: { data: rows() },
      receivedAt: i,
    }));
    await send(call as never, { caller: callerOf(`key ${i}`) } as never);
  }
  expect(heapBytes() - before).toBeLessThan(32_000_000);
});

it('with little room left, a list is remembered when it comes for the second time', async () => {
  const given = openGivenLists([]);
  const call = { route: '/v1/indicators', target: '/v1/indicators', isPublic: false } as never;
  const receive = async (key: string, receivedAt = 0) => {
    const body = Array.from({ length: 2_000 }, (_, i) => ({ key: `key ${i}`, name: `A name ${i}` }));
    const send = given.notedListsStage(async () => ({ status: 200, headers: {}, body, receivedAt }));
    await send(call, { caller: callerOf(key) } as never);
    return body;
  };
  const knows = (key: string) => given.of(callerOf(key).tenant, call) !== undefined;
  await receive('first');
  expect(knows('first')).toBe(true);
  for (let i = 0; i < 500; i += 1) await receive(`key ${i}`);
  expect([knows('first'), knows('key 499')]).toEqual([true, false]);
  await receive('key 499');
  expect(knows('key 499')).toBe(true);
  // A list that is kept is still renewed.
  const renewed = await receive('first', 60_000);
  expect(given.of(callerOf('first').tenant, call)).toBe(renewed);
});
