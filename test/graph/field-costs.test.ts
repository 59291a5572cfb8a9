import {
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  isRequiredArgument,
  parse,
} from 'graphql';
import { afterAll, describe, expect, it } from 'vitest';
import { certaintyOf } from '../../src/graphql/cost/certainty.ts';
import { planOperation } from '../../src/graphql/execution/plan.ts';
import { encodeId } from '../../src/graphql/resolvers/lists.ts';
import { costOf, type FieldCost, takeCosts } from '../../src/graphql/schema/selection.ts';
import { plugins } from '../../src/plugins.ts';
import { observations } from '../../src/service/endpoints.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { schemaOf } from '../support/plugin-host.ts';
import { openProgram } from '../support/program.ts';

const schema = await schemaOf(plugins, WHOLE_GRAPH);

/** Countries that are asked for: as many calls for a field, and it takes one for each of them. */
const CODES = ['KE', 'NG', 'ZA', 'GH', 'EG'];

/** Values of arguments, by name; by field if several have the name. All others are left out. */
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  code: 'KE',
  asOf: '2026-03-10T12:00:00Z',
  codes: CODES,
  countryCode: 'KE',
  countryCodes: CODES,
  metricKey: 'population_total',
  metricKeys: ['population_total', 'gdp_current_usd'],
  keys: ['population_total', 'gdp_current_usd'],
  among: CODES,
  orderBy: [],
  exchangeCode: 'NGX',
  symbol: 'NONE',
  id: encodeId('Country', 'KE'),
  ids: [encodeId('Country', 'KE')],
  'indicator.key': 'population_total',
  'source.key': 'world_bank_wdi',
  // Names one country: those of all are more than one answer holds.
  'policies.countryCode': 'KE',
  'tradeFlows.reporterCode': 'KE',
};

interface Place {
  readonly typeName: string;
  readonly field: GraphQLField<unknown, unknown>;
}

/** Said to come from a list, and known of every indicator that the sandbox brings without the list. */
const ALWAYS_KNOWN: ReadonlySet<string> = new Set(['Indicator.name', 'Indicator.unit']);

const isOurs = (name: string) => !name.startsWith('_');

const places: readonly Place[] = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  .filter((type) => isOurs(type.name))
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => isOurs(field.name))
      .map((field) => ({ typeName: type.name, field })),
  );

function written({ name, args }: GraphQLField<unknown, unknown>): string {
  const given = (argument: GraphQLArgument) =>
    ARGUMENTS[`${name}.${argument.name}`] ?? ARGUMENTS[argument.name];
  const texts = args
    .filter(
      (argument) =>
        `${name}.${argument.name}` in ARGUMENTS ||
        isRequiredArgument(argument) ||
        isListType(getNullableType(argument.type)),
    )
    .map((argument) => `${argument.name}: ${JSON.stringify(given(argument))}`);
  return texts.length === 0 ? name : `${name}(${texts.join(', ')})`;
}

/** Fields to go through, from the root on. */
type Way = readonly GraphQLField<unknown, unknown>[];

/** Every field that leads to a type, by the shortest way to it. */
function waysTo(typeName: string): readonly Way[] {
  if (typeName === 'Query') return [[]];
  const shortest = new Map<string, Way>([['Query', []]]);
  for (const [from, way] of shortest) {
    for (const { field } of places.filter((place) => place.typeName === from)) {
      const { name } = getNamedType(field.type);
      if (!shortest.has(name)) shortest.set(name, [...way, field]);
    }
  }
  return places
    .filter(({ field }) => getNamedType(field.type).name === typeName)
    .flatMap(({ typeName: from, field }) => {
      const way = shortest.get(from);
      return way === undefined ? [] : [[...way, field]];
    });
}

const operationOf = (way: Way, last: string) =>
  `{ ${way.map((field) => `${written(field)} {`).join(' ')} ${last} ${'}'.repeat(way.length)} }`;

/** Calls of a way with nothing at its end, by route. */
const taken = new Map<string, Readonly<Record<string, number>>>();

/** Each operation has a minute to itself, so that none waits for the next one. */
let time = Date.parse('2026-03-10T12:00:00Z');
const clock = { now: () => time, sleep: async () => {} };
const program = await openProgram({
  clock,
  sandbox: { now: clock.now },
  env: { MAX_UPSTREAM_CALLS: '1000', ...WHOLE_GRAPH },
});
afterAll(() => program[Symbol.asyncDispose]());

async function routesOf(text: string): Promise<Readonly<Record<string, number>>> {
  time += 60_000;
  return (await program.ask(text)).upstream.byRoute;
}

const ORDER: readonly FieldCost[] = ['NOTHING', 'ONCE', 'FIGURES', 'EACH'];

const selected = ({ field }: Place) =>
  `${written(field)} ${isCompositeType(getNamedType(field.type)) ? '{ __typename }' : ''}`;

/** Calls that fields of a type ask the service for beyond those of its objects, by every way to them. */
async function reachedBy(typeName: string, fields: string): Promise<FieldCost> {
  let reached: FieldCost = 'NOTHING';
  for (const way of waysTo(typeName)) {
    const bare = operationOf(way, '__typename');
    const before = taken.get(bare) ?? (await routesOf(bare));
    taken.set(bare, before);
    for (const [route, calls] of Object.entries(await routesOf(operationOf(way, fields)))) {
      const more = calls - (before[route] ?? 0);
      const cost = more <= 0 ? 'NOTHING' : costOfCalls(route, more);
      if (ORDER.indexOf(cost) > ORDER.indexOf(reached)) reached = cost;
    }
  }
  return reached;
}

function costOfCalls(route: string, calls: number): FieldCost {
  if (route === observations.route) return 'FIGURES';
  return calls >= CODES.length ? 'EACH' : 'ONCE';
}

describe('what the schema says that a field costs', () => {
  it('what the schema says that a field costs is said of every field that has a resolver', () => {
    expect(places.length).toBeGreaterThan(100);
    const unsaid = places.filter(({ field }) => costOf(field) === 'UNSAID');
    expect(unsaid.map(({ typeName, field }) => `${typeName}.${field.name}`)).toEqual([]);
  });

  it('what the schema says that a field costs is said of what federation adds', () => {
    const { _entities, _service } = schema.getQueryType()?.getFields() ?? {};
    expect([costOf(_entities), costOf(_service)]).toEqual(['REFERENCED', 'NOTHING']);
  });

  const told = places
    .map((place) => ({ ...place, name: `${place.typeName}.${place.field.name}`, cost: costOf(place.field) }))
    .filter(({ name, cost }) => cost !== 'IDENTIFIED' && !ALWAYS_KNOWN.has(name));

  it.for(told.filter(({ cost }) => cost !== 'NOTHING'))(
    'what the schema says that a field costs is what it reaches of the service: $name',
    async ({ typeName, cost, ...place }) => {
      expect(await reachedBy(typeName, selected({ typeName, ...place }))).toBe(cost);
    },
  );

  const free = Map.groupBy(
    told.filter(({ cost }) => cost === 'NOTHING'),
    ({ typeName }) => typeName,
  );

  it.for([...free])(
    'what the schema says that a field costs is nothing where it is said to be: %s',
    async ([typeName, fields]) => {
      expect(await reachedBy(typeName, fields.map(selected).join(' '))).toBe('NOTHING');
    },
  );

  it('what the schema says that a field costs is not what is no cost', () => {
    const sdl = 'type Query { word: String @upstream(takes: PLENTY) }';
    expect(() => takeCosts(parse(sdl))).toThrow('Query.word says what is no cost');
  });

  const id = encodeId('Country', 'KE');
  it.for<[string, boolean]>([
    ['{ country(code: "KE") { name } }', false],
    ['{ __schema { queryType { name } } __typename }', false],
    [`query A { node(id: "${id}") { id } } query B { health { status } }`, true],
    ['query A { health { status } } query B { node(id: "") { id } }', false],
    ['{ ...F } fragment F on Query { nodes(ids: []) { id } }', true],
    ['{ _entities(representations: [{ __typename: "Country", code: "KE" }]) { __typename } }', false],
    [`{ _entities(representations: [{ __typename: "Office", id: "${id}" }]) { __typename } }`, true],
  ])(
    'what the schema says that a field costs is open-ended where only answers tell: %s',
    ([text, isOpen]) => {
      const document = parse(text);
      const [operation] = document.definitions;
      if (operation?.kind !== 'OperationDefinition') throw new TypeError('There is no operation.');
      const plan = planOperation(schema, document, operation, {});
      expect(certaintyOf(plan, {}).isOpenEnded).toBe(isOpen);
    },
  );
});
