import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue, promiseTry } from '../async/promise-or-value.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import type {
  CountryObservationArgs,
  CountryResolvers,
  QueryResolvers,
  Resolvers,
} from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { selectedFields } from '../graph/selection.ts';
import { type CountryRef, countryOf } from '../graph/sources.ts';
import { alpha2Of, COVERED_COUNTRIES } from '../upstream/covered-countries.ts';
import { countryProfile, countrySignals, governmentStructure } from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import { leftOutOf, notFoundIn } from '../upstream/records/left-out.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { knownNames } from './known-names.ts';
import { checkMetricKey, maxAgeMsOf, observationRows } from './observations.ts';
import { plainFields, recordFields } from './record-fields.ts';
import { warned, warnedOfLeftOut, warnedOnceLoaded, warnOfCountries } from './warned.ts';

/** Fields that say no more than what the code says. */
const BARE_FIELDS: ReadonlySet<string> = new Set(['__typename', 'id', 'code']);

/** Fields that come from the list, which thus tells at no further call whether the country is there. */
const LIST_FIELDS = ['name', 'iso3', 'officialName', 'capital', 'region', 'subregion', 'record'] as const;
const FROM_LIST: ReadonlySet<string> = new Set(LIST_FIELDS);

/** What the selection on a country shows. */
interface Selected {
  /** Whether the code is enough for some of it, which then need not fail with the list. */
  readonly isMoreThanCode: boolean;
  readonly isFromList: boolean;
}

/** By the nodes of the field, which are the same for each item of a list and for each run of a plan. */
const selections = new WeakMap<readonly unknown[], Selected>();

function selectedOf(info: GraphQLResolveInfo): Selected {
  let selected = selections.get(info.fieldNodes);
  if (selected === undefined) {
    const names = [...selectedFields(info, 'Country')];
    selected = {
      isMoreThanCode: names.some((name) => !BARE_FIELDS.has(name)),
      isFromList: names.some((name) => FROM_LIST.has(name)),
    };
    selections.set(info.fieldNodes, selected);
  }
  return selected;
}

/**
 * What a country is where the list can't tell: one of the 54 whose code is enough for some of what is asked of it, so
 * that fields from the list fail by themselves; null for any other.
 */
function countryWithoutList(code: string, { isMoreThanCode }: Selected): CountryRef | null {
  return isMoreThanCode && COVERED_COUNTRIES.has(code) ? { code } : null;
}

/** The country of a code; null where there is none. Asks for the list only where the code alone won't do. */
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

/** The country of an alpha-3 code; null where there is none. Asks for the list only where the alpha-2 code won't do. */
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

const countries: QueryResolvers['countries'] = (_, { codes }, context, info) => {
  const { loaders } = context;
  if (codes == null) {
    return mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => list.map(countryOf));
  }
  const selected = selectedOf(info);
  const wanted = [...new Set(codes)];
  const alone = new Map(wanted.map((code) => [code, countryWithoutList(code, selected)]));
  const areAlone = wanted.every((code) => alone.get(code) !== null);
  if (areAlone && !selected.isFromList) return wanted.map((code) => alone.get(code) ?? { code });
  const { path } = info;
  const listed = promiseTry(() =>
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => {
      const found = new Map(list.map((record) => [record.code, countryOf(record)]));
      // What the list lacks may be among the rows that can't be read, and is warned of as such.
      const isWhole = leftOutOf(list) === null;
      if (isWhole) {
        warnOfCountries(
          context,
          path,
          wanted.filter((code) => !found.has(code)),
        );
      }
      return wanted.flatMap((code) => found.get(code) ?? (isWhole ? [] : (alone.get(code) ?? [])));
    }),
  );
  if (!areAlone || !(listed instanceof Promise)) return listed;
  return listed.catch(() => wanted.map((code) => alone.get(code) ?? { code }));
};

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
    observationRows({ ...filter, countryCodes: [code], metricKeys, ofObject: 'countries' }, context, info),
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
  const path = () => info.path;
  const known = knownNames('metrics', context, path, [metricKey]);
  if (!(known instanceof Promise)) return figuresOf(known);
  const where = info.path;
  return context.batchGate.closeDuring(known).then((keys) => figuresOf(keys, () => where));

  function figuresOf([key]: readonly string[], here = path) {
    if (key === undefined) return codes.map(() => null);
    const figures = context.loaders.observations.nationals(codes, key, maxAgeMs);
    return warnedOfLeftOut(context, here, figures);
  }
};

export const batches = { Country: { observation } };

export const resolvers = {
  Query: {
    countries,
    country: (_, { code }, context, info) => countryByCode(code, context, info),
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
      'eventFromAt',
      'eventToAt',
      'reportUrl',
      'record',
    ),
    source: ({ source }) => (source === null ? null : { key: source }),
  },
} satisfies Resolvers;
