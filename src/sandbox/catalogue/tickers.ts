import { fraction, mix, pick, seedOf } from '../seed.ts';
import { rowsOf, wordsOf } from './table.ts';

/** A listing as `/v1/markets/tickers` sends it. No row names a currency. */
export interface Ticker {
  exchange_code: string;
  /** Unique within an exchange only. */
  symbol: string;
  security_name: string;
  instrument_type: 'EQUITY' | 'INDEX' | 'BOND' | 'ETP';
  sector: string | null;
  industry?: string | null;
  /** Lower case; null for an index that spans countries. */
  country_code: string | null;
  /** The session of the price, `YYYY-MM-DD`; null if the security never traded. */
  latest_trade_date: string | null;
  latest_close_price: number | null;
  /** Change since the session before; a zero is a real zero. */
  latest_change_percent: number | null;
}

// Exchange | listings | countries of the issuers. Only the codes are real: every company is invented.
const EXCHANGES = `
BRVM|18|ci sn bf bj tg ml ne
BSE|12|bw
BVMT|14|tn
CSE|22|ma
DSE|10|tz
EGX|30|eg
GSE|12|gh
JSE|48|za
LUSE|10|zm
NGX|189|ng
NSE|24|ke
NSX|8|na
RSE|5|rw
SEM|14|mu
USE|8|ug
ZSE|12|zw
`;

const WORDS = wordsOf(
  'Acacia Baobab Cedar Delta Ebony Fynbos Giraffe Harmattan Impala Jacaranda Kudu Lagoon Marula Neem Oasis Palm ' +
    'Quartz Rift Savanna Teak Umbrella Veld Waterfall Yam Zebra',
);
const SECTORS: readonly [sector: string, industry: string | null | undefined][] = [
  ['Financials', 'Banks'],
  ['Financials', 'Insurance'],
  ['Consumer Goods', 'Food products'],
  ['Consumer Goods', null],
  ['Industrials', 'Building materials'],
  ['Energy', 'Oil and gas'],
  ['Telecommunications', undefined],
  ['Materials', 'Mining'],
  ['Real Estate', 'Property trusts'],
  ['Health Care', 'Pharmaceuticals'],
];
const SESSIONS = ['2026-07-23', '2026-07-23', '2026-07-23', '2026-07-22', '2026-07-17', '2026-05-29'];

function tickerOf(exchange: string, issuers: readonly string[], n: number): Ticker {
  const seed = seedOf(`ticker/${exchange}/${n}`);
  const symbol = n === 2 ? 'SYN-B.P' : `SYN${String(n).padStart(3, '0')}`;
  // The first row of an exchange is its index; every ninth or so is a bond or a fund.
  const kind = n === 1 ? 'INDEX' : n % 19 === 0 ? 'ETP' : n % 9 === 0 ? 'BOND' : 'EQUITY';
  const [sector, industry] = pick(SECTORS, seed, 1);
  const word = pick(WORDS, seed, 2);
  const names = {
    INDEX: `Synthetic ${exchange} All Share Index`,
    ETP: `Synthetic ${word} Tracker Fund ${n}`,
    BOND: `Synthetic ${word} Bond ${n}`,
    EQUITY: `Synthetic ${word} Holdings ${n}`,
  };
  const traded = n === 1 || fraction(seed, 3) >= 0.05;
  const price = Math.round(Math.exp(1 + 5 * fraction(seed, 4)) * 100) / 100;
  const change = fraction(seed, 5) < 0.2 ? 0 : Math.round((fraction(seed, 6) - 0.5) * 800) / 100 + 0;
  return {
    exchange_code: exchange,
    symbol,
    security_name: names[kind],
    instrument_type: kind,
    sector: kind === 'EQUITY' ? sector : null,
    ...(industry === undefined ? {} : { industry: kind === 'EQUITY' ? industry : null }),
    country_code:
      kind === 'INDEX' && issuers.length > 1 ? null : (issuers[mix(seed, 7) % issuers.length] ?? null),
    latest_trade_date: traded ? (n === 1 ? '2026-07-23' : pick(SESSIONS, seed, 8)) : null,
    latest_close_price: traded ? price : null,
    latest_change_percent: traded ? change : null,
  };
}

/** The listings, by exchange and then by number. */
export const tickers: readonly Ticker[] = rowsOf(['exchange', 'listings', 'issuers'], EXCHANGES).flatMap(
  (row) =>
    Array.from({ length: Number(row.listings) }, (_, i) =>
      tickerOf(row.exchange, wordsOf(row.issuers), i + 1),
    ),
);
