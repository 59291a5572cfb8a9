import type { GraphContext } from '../graph/context.ts';
import type { Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { notFoundIn } from '../upstream/records/left-out.ts';
import type { TickerRecord } from '../upstream/records/markets.ts';
import { warnedWhenThere } from './warned.ts';

export async function tickerBySymbol(
  exchangeCode: string,
  symbol: string,
  { loaders }: GraphContext,
): Promise<TickerRecord | null> {
  const listings = await loaders.tickers.where({ exchangeCode });
  const found = listings.find((listing) => listing.symbol.toUpperCase() === symbol.toUpperCase());
  return found ?? notFoundIn(listings);
}

export const marketResolvers: Resolvers = {
  Query: {
    tickers: (_, filter, context, info) =>
      warnedWhenThere(context, info, context.loaders.tickers.where(filter)),
    ticker: (_, { exchangeCode, symbol }, context) => tickerBySymbol(exchangeCode, symbol, context),
  },
  Ticker: {
    id: ({ exchangeCode, symbol }) => encodeId('Ticker', exchangeCode, symbol),
    country: ({ countryCode }) => (countryCode === null ? null : { code: countryCode }),
  },
};
