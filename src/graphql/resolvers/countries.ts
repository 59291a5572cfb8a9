import type { GraphQLResolveInfo } from 'graphql';
import { countries, countryProfile, countrySignals, governmentStructure } from '../../service/endpoints.ts';
import { alpha2Of, COVERED_COUNTRIES, type CountryRecord } from '../../service/records/countries.ts';
import { invalid, leftOutOf, notFoundIn, withLeftOut } from '../../service/records/envelope.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue, promiseTry } from '../../shared/async/promises.ts';
import type { BatchInfo, BatchResolver } from '../execution/plan.ts';
import type { CountryRef, GraphContext } from '../schema/context.ts';
import type { CountryObservationArgs, QueryCountriesArgs, Resolvers } from '../schema/generated.ts';
import { fieldsOfRows, perField } from '../schema/selection.ts';
import { type ExpectedCountries, withPrefetchedFigures } from './ahead.ts';
import { checkMetricKey, checkStrings, maxAgeMsOf } from './argument-checks.ts';
import { existingNames } from './existing-names.ts';
import { plainFields } from './fields.ts';
import { byCode, byName, createListing, encodeId } from './lists.ts';
import { observationList, observationPage } from './observations.ts';
import { derivedOf, latestFigures } from './operand-prefetch.ts';
import { recordReaders } from './record-readers.ts';
import {
  warned,
  warnedFigures,
  warnedOfPeriods,
  warnedOnceLoaded,
  warnedTime,
  warnOfCountries,
} from './warned.ts';

/** Fields that need nothing but the code. */
const BARE_FIELDS: ReadonlySet<string> = new Set(['id', 'code']);

/** Fields that come from the list, which also shows, without a further call, whether the country exists. */
const LIST_FIELDS = ['name', 'iso3', 'officialName', 'capital', 'region', 'subregion', 'record'] as const;
const FROM_LIST: ReadonlySet<string> = new Set(LIST_FIELDS);

interface Selected {
  /** True if some of the selection needs the code alone, so that it can survive a failure of the list. */
  readonly isMoreThanCode: boolean;
  readonly isFromList: boolean;
}

const selectedOf = perField((field): Selected => {
  const fields = fieldsOfRows(field).filter(({ parentType }) => parentType.name === 'Country');
  return {
    isMoreThanCode: fields.some(({ name }) => !BARE_FIELDS.has(name)),
    isFromList: fields.some(({ name, definition }) => FROM_LIST.has(name) || definition.extensions.ofRecord),
  };
});

/** What stands in for a list that can't be had: one of the 54, if its code is enough for some fields; otherwise null. */
function countryWithoutList(code: string, { isMoreThanCode }: Selected): CountryRef | null {
  return isMoreThanCode && COVERED_COUNTRIES.has(code) ? { code } : null;
}

const listing = createListing(
  'Country',
  {
    CODE: byCode<CountryRef>(({ code }) => code),
    NAME: byName<CountryRef>(({ partial }) => partial?.name ?? null),
  },
  ({ code }) => [code],
);

/** All countries, or the named ones. Loads the list only if codes alone don't suffice. */
function loadCountries(
  args: QueryCountriesArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly CountryRef[]> {
  const { region, subregion, orderBy } = args;
  checkStrings({ region, subregion });
  const isOfAnyRegion = region == null && subregion == null;
  const needsList = !isOfAnyRegion || (orderBy?.some(({ field }) => field !== 'CODE') ?? false);
  const { loaders } = context;
  const { codes } = args;
  const { path } = info;
  const ofRegion = (list: readonly CountryRecord[]) =>
    isOfAnyRegion ? list : (supposedOf(list, context) ?? warned(context, () => path, within(list, args)));
  if (codes == null) {
    const all = warnedOnceLoaded(context, info, loaders.countries());
    return mapValue(all, (list) => ofRegion(list).map(countryOf));
  }
  const selected = selectedOf(info.field);
  const wanted = [...new Set(codes)];
  if (wanted.length === 0) return [];
  const alone = new Map(wanted.map((code) => [code, needsList ? null : countryWithoutList(code, selected)]));
  const areAlone = wanted.every((code) => alone.get(code) !== null);
  if (areAlone && !selected.isFromList) return wanted.map((code) => alone.get(code) ?? { code });
  const countries = promiseTry(() =>
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => {
      const all = new Map(list.map((record) => [record.code, record]));
      const ofCodes = wanted.flatMap((code) => all.get(code) ?? []);
      const byCodes = new Map(ofRegion(ofCodes).map((record) => [record.code, countryOf(record)]));
      // A country missing from the list may be among its unreadable rows, which have their own warning.
      const isWhole = leftOutOf(list) === null;
      if (isWhole) {
        warnOfCountries(
          context,
          path,
          wanted.filter((code) => !all.has(code)),
        );
      }
      return wanted.flatMap((code) => byCodes.get(code) ?? (isWhole ? [] : (alone.get(code) ?? [])));
    }),
  );
  if (!areAlone || !(countries instanceof Promise)) return countries;
  return countries.catch(() => wanted.map((code) => alone.get(code) ?? { code }));
}

const supposedOf = (list: readonly CountryRecord[], context: GraphContext) =>
  context.supposedRows?.(countries.route, list);

/** Countries of a region. One without a region may belong to it, and the list carries a warning of that. */
function within(list: readonly CountryRecord[], filter: QueryCountriesArgs): readonly CountryRecord[] {
  const fields = (['region', 'subregion'] as const).filter((field) => filter[field] != null);
  const isOf = (record: CountryRecord, isEnough: (field: 'region' | 'subregion') => boolean) =>
    fields.every((field) => isEnough(field) || record[field]?.toLowerCase() === filter[field]?.toLowerCase());
  const undecided = list.filter(
    (record) =>
      fields.some((field) => record[field] === null) && isOf(record, (field) => record[field] === null),
  );
  const [field] = fields;
  const matching = list.filter((record) => isOf(record, () => false));
  if (undecided.length === 0 || field === undefined) return matching;
  const first = invalid({ route: countries.route, path: field }, 'expected string, received null');
  return withLeftOut(matching, { count: undecided.length, first });
}

/** The country of a code; null if there is none. Loads the list only if the code alone doesn't suffice. */
function countryByCode(
  code: string,
  { loaders }: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<CountryRef | null> {
  const selected = selectedOf(info.field);
  const alone = countryWithoutList(code, selected);
  if (alone !== null && !selected.isFromList) return alone;
  const listed = promiseTry(() =>
    mapValue(loaders.country.load(code), (record) => record && countryOf(record)),
  );
  return alone !== null && listed instanceof Promise ? listed.catch(() => alone) : listed;
}

/** The country as `countryByCode` finds it; its figures are fetched alongside the list. */
export function countryNamed(
  code: string,
  context: GraphContext,
  info: GraphQLResolveInfo,
  finding = countryByCode(code, context, info),
): PromiseOrValue<CountryRef | null> {
  return withPrefetchedFigures(finding, context, info, ({ codes }) => (codes.has(code) ? [code] : []));
}

/** The same for a client, which is warned if there is none. Subgraphs may reference countries that the service lacks. */
function countryAsked(code: string, context: GraphContext, info: GraphQLResolveInfo) {
  const { path } = info;
  const finding = mapValue(countryByCode(code, context, info), (country) => {
    if (country === null) warnOfCountries(context, path, [code]);
    return country;
  });
  return countryNamed(code, context, info, finding);
}

/** The codes of the countries that {@link loadCountries} will find, before the list has come. */
function expectedOf({ codes, region, subregion }: QueryCountriesArgs, expected: ExpectedCountries) {
  // Only the list says which countries belong to a region.
  if (region != null || subregion != null) return [];
  const wanted = codes ?? (expected.areListed ? expected.codes : []);
  return [...new Set(wanted)].filter((code) => expected.codes.has(code));
}

/** Sorts expected countries as the wanted list is sorted; null if that depends on the list itself. */
function inOrder({ orderBy }: QueryCountriesArgs, expected: readonly string[]): readonly string[] | null {
  const [first] = orderBy ?? [];
  if (first === undefined) return expected;
  if (first.field !== 'CODE') return null;
  return first.direction === 'DESC' ? expected.toSorted().reverse() : expected.toSorted();
}

/** The country of an alpha-3 code; null if there is none. Loads the list only if the alpha-2 code doesn't suffice. */
export function countryByIso3(
  iso3: string,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<CountryRef | null> {
  const code = alpha2Of(iso3);
  if (code !== null) return countryNamed(code, context, info);
  return mapValue(context.loaders.countries(), (list) => {
    const record = list.find((listed) => listed.iso3 === iso3) ?? notFoundIn(list);
    return record && countryOf(record);
  });
}

const fromList = recordReaders.Country;

const observation: BatchResolver<
  CountryRef,
  CountryObservationArgs,
  GraphContext,
  ObservationRecord | null
> = (countries, { metricKey, maxAge }, context, info) => {
  const codes = countries.map(({ code }) => code);
  const derived = derivedOf(info);
  checkMetricKey(metricKey);
  const maxAgeMs = maxAgeMsOf(maxAge);
  // Read before any await: the objects of a field share one `info`, which moves on to the next (`FieldInfo`).
  let here: BatchInfo['path'] | undefined;
  const path = () => {
    here ??= info.path;
    return here;
  };
  const existing = existingNames('metrics', context, path, [metricKey]);
  if (!(existing instanceof Promise)) return figuresOf(existing);
  path();
  return existing.then(figuresOf);

  function figuresOf([key]: readonly string[]) {
    if (key === undefined) {
      for (const i of codes.keys()) context.absences?.note(() => info.pathOf(i), 'UNKNOWN_INDICATOR');
      return codes.map(() => null);
    }
    const figures = latestFigures(derived, codes, key, maxAgeMs, context);
    const asked = { countryCodes: codes, metricKey: key, maxAgeMs };
    context.absences?.latest(asked, figures, (i) => info.pathOf(i), context.loaders.observations.outcomeOf);
    return warnedFigures(context, path, figures, true, (i) => info.pathOf(i));
  }
};

export const batches = { Country: { observation } };

export const resolvers = {
  Query: {
    countries(_, args, context, info) {
      const list = listing.ordered(loadCountries(args, context, info), args.orderBy, context);
      return withPrefetchedFigures(list, context, info, (expected) => expectedOf(args, expected));
    },
    countriesConnection(_, args, context, info) {
      const page = listing.page(args, context, () => loadCountries(args, context, info));
      return withPrefetchedFigures(page, context, info, (expected) => {
        const codes = expectedOf(args, expected);
        return listing.expectedKeys(args, context, codes, inOrder(args, codes));
      });
    },
    country: (_, { code }, context, info) => countryAsked(code, context, info),
  },
  Country: {
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
  },
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
      partial: { ...(name === null ? {} : { name }), ...(unit === null ? {} : { unit }) },
    }),
  },
  Signals: {
    ...plainFields('Signals', 'record'),
    country: ({ countryCode }) => ({ code: countryCode }),
    observations(signals, _, context, info) {
      const { observations } = signals;
      context.loaders.observations.cameWith(signals, observations);
      warnedOfPeriods(context, () => info.path, observations);
      return context.loaders.observations.inOneState(warned(context, () => info.path, observations));
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

const countryOf = (record: CountryRecord): CountryRef => ({ code: record.code, partial: record });
