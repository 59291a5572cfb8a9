import { HeaderMap } from '@apollo/server';
import { isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createApollo } from '../../src/operations/apollo.ts';
import { createPersisted } from '../../src/operations/persisted.ts';
import { openSchema } from '../../src/resolvers/open-schema.ts';
import { openProgram } from '../support/program.ts';

const TRACED = { 'apollo-federation-include-trace': 'ftv1' };

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
    const { schema } = await openSchema([]);
    const resolvers = () =>
      Object.values(schema.getTypeMap()).flatMap((type) =>
        isObjectType(type) ? Object.values(type.getFields()).map(({ resolve }) => resolve) : [],
      );
    const before = resolvers();
    const apollo = await createApollo({
      schema,
      config: readConfig({}),
      hooks: {
        check: async () => null,
        execute: async () => ({ data: null }),
        complete: () => ({ status: undefined, extensions: {} }),
      },
      persisted: createPersisted(),
      onFault() {},
    });
    const headers = new HeaderMap(Object.entries({ 'content-type': 'application/json', ...TRACED }));
    await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: 'POST', headers, search: '', body: { query: '{ __typename }' } },
      context: async () => ({}),
    });
    expect(resolvers()).toEqual(before);
    await apollo.stop();
  });
});
