import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config/config.ts';
import { batches, resolvers } from '../graphql/resolvers/generated.ts';
import { entities } from '../graphql/resolvers/nodes.ts';
import { withRecordFields } from '../graphql/resolvers/record-field.ts';
import { createSchema, type SchemaPart } from '../graphql/schema/schema.ts';
import type { Subgraph } from '../graphql/schema/subgraph.ts';

/** @throws TypeError naming a field without a resolver, or one that loads a record without saying so */
export async function openSchema(
  parts: readonly SchemaPart[] = [],
  subgraph: Subgraph | null = null,
): Promise<GraphQLSchema> {
  return createSchema({ subgraph, parts: parts.map(withRecordFields), resolvers, entities, batches });
}

/** Null if routers see what clients see. */
export async function subgraphIn(config: Config): Promise<Subgraph | null> {
  const { subgraphIso3, subgraphNode, subgraphOmit, subgraphPrefix } = config;
  if (!subgraphIso3 && !subgraphNode && subgraphOmit.length === 0 && subgraphPrefix === undefined)
    return null;
  return (await import('../graphql/schema/subgraph.ts')).openSubgraph(config);
}
