import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue, promiseTry } from '../async/promise-or-value.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import type { CountryObservationArgs, CountryResolvers, Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { type CountryRef, countryOf } from '../graph/sources.ts';
import { alpha2Of } from '../upstream/covered-countries.ts';
import { countryProfile, countrySignals, governmentStructure } from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import { notFoundIn } from '../upstream/records/left-out.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { checkMetricKey, maxAgeMsOf } from './arguments.ts';
import { countryList, countryWithoutList, LIST_FIELDS, selectedOf } from './country-list.ts';
import { askAhead, derivedOf, latestOf } from './derived-ahead.ts';
import { withFiguresAhead } from './figures-ahead.ts';
import { namesOfFigures } from './known-names.ts';
import { observationList, observationPage } from './observation-lists.ts';
import { namedBy, pageOf, pagingOf } from './paging.ts';
import { plainFields, recordFields } from './record-fields.ts';
import { warned, warnedFigures, warnedOfPeriods, warnedOnceLoaded, warnedTime } from './warned.ts';

/** The country of a code; null if there is none. Asks for the list only if the code alone won't do. */
export function countryByCode(
  code: string,
  { loaders }: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<CountryRef | null> {
  const selected = selectedOf(info);
  const alone = countryWithoutList(code, selected);
  if (alone !== null && !selected.isFromList) return alone;
  const listed = promiseTry(() =>
    mapValue(loaders.country.load(code), (record) => record && countryOf(record)),
  );
  return alone !== null && listed instanceof Promise ? listed.catch(() => alone) : listed;
}

/** The country of an alpha-3 code; null if there is none. Asks for the list only if the alpha-2 code won't do. */
export function countryByIso3(
  iso3: string,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<CountryRef | null> {
  const code = alpha2Of(iso3);
  if (code !== null) return countryByCode(code, context, info);
  return mapValue(context.loaders.countries(), (list) => {
    const record = list.find((listed) => listed.iso3 === iso3) ?? notFoundIn(list);
    return record && countryOf(record);
  });
}

const fromList = recordFields<CountryRecord, CountryRef>(({ code }, { loaders }) =>
  loaders.country.load(code),
);

const NAMING = namedBy<CountryRef>('Country', ({ code }) => [code]);

const Country = {
  id: ({ code }) => encodeId('Country', code),
  ...plainFields('Country', 'code'),
  ...fromList(LIST_FIELDS),
  profile: (country, _, { loaders }) => loaders.load(countryProfile, country),
  signals: (country, _, { loaders }) => loaders.load(countrySignals, country),
  offices: (country, _, context, info) =>
    warnedOnceLoaded(context, info, context.loaders.load(governmentStructure, country)),
  tickers: ({ code }, _, context, info) =>
    warnedOnceLoaded(context, info, context.loaders.tickers.where({ countryCode: code })),
  observations: ({ code }, { metricKeys, ...filter }, context, info) =>
    observationList({ ...filter, countryCodes: [code], metricKeys, ofObject: 'countries' }, context, info),
  observationsConnection: ({ code }, { metricKeys, ...filter }, context, info) =>
    observationPage({ ...filter, countryCodes: [code], metricKeys, ofObject: 'countries' }, context, info),
} satisfies CountryResolvers;

/** The latest national figure of each country. */
const observation: BatchResolver<
  CountryRef,
  CountryObservationArgs,
  GraphContext,
  ObservationRecord | null
> = (countries, { metricKey, maxAge }, context, info) => {
  checkMetricKey(metricKey);
  const codes = countries.map(({ code }) => code);
  const maxAgeMs = maxAgeMsOf(maxAge);
  const derived = derivedOf(info);
  const path = () => info.path;
  const known = namesOfFigures('metrics', context, path, [metricKey]);
  if (!(known instanceof Promise)) return figuresOf(known);
  const where = info.path;
  return known.then((keys) => figuresOf(keys, () => where));

  function figuresOf([key]: readonly string[], here = path) {
    if (key === undefined) return codes.map(() => null);
    askAhead(derived, latestOf(codes, key, maxAgeMs), context);
    const figures = context.loaders.observations.nationals(codes, key, maxAgeMs);
    return warnedFigures(context, here, figures, true, (i) => info.pathOf(i));
  }
};

export const batches = { Country: { observation } };

export const resolvers = {
  Query: {
    countries(_, args, context, info) {
      return withFiguresAhead(countryList(_, args, context, info), context, info, (expected) => {
        const { codes, region, subregion } = args;
        // Only the list tells which countries are of a region.
        if (region != null || subregion != null) return [];
        return codes == null ? expected : [...new Set(codes)].filter((code) => expected.includes(code));
      });
    },
    countriesConnection(_, args, context, info) {
      const paging = pagingOf(args, 'Country', context.maxListItems);
      return mapValue(countryList(_, args, context, info), (list) => pageOf(paging, NAMING, list));
    },
    country: (_, { code }, context, info) =>
      withFiguresAhead(countryByCode(code, context, info), context, info, (expected) =>
        expected.includes(code) ? [code] : [],
      ),
  },
  Country,
  CountryProfile: {
    ...plainFields('CountryProfile', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
    indicators: ({ indicators }, _, context, info) => warned(context, () => info.path, indicators),
  },
  ProfileIndicator: {
    ...plainFields('ProfileIndicator', 'key', 'name', 'unit', 'value', 'year', 'period', 'record'),
    source: ({ source }) => (source === null ? null : { key: source }),
    indicator: ({ key, name, unit }) => ({
      key,
      known: { ...(name === null ? {} : { name }), ...(unit === null ? {} : { unit }) },
    }),
  },
  Signals: {
    ...plainFields('Signals', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
    observations(signals, _, context, info) {
      const { observations } = signals;
      context.loaders.observations.cameWith(signals, observations);
      warnedOfPeriods(context, () => info.path, observations);
      return warned(context, () => info.path, observations);
    },
    fxRates: ({ fxRates }, _, context, info) => warned(context, () => info.path, fxRates),
    commodityBenchmarks: ({ commodityBenchmarks }, _, context, info) =>
      warned(context, () => info.path, commodityBenchmarks),
    disasterAlerts: ({ disasterAlerts }, _, context, info) =>
      warned(context, () => info.path, disasterAlerts),
  },
  FxRate: {
    ...plainFields('FxRate', 'baseCurrency', 'quoteCurrency', 'rateDate', 'rate', 'record'),
    source: ({ sourceCode }) => (sourceCode === null ? null : { key: sourceCode }),
    countries: ({ countryCodes }, _, context, info) =>
      warned(context, () => info.path, countryCodes).map((code) => ({ code })),
  },
  CommodityBenchmark: plainFields('CommodityBenchmark', 'commodityKey', 'priceValue', 'priceDate', 'record'),
  DisasterAlert: {
    ...plainFields(
      'DisasterAlert',
      'eventKey',
      'eventType',
      'name',
      'description',
      'alertLevel',
      'alertScore',
      'severityValue',
      'severityText',
      'severityUnit',
      'reportUrl',
      'record',
    ),
    eventFromAt: ({ eventFromAt }, _, context, info) => warnedTime(context, () => info.path, eventFromAt),
    eventToAt: ({ eventToAt }, _, context, info) => warnedTime(context, () => info.path, eventToAt),
    source: ({ source }) => (source === null ? null : { key: source }),
  },
} satisfies Resolvers;
