import { tickers } from '../catalogue/tickers.ts';
import type { Route } from '../route.ts';

const MAX_TICKERS = 500;
const DEFAULT_TICKERS = 100;

export const routes: readonly Route[] = [
  {
    template: '/v1/markets/tickers',
    undocumented: ['exchange_code', 'country_code', 'instrument_type', 'limit'],
    answer: (query) => {
      const limit = query.integer('limit', 1, MAX_TICKERS) ?? DEFAULT_TICKERS;
      const exchange = query.text('exchange_code')?.toUpperCase();
      const country = query.text('country_code')?.toLowerCase();
      const type = query.text('instrument_type')?.toUpperCase();
      const data = tickers
        .filter((t) => exchange === undefined || t.exchange_code === exchange)
        .filter((t) => country === undefined || t.country_code === country)
        .filter((t) => type === undefined || t.instrument_type === type)
        .slice(0, limit);
      return { data };
    },
  },
];
