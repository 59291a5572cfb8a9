import type { GraphQLResolveInfo } from 'graphql';
import { governmentStructure, health, platformVersion } from '../../service/endpoints.ts';
import { notFoundIn } from '../../service/records/envelope.ts';
import type { OfficeRecord, TickerRecord } from '../../service/records/reference.ts';
import type { GraphContext, Page } from '../schema/context.ts';
import type { QueryTickersArgs, Resolvers } from '../schema/generated.ts';
import { checkStrings } from './argument-checks.ts';
import { plainFields } from './fields.ts';
import { byCode, byName, byNumber, createListing, encodeId } from './lists.ts';
import { warned, warnedOnceLoaded } from './warned.ts';

function officeId({ countryCode, name, roleType, ordinal }: OfficeRecord): string {
  // The first of equal offices has no number in its identifier.
  const ordinals = ordinal === 0 ? [] : [String(ordinal)];
  return encodeId('Office', countryCode, name, roleType ?? '', ...ordinals);
}

/** The office of an identifier; null if the country has no such office. */
export async function officeById(
  id: string,
  countryCode: string,
  { loaders }: GraphContext,
): Promise<OfficeRecord | null> {
  const offices = await loaders.load(governmentStructure, { code: countryCode });
  if (offices === null) return null;
  return offices.find((office) => officeId(office) === id) ?? notFoundIn(offices);
}

export function tickerBySymbol(
  exchangeCode: string,
  symbol: string,
  { loaders }: GraphContext,
): Promise<TickerRecord | null> {
  checkStrings({ exchangeCode, symbol });
  return loaders.tickers.find(exchangeCode, symbol);
}

const listing = createListing(
  'Ticker',
  {
    SYMBOL: byCode<TickerRecord>(({ symbol }) => symbol),
    NAME: byName<TickerRecord>(({ name }) => name),
    EXCHANGE: byCode<TickerRecord>(({ exchangeCode }) => exchangeCode),
    CLOSE_PRICE: byNumber<TickerRecord>(({ closePrice }) => closePrice),
    CHANGE_PERCENT: byNumber<TickerRecord>(({ changePercent }) => changePercent),
  },
  ({ exchangeCode, symbol }) => [exchangeCode, symbol],
);

function loadTickers(
  { exchangeCode, countryCode, instrumentType }: QueryTickersArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
) {
  const filter = { exchangeCode, countryCode, instrumentType };
  checkStrings(filter);
  return warnedOnceLoaded(context, info, context.loaders.tickers.where(filter));
}

function edges<Row>({ nodes, cursors }: Page<Row>): { readonly cursor: string; readonly node: Row }[] {
  const all = cursors();
  return nodes.map((node, i) => ({ cursor: all[i] ?? '', node }));
}

function pageInfo({ hasNextPage, hasPreviousPage, cursors }: Page<unknown>) {
  const all = cursors();
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: all.at(0) ?? null,
    endCursor: all.at(-1) ?? null,
  };
}

export const resolvers = {
  Query: {
    tickers: (_, args, context, info) =>
      listing.ordered(loadTickers(args, context, info), args.orderBy, context),
    tickersConnection: (_, args, context, info) =>
      listing.page(args, context, () => loadTickers(args, context, info)),
    ticker: (_, { exchangeCode, symbol }, context) => tickerBySymbol(exchangeCode, symbol, context),
    health: (_, __, { loaders }) => loaders.load(health, {}),
    platformVersion: (_, __, { loaders }) => loaders.load(platformVersion, {}),
    quota: (_, __, { quota }) => quota(),
  },
  Office: {
    ...plainFields('Office', 'name', 'roleType', 'record'),
    id: officeId,
    country: ({ countryCode }) => ({ code: countryCode }),
    terms: ({ terms }, _, context, info) => warned(context, () => info.path, terms),
  },
  Term: plainFields('Term', 'holder', 'startDate', 'endDate', 'status', 'record'),
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
