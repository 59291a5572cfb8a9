import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue, promiseTry } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import type { ObservationResolvers, ObservationScope, Resolvers } from '../graph/generated.ts';
import type { CountryRef, IndicatorRef, SourceRef } from '../graph/sources.ts';
import type { Dimension } from '../planner/learned.ts';
import { yearRange } from '../planner/year-range.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { checkMetricKey, maxAgeMsOf } from './arguments.ts';
import { askAhead, derivedOf, type FiguresField, firstYearFor } from './derived-ahead.ts';
import { knownNames } from './known-names.ts';
import { observationIds } from './observation-ids.ts';
import { plainFields } from './record-fields.ts';
import { warnedFigures, warnedOfPeriods, warnedOnceLoaded, warnOfCountries } from './warned.ts';

export interface ObservationFilter {
  /** Null or omitted: all countries. */
  readonly countryCodes?: readonly string[] | null | undefined;
  /** Null or omitted: the whole catalogue. */
  readonly metricKeys?: readonly string[] | null | undefined;
  readonly latest?: boolean | null | undefined;
  /** The kind of names that are those of an object: these are asked for, also against the lists. */
  readonly ofObject?: Dimension;
  /** Null or omitted: all. */
  readonly scope?: ObservationScope | null | undefined;
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
  /** The oldest age that a held figure may have, in seconds; null or omitted: the usual age. */
  readonly maxAge?: number | null | undefined;
}

/**
 * The rows of every named country and metric, in the order of the names.
 * @param field field whose selection shows the fields derived of the rows
 * @throws Failure BAD_USER_INPUT before anything is asked for, if the arguments make no sense
 */
export function observationRows(
  filter: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
  field: FiguresField = info,
): PromiseOrValue<readonly ObservationRecord[]> {
  const { countryCodes, metricKeys, latest, fromYear, toYear, scope, maxAge } = filter;
  if (fromYear != null && toYear != null && fromYear > toYear) {
    throw new Failure('BAD_USER_INPUT', `fromYear (${fromYear}) is after toYear (${toYear}).`);
  }
  for (const key of metricKeys ?? []) checkMetricKey(key);
  warnOfUnlisted(context, info, countryCodes ?? []);
  const { loaders, batchGate } = context;
  const maxAgeMs = maxAgeMsOf(maxAge);
  const within = (rows: readonly ObservationRecord[]) => chosen(rows, filter);
  // The newest up to a year, or of a place, is seldom the newest of all, and stands in the series.
  const isFromSeries = toYear != null || !latest || scope === 'PLACES';
  const mode = isFromSeries ? 'series' : 'latest';
  const isChosen = latest === true && isFromSeries;
  const where = isChosen ? info.path : undefined;
  const newestWithin = (rows: readonly ObservationRecord[]) => {
    const some = warnedOfPeriods(context, () => where ?? info.path, within(rows));
    const newest = loaders.observations.newest(some);
    return newest === null ? [] : [newest];
  };
  const isNational = !isFromSeries && scope === 'NATIONAL';
  // Figures of places are not ranked.
  const derived = derivedOf(field).filter(({ name }) => name !== 'rank' || scope !== 'PLACES');
  const years = isFromSeries ? yearRange(firstYearFor(derived, fromYear), toYear) : null;
  const load = (codes: readonly string[], keys: readonly string[]) => {
    const wanted = { mode, countryCodes: unique(codes), metricKeys: unique(keys), maxAgeMs, years } as const;
    if (derived.length > 0) askAhead(derived, wanted, context);
    return loaders.observations.rows({ ...wanted, isNational }, isChosen ? newestWithin : within);
  };

  const path = () => info.path;
  const known = (dimension: Dimension, names: readonly string[]) =>
    filter.ofObject === dimension ? names : knownNames(dimension, context, path, names);
  const codes =
    (countryCodes && known('countries', countryCodes)) ??
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => list.map(({ code }) => code));
  // By now the codes may be a promise that nobody listens to yet.
  const keys = promiseTry(
    () =>
      (metricKeys && known('metrics', metricKeys)) ??
      mapValue(warnedOnceLoaded(context, info, loaders.indicators()), (list) => list.map(({ key }) => key)),
  );
  const isAtHand = !(codes instanceof Promise || keys instanceof Promise);
  const rows = isAtHand
    ? load(codes, keys)
    : batchGate.closeDuring(Promise.all([codes, keys])).then((lists) => load(...lists));
  return warnedFigures(context, path, rows, latest === true);
}

/** Rows of the wanted years and scope. */
function chosen(
  rows: readonly ObservationRecord[],
  { fromYear, toYear, scope }: ObservationFilter,
): readonly ObservationRecord[] {
  const isAny = scope == null || scope === 'ALL';
  if (fromYear == null && toYear == null && isAny) return rows;
  return rows.filter(
    ({ year, locationName }) =>
      (fromYear == null || year >= fromYear) &&
      (toYear == null || year <= toYear) &&
      (isAny || (scope === 'NATIONAL') === (locationName === null)),
  );
}

/** Warns of codes that name no country, as far as the list has gone by. */
function warnOfUnlisted(
  context: GraphContext,
  info: GraphQLResolveInfo,
  countryCodes: readonly string[],
): void {
  const { countries } = context.loaders.listed;
  const unlisted = countries.size === 0 ? [] : countryCodes.filter((code) => !countries.has(code));
  if (unlisted.length > 0) warnOfCountries(context, info.path, unlisted);
}

function unique(names: readonly string[]): readonly string[] {
  return names.length < 2 ? names : [...new Set(names)];
}

const Observation = {
  ...plainFields(
    'Observation',
    'year',
    'period',
    'asOfPeriod',
    'locationName',
    'value',
    'unit',
    'valueStatus',
    'isModelled',
    'estimateLow',
    'estimateHigh',
    'datasetVersion',
    'retrievedAt',
    'record',
  ),
  freshness(row, _, { loaders }) {
    const reason = loaders.observations.staleness(row);
    return { fetchedAt: new Date(row.fetchedAtMs).toISOString(), stale: reason !== null, reason };
  },
} satisfies ObservationResolvers;

/** Makes the parents of rows: one for a run of rows that have it in common, as those of a series have. */
function inRuns<Source>(
  isSame: (row: ObservationRecord, before: ObservationRecord) => boolean,
  make: (row: ObservationRecord) => Source,
): BatchResolver<ObservationRecord, unknown, GraphContext, Source> {
  return (rows) => {
    const sources: Source[] = [];
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as ObservationRecord;
      const before = rows[i - 1];
      sources.push(before !== undefined && isSame(row, before) ? (sources[i - 1] as Source) : make(row));
    }
    return sources;
  };
}

export const batches = {
  Observation: {
    id: observationIds,
    country: inRuns<CountryRef>(
      (row, before) => row.countryCode === before.countryCode && row.countryName === before.countryName,
      ({ countryCode, countryName }) => ({
        code: countryCode,
        known: countryName === null ? {} : { name: countryName },
      }),
    ),
    indicator: inRuns<IndicatorRef>(
      (row, before) =>
        row.metricKey === before.metricKey &&
        row.metricName === before.metricName &&
        row.unit === before.unit,
      ({ metricKey, metricName, unit }) => ({
        key: metricKey,
        known: metricName === null ? { unit } : { name: metricName, unit },
      }),
    ),
    source: inRuns<SourceRef>(
      (row, before) => row.source === before.source,
      ({ source }) => ({ key: source }),
    ),
  },
};

export const resolvers = {
  Observation,
  Freshness: plainFields('Freshness', 'fetchedAt', 'stale', 'reason'),
} satisfies Resolvers;
