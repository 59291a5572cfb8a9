import type { Failure } from '../../errors.ts';
import { alpha2In } from './countries.ts';
import { type RowList, rowListIn } from './envelope.ts';
import { invalid, type JsonObject, keyIn, kindOf, numberIn, type Place, textIn } from './fields.ts';
import { eachFound } from './left-out.ts';

export interface TickerRecord {
  /** Upper case. */
  readonly exchangeCode: string;
  readonly symbol: string;
  readonly name: string | null;
  readonly instrumentType: string | null;
  readonly sector: string | null;
  readonly industry: string | null;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null;
  /** The trading day of the price, as sent. */
  readonly session: string | null;
  /** Price in the currency of the listing, which the service doesn't name. */
  readonly closePrice: number | null;
  /** Percent. */
  readonly changePercent: number | null;
  readonly record: JsonObject;
}

/** Listings; none of the counts are promised. */
export type TickerList = RowList<TickerRecord>;

export function decodeTickers(body: unknown, route: string): TickerList {
  return rowListIn(body, route, (list) => eachFound(list, decodeTicker));
}

function decodeTicker(row: JsonObject, place: Place): TickerRecord {
  return {
    exchangeCode: keyIn(row, place, 'exchange_code', 'exchange').toUpperCase(),
    symbol: keyIn(row, place, 'symbol', 'ticker'),
    name: textIn(row, 'security_name', 'name'),
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

const SPELT = {
  countryCode: ['country_code', 'country'],
  instrumentType: ['instrument_type'],
} as const;

/**
 * Makes the failure of a field of a listing that is not known though the service doesn't say that there is nothing of
 * it; else null.
 */
export function unreadIn(row: TickerRecord, field: keyof typeof SPELT, route: string): Failure | null {
  const [name] = SPELT[field];
  if (row[field] !== null || SPELT[field].some((spelt) => row.record[spelt] === null)) return null;
  return invalid({ route, path: name }, `expected string, received ${kindOf(row.record[name])}`);
}
