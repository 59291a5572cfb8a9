import { alpha2In } from './countries.ts';
import { listIn, type Meta, metaIn } from './envelope.ts';
import { eachIn, type JsonObject, keyIn, numberIn, type Place, textIn } from './fields.ts';

export interface TickerRecord {
  /** Upper case. */
  readonly exchangeCode: string;
  readonly symbol: string;
  /** The symbol where the listing has no name. */
  readonly name: string;
  readonly instrumentType: string | null;
  readonly sector: string | null;
  readonly industry: string | null;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null;
  /** The trading day of the price, as sent. */
  readonly session: string | null;
  /** In the currency of the listing, which the service doesn't name. */
  readonly closePrice: number | null;
  /** Percent. */
  readonly changePercent: number | null;
  readonly record: JsonObject;
}

/** With counts where there are any: none are promised, so a full page is suspect. */
export interface TickerList extends Meta {
  readonly rows: readonly TickerRecord[];
  /** Rows in the body. */
  readonly received: number;
}

export function decodeTickers(body: unknown, route: string): TickerList {
  const { value, place } = listIn(body, route);
  return { rows: eachIn(value, place, decodeTicker), received: value.length, ...metaIn(body) };
}

function decodeTicker(row: JsonObject, place: Place): TickerRecord {
  const symbol = keyIn(row, place, 'symbol', 'ticker');
  return {
    exchangeCode: keyIn(row, place, 'exchange_code', 'exchange').toUpperCase(),
    symbol,
    name: textIn(row, 'security_name', 'name') ?? symbol,
    instrumentType: textIn(row, 'instrument_type'),
    sector: textIn(row, 'sector'),
    industry: textIn(row, 'industry'),
    countryCode: alpha2In(row, 'country_code', 'country'),
    session: textIn(row, 'latest_trade_date', 'session'),
    closePrice: numberIn(row, 'latest_close_price', 'close_price'),
    changePercent: numberIn(row, 'latest_change_percent', 'change_percent'),
    record: row,
  };
}
