import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import type { GraphContext, Page } from '../graph/context.ts';
import type { QueryTickersArgs, Resolvers, TickerOrderField } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { governmentStructure, health, platformVersion } from '../service/endpoints.ts';
import { notFoundIn } from '../service/records/envelope.ts';
import type { OfficeRecord, TickerRecord } from '../service/records/reference.ts';
import { checkTexts, plainFields } from './arguments.ts';
import { byCode, byName, byNumber, namedBy, type Order, ordered, pageOf, pagingOf } from './lists.ts';
import { warned, warnedOnceLoaded } from './warned.ts';

function officeId({ countryCode, name, roleType, ordinal }: OfficeRecord): string {
  const further = ordinal === 0 ? [] : [String(ordinal)];
  return encodeId('Office', countryCode, name, roleType ?? '', ...further);
}

/** The office of an identifier; null if the country has none such. */
export async function officeById(
  id: string,
  countryCode: string,
  { loaders }: GraphContext,
): Promise<OfficeRecord | null> {
  const offices = await loaders.load(governmentStructure, { code: countryCode });
  if (offices === null) return null;
  return offices.find((office) => officeId(office) === id) ?? notFoundIn(offices);
}

export const officeResolvers = {
  Office: {
    ...plainFields('Office', 'name', 'roleType', 'record'),
    id: officeId,
    country: ({ countryCode }) => ({ code: countryCode }),
    terms: ({ terms }, _, context, info) => warned(context, () => info.path, terms),
  },
  Term: plainFields('Term', 'holder', 'startDate', 'endDate', 'status', 'record'),
} satisfies Resolvers;

export function tickerBySymbol(
  exchangeCode: string,
  symbol: string,
  { loaders }: GraphContext,
): Promise<TickerRecord | null> {
  checkTexts({ exchangeCode, symbol });
  return loaders.tickers.find(exchangeCode, symbol);
}

const ORDERS: Readonly<Record<TickerOrderField, Order<TickerRecord>>> = {
  SYMBOL: byCode(({ symbol }) => symbol),
  NAME: byName(({ name }) => name),
  EXCHANGE: byCode(({ exchangeCode }) => exchangeCode),
  CLOSE_PRICE: byNumber(({ closePrice }) => closePrice),
  CHANGE_PERCENT: byNumber(({ changePercent }) => changePercent),
};

const NAMING = namedBy<TickerRecord>('Ticker', ({ exchangeCode, symbol }) => [exchangeCode, symbol]);

function tickerList(
  { orderBy, ...filter }: QueryTickersArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly TickerRecord[]> {
  const { exchangeCode, countryCode, instrumentType } = filter;
  checkTexts({ exchangeCode, countryCode, instrumentType });
  const listings = warnedOnceLoaded(context, info, context.loaders.tickers.where(filter));
  return ordered(listings, orderBy, ORDERS, context);
}

export const tickerResolvers = {
  Query: {
    tickers: (_, args, context, info) => tickerList(args, context, info),
    tickersConnection(_, args, context, info) {
      const paging = pagingOf(args, 'Ticker', context.maxListItems);
      return mapValue(tickerList(args, context, info), (list) => pageOf(paging, NAMING, list));
    },
    ticker: (_, { exchangeCode, symbol }, context) => tickerBySymbol(exchangeCode, symbol, context),
  },
  Ticker: {
    ...plainFields(
      'Ticker',
      'exchangeCode',
      'symbol',
      'name',
      'instrumentType',
      'sector',
      'industry',
      'session',
      'closePrice',
      'changePercent',
      'record',
    ),
    id: ({ exchangeCode, symbol }) => encodeId('Ticker', exchangeCode, symbol),
    country: ({ countryCode }) => (countryCode === null ? null : { code: countryCode }),
  },
} satisfies Resolvers;

export const platformResolvers = {
  Query: {
    health: (_, __, { loaders }) => loaders.load(health, {}),
    platformVersion: (_, __, { loaders }) => loaders.load(platformVersion, {}),
    quota: (_, __, { quota }) => quota(),
  },
  Health: plainFields('Health', 'status', 'record'),
  PlatformVersion: plainFields('PlatformVersion', 'version', 'record'),
  Quota: plainFields(
    'Quota',
    'plan',
    'requestsPerMinute',
    'monthlyRequests',
    'callsThisMinute',
    'callsThisMonth',
    'minuteResetsAt',
    'monthResetsAt',
    'state',
  ),
} satisfies Resolvers;

function edges<Row>({ nodes, cursors }: Page<Row>): { readonly cursor: string; readonly node: Row }[] {
  const made = cursors();
  return nodes.map((node, i) => ({ cursor: made[i] ?? '', node }));
}

function pageInfo({ hasNextPage, hasPreviousPage, cursors }: Page<unknown>) {
  const made = cursors();
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: made.at(0) ?? null,
    endCursor: made.at(-1) ?? null,
  };
}

export const connectionResolvers = {
  CountryConnection: { ...plainFields('CountryConnection', 'nodes', 'totalCount'), edges, pageInfo },
  CountryEdge: plainFields('CountryEdge', 'cursor', 'node'),
  IndicatorConnection: { ...plainFields('IndicatorConnection', 'nodes', 'totalCount'), edges, pageInfo },
  IndicatorEdge: plainFields('IndicatorEdge', 'cursor', 'node'),
  ObservationConnection: { ...plainFields('ObservationConnection', 'nodes', 'totalCount'), edges, pageInfo },
  ObservationEdge: plainFields('ObservationEdge', 'cursor', 'node'),
  TickerConnection: { ...plainFields('TickerConnection', 'nodes', 'totalCount'), edges, pageInfo },
  TickerEdge: plainFields('TickerEdge', 'cursor', 'node'),
  PageInfo: plainFields('PageInfo', 'hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'),
} satisfies Resolvers;
