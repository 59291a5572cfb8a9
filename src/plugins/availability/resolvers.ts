import {
  checkMetricKey,
  type FieldContext,
  type GraphPart,
  plainFieldsOf,
  readPart,
} from '../../plugin/index.ts';
import { cachedRecordsFor } from './cached-records.ts';
import type { Resolvers, ResolversParentTypes } from './generated.ts';
import { availabilityIn } from './indicator-availability.ts';

function recordsNow(context: FieldContext) {
  // The next fetch changes this answer, so it must not be cached.
  context.markPassing();
  return cachedRecordsFor(context);
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Query: {
    availability: (_, scope, context) => availabilityIn(scope, recordsNow(context), context.turns),
  },
  Country: {
    availability({ code }, { metricKeys }, context) {
      for (const key of metricKeys ?? []) checkMetricKey(key);
      const records = recordsNow(context);
      return metricKeys == null ? records.ofCountry(code) : records.of([code], metricKeys);
    },
  },
  Indicator: {
    availability({ key }, { countryCodes }, context) {
      const records = recordsNow(context);
      return countryCodes == null ? records.ofIndicator(key) : records.of(countryCodes, [key]);
    },
  },
  Availability: {
    ...plainFields('Availability', 'firstYear', 'lastYear', 'figures', 'asOf', 'isComplete'),
    country: ({ countryCode }) => ({ code: countryCode }),
    indicator: ({ metricKey }) => ({ key: metricKey }),
    sources: ({ sources }) => sources.map((key) => ({ key })),
  },
  IndicatorAvailability: {
    ...plainFields('IndicatorAvailability', 'countryCount', 'unknownCount', 'asOf', 'countries'),
    ...plainFields('IndicatorAvailability', 'firstYear', 'lastYear', 'figures'),
    indicator: ({ metricKey }) => ({ key: metricKey }),
  },
} satisfies Resolvers;

export const part: GraphPart = {
  sdl: readPart(new URL('./availability.graphql', import.meta.url)),
  resolvers,
};
