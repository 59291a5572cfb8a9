import type { GraphContext } from '../graph/context.ts';
import type { Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import type { TickerRecord } from '../upstream/records/markets.ts';
import { checkTexts } from './arguments.ts';
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

export const resolvers = {
  Query: {
    tickers(_, filter, context, info) {
      checkTexts(filter);
      return warnedOnceLoaded(context, info, context.loaders.tickers.where(filter));
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
