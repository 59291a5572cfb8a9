import { alpha2In, checkCountry, countryNamedIn } from './countries.ts';
import { objectIn, type RowList, rowListIn } from './envelope.ts';
import { inside, integerIn, type JsonObject, numberIn, type Place, textIn } from './fields.ts';
import { eachFound } from './left-out.ts';

/*
 * The overview of a country's trade. None of the fields of trade records is specified. The fields that are read have
 * the names of the parameters that the routes take; all else is in the record as sent.
 */

export interface TradeOverviewRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly record: JsonObject;
}

export interface TradeFlowRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly reporterCode: string | null;
  /** ISO 3166-1 alpha-2, upper case; of any country of the world. */
  readonly partnerCode: string | null;
  readonly productCode: string | null;
  /** The record's own word, such as `export`. */
  readonly flowType: string | null;
  readonly year: number | null;
  readonly record: JsonObject;
}

export interface TradePartnerRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly partnerCode: string | null;
  readonly record: JsonObject;
}

export interface TradeProductRecord {
  readonly productCode: string | null;
  readonly record: JsonObject;
}

/** @param asked code of the country that was asked for, if the body doesn't say */
export function decodeTradeOverview(body: unknown, route: string, asked: string): TradeOverviewRecord {
  const found = objectIn(body, route, ['country', 'country_code']);
  return { countryCode: countryNamedIn(found, asked).code, record: found.value };
}

/** Filters of a list that was asked for: rows that name something else are none of its. */
interface AskedOfTrade {
  readonly reporterCode?: string | undefined;
  readonly partnerCode?: string | undefined;
}

export function decodeTradeFlows(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradeFlowRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      const partnerCode = partnerIn(row);
      checkCountry(partnerCode, asked.partnerCode, inside(place, 'partner_country_code'));
      return {
        reporterCode: reporterIn(row, place, asked),
        partnerCode,
        productCode: productIn(row),
        flowType: textIn(row, 'flow_type'),
        year: yearIn(row),
        record: row,
      };
    }),
  );
}

export function decodeTradePartners(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradePartnerRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      reporterIn(row, place, asked);
      return { partnerCode: partnerIn(row), record: row };
    }),
  );
}

export function decodeTradeProducts(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradeProductRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      reporterIn(row, place, asked);
      return { productCode: productIn(row), record: row };
    }),
  );
}

/** @throws Failure if it is another one than was asked for */
function reporterIn(row: JsonObject, place: Place, { reporterCode }: AskedOfTrade): string | null {
  const code = alpha2In(row, 'reporter_country_code', 'reporter');
  checkCountry(code, reporterCode, inside(place, 'reporter_country_code'));
  return code;
}

const partnerIn = (row: JsonObject) => alpha2In(row, 'partner_country_code', 'partner');

/** Reads the code of a product: these are often all digits, and may be sent as a number. */
function productIn(row: JsonObject): string | null {
  return textIn(row, 'product_code') ?? numberIn(row, 'product_code')?.toString() ?? null;
}

function yearIn(row: JsonObject): number | null {
  const year = integerIn(row, 'year');
  return year !== null && Math.abs(year) < 10_000 ? year : null;
}
