import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { GraphContext } from '../graph/context.ts';
import type { ObservationOrderField, Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import type { Page } from '../graph/sources.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { observationIds, observationOf, unreleased } from './observation-ids.ts';
import { type ObservationFilter, observationRows } from './observations.ts';
import { byCode, byNumber, type Order, type OrderBy, ordered } from './ordering.ts';
import { type Naming, type PagingArgs, pageOf, pagingOf } from './paging.ts';

export interface ObservationListArgs extends ObservationFilter {
  readonly orderBy?: OrderBy<ObservationOrderField>;
}

const ORDERS: Readonly<Record<ObservationOrderField, Order<ObservationRecord>>> = {
  YEAR: byNumber(({ year }) => year),
  VALUE: byNumber(({ value }) => value),
  COUNTRY: byCode(({ countryCode }) => countryCode),
  INDICATOR: byCode(({ metricKey }) => metricKey),
};

/** The year of a country and indicator: rows that are told apart by their order have it in common. */
const groupOf = ({ countryCode, metricKey, year }: ObservationRecord) =>
  `${countryCode} ${metricKey} ${year}`;

const NAMING: Naming<ObservationRecord> = {
  idsOf(rows, list) {
    const groups = new Set(rows.map(groupOf));
    const all = list.filter((row) => groups.has(groupOf(row)));
    const ids = new Map(observationIds(all).map((id, i) => [all[i], id]));
    return rows.map((row) => ids.get(row) ?? '');
  },
  find(list, { type, key }) {
    const [countryCode = '', metricKey = '', year = ''] = key;
    const group = `${countryCode} ${metricKey} ${year}`;
    const rows = list.filter((row) => row.countryCode === countryCode && groupOf(row) === group);
    return observationOf(encodeId(type, ...key), key, rows) ?? observationOf('', unreleased(key), rows);
  },
};

/** The rows of every named country and metric, in the wanted order. */
export function observationList(
  args: ObservationListArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly ObservationRecord[]> {
  return ordered(observationRows(args, context, info), args.orderBy, ORDERS, context);
}

/** A page of the rows of {@link observationList}. */
export function observationPage(
  args: ObservationListArgs & PagingArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<Page<ObservationRecord>> {
  const paging = pagingOf(args, 'Observation', context.maxListItems);
  return mapValue(observationRows(args, context, info), (rows) =>
    mapValue(ordered(rows, args.orderBy, ORDERS, context), (list) => pageOf(paging, NAMING, list, rows)),
  );
}

export const resolvers = {
  Query: {
    observations: (_, args, context, info) => observationList(args, context, info),
    observationsConnection: (_, args, context, info) => observationPage(args, context, info),
  },
} satisfies Resolvers;
