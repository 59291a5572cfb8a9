import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import type { Resolvers } from '../../src/graphql/schema/generated.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';
import { readSdl } from '../../src/graphql/schema/sdl.ts';

/** The schema with more in it. */
function create(sdl: string, more: readonly object[] = []) {
  // Takes resolvers of fields that the types don't know: the schema doesn't have them yet.
  const all = [...resolvers, ...more] as readonly Resolvers[];
  return createSchema({ resolvers: all, entities, batches, sdl: parse(`${readSdl()}\n${sdl}`) });
}

describe('a schema', () => {
  it.for<[field: string, sdl: string]>([
    ['Country.population', 'extend type Country { population: Int }'],
    ['Term.party', 'extend type Term { party: String }'],
    ['Observation.note', 'extend type Observation { note: JSON }'],
    ['Query.treaties', 'extend type Query { treaties: [String!] }'],
  ])('a schema is not made where nothing provides %s', ([field, sdl]) => {
    expect(() => create(sdl)).toThrow(`Nothing provides ${field}: neither a resolver nor its record.`);
  });

  it('a schema is not made where nothing is said of what a type of its own is read off', () => {
    const sdl = 'extend type Country { treaty: Treaty } type Treaty { title: String year: Int }';
    const Country = { treaty: () => ({ title: 'Treaty', year: 2000 }) };
    expect(() => create(sdl, [{ Country }])).toThrow('Nothing provides Treaty.title');
    const Treaty = { title: () => 'Treaty', year: () => 2000 };
    expect(() => create(sdl, [{ Country, Treaty }])).not.toThrow();
  });
});
