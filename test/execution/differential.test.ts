import {
  GraphQLError,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getIntrospectionQuery,
  parse,
  print,
  type ResponsePath,
  validate,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { conditionsOf } from '../../src/graphql/execution/plan.ts';
import { runPlan } from '../../src/graphql/execution/run.ts';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';
import { draws } from '../support/draws.ts';
import { createArchive } from './archive.ts';
import { createCase, drawCase, explainDifference, planOf, runOurs, runTheirs } from './cases.ts';
import { mix } from './dice.ts';
import { differenceOf, type Outcome } from './outcomes.ts';
import { resolveByDraws } from './resolvers.ts';

const SEED = 20_260_724;
const OPERATIONS = draws(10_000, 500);
/** One operation in as many runs by a clock that ends every turn at once. */
const HASTY = 8;

function drawnSchema(create: () => GraphQLSchema, number: number): GraphQLSchema {
  const schema = create();
  resolveByDraws(schema, mix(SEED, number));
  return schema;
}

const createProduct = () => createSchema({ resolvers, entities, batches });

/** The product's and ours in turn, each with resolvers of its own. */
const schemas = Array.from({ length: 24 }, (_, number) =>
  drawnSchema(number % 2 === 0 ? createProduct : createArchive, number),
);

describe('a corpus of operations', () => {
  /**
   * Tells errors of promises that graphql-js leaves behind, if an item of a list is lost before others are
   * there.
   */
  const isLeftBehind = (fault: unknown) => fault instanceof GraphQLError && fault.path !== undefined;
  const unheard: unknown[] = [];
  const hear = (fault: unknown) => {
    if (!isLeftBehind(fault)) unheard.push(fault);
  };
  const listeners = process.listeners('unhandledRejection');
  const { stackTraceLimit } = Error;

  beforeAll(() => {
    // Leaves out the traces of a hundred thousand drawn errors, which nobody reads.
    Error.stackTraceLimit = 0;
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear);
  });

  afterAll(async () => {
    // Promises that the last operation leaves behind are rejected a little later.
    await new Promise((resolve) => setImmediate(resolve));
    Error.stackTraceLimit = stackTraceLimit;
    process.removeListener('unhandledRejection', hear);
    for (const listener of listeners) process.on('unhandledRejection', listener);
    vi.restoreAllMocks();
  });

  test('a corpus of operations has the outcomes that it has by graphql-js', {
    timeout: 400_000,
  }, async () => {
    const seen = { errors: 0, lost: 0, long: 0, pauses: 0 };
    const onPause = () => {
      seen.pauses += 1;
    };
    for (let number = 0; number < OPERATIONS; number += 1) {
      const drawn = drawCase(schemas[number % schemas.length] as GraphQLSchema, mix(SEED, number));
      const faults = validate(drawn.schema, drawn.document);
      if (faults.length > 0) expect.fail(`${print(drawn.document)}\n${faults.join('\n')}`);
      const plan = planOf(drawn);
      let time = 0;
      const clock =
        number % HASTY === 0 ? vi.spyOn(performance, 'now').mockImplementation(() => (time += 10)) : null;
      const ours = await runOurs(drawn, plan, { onPause }).catch(
        (fault: unknown): Outcome => ({ data: String(fault), errors: [] }),
      );
      clock?.mockRestore();
      const theirs = await runTheirs(drawn);
      const difference = differenceOf(ours, theirs);
      if (difference !== null) expect.fail(await explainDifference(drawn, `Number ${number}: ${difference}`));
      seen.errors += theirs.errors.length;
      if (theirs.data === 'null') seen.lost += 1;
      if (theirs.data.length > 20_000) seen.long += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
    expect(seen.errors).toBeGreaterThan(OPERATIONS / 10);
    expect(seen.lost).toBeGreaterThan(OPERATIONS / 100);
    expect(seen.long).toBeGreaterThan(OPERATIONS / 1000);
    expect(seen.pauses).toBeGreaterThan(OPERATIONS / 10);
  });

  test('a corpus of operations has the same outcomes when a plan runs again', {
    timeout: 100_000,
  }, async () => {
    for (let number = 0; number < OPERATIONS / 5; number += 1) {
      const { draws, ...drawn } = drawCase(
        schemas[number % schemas.length] as GraphQLSchema,
        mix(SEED, 1_000_000 + number),
      );
      const objects = new Map<string, object>();
      const plan = planOf({ ...drawn, draws });
      // Changes the values of resolved fields in the second run, and changes them back in the last.
      for (const change of [0, 1, 0]) {
        const again = { ...drawn, draws: { ...draws, objects, change } };
        const difference = differenceOf(await runOurs(again, plan), await runTheirs(again));
        if (difference !== null) expect.fail(`Number ${number}: ${difference}\n${print(drawn.document)}`);
      }
    }
  });
});

test('resolvers are told where they are, as by graphql-js', { timeout: 60_000 }, async () => {
  const told = { paths: 0, indices: 0 };
  for (let number = 0; number < 400; number += 1) {
    const drawn = drawCase(schemas[number % schemas.length] as GraphQLSchema, mix(SEED, -1 - number));
    // Draws no faults: after a lost object, the two would differ in the other fields that they come to.
    const sound = { ...drawn, draws: { ...drawn.draws, faultRate: 0 } };
    const [ours, theirs]: [string[], string[]] = [[], []];
    const into = (paths: string[]) => (path: ResponsePath) => paths.push(textOf(path));
    await runOurs(sound, planOf(sound), undefined, into(ours));
    await runTheirs(sound, into(theirs));
    expect(ours.toSorted()).toEqual(theirs.toSorted());
    told.paths += theirs.length;
    told.indices += theirs.filter((path) => /:\d/.test(path)).length;
  }
  expect(told.paths).toBeGreaterThan(1_500);
  expect(told.indices).toBeGreaterThan(750);
});

/** A path with the types that its fields are of. */
function textOf({ prev, key, typename }: ResponsePath): string {
  return `${prev === undefined ? '' : textOf(prev)}/${typename ?? ''}:${key}`;
}

test('a resolver that reads its path too late is told so', async () => {
  const schema = createArchive();
  const { archives } = schema.getQueryType()?.getFields() ?? {};
  Object.assign(archives ?? {}, { resolve: () => [{}, {}] });
  const resolve = async (_: unknown, __: unknown, ___: unknown, info: GraphQLResolveInfo) => {
    await null;
    return info.path.key;
  };
  Object.assign((schema.getType('Archive') as GraphQLObjectType).getFields().name ?? {}, { resolve });
  const { errors } = await runOurs(createCase(schema, '{ archives { name } }'));
  expect(errors.map(({ message }) => message)).toContain(
    'A resolver reads info.path before it returns, or not at all.',
  );
});

/** A schema whose `piece`, `pieces` and `surelyPieces` are as given. */
function schemaOfPieces(piece: unknown, resolveType?: GraphQLInterfaceType['resolveType']): GraphQLSchema {
  const schema = createArchive();
  const { piece: one, pieces: some, surelyPieces: all } = schema.getQueryType()?.getFields() ?? {};
  Object.assign(one ?? {}, { resolve: () => piece });
  for (const list of [some, all]) Object.assign(list ?? {}, { resolve: () => [piece] });
  Object.assign(schema.getType('Piece') ?? {}, { resolveType });
  return schema;
}

describe('what graphql-js tells in words of its own', () => {
  const book = { __typename: 'Book', name: 'b' };

  test.each<{ type: string; piece: unknown; resolveType?: () => unknown }>([
    { type: 'none', piece: {} },
    { type: 'a type of no text', piece: book, resolveType: () => 5 },
    { type: 'an unknown one', piece: { __typename: 'Nothing' } },
    { type: 'an enum', piece: { __typename: 'Locale' } },
    { type: 'an interface', piece: { __typename: 'Named' } },
    { type: 'one that is not possible here', piece: { __typename: 'Person' } },
    { type: 'none, later', piece: book, resolveType: async () => undefined },
    { type: 'one that is not possible here, later', piece: book, resolveType: async () => 'Person' },
    { type: 'none, of a text', piece: 'Book' },
  ])(
    'an object of an abstract type that has $type is told as by graphql-js',
    async ({ piece, resolveType }) => {
      const schema = schemaOfPieces(piece, resolveType as never);
      const told = ({ data, errors }: Outcome) => ({
        data,
        errors: errors.map(({ path, locations }) => ({ path, locations })),
      });
      const nullable = createCase(schema, '{ piece { name } pieces(wishes: []) { name } }');
      const ours = await runOurs(nullable);
      expect(ours.data).toBe('{"piece":null,"pieces":[null]}');
      expect(told(ours)).toEqual(told(await runTheirs(nullable)));
      const required = createCase(schema, '{ surelyPieces { name } }');
      expect(told(await runOurs(required))).toEqual(told(await runTheirs(required)));
    },
  );

  test.each([
    { fails: 'throws', resolveType: () => expect.fail('No type.') },
    { fails: 'rejects', resolveType: async () => expect.fail('No type.') },
  ])('a type that $fails is told as by graphql-js', async ({ resolveType }) => {
    const drawn = createCase(schemaOfPieces(book, resolveType), '{ piece { name } surelyPieces { name } }');
    expect(differenceOf(await runOurs(drawn), await runTheirs(drawn))).toBeNull();
  });
});

test('a value that has no JSON is left out, as by graphql-js', async () => {
  const schema = schemaOfPieces({ __typename: 'Chart', any: Symbol('none') });
  const { data } = await runOurs(createCase(schema, '{ piece { ... on Chart { any } } }'));
  expect(data).toBe('{"piece":{}}');
});

test('what reading an object throws is an error of its field', async () => {
  const book = {
    __typename: 'Book',
    get keeper(): object {
      return expect.fail('Unreadable.');
    },
  };
  const drawn = createCase(schemaOfPieces(book), '{ piece { __typename keeper { name } } }');
  expect(differenceOf(await runOurs(drawn), await runTheirs(drawn))).toBeNull();
});

describe('what a schema says of itself', () => {
  const all = getIntrospectionQuery({
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  });
  test.each([
    all,
    '{ __schema { queryType { name } } }',
    '{ ratio type: __type(name: "Book") { __typename name kind fields { type { ofType { name } } } } none: __type(name: "Nothing") { name } }',
    '{ ... { ...More } } fragment More on Query { __schema { types { ...T } } } fragment T on __Type { name possibleTypes { name } interfaces { name } }',
  ])('what a schema says of itself is the same by both: %#', async (text) => {
    for (const schema of [createArchive(), drawnSchema(createArchive, 1)]) {
      const drawn = createCase(schema, text);
      expect(differenceOf(await runOurs(drawn), await runTheirs(drawn))).toBeNull();
    }
  });

  test.each([
    ['items', '{ __schema { types { fields { type { fields { name } } } } } }'],
    ['texts', `{ __schema { types { ${Array.from({ length: 200 }, (_, i) => `a${i}: description`)} } } }`],
    ['names', `{ __schema { types { ${'x'.repeat(20_000)}: kind } } }`],
    [
      'names of types',
      `{ __schema { types { ${Array.from({ length: 200 }, (_, i) => `a${i}: __typename`)} } } }`,
    ],
  ])('what a schema says of itself counts by its %s before it is written', async (_, text) => {
    let items = 0;
    const drawn = createCase(createArchive(), text);
    const executed = await runPlan({
      plan: planOf(drawn),
      context: undefined,
      variables: {},
      onList: (count) => (items += count),
    });
    expect(items * 256).toBeGreaterThan(executed.data.join('').length);
    expect(items).toBeGreaterThan(20);
  });
});

describe('a plan', () => {
  const archive = drawnSchema(createArchive, 1);
  test.each([
    '{ ratio @include(if: $all) }',
    '{ archives { id ...Conditional } } fragment Conditional on Archive { head @skip(if: $all) { name } }',
    '{ archives { id head { name @include(if: $all) } } archive(id: "1") { head { ... @skip(if: $all) { name } } } }',
    '{ find(wish: { title: "1" }) { __typename ... on Named @include(if: $all) { label } } ratio }',
    '{ surelyArchives { head { name @include(if: $all) } } }',
    '{ ... @include(if: $all) { ratio } }',
  ])('a plan tells where a condition is null: %s', async (selection) => {
    for (const all of [null, true, false]) {
      const text = `query ($all: Boolean = true) ${selection}`;
      const drawn = createCase(archive, text, { variables: { all } });
      expect(validate(archive, drawn.document)).toEqual([]);
      const ours = await runOurs(drawn);
      expect(differenceOf(ours, await runTheirs(drawn))).toBeNull();
      expect(ours.errors.some(({ message }) => message.includes('"if"'))).toBe(all === null);
    }
  });

  test('a plan runs several times at once, with other arguments', async () => {
    const text = `query ($first: Int, $wish: Wish!, $isShort: Boolean!, $of: Locale! = SW) {
      archives(first: $first) { name head { label(locale: $of) friends(wish: $wish) { name } } }
      find(wish: $wish) { __typename ... on Named { label(upper: true) } }
      surelyArchives @skip(if: $isShort) { id places { __typename } }
    }`;
    for (const [number, schema] of schemas.entries()) {
      if (number % 2 === 0) continue;
      const cases = Array.from({ length: 8 }, (_, first) => {
        const wish = { title: `wish ${first}`, ranges: { to: first } };
        const variables = { first, wish, isShort: false, ...(first % 2 === 0 ? { of: 'FR' } : {}) };
        return createCase(schema, text, { variables, draws: { seed: 7, faultRate: 0.02, isLong: false } });
      });
      const plan = planOf(cases[0] as (typeof cases)[number]);
      const outcomes = await Promise.all(cases.map((drawn) => runOurs(drawn, plan)));
      expect(new Set(outcomes.map(({ data }) => data)).size).toBeGreaterThan(1);
      for (const [index, drawn] of cases.entries()) {
        // The nodes are those of the plan's document.
        const { document, operation } = cases[0] as typeof drawn;
        const theirs = await runTheirs({ ...drawn, document, operation });
        expect(differenceOf(outcomes[index] as Outcome, theirs)).toBeNull();
      }
    }
  });

  test('a plan asks no batch for the values of no objects', async () => {
    const schema = createArchive();
    const batch = vi.fn(() => []);
    const { archives, archive } = schema.getQueryType()?.getFields() ?? {};
    Object.assign(archives ?? {}, { resolve: () => [] });
    Object.assign(archive ?? {}, { resolve: () => null });
    Object.assign((schema.getType('Archive') as GraphQLObjectType).getFields().best ?? {}, {
      extensions: { batch },
    });
    const { data } = await runOurs(
      createCase(schema, '{ archives { best { id } } archive { best { id } } }'),
    );
    expect(data).toBe('{"archives":[],"archive":null}');
    expect(batch).not.toHaveBeenCalled();
  });
});

test.each([
  { text: '{ a }', names: [] },
  { text: 'query ($v: Boolean!, $w: Int) { a(b: $w) @skip(if: $v) }', names: ['v'] },
  { text: 'query ($v: Boolean!) { a @include(if: $v) @skip(if: true) b @skip(if: $v) }', names: ['v'] },
  {
    text: `query One($v: Boolean!, $w: Boolean!) { ... @skip(if: $v) { ...F @include(if: $w) } }
      fragment F on Query { a { b @include(if: $x) c @other(if: $y) } }`,
    names: ['v', 'w', 'x'],
  },
])('the conditions of $text ask $names', ({ text, names }) => {
  expect(conditionsOf(parse(text)).toSorted()).toEqual(names);
});
