import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../graph/context.ts';
import type { IndicatorResolvers, Resolvers, SourceResolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { selectedFields } from '../graph/selection.ts';
import { type IndicatorSource, indicatorOf, type SourceSource, sourceOf } from '../graph/sources.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import { type Soon, whenThere } from '../upstream/soon.ts';
import { checkTexts } from './arguments.ts';
import { checkMetricKey, maxAgeMsOf, observationRows } from './observations.ts';
import { recordFields } from './record-fields.ts';
import { warnedOfLeftOut, warnedWhenThere, warnOfIndicators } from './warned.ts';

/** Fields that need no catalogue: with figures among them, these tell whether there is anything of the key. */
const FIGURES: ReadonlySet<string> = new Set(['observation', 'observations']);
const BARE_FIELDS: ReadonlySet<string> = new Set(['__typename', 'id', 'key']);

function asksForFiguresOnly(info: GraphQLResolveInfo): boolean {
  const names = [...selectedFields(info, 'Indicator')];
  return (
    names.some((name) => FIGURES.has(name)) &&
    names.every((name) => FIGURES.has(name) || BARE_FIELDS.has(name))
  );
}

/**
 * The indicator of a key; null where the catalogue has none. Where only figures are wanted, it is asked for no more than
 * the catalogue that has gone by does: it may be new to it.
 */
export function indicatorByKey(
  key: string,
  { loaders }: GraphContext,
  info: GraphQLResolveInfo,
): Soon<IndicatorSource | null> {
  checkMetricKey(key);
  const { metrics } = loaders.listed;
  const isDoubtful = metrics.size > 0 && !metrics.has(key);
  if (!isDoubtful && asksForFiguresOnly(info)) return { key };
  return whenThere(loaders.indicator.load(key), (record) => record && indicatorOf(record));
}

export function sourceByKey(key: string, { loaders }: GraphContext): Soon<SourceSource | null> {
  return whenThere(loaders.source.load(key), (record) => record && sourceOf(record));
}

const sourceOfKey = (key: string): SourceSource => ({ key });

const fromCatalogue = recordFields<IndicatorRecord, IndicatorSource>(({ key }, { loaders }) =>
  loaders.indicator.load(key),
);
const fromStatus = recordFields<SourceRecord, SourceSource>(({ key }, { loaders }) =>
  loaders.source.load(key),
);

const Indicator: IndicatorResolvers = {
  id: ({ key }) => encodeId('Indicator', key),
  name: fromCatalogue('name'),
  unit: fromCatalogue('unit'),
  category: fromCatalogue('category'),
  hasData: fromCatalogue('hasData'),
  record: fromCatalogue('record'),
  sources({ key, known }, _, context, info) {
    const keys =
      known?.sources === undefined
        ? whenThere(context.loaders.indicator.load(key), (record) => record?.sources ?? null)
        : known.sources;
    return whenThere(warnedWhenThere(context, info, keys), (list) => list?.map(sourceOfKey) ?? null);
  },
  async observation({ key }, { countryCode, maxAge }, context, info) {
    const figures = context.loaders.observations.nationals([countryCode], key, maxAgeMsOf(maxAge));
    const [national] = await warnedOfLeftOut(context, () => info.path, figures);
    if (national instanceof Error) throw national;
    return national ?? null;
  },
  observations: ({ key }, { countryCodes, ...filter }, context, info) =>
    observationRows({ ...filter, countryCodes, metricKeys: [key] }, context, info),
};

const Source: SourceResolvers = {
  id: ({ key }) => encodeId('Source', key),
  lastSuccessfulRefresh: fromStatus('lastSuccessfulRefresh'),
  nextRun: fromStatus('nextRun'),
  record: fromStatus('record'),
};

export const indicatorResolvers: Resolvers = {
  Query: {
    indicators(_, { category, hasData, keys }, context, info) {
      checkTexts({ category });
      const filter = { category: category ?? undefined, hasData: hasData ?? undefined };
      return whenThere(warnedWhenThere(context, info, context.loaders.indicators(filter)), (list) => {
        if (keys == null) return list.map(indicatorOf);
        const found = new Map(list.map((record) => [record.key, record]));
        const wanted = [...new Set(keys)];
        const missing = wanted.filter((key) => !found.has(key));
        const chosen = wanted.flatMap((key) => found.get(key) ?? []).map(indicatorOf);
        if (missing.length === 0) return chosen;
        return whenThere(context.loaders.indicators(), (catalogue) => {
          warnOfIndicators(context, info.path, missing, catalogue);
          return chosen;
        });
      });
    },
    indicator: (_, { key }, context, info) => indicatorByKey(key, context, info),
    sources: (_, __, context, info) =>
      whenThere(warnedWhenThere(context, info, context.loaders.sources()), (list) => list.map(sourceOf)),
    source: (_, { key }, context) => sourceByKey(key, context),
  },
  Indicator,
  Source,
};
