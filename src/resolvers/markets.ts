import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { GraphContext } from '../graph/context.ts';
import type { QueryTickersArgs, Resolvers, TickerOrderField } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import type { TickerRecord } from '../upstream/records/markets.ts';
import { checkTexts } from './arguments.ts';
import { byCode, byName, byNumber, type Order, ordered } from './ordering.ts';
import { namedBy, pageOf, pagingOf } from './paging.ts';
import { plainFields } from './record-fields.ts';
import { warnedOnceLoaded } from './warned.ts';

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

export const resolvers = {
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
