import { composeServices as composeByApollo } from '@apollo/composition';
import {
  applyTagFilterOnSubgraphs,
  composeServices as composeByGuild,
  transformSupergraphToPublicSchema,
} from '@theguild/federation-composition';
import { buildASTSchema, isObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

/** Fields of each tag, which are there with it, and not without. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  government: ['Country.offices', 'Office.terms', 'Term.holder'],
  markets: ['Country.tickers', 'Query.tickers', 'Query.ticker', 'Ticker.symbol'],
  figures: [
    'Country.observation',
    'Country.observations',
    'Indicator.observation',
    'Query.observations',
    'Signals.observations',
    'Observation.value',
  ],
};
const TAGS = Object.keys(FIELDS);
const ALWAYS = [
  'Query.country',
  'Query.node',
  'Country.name',
  'Indicator.unit',
  'Signals.fxRates',
  'Source.key',
];

const sdl = await (async () => {
  await using program = await openProgram();
  const { data } = await program.ask('{ _service { sdl } }');
  // Renames the argument to the only name by which the library finds parts that are left out.
  return String(data._service.sdl).replace('"@tag"', '"@tag", "@inaccessible"');
})();

/** The fields of the schema that clients of a contract see, by each library. */
function fieldsOf(include: readonly string[], exclude: readonly string[]): ReadonlySet<string>[] {
  const services = [{ name: 'country-graph', typeDefs: parse(sdl), url: 'http://ours.test' }];
  const filtered = applyTagFilterOnSubgraphs(services, {
    include: new Set(include),
    exclude: new Set(exclude),
  });
  return [composeByApollo(filtered), composeByGuild(filtered)].map(({ errors = [], supergraphSdl = '' }) => {
    expect(errors.map(({ message }) => message)).toEqual([]);
    const schema = buildASTSchema(transformSupergraphToPublicSchema(parse(supergraphSdl)));
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    return new Set(
      types.flatMap((type) => Object.keys(type.getFields()).map((name) => `${type.name}.${name}`)),
    );
  });
}

describe.for([...TAGS.map((tag) => [tag]), TAGS].map((left) => ({ left })))(
  'a contract without $left',
  ({ left }) => {
    it.each([
      ['that excludes them', [] as readonly string[], left],
      [
        'that includes the others',
        ['base', ...TAGS.filter((tag) => !left.includes(tag))],
        [] as readonly string[],
      ],
    ])('a contract for %s composes, and has what the others are about', (_, include, exclude) => {
      for (const fields of fieldsOf(include, exclude)) {
        for (const field of ALWAYS) expect(fields).toContain(field);
        for (const [tag, about] of Object.entries(FIELDS)) {
          for (const field of about) expect([field, fields.has(field)]).toEqual([field, !left.includes(tag)]);
        }
      }
    });
  },
);
