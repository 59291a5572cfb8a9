import { dirname } from 'node:path';
import { Trace } from '@apollo/usage-reporting-protobuf';
import {
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import {
  goldenNames,
  goldenOperation,
  goldenSchema,
  openGolden,
  readGolden,
} from '../support/golden-queries.ts';
import { openProgram } from '../support/program.ts';
import { open } from './exchange.ts';

const TRACED = { 'apollo-federation-include-trace': 'ftv1' };
const env = { FEDERATED_TRACES: 'on' };

type Node = Trace.INode;

function traceIn({ ftv1 }: Readonly<Record<string, unknown>>): Trace {
  return Trace.decode(Buffer.from(String(ftv1), 'base64'));
}

/** Each node of a trace by its path in the answer. */
function nodesOf({ root }: Trace): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const add = (node: Node, path: string) => {
    nodes.set(path, node);
    // Names are unset beside an index, and decode as an empty name.
    for (const child of node.child ?? []) add(child, `${path}/${child.responseName || child.index}`);
  };
  if (root != null) add(root, '');
  return nodes;
}

/** Milliseconds that a field took. */
function tookMs(node: Node | undefined): number {
  return (Number(node?.endTime) - Number(node?.startTime)) / 1e6;
}

/**
 * Response keys of fields that hold names of types, and of those whose values have fields that are none of
 * ours.
 */
function keysIn(query: string, schema: GraphQLSchema) {
  const [typenames, records] = [new Set<string>(), new Set<string>()];
  const types = new TypeInfo(schema);
  visit(
    parse(query),
    visitWithTypeInfo(types, {
      Field({ name, alias }) {
        const key = (alias ?? name).value;
        if (name.value === '__typename') typenames.add(key);
        if (getNamedType(types.getType())?.name === 'JSON') records.add(key);
      },
    }),
  );
  return { typenames, records };
}

/** The path of each field in an answer, but for names of types. */
function fieldsIn(data: unknown, keys: ReturnType<typeof keysIn>, path = ''): string[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([key, value]) => {
    if (keys.typenames.has(key)) return [];
    const here = `${path}/${key}`;
    return [
      ...(Array.isArray(data) ? [] : [here]),
      ...(keys.records.has(key) ? [] : fieldsIn(value, keys, here)),
    ];
  });
}

/** All of those whose bill goes by which fields are resolved together, and two of each other kind. */
const names = goldenNames.filter((name, i) => {
  const kind = dirname(name);
  return ['derived', 'entities'].includes(kind) || kind !== dirname(goldenNames[i - 2] ?? '');
});

describe('an operation of a router that asks for a trace', () => {
  let schema: GraphQLSchema;
  beforeAll(async () => {
    schema = await goldenSchema();
  });

  it.for(names)('has the answer and the bill that it has without: %s', async (name) => {
    await using program = await openGolden(env);
    const { query, variables } = goldenOperation(name);
    const { data, errors, extensions } = await program.ask(query, { variables, headers: TRACED });
    expect(errors.length > 0 ? { data, errors } : { data }).toEqual(
      JSON.parse(readGolden(`${name}.answer.json`)),
    );
    const requests = readGolden(`${name}.calls.txt`)
      .split('\n')
      .filter((line) => line.startsWith('GET'));
    expect(program.requests().sort()).toEqual(requests);

    const trace = traceIn(extensions);
    const nodes = nodesOf(trace);
    const fields = [...nodes].filter(([, { parentType }]) => parentType);
    // Compares answers without errors alone: a field that was lost to one had been resolved all the same.
    if (errors.length === 0)
      expect(fields.map(([path]) => path).sort()).toEqual(fieldsIn(data, keysIn(query, schema)).sort());
    for (const [path, { startTime, endTime }] of fields) {
      expect(endTime).toBeGreaterThanOrEqual(startTime as number);
      expect(endTime).toBeLessThanOrEqual(trace.durationNs);
      const above = path.replace(/(\/\d+)*\/\w+$/, '');
      expect(startTime).toBeGreaterThanOrEqual(Number(nodes.get(above)?.endTime));
    }
  });
});

describe('a trace', () => {
  it('says of each field what it is and how long it took', async () => {
    await using program = await openProgram({ env });
    program.sandbox.faults.set({
      kind: 'latency',
      ms: 80,
      route: '/v1/data',
      when: ({ latest }) => latest === undefined,
    });
    const { extensions } = await program.ask(
      '{ land: country(code: "KE") { name observations(metricKeys: ["population_total"]) { year } } }',
      { headers: TRACED },
    );
    const trace = traceIn(extensions);
    const nodes = nodesOf(trace);
    expect(nodes.get('/land')).toMatchObject({
      parentType: 'Query',
      type: 'Country',
      originalFieldName: 'country',
    });
    expect(nodes.get('/land/name')).toMatchObject({ parentType: 'Country', type: 'String' });
    expect(nodes.get('/land/observations/1/year')).toMatchObject({ parentType: 'Observation' });
    expect(nodes.get('/land/observations/1/year')?.originalFieldName).toBe('');
    expect(tookMs(nodes.get('/land/observations'))).toBeGreaterThan(79);
    expect(tookMs(nodes.get('/land/observations/1/year'))).toBe(0);
    expect(trace).toMatchObject({ fieldExecutionWeight: 1 });
    expect(trace.durationNs / 1e6).toBeGreaterThan(79);
  });

  it('has the time of each object where each has a call of its own, and of lists whose items come by themselves', async () => {
    await using program = await openProgram({ env });
    program.sandbox.faults.set({ kind: 'latency', ms: 80, route: '/v1/countries/{code}/profile', times: 1 });
    const query = '{ countries(codes: ["KE", "UG"]) { profile { record } } }';
    const nodes = nodesOf(traceIn((await program.ask(query, { headers: TRACED })).extensions));
    const times = [0, 1].map((i) => tookMs(nodes.get(`/countries/${i}/profile`))).sort((a, b) => a - b);
    expect(times[1]).toBeGreaterThan(79);
    expect(times[0]).toBeLessThan(times[1] as number);

    program.sandbox.faults.set({ kind: 'latency', ms: 80, route: '/v1/platform/etl-status', times: 1 });
    const entities = await program.ask(
      'query ($of: [_Any!]!) { _entities(representations: $of) { ... on Source { key } } }',
      { headers: TRACED, variables: { of: [{ __typename: 'Source', key: 'wb' }] } },
    );
    expect(tookMs(nodesOf(traceIn(entities.extensions)).get('/_entities'))).toBeGreaterThan(79);
  });

  it('has errors where they were, without words, values or the key', async () => {
    await using program = await openProgram({ env });
    program.sandbox.faults.set({
      kind: 'status',
      status: 500,
      body: { detail: 'broken 4711' },
      route: '/v1/data',
    });
    const query = '{ a: country(code: "KE") { observation(metricKey: "population_total") { value } } }';
    const bad = await program.ask(query, { headers: TRACED });
    const [error] = nodesOf(traceIn(bad.extensions)).get('/a/observation')?.error ?? [];
    expect(error?.message).toBe('<masked>');
    expect(JSON.parse(String(error?.json)).extensions).toEqual({ code: bad.errors[0]?.extensions.code });
    expect(error?.location).toMatchObject([{ line: 1, column: 28 }]);
    const bytes = Buffer.from(String(bad.extensions.ftv1), 'base64').toString('latin1');
    for (const secret of ['4711', program.sandbox.keys.team, 'Bearer', 'KE'])
      expect(bytes).not.toContain(secret);

    const refused = await program.ask('{ nonsense }', { headers: TRACED });
    const { root } = traceIn(refused.extensions);
    expect(root).toMatchObject({ error: [{ message: '<masked>' }], child: [] });
  });

  it('is not given unless it is asked for and the setting is on', async () => {
    await using program = await openProgram({ env });
    const query = '{ country(code: "KE") { name } }';
    for (const headers of [undefined, { 'apollo-federation-include-trace': 'ftv2' }])
      expect((await program.ask(query, { headers: headers ?? {} })).extensions).not.toHaveProperty('ftv1');
    await using without = await openProgram();
    for (const _ of [1, 2, 3])
      expect((await without.ask(query, { headers: TRACED })).extensions).not.toHaveProperty('ftv1');
  });

  it('is not given of more fields than can be written in a moment', async () => {
    await using program = await openProgram({ env });
    const aliases = (count: number) => Array.from({ length: count }, (_, i) => `n${i}: name`).join(' ');
    const many = await program.ask(`{ countries { ${aliases(93)} } }`, { headers: TRACED });
    expect([many.errors, many.extensions.ftv1]).toEqual([[], undefined]);
    const fewer = await program.ask(`{ countries { ${aliases(92)} } }`, { headers: TRACED });
    expect(nodesOf(traceIn(fewer.extensions)).size).toBe(1 + 1 + 54 + 54 * 92);
  });

  it('calls types and root fields as routers do', async () => {
    await using program = await openProgram({ env: { ...env, SUBGRAPH_PREFIX: 'CG_' } });
    const query = '{ cg_countries(codes: ["KE"]) { code } all: cg_country(code: "KE") { code } }';
    const nodes = nodesOf(traceIn((await program.ask(query, { headers: TRACED })).extensions));
    expect(nodes.get('/cg_countries')).toMatchObject({
      parentType: 'Query',
      type: '[CG_Country!]',
      originalFieldName: '',
    });
    expect(nodes.get('/all')).toMatchObject({ type: 'CG_Country', originalFieldName: 'cg_country' });
    expect(nodes.get('/cg_countries/0/code')).toMatchObject({
      parentType: 'CG_Country',
      type: 'CountryCode!',
    });
  });
});

describe('an answer with a trace', () => {
  it.for(['{ country(code: "KE") { name } }', '{ _service { sdl } }'])(
    'is neither kept nor taken from what is: %s',
    async (query) => {
      await using program = await open({ env });
      const ask = async (headers = {}) => {
        const { text, headers: told } = await program.send({ body: { query }, headers });
        return { ...JSON.parse(text), told };
      };
      for (const _ of [1, 2, 3, 4]) {
        const { extensions, told } = await ask(TRACED);
        expect(traceIn(extensions).root?.child).toHaveLength(1);
        expect(told['cache-control']).toBe('private');
      }
      for (const _ of [1, 2, 3]) expect((await ask()).extensions.ftv1).toBeUndefined();
      const before = program.repeats();
      expect(before.slice(0, 4)).toEqual([false, false, false, false]);
      expect(before.at(-1)).toBe(true);
      const [first, second] = [await ask(TRACED), await ask(TRACED)];
      expect(traceIn(first.extensions).startTime).toBeTruthy();
      expect(first.extensions.upstream.calls).toBe(0);
      expect(first.extensions.ftv1).not.toBe(second.extensions.ftv1);
      expect(program.repeats()).toEqual([false, false]);
    },
  );
});

describe('a trace that is asked for where none is given', () => {
  it.for(['{ country(code: "KE") { name } }', '{ __schema { queryType { name } } }', '{ nonsense }'])(
    'is not in the answer to %s',
    async (query) => {
      await using program = await openProgram();
      const { extensions } = await program.ask(query, { headers: TRACED });
      expect(Object.keys(extensions)).toEqual(['upstream']);
    },
  );

  it('leaves the resolvers of the schema as they are', async () => {
    const gateway = await createGateway({
      config: readConfig(env),
      upstreamUrl: 'http://localhost:1',
      observer: { operation() {}, attempt() {}, problem() {} },
    });
    const resolvers = () =>
      Object.values(gateway.schema.getTypeMap()).flatMap((type) =>
        isObjectType(type) ? Object.values(type.getFields()).map(({ resolve }) => resolve) : [],
      );
    const before = resolvers();
    const headers = { 'content-type': 'application/json', ...TRACED };
    const { signal } = new AbortController();
    await gateway.handle({ method: 'POST', headers, search: '', body: { query: '{ __typename }' }, signal });
    expect(resolvers()).toEqual(before);
    await gateway.stop();
  });
});
