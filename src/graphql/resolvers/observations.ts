import type { GraphQLResolveInfo } from 'graphql';
import { loadedOnce } from '../../observations/loaders/batch-gate.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import { SERVICE } from '../../shared/source-names.ts';
import type { BatchResolver } from '../execution/plan.ts';
import type { CountryRef, GraphContext, IndicatorRef, SourceRef } from '../schema/context.ts';
import type { Resolvers } from '../schema/generated.ts';
import { plainFields } from './fields.ts';
import { byCode, byNumber, createListing, decodeId, encodeCursor, encodeId } from './lists.ts';
import { identified, observationNames, observationOf } from './observation-ids.ts';
import { type ObservationFilter, observationRows } from './observation-rows.ts';

const citations = loadedOnce(() => import('../../shared/citations.ts'));

type DerivedFields = typeof import('./derived.ts').derived;

const derivedFields = loadedOnce(async () => (await import('./derived.ts')).derived);

function derived<Name extends keyof DerivedFields>(name: Name): DerivedFields[Name] {
  // Their arguments go with their names.
  return ((figures: never, args: never, context: GraphContext, info: never) =>
    derivedFields(context, (loaded) => loaded[name](figures, args, context, info))) as DerivedFields[Name];
}

/** Makes the parents of rows: one per run of rows that share it, as those of a series do. */
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
    id: identified,
    change: derived('change'),
    growthPercent: derived('growthPercent'),
    per: derived('per'),
    rank: derived('rank'),
    country: inRuns<CountryRef>(
      (row, before) => row.countryCode === before.countryCode && row.countryName === before.countryName,
      ({ countryCode, countryName }) => ({
        code: countryCode,
        partial: countryName === null ? {} : { name: countryName },
      }),
    ),
    indicator: inRuns<IndicatorRef>(
      (row, before) =>
        row.metricKey === before.metricKey &&
        row.metricName === before.metricName &&
        row.unit === before.unit,
      ({ metricKey, metricName, unit }) => ({
        key: metricKey,
        partial: metricName === null ? { unit } : { name: metricName, unit },
      }),
    ),
    source: inRuns<SourceRef>(
      (row, before) => row.source === before.source,
      ({ source }) => ({ key: source }),
    ),
  },
};

/** The year of a country and indicator: rows that are told apart by their order have it in common. */
const groupOf = ({ countryCode, metricKey, year }: ObservationRecord) =>
  `${countryCode} ${metricKey} ${year}`;

const listing = createListing(
  'Observation',
  {
    YEAR: byNumber<ObservationRecord>(({ year }) => year),
    VALUE: byNumber<ObservationRecord>(({ value }) => value),
    COUNTRY: byCode<ObservationRecord>(({ countryCode }) => countryCode),
    INDICATOR: byCode<ObservationRecord>(({ metricKey }) => metricKey),
  },
  {
    cursorsOf(rows, list) {
      const groups = new Set(rows.map(groupOf));
      const all = list.filter((row) => groups.has(groupOf(row)));
      const names = new Map(observationNames(all).map((name, i) => [all[i], name]));
      return rows.map((row) => encodeCursor({ ...decodeId(names.get(row) ?? ''), nth: 0 }));
    },
    find(list, { type, key }) {
      const [countryCode = '', metricKey = '', year = ''] = key;
      const group = `${countryCode} ${metricKey} ${year}`;
      const rows = list.filter((row) => row.countryCode === countryCode && groupOf(row) === group);
      const named = rows[observationNames(rows).indexOf(encodeId(type, ...key))];
      return named ?? observationOf(key, rows)?.row ?? null;
    },
  },
);

type ListArgs = ObservationFilter & Parameters<typeof listing.page>[0];

export const observationList = (args: ListArgs, context: GraphContext, info: GraphQLResolveInfo) =>
  listing.ordered(observationRows(args, context, info), args.orderBy, context);

export const observationPage = (args: ListArgs, context: GraphContext, info: GraphQLResolveInfo) =>
  listing.page(args, context, () => observationRows(args, context, info));

const FIGURE_FIELDS = [
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
] as const;

export const resolvers = {
  Query: {
    observations: (_, args, context, info) => observationList(args, context, info),
    observationsConnection: (_, args, context, info) => observationPage(args, context, info),
  },
  Observation: {
    ...plainFields('Observation', ...FIGURE_FIELDS),
    citation(row, { style }, context) {
      const { citing } = context;
      const { countryCode, countryName, metricKey, metricName, locationName, period, source } = row;
      const place = [locationName, countryName ?? countryCode].filter((part) => part !== null);
      const names = new URLSearchParams({ country_code: countryCode, metric_key: metricKey });
      const cited = {
        source,
        named: citing?.sourceNames.get(source) ?? null,
        via: citing?.attribution ?? SERVICE,
        title: [metricName ?? metricKey, ...place].join(', '),
        period,
        release: row.datasetVersion,
        retrievedAt: row.retrievedAt,
        dataUrl: citing?.serviceUrl == null ? null : `${citing.serviceUrl}/v1/data?${names}`,
      };
      return citations(context, ({ citationOf }) => citationOf(cited, style));
    },
    freshness(row, _, { loaders }) {
      const reason = loaders.observations.staleness(row);
      return { fetchedAt: new Date(row.fetchedAtMs).toISOString(), stale: reason !== null, reason };
    },
  },
  Freshness: plainFields('Freshness', 'fetchedAt', 'stale', 'reason'),
  Ratio: plainFields('Ratio', 'value', 'unit', 'year', 'operands'),
  Rank: plainFields('Rank', 'position', 'of', 'year'),
} satisfies Resolvers;
