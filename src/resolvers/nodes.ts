import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../graph/context.ts';
import type { Resolvers, ResolversTypes } from '../graph/generated.ts';
import { decodeId, type GlobalId } from '../graph/ids.ts';
import { gatesBatch } from '../graph/selection.ts';
import { checkMetricKey } from './arguments.ts';
import { countryByCode } from './countries.ts';
import { indicatorByKey, sourceByKey } from './indicators.ts';
import { observationOf } from './observations.ts';
import { officeById, tickerBySymbol } from './reference.ts';
import { warnedOfPeriods } from './warned.ts';

type AnyNode = Awaited<ResolversTypes['Node']>;

/**
 * The object of a global identifier.
 * @throws Failure BAD_USER_INPUT if it is none of ours
 */
export async function nodeById(
  id: string,
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<(AnyNode & { __typename: GlobalId['type'] }) | null> {
  const decoded = decodeId(id);
  // An observation waits for the batch; any other object that is still loading may have figures below it.
  const isGating = decoded.type !== 'Observation' && gatesBatch(info);
  const finding = find(id, decoded, context, info);
  if (isGating) context.batchGate.closeDuring(finding);
  const found = await finding;
  return found === null ? null : { ...found, __typename: decoded.type };
}

async function find(
  id: string,
  { type, key }: GlobalId,
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<AnyNode | null> {
  const { loaders } = context;
  const [first = '', second = ''] = key;
  switch (type) {
    case 'Country':
      return countryByCode(first, context, info);
    case 'Indicator':
      return indicatorByKey(first, context, info, false);
    case 'Source':
      return sourceByKey(first, context);
    case 'Ticker':
      return tickerBySymbol(first, second, context);
    case 'Office':
      return officeById(id, first, context);
    case 'Observation': {
      checkMetricKey(second);
      const { path } = info;
      const found = observationOf(
        id,
        key,
        await loaders.observations.rows({
          mode: 'series',
          countryCodes: [first],
          metricKeys: [second],
          maxAgeMs: Number.POSITIVE_INFINITY,
        }),
      );
      warnedOfPeriods(context, () => path, [found]);
      return found;
    }
  }
}

export const resolvers = {
  Query: {
    node: (_, { id }, context, info) => nodeById(id, context, info),
    nodes: (_, { ids }, context, info) => ids.map((id) => nodeById(id, context, info)) as Promise<AnyNode>[],
  },
} satisfies Resolvers;
