import { buildSchema, type GraphQLFieldResolver, type GraphQLObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { IncrementalRun } from '../../src/graphql/execution/incremental.ts';
import { fragmentsIn, planOperation } from '../../src/graphql/execution/plan.ts';
import { createDeferringCollector } from '../../src/graphql/request/deferrals.ts';

const schema = buildSchema(`
  directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
  type Query { box: Box }
  type Box { name: String!, sure: String!, late: String, inner: Box, innerSure: Box! }
`);

/** Fields that are there later, each when the test says so. */
const gates = new Map<string, PromiseWithResolvers<unknown>>();
const gate = (name: string) => {
  const known = gates.get(name) ?? Promise.withResolvers<unknown>();
  gates.set(name, known);
  return known;
};

function resolve(type: string, field: string, resolver: GraphQLFieldResolver<unknown, unknown>) {
  const definition = (schema.getType(type) as GraphQLObjectType).getFields()[field];
  if (definition) definition.resolve = resolver;
}
interface Box {
  readonly name: string;
}
const box = (name: string): Box => ({ name });
resolve('Query', 'box', () => box('a'));
resolve('Box', 'sure', (source) => gate(`sure ${(source as Box).name}`).promise);
resolve('Box', 'late', (source) => gate(`late ${(source as Box).name}`).promise);
resolve('Box', 'inner', (source) => box(`${(source as Box).name}/i`));
resolve('Box', 'innerSure', (source) => gate(`innerSure ${(source as Box).name}`).promise);

interface Told {
  readonly isLost: boolean;
  readonly data: unknown;
  readonly errors: readonly string[];
}

const toldOf = (data: string, errors: readonly { readonly path?: unknown; readonly message: string }[]) => ({
  data: JSON.parse(data),
  errors: errors.map(({ path, message }) => `${String(path)}: ${message}`),
});

/** An operation whose late fields the test lets come. */
async function begin(query: string) {
  gates.clear();
  const document = parse(query);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('It is no operation.');
  const scope = { schema, operation, fragments: fragmentsIn(document), variables: {} };
  const collector = createDeferringCollector(scope);
  const plan = planOperation(schema, document, operation, {}, collector);
  expect(collector.isUsed()).toBe(true);
  if (plan === null) throw new Error('It has no plan.');
  const run = new IncrementalRun<Told>(
    { plan, context: {}, variables: {} },
    ({ data, errors }, isLost) => ({ isLost, ...toldOf(data.join(''), errors) }),
    (error) => ({ isLost: true, data: null, errors: [String(error)] }),
    () => {},
  );
  const first = run.first().then(({ data, errors }) => toldOf(data.join(''), errors));
  return {
    run,
    first,
    /** News to tell now, in short. */
    async told() {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      return run.take().map(short);
    },
  };
}

function short(told: ReturnType<IncrementalRun<Told>['take']>[number]): string {
  const at = `${told.of.label ?? told.of.id} at ${told.of.path.join('.')}`;
  if (told.kind === 'pending') return `pending ${at}`;
  if (told.failed !== null) return `failed ${at}: ${told.failed.errors.join('; ')}`;
  const parts = told.parts.map(({ path, part }) => `${path.join('.')} ${JSON.stringify(part.data)}`);
  return `complete ${at}: ${parts.join(' and ')}`;
}

describe('parts of an operation', () => {
  it('parts of an operation are there whole, and those within others after them', async () => {
    const { first, told } = await begin(
      '{ box { name ... @defer(label: "A") { late ... @defer(label: "B") { inner { name } } } } }',
    );
    expect(await first).toEqual({ data: { box: { name: 'a' } }, errors: [] });
    expect(await told()).toEqual(['pending A at box']);
    gate('late a').resolve('l');
    expect(await told()).toEqual([
      'complete A at box: box {"late":"l"}',
      'pending B at box',
      'complete B at box: box {"inner":{"name":"a/i"}}',
    ]);
  });

  it('parts of an operation have what several of them select with the one that is complete first, once', async () => {
    const { first, told } = await begin(
      '{ box { ... @defer(label: "A") { inner { name } late } ... @defer(label: "B") { inner { name late } } } }',
    );
    expect(await first).toEqual({ data: { box: {} }, errors: [] });
    await told();
    gate('late a').resolve('l');
    expect(await told()).toEqual(['complete A at box: box {"inner":{"name":"a/i"}} and box {"late":"l"}']);
    gate('late a/i').resolve('m');
    expect(await told()).toEqual(['complete B at box: box.inner {"late":"m"}']);
  });

  it('parts of an operation are lost alone where a value is missing that they may not lack', async () => {
    const { first, told } = await begin(
      '{ box { name ... @defer(label: "A") { sure ... @defer(label: "C") { name2: name } } ... @defer(label: "B") { late } } }',
    );
    expect(await first).toEqual({ data: { box: { name: 'a' } }, errors: [] });
    expect(await told()).toEqual(['pending A at box', 'pending B at box']);
    gate('sure a').resolve(null);
    gate('late a').resolve('l');
    expect(await told()).toEqual([
      'failed A at box: box,sure: Cannot return null for non-nullable field Box.sure.',
      'complete B at box: box {"late":"l"}',
    ]);
  });

  it('parts of an operation are not told of where what they stand in is lost', async () => {
    const { run, first, told } = await begin(
      '{ box { innerSure { name } ... @defer(label: "A") { late } } }',
    );
    gate('innerSure a').resolve(null);
    expect(await first).toMatchObject({ data: { box: null } });
    expect(run.hasMore).toBe(false);
    expect(run.isRunning).toBe(true);
    gate('late a').resolve('l');
    expect(await told()).toEqual([]);
    expect(run.isRunning).toBe(false);
  });
});
