import { checkMetricKey } from '../../graphql/resolvers/argument-checks.ts';
import { plainFieldsOf } from '../../graphql/resolvers/fields.ts';
import type { GraphContext } from '../../graphql/schema/context.ts';
import type { SchemaPart } from '../../graphql/schema/schema.ts';
import { readPart } from '../../graphql/schema/sdl.ts';
import type { Pair } from '../../observations/planner/demand.ts';
import { type AvailabilityRecord, recordOf } from './availability-record.ts';
import type { Resolvers, ResolversParentTypes } from './generated.ts';

async function availabilityOf(
  countryCodes: Iterable<string>,
  metricKeys: Iterable<string>,
  { loaders, markPassing }: GraphContext,
): Promise<readonly AvailabilityRecord[]> {
  // The next fetch changes this answer, so it must not be cached.
  markPassing?.();
  const keys = new Set(metricKeys);
  const pairs = [...new Set(countryCodes)].flatMap((countryCode) =>
    Array.from(keys, (metricKey) => ({ countryCode, metricKey })),
  );
  const cachedPairs = await loaders.observations.cachedPairs(pairs);
  return cachedPairs.flatMap((cached, i) => recordOf(pairs[i] as Pair, cached) ?? []);
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Country: {
    async availability({ code }, { metricKeys }, context) {
      for (const key of metricKeys ?? []) checkMetricKey(key);
      if (metricKeys != null) return availabilityOf([code], metricKeys, context);
      const { listed, figured, cachedNames } = context.loaders;
      // A former process may have cached the catalogue.
      const catalogue = (await cachedNames('metrics'))?.names ?? [];
      const all = [...catalogue, ...listed.metrics, ...figured.metrics].toSorted();
      return availabilityOf([code], all, context);
    },
  },
  Indicator: {
    availability({ key }, { countryCodes }, context) {
      const { figured, expectedCountries } = context.loaders;
      const all = () => [...expectedCountries().codes, ...figured.countries].toSorted();
      return availabilityOf(countryCodes ?? all(), [key], context);
    },
  },
  Availability: {
    ...plainFields('Availability', 'firstYear', 'lastYear', 'figures', 'asOf', 'isComplete'),
    country: ({ countryCode }) => ({ code: countryCode }),
    indicator: ({ metricKey }) => ({ key: metricKey }),
    sources: ({ sources }) => sources.map((key) => ({ key })),
  },
} satisfies Resolvers;

export const part: SchemaPart = {
  sdl: readPart(new URL('./availability.graphql', import.meta.url)),
  resolvers,
};
