import type { GraphQLSchema } from 'graphql';
import { createSchema, readSdl, type SchemaParts } from '../graph/schema.ts';
import type { AnyEndpoint } from '../upstream/endpoints.ts';
import { entities } from './entities.ts';
import { batches, extras, resolvers } from './resolvers.ts';

export interface OpenedSchema {
  readonly schema: GraphQLSchema;
  /** Further endpoints that its optional parts call. */
  readonly optionalEndpoints: readonly AnyEndpoint[];
}

/**
 * The executable schema, with the parts of `schema/extra` of some names; nothing of the others is loaded.
 * @throws TypeError naming a field that nothing provides
 */
export async function openSchema(
  names: readonly (keyof typeof extras)[],
  parts: Pick<SchemaParts, 'subgraphOmit' | 'subgraphIso3' | 'subgraphNode' | 'subgraphPrefix'> = {},
): Promise<OpenedSchema> {
  const opened = await Promise.all(names.map((name) => extras[name]()));
  const all = [...resolvers, ...opened.map((extra) => extra.resolvers)];
  return {
    schema: createSchema({ ...parts, sdl: readSdl(names), resolvers: all, entities, batches }),
    optionalEndpoints: opened.flatMap(({ endpoints }): readonly AnyEndpoint[] => endpoints),
  };
}
