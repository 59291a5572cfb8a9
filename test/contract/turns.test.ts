import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { longestTurn, send } from '../support/turns.ts';
import { openWideService } from '../support/wide-service.ts';

/** The longest that a request may keep the event loop, in milliseconds of CPU time. */
const MOST_MS = 100;

/** A collection of garbage may fall into any turn, but not into the same one each time. */
const ROUNDS = 4;

/** Of 54 countries each, in five years: with the latest, 32,400 figures are cached. */
const METRICS = 100;

/** What is never cached, and calls each time. */
const CALLING = ['Query.health', 'Health of { health }'];

/** Values of the arguments that fields require. */
const REQUIRED: Readonly<Record<string, string>> = {
  code: '"KE"',
  countryCode: '"KE"',
  exchangeCode: '"NGX"',
  id: '"WyJDb3VudHJ5IiwiS0UiXQ"',
  ids: '["WyJDb3VudHJ5IiwiS0UiXQ"]',
  key: '"metric_0"',
  metricKey: '"metric_0"',
  symbol: '"DANGCEM"',
};

type Field = GraphQLField<unknown, unknown>;

const isLeaf = ({ type }: Field) => isLeafType(getNamedType(type));

/** With the arguments that it requires; of figures, the latest of everything. */
function called({ name, args }: Field): string {
  const given = args.flatMap(({ name, type, defaultValue }) => {
    if (name === 'latest') return ['latest: true'];
    return isNonNullType(type) && defaultValue === undefined ? [`${name}: ${REQUIRED[name]}`] : [];
  });
  return given.length === 0 ? name : `${name}(${given.join(', ')})`;
}

/** A selection of one leaf of what a field returns. */
function leafOf({ type }: Field): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const leaves = isObjectType(named) ? Object.values(named.getFields()).filter(isLeaf) : [];
  return ` { ${leaves.find(({ args }) => args.length === 0)?.name ?? '__typename'} }`;
}

const underAliases = (selection: string) =>
  Array.from({ length: 10 }, (_, i) => `a${i}: ${selection}`).join(' ');

interface Way {
  readonly type: GraphQLObjectType;
  /** The fields that lead to it. */
  readonly path: readonly string[];
}

/** The shortest ways to all types. Figures of snapshots have a state of their own, and so a way of their own. */
function waysIn(schema: GraphQLSchema): readonly Way[] {
  const ways: Way[] = [{ type: schema.getQueryType() as GraphQLObjectType, path: [] }];
  const names = new Set(['Query']);
  for (const { type, path } of ways)
    for (const field of fieldsOf(type)) {
      const named = getNamedType(field.type);
      const name = field.name === 'observations' && type.name === 'Signals' ? 'of Signals' : `${named}`;
      if (!isObjectType(named) || names.has(name)) continue;
      names.add(name);
      ways.push({ type: named, path: [...path, called(field)] });
    }
  return ways;
}

const fieldsOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).filter(({ name }) => !name.startsWith('_'));

/** For each type an operation of all plain leaves together, and one of each other field under aliases. By what they try. */
function operationsOf(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const operations = new Map<string, string>();
  for (const { type, path } of waysIn(schema)) {
    const around = (selection: string) =>
      ['', ...path].reduceRight((below, above) => `${above} { ${below} }`, selection);
    const fields = fieldsOf(type);
    const plain = fields.filter((field) => isLeaf(field) && field.extensions.batch === undefined);
    const way = path.length === 0 ? '' : ` of { ${path.join(' { ')} }`;
    if (plain.length > 0) operations.set(`${type}${way}`, around(plain.map(called).join(' ')));
    for (const field of fields)
      if (!plain.includes(field))
        operations.set(
          `${type}.${field.name}${way}`,
          around(underAliases(`${called(field)}${leafOf(field)}`)),
        );
  }
  return operations;
}

it('no field that answers at no call keeps the event loop for more than 100 ms at a time, under ten aliases', async () => {
  await using service = await openWideService(METRICS);
  await using program = await openProgram({
    upstreamUrl: service.url,
    env: {
      CACHE_URL: 'memory:',
      ANSWERS_MAX_BYTES: '0',
      EXTRA_ROUTES: 'policy,trade',
      MAX_UPSTREAM_CALLS: '3000',
    },
  });
  for (const selection of [
    'indicators { key }',
    'observations(latest: true) { value }',
    'observations { value }',
  ])
    expect((await program.ask(`{ ${selection} }`)).errors).toEqual([]);
  const longest: Record<string, number> = {};
  const calling: string[] = [];
  for (const [name, operation] of operationsOf(program.schema)) {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && leastMs > MOST_MS; round += 1) {
      const before = service.requests();
      let start = '';
      const ms = await longestTurn(async () => {
        start = await send(program, operation);
      });
      expect(start, name).toMatch(/^\{"data":\{"/);
      // The first round may cache what the next ones find.
      if (service.requests() === before) leastMs = Math.min(leastMs, ms);
    }
    if (leastMs === Number.POSITIVE_INFINITY) calling.push(name);
    else if (leastMs > MOST_MS) longest[name] = Math.round(leastMs);
  }
  expect(longest).toEqual({});
  expect(calling).toEqual(CALLING);
}, 240_000);
